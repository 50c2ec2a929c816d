/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * histogram.h - counts values in a limited memory, by the method of HDR histograms.
 *
 * Values below HISTOGRAM_STEPS are kept exactly. From there on, the range from each power of two to
 * the next has HISTOGRAM_STEPS buckets of equal width. So for each value of 64 bits the error is at
 * most 1/HISTOGRAM_STEPS of the value.
 *
 * The counts need one KiB for each octave that has values, at most 58 KiB.
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
 * Adds a value. A histogram of all zeros is empty. If memory is lacking, the function returns false
 * and does not add the value.
 */
bool histogram_add(struct histogram *histogram, uint64_t value);

/* Removes all values and keeps the memory. */
void histogram_clear(struct histogram *histogram);
/* Frees the memory and makes the histogram empty. */
void histogram_fini(struct histogram *histogram);

/*
 * Returns a value that is not less than the given part of all values; 'part' is from 0 to 1. The
 * result is the upper end of the bucket that contains the least such value, but at most the
 * greatest value that was added. Returns 0 if the histogram is empty. Each percentile that the tool
 * shows comes from this function; posixtrace-latency(1) describes it for users.
 */
uint64_t histogram_percentile(const struct histogram *histogram, double part);

/*
 * Estimates the same value by interpolation within its bucket. histogram_percentile(), in contrast,
 * returns the upper end of the bucket. This function is for callers that compute with the result
 * and do not show it.
 */
double histogram_quantile(const struct histogram *histogram, double part);

/*
 * Visits the buckets with values in ascending order. *cursor is 0 at the first call. low is the
 * least and high the greatest value that belongs to the bucket. Returns false behind the last
 * bucket with values.
 */
struct histogram_bucket {
	uint64_t low, high, count;
};
bool histogram_next(const struct histogram *histogram, unsigned *cursor,
		    struct histogram_bucket *bucket);

#endif
