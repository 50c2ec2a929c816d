/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * weave.h - the copy of a log with the kernel's events: weave.c copies, weave_events.c adds them.
 */
#ifndef POSIXTRACE_LIVE_WEAVE_H
#define POSIXTRACE_LIVE_WEAVE_H

#include <trace_np.h>

#include "live/kernel.h"

/* The event types that the kernel's records become. */
enum { WEAVE_IN, WEAVE_OUT, WEAVE_EXIT, WEAVE_WAKE, WEAVE_SAMPLE, WEAVE_STACK, WEAVE_FAULT,
       WEAVE_CLOCK, WEAVE_TYPES };

/*
 * The state of one copy. kernel->record is sorted by time, and kernel->record[next] is the first
 * record that was not examined. kernel_weave() closes from. The end of the composer, with or
 * without success, frees to.
 */
struct weave {
	struct kernel *kernel;
	trace_id_t from;
	struct posix_trace_composer_np *to;
	trace_event_id_t id[WEAVE_TYPES], *kernel_id; /* kernel_id: of kernel.type */
	struct posix_trace_thread_np *thread; /* those of the old log, in order */
	size_t threads;
	bool *has_stack;   /* the stack was written */
	size_t next;       /* index in kernel->record */
	bool runs;         /* the stream runs */
	bool has_clock;
};

/*
 * Adds the names and schemas of the event types. Returns 0 or an error number, as weave_record()
 * does.
 */
int weave_types(struct weave *weave);

/*
 * Appends the events of a record, if the stream runs. The caller passes each record once, in the
 * order of their times.
 */
int weave_record(struct weave *weave, const struct kernel_record *record);

/* Compares two threads, for qsort() and bsearch(). */
int weave_by_thread(const void *a, const void *b);

#endif
