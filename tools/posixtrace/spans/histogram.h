/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * histogram.h - counts of values in bounded memory, as HDR histograms do.
 *
 * Values below HISTOGRAM_STEPS are kept exactly. Each power of two above has that many buckets of
 * equal width, so over the whole range of 64 bits the error of a value is at most 1/HISTOGRAM_STEPS
 * of it.
 *
 * Memory: one kilobyte for each power of two with values, at most 58 KiB.
 */
#ifndef POSIXTRACE_SPANS_HISTOGRAM_H
#define POSIXTRACE_SPANS_HISTOGRAM_H

#include <stdbool.h>
#include <stdint.h>

#define HISTOGRAM_STEPS   128
#define HISTOGRAM_OCTAVES 58

struct histogram {
	uint64_t count, min, max;
	double total;
	uint64_t *octave[HISTOGRAM_OCTAVES];
};

/*
 * Adds a value. A histogram of all zeros is empty. Returns false without memory; the value is not
 * added.
 */
bool histogram_add(struct histogram *histogram, uint64_t value);

/* Removes all values and keeps the memory. */
void histogram_clear(struct histogram *histogram);
/* Frees the memory; the histogram is empty. */
void histogram_fini(struct histogram *histogram);

/*
 * Returns a value that the given part of all values, from 0 to 1, does not exceed. It is the
 * greatest value of the bucket that contains the least such value. Returns 0 if the histogram is
 * empty.
 */
uint64_t histogram_percentile(const struct histogram *histogram, double part);

/* Does the same with interpolation in the bucket, for callers that compute with the result. */
double histogram_quantile(const struct histogram *histogram, double part);

/*
 * Visits the buckets with values in ascending order. *cursor is 0 at the first call. low and high
 * are the ends of the bucket, both included. Returns false after the last one.
 */
struct histogram_bucket {
	uint64_t low, high, count;
};
bool histogram_next(const struct histogram *histogram, unsigned *cursor,
		    struct histogram_bucket *bucket);

#endif
