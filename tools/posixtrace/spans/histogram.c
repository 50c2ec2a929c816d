/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * histogram.c - buckets of constant relative width. The position of the highest bit of a value
 * selects the octave, and the STEP_BITS bits behind it select the bucket. So no logarithm is
 * computed.
 */
#include "spans/histogram.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define STEP_BITS 7 /* an octave has 2^STEP_BITS buckets */

_Static_assert(HISTOGRAM_STEPS == 1 << STEP_BITS, "the number of steps is a power of two");
_Static_assert(HISTOGRAM_OCTAVES == 64 - STEP_BITS + 1, "the octaves cover all values");

/*
 * Returns the number of the bucket that contains the value. Octave 0 has the values below
 * HISTOGRAM_STEPS. Each octave n > 0 begins with the value 2^(n + STEP_BITS - 1).
 */
static unsigned bucket_of(uint64_t value)
{
	unsigned power;

	if (value < HISTOGRAM_STEPS)
		return (unsigned)value;
	power = 63 - (unsigned)__builtin_clzll(value);
	return (power - STEP_BITS + 1) * HISTOGRAM_STEPS +
	       (unsigned)((value >> (power - STEP_BITS)) - HISTOGRAM_STEPS);
}

/* Returns the least value of a bucket. */
static uint64_t low_of(unsigned bucket)
{
	unsigned octave = bucket / HISTOGRAM_STEPS;
	uint64_t step = bucket % HISTOGRAM_STEPS;

	return octave ? (HISTOGRAM_STEPS + step) << (octave - 1) : step;
}

/* Returns the greatest value of a bucket. */
static uint64_t high_of(unsigned bucket)
{
	unsigned octave = bucket / HISTOGRAM_STEPS;

	return low_of(bucket) + (octave ? (UINT64_C(1) << (octave - 1)) - 1 : 0);
}

bool histogram_add(struct histogram *histogram, uint64_t value)
{
	unsigned bucket = bucket_of(value);
	uint64_t **octave = &histogram->octave[bucket / HISTOGRAM_STEPS];

	/*
	 * Most histograms need few octaves, so an octave is allocated when its first value is
	 * added.
	 */
	if (!*octave)
		*octave = calloc(HISTOGRAM_STEPS, sizeof(**octave));
	if (!*octave)
		return false;
	(*octave)[bucket % HISTOGRAM_STEPS]++;
	if (!histogram->count++ || value < histogram->min)
		histogram->min = value;
	if (value > histogram->max)
		histogram->max = value;
	histogram->total += (double)value;
	return true;
}

void histogram_clear(struct histogram *histogram)
{
	for (unsigned i = 0; i < HISTOGRAM_OCTAVES; i++)
		if (histogram->octave[i])
			memset(histogram->octave[i], 0,
			       HISTOGRAM_STEPS * sizeof(*histogram->octave[i]));
	histogram->count = histogram->min = histogram->max = 0;
	histogram->total = 0;
}

void histogram_fini(struct histogram *histogram)
{
	for (unsigned i = 0; i < HISTOGRAM_OCTAVES; i++)
		free(histogram->octave[i]);
	memset(histogram, 0, sizeof(*histogram));
}

bool histogram_next(const struct histogram *histogram, unsigned *cursor,
		    struct histogram_bucket *bucket)
{
	unsigned i = *cursor;

	while (i < HISTOGRAM_OCTAVES * HISTOGRAM_STEPS) {
		const uint64_t *octave = histogram->octave[i / HISTOGRAM_STEPS];

		if (!octave) {
			/* skips an octave without values */
			i = (i / HISTOGRAM_STEPS + 1) * HISTOGRAM_STEPS;
			continue;
		}
		if (octave[i % HISTOGRAM_STEPS]) {
			*bucket = (struct histogram_bucket){ low_of(i), high_of(i),
							     octave[i % HISTOGRAM_STEPS] };
			*cursor = i + 1;
			return true;
		}
		i++;
	}
	*cursor = i;
	return false;
}

/*
 * Returns the bucket that contains the value with the index 'place' in the sorted values. Stores
 * the number of values in lower buckets in *before.
 */
static struct histogram_bucket find_bucket(const struct histogram *histogram, uint64_t place,
				    uint64_t *before)
{
	struct histogram_bucket bucket = { 0, 0, 0 };
	unsigned cursor = 0;

	*before = 0;
	while (histogram_next(histogram, &cursor, &bucket) && *before + bucket.count <= place)
		*before += bucket.count;
	return bucket;
}

uint64_t histogram_percentile(const struct histogram *histogram, double part)
{
	/*
	 * The nearest-rank method: if the values are sorted, the value at the place 'wanted', where
	 * places count from 1, is the result.
	 */
	double wanted = ceil((double)histogram->count * part);
	uint64_t place = wanted >= 1 ? (uint64_t)wanted - 1 : 0, before;
	struct histogram_bucket bucket;

	/* A histogram without values has no bucket to search. */
	if (!histogram->count)
		return 0;
	if (place >= histogram->count)
		place = histogram->count - 1;
	bucket = find_bucket(histogram, place, &before);
	/* max is an exact value */
	return bucket.high < histogram->max ? bucket.high : histogram->max;
}

double histogram_quantile(const struct histogram *histogram, double part)
{
	double wanted = (double)histogram->count * part;
	uint64_t place = (uint64_t)wanted, before;
	struct histogram_bucket bucket;
	double value;

	if (!histogram->count)
		return 0;
	if (place >= histogram->count)
		place = histogram->count - 1;
	bucket = find_bucket(histogram, place, &before);
	/* The interpolation assumes that the values are spread evenly over the bucket. */
	value = (double)bucket.low + ((double)(bucket.high - bucket.low) + 1) *
		(wanted - (double)before) / (double)bucket.count;
	/*
	 * The result must not be less than the least or greater than the greatest value that was
	 * added. A bucket may reach beyond these values.
	 */
	return fmin(fmax(value, (double)histogram->min), (double)histogram->max);
}
