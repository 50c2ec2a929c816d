/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * details.h - the fields of events, as the command dump writes them.
 *
 * Memory is bounded: the fields of at most "limit" events are kept, with DETAILS_TEXT bytes of text
 * for each on average. If the log has more events, the page gets the events that users need most
 * often. These are events with an error number, the ends of the longest spans, and every n-th of
 * all other events. The duration of an event is kept as a number and not in its text. So most texts
 * occur often, and each text is kept once. New texts may use half of the memory for texts at any
 * time. The share of the other half that they may use is the share of the log that was read so far.
 * So some memory remains for the texts of the rest of the log.
 */
#ifndef POSIXTRACE_PICTURE_DETAILS_H
#define POSIXTRACE_PICTURE_DETAILS_H

#include "base/nameset.h"
#include "log/logfile.h"
#include "picture/runs.h"
#include "spans/pairing.h"

#define DETAILS_LIMIT 131072
#define DETAILS_TEXT  24   /* bytes of text for an event, including the memory of the set */
#define DETAILS_LINE  2000 /* a longer text loses its end */

/* The fields of a type that are treated in a special way. */
struct details_plan {
	/* indexes of fields; -1: none */
	int time, error;        /* the duration and the error */
	int frames;             /* the frames of a stack; the text lacks them */
};

/* An event whose fields were kept, as details_unpack() returns it. */
struct detail {
	uint64_t text;          /* index in the texts + 1; 0: the event has no other fields */
	uint64_t took_ns;       /* valid if has_time */
	bool has_time, has_error;
};

struct details {
	struct nameset texts;
	size_t text_bytes, limit;
	struct runs kept;       /* value: details_pack(); kind: the type */
	bool is_all;            /* the log has at most "limit" events */
	uint64_t least_ns;      /* the end of a span of at least this length is kept */
	/* of all other events, one in "each" is kept; "seen" counts these other events */
	uint64_t each, seen;
	uint64_t events, reached; /* events of the log, and events read so far */
	uint64_t errors;        /* events that were selected because they have an error */
	uint64_t last;          /* ordinal of the event that was kept last */
	int err;
};

/* Finds the fields of a type. */
struct details_plan details_plan(const struct log_type *type);

/*
 * Decides which events are kept. A quarter of the limit is for events with errors, a half for ends
 * of spans, and a quarter for all other events. So the caller must pass such a least_ns that at
 * most limit / 2 spans have at least this length.
 */
void details_begin(struct details *details, uint64_t events, uint64_t least_ns, size_t limit);

/* Returns whether an event has an error number that is not 0. */
bool details_has_error(const struct log_type *type, const struct details_plan *plan,
		       const struct posix_trace_event_np *event);

/*
 * Keeps the fields of an event, if the rules above select it. "point" has the row, the type and the
 * place of the event. "span" is the span that the event ends, or NULL. The function may be called
 * several times for an event, the first time without a span. "ordinal" identifies the event and is
 * greater than 0. If memory is lacking, "err" is ENOMEM.
 */
void details_event(struct details *details, const struct logfile *log, const struct log_type *type,
		   const struct details_plan *plan, const struct posix_trace_event_np *event,
		   uint64_t ordinal, const struct item *point, const struct span *span);

/* Completes the details. Returns 0 or ENOMEM. */
int details_end(struct details *details);

/* Unpacks the value of an item. */
struct detail details_unpack(uint64_t value);

/* Frees the memory. */
void details_fini(struct details *details);

#endif
