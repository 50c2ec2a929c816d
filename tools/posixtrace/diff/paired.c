/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * paired.c - Student's test for differences of pairs, where neighbouring differences may be
 * correlated. The C library has no distribution functions, so the incomplete beta function is
 * computed here.
 */
#include "diff/paired.h"

#include <math.h>

#define STEPS   300 /* limit of the steps for the continued fraction, which needs far fewer steps */
/*
 * the factor of the covariance in the formula of paired.h; it is greater than 1, because drift is
 * slow: there is more drift between two runs than within a run
 */
#define BETWEEN 2

/*
 * Computes the continued fraction of the incomplete beta function by Lentz's method. A denominator
 * that is nearly 0 is replaced by tiny.
 */
static double paired_fraction(double a, double b, double x)
{
	const double tiny = 1e-300;
	double c = 1, d = 1 - (a + b) * x / (a + 1), result;

	d = 1 / (fabs(d) < tiny ? tiny : d);
	result = d;
	for (int m = 1; m <= STEPS; m++) {
		double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
		double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
		double step;

		d = 1 + even * d;
		c = 1 + even / c;
		d = 1 / (fabs(d) < tiny ? tiny : d);
		c = fabs(c) < tiny ? tiny : c;
		result *= d * c;
		d = 1 + odd * d;
		c = 1 + odd / c;
		d = 1 / (fabs(d) < tiny ? tiny : d);
		c = fabs(c) < tiny ? tiny : c;
		step = d * c;
		result *= step;
		if (fabs(step - 1) < 1e-12)
			break;
	}
	return result;
}

/*
 * Computes the regularized incomplete beta function. The continued fraction converges fast only for
 * small x. So for a large x the result is computed from the function's value at 1 - x.
 */
static double paired_beta(double a, double b, double x)
{
	double front;

	if (x <= 0 || x >= 1)
		return x > 0;
	front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x));
	return x < (a + 1) / (a + b + 2) ? front * paired_fraction(a, b, x) / a
					 : 1 - front * paired_fraction(b, a, 1 - x) / b;
}

/*
 * Returns the probability that a value of Student's distribution exceeds t. t must not be negative.
 */
static double student_above(double t, double freedom)
{
	return paired_beta(freedom / 2, 0.5, freedom / (freedom + t * t)) / 2;
}

/*
 * paired.h has the formula. A negative covariance is replaced by 0. Otherwise the error would be
 * less than for independent parts, and differences would be marked too easily.
 */
struct paired paired_of(const double *difference, size_t count)
{
	struct paired paired = { .freedom = (double)count / 2 - 1 };
	double variance = 0, covariance = 0;

	for (size_t i = 0; i < count; i++)
		paired.middle += difference[i] / (double)count;
	for (size_t i = 0; i < count; i++) {
		double off = difference[i] - paired.middle;

		variance += off * off / (double)(count - 1);
		if (i)
			covariance +=
				off * (difference[i - 1] - paired.middle) / (double)(count - 1);
	}
	paired.error = sqrt(variance / (double)count + BETWEEN * fmax(0, covariance));
	return paired;
}

/*
 * The test is two-sided. If all differences are equal, the error is 0. The result is then 0 if the
 * differences are beyond the margin, and otherwise 1.
 */
double paired_p(const struct paired *paired, double margin)
{
	double beyond = fabs(paired->middle) - margin;

	if (beyond <= 0)
		return 1;
	return paired->error > 0 ?
		       fmin(1, 2 * student_above(beyond / paired->error, paired->freedom)) :
		       0;
}

/* Inverts student_above() by bisection. 100 steps give more precision than a double has. */
double paired_width(const struct paired *paired, double confidence)
{
	double low = 0, high = 1e6;

	for (int i = 0; i < 100; i++) {
		double t = (low + high) / 2;

		if (2 * student_above(t, paired->freedom) > 1 - confidence)
			low = t;
		else
			high = t;
	}
	return high * paired->error;
}
