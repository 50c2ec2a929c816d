/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tracks.h - the spans of a trace by thread and lane, for formats that require all spans of a
 * thread in one place. The functions are functions of struct format, with struct tracks as context.
 */
#ifndef POSIXTRACE_CONVERT_VIEWER_TRACKS_H
#define POSIXTRACE_CONVERT_VIEWER_TRACKS_H

#include "convert/format.h"
#include "convert/nesting.h"
#include "convert/plan.h"
#include "convert/threads.h"

/*
 * One lane. Its spans either have no key and belong to one thread, or have a key and one name and
 * belong to one process.
 */
struct track {
	uint32_t pid, tid;
	uint64_t thread;
	unsigned lane;
	bool keyed;
	char *name;            /* name of the track, if its spans have a key */
	int64_t last_ns;
	struct nesting_lane nesting;
};

/* All spans of a trace, and the names of threads. */
struct tracks {
	struct fmt_flow *flow;
	struct out *out;
	/* to find tracks: the handle is a hash, and the mark is the track's index + 1 */
	struct threads places;
	struct track **track;
	size_t tracks;
	uint32_t *frame;               /* for each series of spans: its index in "name" + 1 */
	size_t series;
	char **name;                   /* the names of frames */
	size_t frames;
	struct plan_name *thread;      /* the names of threads */
	size_t threads;
	struct nesting nesting;
	int64_t base_ns, last_ns;
	uint64_t lost;
	char *trace;
};

/*
 * A format uses these functions as its members of struct format: tracks_open() as the member open,
 * and so on. tracks_close() frees all of *context. All other functions return 0, ENOMEM, or an
 * error number of the temporary files.
 */
int tracks_open(struct fmt_flow *flow, const struct fmt_output *output, void **context);
int tracks_begin(void *context, const struct fmt_facts *facts);
int tracks_thread(void *context, const struct fmt_thread *thread);
int tracks_event(void *context, const struct fmt_event *event);
int tracks_lost(void *context, const struct fmt_lost *lost);
void tracks_close(void *context);

/* Adds the losses that are known at the end. */
void tracks_end(struct tracks *s, const struct fmt_end *end);

#endif
