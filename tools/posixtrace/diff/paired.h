/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * paired.h - computes the mean of the differences of pairs, and its uncertainty, when neighbouring
 * differences may be correlated.
 *
 * Each difference is that between a part of one run and the same part of the other; the differences
 * are in the order of the parts. Chance makes parts differ independently. Drift, mostly because of
 * other work of the machine, makes neighbouring parts similar. The drift between the two runs is
 * assumed to be twice that within them. Having more parts does not reduce it:
 *
 * error^2 = variance / parts + 2 max(0, covariance of neighbours)
 *
 * The mean divided by the error has Student's distribution. It has half as many degrees of freedom
 * as there are parts, less one, because the covariance is estimated as well.
 */
#ifndef POSIXTRACE_DIFF_PAIRED_H
#define POSIXTRACE_DIFF_PAIRED_H

#include <stddef.h>

struct paired {
	double middle, error;
	double freedom;
};

/* Computes the mean, its error and the degrees of freedom. count must be greater than 2. */
struct paired paired_of(const double *difference, size_t count);

/*
 * Returns the probability of a mean at least as far outside the range from -margin to margin, if
 * the true mean is in the range.
 */
double paired_p(const struct paired *paired, double margin);

/* Returns half the width of the interval with this confidence, such as 0.95. */
double paired_width(const struct paired *paired, double confidence);

#endif
