/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * spans.h - the spans that are open on each thread, innermost last.
 *
 * A span nests if, on every thread, whenever it ends it is the innermost one that is open among those
 * that nest. Where events were lost all open spans end: nobody knows what became of them. An END
 * whose span is not open is one whose BEGIN is not in the trace; it proves nothing and is no span.
 *
 * Memory    bounded: of more threads than SPANS_THREADS, or deeper than SPANS_DEPTH, nothing is known.
 */
#ifndef POSIXTRACE_FORMATS_SPANS_H
#define POSIXTRACE_FORMATS_SPANS_H

#include "formats/format.h"

#define SPANS_THREADS 65536
#define SPANS_DEPTH   64

struct spans_thread {
	uint32_t pid, tid;
	uint64_t thread;
	uint64_t mark;         /* what a sink wants to remember of it, at first 0 */
	unsigned depth;
	const struct fmt_type *open[SPANS_DEPTH]; /* the types that began them */
};

struct spans {
	struct spans_thread **place; /* hash table */
	size_t places, threads;
};

void spans_init(struct spans *spans);
void spans_fini(struct spans *spans);

/* The thread of that event; NULL: there are too many, or no memory. */
struct spans_thread *spans_of(struct spans *spans, const struct fmt_event *event);

/* For sinks. True: the event begins a span, or ends the innermost one. */
bool spans_event(struct spans *spans, const struct fmt_event *event);

/* Calls visit for each thread that has open spans, and then they are not open any more. */
void spans_clear(struct spans *spans, void (*visit)(void *arg, const struct spans_thread *thread),
		 void *arg);

#endif
