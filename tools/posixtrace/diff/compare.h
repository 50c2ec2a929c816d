/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * compare.h - compares two samples, quantity by quantity, and finds the differences that are more
 * than chance.
 *
 * Each part of one log is compared with the same part of the other by the logarithm of their ratio.
 * The test whether the ratio is beyond the margin is described in paired.h. Holm's method makes the
 * level hold for all tests together. The ratio that all spans have in common, because the machine
 * or the whole program was slower, can be removed first.
 */
#ifndef POSIXTRACE_DIFF_COMPARE_H
#define POSIXTRACE_DIFF_COMPARE_H

#include "diff/sample.h"

#define COMPARE_COUNT SAMPLE_QUANTILES /* a quantity: number of events of a type */
#define COMPARE_RATE  (COMPARE_COUNT + 1)

#define COMPARE_TYPE ((int)SERIES_EVENT + 1) /* a kind: event type */

struct comparison {
	const char *name;
	int kind;              /* enum series_kind or COMPARE_TYPE */
	int quantity;          /* enum sample_quantile, COMPARE_COUNT or COMPARE_RATE */
	/*
	 * The figures of the two logs in nanoseconds, events, or events per second. A figure is
	 * also 0 if its log does not have the type or span.
	 */
	double a, b;
	uint64_t lost_a, lost_b; /* lost events that would change the figures */
	bool has_interval;
	double ratio, low, high; /* ratio of b to a, without the common ratio, and its interval */
	bool is_tested;
	double p, adjusted;
	bool differs;
};

struct compare {
	double level, margin;  /* both 0.05 by default: 5 % */
	bool relative;         /* removes the common ratio of the spans */
	struct comparison *row;
	size_t rows;
	size_t tested, differ;
	size_t common_of;      /* number of spans with the common ratio; 0: none was removed */
	double common;         /* logarithm of the common ratio */
};

/*
 * Fills the rows. The caller sets level, margin and relative before. Returns false without memory.
 * The caller calls compare_fini() in any case.
 */
bool compare_samples(struct compare *compare, const struct sample *a, const struct sample *b);
void compare_fini(struct compare *compare);

/* Names for the output. */
const char *compare_quantity_name(int quantity);
const char *compare_kind_name(int kind);

#endif
