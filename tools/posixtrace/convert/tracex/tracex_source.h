/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tracex_source.h - the state of an import of a trace buffer of ThreadX. */
#ifndef POSIXTRACE_CONVERT_TRACEX_TRACEX_SOURCE_H
#define POSIXTRACE_CONVERT_TRACEX_TRACEX_SOURCE_H

#include "convert/format.h"
#include "convert/tracex/tracex.h"
#include "convert/tracex/tracex_names.h"
#include "convert/tracex/tracex_spans.h"

#define NANOSECONDS 1000000000u

struct tracex_source {
	struct fmt_flow *flow;
	struct tracex dump;
	struct tracex_names names;
	const struct fmt_type *type[65536]; /* the type of each event id */
	struct tracex_ref *refs;
	size_t refs_count;
	/* the dump is an export of posixtrace, so it has times and thread ids */
	bool ours;
	bool relative;
	int64_t start_ns;
	uint64_t tick_ns, tick_hz; /* one of these is used; the other is 0 */
	bool clamped;
	struct tracex_spans *spans; /* NULL: the option --spans was not given */
	const struct fmt_type *run, *mutex;
	uint64_t strangers;     /* events of threads that are not in the registry */
};

/*
 * tracex_source_clock() finds the time of the first event and the length of a tick, in the file and
 * the options. It returns false after a message. tracex_source_time() converts ticks to a time.
 */
bool tracex_source_clock(struct tracex_source *im);
int64_t tracex_source_time(struct tracex_source *im, uint64_t ticks);

/* Returns the type of an event with this id. */
const struct fmt_type *tracex_source_type(struct tracex_source *im, uint32_t raw_id);

/*
 * For exports of posixtrace: reads the ids of process and thread from the name of a thread's slot.
 * Returns false if the name does not have them.
 */
bool tracex_source_thread(const struct tracex_slot *slot, uint32_t *pid, uint64_t *thread);

/*
 * Passes events for the spans that this entry ends. Must be called before the event of the entry
 * itself is passed. Returns false if the sink has stopped.
 */
bool tracex_source_spans(struct tracex_source *im, const struct tracex_entry *entry);

#endif
