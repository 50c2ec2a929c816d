/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * compare.h - compares each quantity of two samples and finds the differences that are greater than
 * chance explains.
 *
 * Each part of one log is compared with the same part of the other log. The comparison uses the
 * logarithm of the ratio of their figures. paired.h describes the test that finds whether the ratio
 * is beyond the margin. Holm's method adjusts the tests, so that the level holds for all tests
 * together. If the machine or the whole program was slower, most spans have a ratio in common. With
 * --relative this ratio is removed before the tests.
 */
#ifndef POSIXTRACE_DIFF_COMPARE_H
#define POSIXTRACE_DIFF_COMPARE_H

#include "diff/sample.h"

#define COMPARE_COUNT SAMPLE_QUANTILES /* a quantity: the number of events of a type */
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
	/*
	 * the ratio of b to a, and the interval of this ratio; the common ratio has been removed
	 * from both
	 */
	double ratio, low, high;
	bool is_tested;
	double p, adjusted;
	bool differs;
};

struct compare {
	double level, margin;  /* each is 0.05 by default, which is 5 % */
	bool relative;         /* --relative: the common ratio of the spans is removed */
	struct comparison *row;
	size_t rows;
	size_t tested, differ;
	/* number of spans from which the common ratio was computed; 0: it was not computed */
	size_t common_of;
	double common;         /* logarithm of the common ratio */
};

/*
 * Fills the rows. The caller must set "level", "margin" and "relative" before the call. Returns
 * false if memory is lacking. The caller must call compare_fini() in any case.
 */
bool compare_samples(struct compare *compare, const struct sample *a, const struct sample *b);
void compare_fini(struct compare *compare);

/* These functions return the name of a quantity or of a kind for the output. */
const char *compare_quantity_name(int quantity);
const char *compare_kind_name(int kind);

#endif
