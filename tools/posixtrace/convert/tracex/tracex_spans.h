/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tracex_spans.h - what entries tell without saying it: how long a thread ran, and held a mutex.
 *
 * A thread runs from its first entry on a processor, or from where another says that it is next,
 * until another one does; interrupts in between are not its own. A mutex is held from the get that
 * found it free, or from the put that gave it to who waited, to the put that leaves it.
 *
 * Memory    bounded: of more than TRACEX_HELD mutexes and waiting threads nothing is known.
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
	uint64_t isr;        /* ticks of interrupts in it */
};

struct tracex_spans;

struct tracex_spans *tracex_spans_new(void);
void tracex_spans_free(struct tracex_spans *spans);

/*
 * Entries in their order. Calls visit for what ended with this one; false if that does, and stops.
 */
bool tracex_spans_take(struct tracex_spans *spans, const struct tracex_entry *entry,
		       bool (*visit)(void *arg, const struct tracex_span *span), void *arg);

#endif
