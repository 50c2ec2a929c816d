/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* single.h - spans that consist of one event with its duration, such as a call. */
#ifndef POSIXTRACE_SPANS_SINGLE_H
#define POSIXTRACE_SPANS_SINGLE_H

#include "spans/pairing.h"

/*
 * Returns whether the event that ends the span has all of the span: the span began the duration
 * before, and has no CPU time.
 */
static inline bool single_is(const struct span *span)
{
	int64_t time_ns;

	return span->series->kind == SERIES_EVENT && !span->has_cpu &&
	       !__builtin_sub_overflow(span->end_ns, span->begin_ns, &time_ns) &&
	       time_ns == span_signed_ns(span);
}

#endif
