/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * paired.h - computes the mean of the differences of pairs, and the error of this mean.
 * Neighbouring differences may be correlated.
 *
 * Each difference is between a part of one run and the same part of the other run. The differences
 * are in the order of the parts. Chance changes each part independently. Drift, mostly caused by
 * other work of the machine, changes neighbouring parts in a similar way. It is assumed that the
 * drift between the two runs is twice the drift within a run. More parts do not reduce the error by
 * drift:
 *
 * error^2 = variance / parts + 2 max(0, covariance of neighbours)
 *
 * The mean divided by the error has Student's distribution. Its number of degrees of freedom is
 * half the number of parts, less one. This is less than usual, because the covariance is estimated,
 * too.
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
 * Returns an upper bound of the probability that a measured mean is at least as far outside the
 * range from -margin to margin as paired->middle, if the true mean is within this range.
 */
double paired_p(const struct paired *paired, double margin);

/* Returns half the width of the interval with this confidence, such as 0.95. */
double paired_width(const struct paired *paired, double confidence);

#endif
