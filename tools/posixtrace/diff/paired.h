/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * paired.h - what differences of pairs say of their middle, where neighbours may be alike.
 *
 * The differences are of parts of two runs, in their order. Chance makes parts differ, each by
 * itself; what drifts, the machine's other work above all, makes neighbours alike, and twice as
 * much of it as is seen within the runs is taken to lie between them, where it does not become less
 * by more parts:
 *
 *	error^2 = variance / parts + 2 max(0, covariance of neighbours)
 *
 * Middle by error has Student's distribution, with half as many degrees of freedom as there are
 * parts, less one, since the covariance is estimated as well.
 */
#ifndef POSIXTRACE_DIFF_PAIRED_H
#define POSIXTRACE_DIFF_PAIRED_H

#include <stddef.h>

struct paired {
	double middle, error;
	double freedom;
};

struct paired paired_of(const double *difference, size_t count);

/* How likely a middle as far beyond the range -margin to margin is, if the true one lies in it. */
double paired_p(const struct paired *paired, double margin);

/* Half the width of the interval of that confidence. */
double paired_width(const struct paired *paired, double confidence);

#endif
