/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * compare.h - two samples compared, quantity by quantity, and what of the differences is more than
 * chance.
 *
 * Each part of one log is compared with the same part of the other: the logarithm of their ratio.
 * That the ratio is beyond the margin is tested as paired.h says, and all tests together keep their
 * level by Holm's method. The ratio that all spans have in common, by which the machine or the
 * whole program was slower, can be taken out first.
 */
#ifndef POSIXTRACE_DIFF_COMPARE_H
#define POSIXTRACE_DIFF_COMPARE_H

#include "diff/sample.h"

#define COMPARE_COUNT SAMPLE_QUANTILES /* as a quantity: how often an event type came */
#define COMPARE_RATE  (COMPARE_COUNT + 1)

#define COMPARE_TYPE ((int)SERIES_EVENT + 1) /* as a kind: an event type */

struct comparison {
	const char *name;
	int kind;              /* enum series_kind or COMPARE_TYPE */
	int quantity;          /* enum sample_quantile, COMPARE_COUNT or COMPARE_RATE */
	/* nanoseconds, events, or events per second; 0 also if it is not there */
	double a, b;
	uint64_t lost_a, lost_b; /* events that these figures lack */
	bool has_interval;
	double ratio, low, high; /* of b to a; without what is common */
	bool is_tested;
	double p, adjusted;
	bool differs;
};

struct compare {
	double level, margin;  /* 0.05 each: of 5 % */
	bool relative;         /* what is common to all spans is taken out */
	struct comparison *row;
	size_t rows, room;
	size_t tested, differ;
	size_t common_of;      /* spans that tell the common ratio; 0: nothing was taken out */
	double common;
};

/* False: no memory. */
bool compare_samples(struct compare *compare, const struct sample *a, const struct sample *b);
void compare_fini(struct compare *compare);

const char *compare_quantity_name(int quantity);
const char *compare_kind_name(int kind);

#endif
