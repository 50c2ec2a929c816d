/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * paired.h - computes the mean of the differences of pairs, and the error of this mean.
 * Neighbouring differences may be correlated.
 *
 * Each difference is between a part of one run and the same part of the other run. The differences
 * are in the order of the parts. Chance changes each part independently. Drift, mostly caused by
 * other work of the machine, changes neighbouring parts in a similar way. It is assumed that the
 * drift between the two runs is twice the drift within a run. More parts do not reduce the error
 * that drift causes:
 *
 * error^2 = variance / parts + 2 max(0, covariance of neighbours)
 *
 * The mean divided by the error has Student's distribution with half as many degrees of freedom as
 * parts, less one. This number is less than usual, because the covariance is estimated, too.
 */
#ifndef POSIXTRACE_DIFF_PAIRED_H
#define POSIXTRACE_DIFF_PAIRED_H

#include <stddef.h>

struct paired {
	double middle, error;
	double freedom;
};

/* Computes the mean, its error and the degrees of freedom. "count" must be greater than 2. */
struct paired paired_of(const double *difference, size_t count);

/*
 * Tests whether the true mean can be in the range from -margin to margin. Returns an upper bound
 * for a probability: that a measured mean is as far outside this range as paired->middle, or
 * farther, although the true mean is in the range.
 */
double paired_p(const struct paired *paired, double margin);

/* Returns half the width of the interval with this confidence, such as 0.95. */
double paired_width(const struct paired *paired, double confidence);

#endif
