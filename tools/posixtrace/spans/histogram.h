/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * histogram.h - how often which value came, in constant memory, as HDR histograms have it.
 *
 * Values below HISTOGRAM_STEPS are kept exactly; each power of two above has that many buckets of
 * one width, so a value is known to 1/HISTOGRAM_STEPS of itself, over the whole range of 64 bits.
 *
 * Memory    a kilobyte for each power of two that has values: 58 KiB at most.
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

/* All zero is a histogram without values. False: no memory; the value is not in it. */
bool histogram_add(struct histogram *histogram, uint64_t value);

/* Without values again; keeps its memory. */
void histogram_clear(struct histogram *histogram);
void histogram_fini(struct histogram *histogram);

/* The least value that so much of all, from 0 to 1, do not exceed: as its bucket's greatest. */
uint64_t histogram_percentile(const struct histogram *histogram, double part);

/* The same between the ends of its bucket: for those who calculate with it. */
double histogram_quantile(const struct histogram *histogram, double part);

/*
 * The buckets that have values, from *cursor on, which begins at 0; low and high are their ends,
 * both included. False: there are no more.
 */
struct histogram_bucket {
	uint64_t low, high, count;
};
bool histogram_next(const struct histogram *histogram, unsigned *cursor,
		    struct histogram_bucket *bucket);

#endif
