/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tracex_spans.h - spans that follow from entries: the times in which a thread ran or held a mutex.
 *
 * A thread runs from its first entry on a processor, or from an entry that names it as the next
 * thread, until another thread runs. Interrupts do not end the span. A mutex is held from the get
 * that found it free, or from the put that passed it to a waiting thread, until the put that
 * releases it.
 *
 * Memory is bounded: only the first TRACEX_HELD mutexes have spans, and at most TRACEX_HELD waiting
 * threads are known.
 */
#ifndef POSIXTRACE_CONVERT_TRACEX_TRACEX_SPANS_H
#define POSIXTRACE_CONVERT_TRACEX_TRACEX_SPANS_H

#include "convert/tracex/tracex.h"

#define TRACEX_CPUS 256
#define TRACEX_HELD 4096

enum tracex_span_kind { TRACEX_RUN, TRACEX_MUTEX };

struct tracex_span {
	enum tracex_span_kind kind;
	uint64_t thread, mutex;
	unsigned cpu;
	uint64_t begin, end; /* ticks */
	uint64_t isr;        /* ticks in interrupts within the span */
};

struct tracex_spans;

/*
 * tracex_spans_new() returns NULL if memory is lacking. tracex_spans_free() accepts NULL, and drops
 * the spans that are still open.
 */
struct tracex_spans *tracex_spans_new(void);
void tracex_spans_free(struct tracex_spans *spans);

/*
 * Processes the next entry. Calls visit() for each span that this entry ends. If visit() returns
 * false, stops and returns false.
 */
bool tracex_spans_take(struct tracex_spans *spans, const struct tracex_entry *entry,
		       bool (*visit)(void *arg, const struct tracex_span *span), void *arg);

#endif
