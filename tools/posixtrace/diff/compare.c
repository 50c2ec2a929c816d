/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * compare.c - forms the comparisons of two samples and tests them.
 *
 * All tests use the logarithms of the parts' ratios. A factor thus becomes a summand, and "twice as
 * slow" is as far from "equal" as "twice as fast". Both logs are divided into SAMPLE_PARTS parts.
 */
#include "diff/compare.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "diff/paired.h"

#define CONFIDENCE   0.95
#define COUNT_LEAST  (3 * SAMPLE_PARTS) /* a count is tested if one log has so many events */
#define COMMON_LEAST 3                  /* spans that are needed for a common ratio */

const char *compare_quantity_name(int quantity)
{
	return quantity == COMPARE_COUNT ? "count" :
	       quantity == COMPARE_RATE ? "rate" : sample_quantile_name[quantity];
}

const char *compare_kind_name(int kind)
{
	return kind == COMPARE_TYPE ? "type" : pairing_kind_name((enum series_kind)kind);
}

/*
 * Appends a comparison. Returns NULL without memory. Rows may move, so the pointer is valid only
 * until the next call. name is not copied; it belongs to a sample, which outlives the comparison.
 */
static struct comparison *add_row(struct compare *compare, const char *name, int kind, int quantity)
{
	struct comparison *more;

	if (!vec_grow(&compare->row, compare->rows, 1))
		return NULL;
	more = &compare->row[compare->rows++];
	more->name = name;
	more->kind = kind;
	more->quantity = quantity;
	return more;
}

/*
 * Computes the ratio and its interval from the logarithms of the parts' ratios. shift is added to
 * all these logarithms.
 */
static void set_interval(struct comparison *to, const double *difference, double shift)
{
	struct paired paired = paired_of(difference, SAMPLE_PARTS);
	double width = paired_width(&paired, CONFIDENCE);

	to->ratio = exp(paired.middle + shift);
	to->low = exp(paired.middle + shift - width);
	to->high = exp(paired.middle + shift + width);
	to->has_interval = true;
}

/*
 * Tests a comparison against the margin: p is small if the ratio is farther from 1 than the margin
 * allows. The result is adjusted later, when all tests are known.
 */
static void compare_test(const struct compare *compare, struct comparison *to,
			 const double *difference)
{
	struct paired paired = paired_of(difference, SAMPLE_PARTS);

	set_interval(to, difference, 0);
	to->p = paired_p(&paired, log(1 + compare->margin));
	to->is_tested = true;
}

/* ------------------------------------------------------------------ event types */

/*
 * Types of two logs are the same if their names are equal. Their ids may differ, because each log
 * has its own.
 */
static const struct sample_type *find_type(const struct sample *sample, const char *name)
{
	for (size_t i = 0; i < sample->types; i++)
		if (!strcmp(sample->type[i].name, name))
			return &sample->type[i];
	return NULL;
}

/*
 * Computes the logarithm of the ratio of the sums, and for each part its deviation from that ratio.
 * If a burst of events is in different parts of the two logs, it makes two deviations that cancel
 * each other.
 */
static void count_differences(const struct sample_type *a, const struct sample_type *b,
			      double *difference)
{
	double ratio = (double)b->count / (double)a->count;

	for (int i = 0; i < SAMPLE_PARTS; i++)
		difference[i] = a->count && b->count ?
			log(ratio) + ((double)b->part[i] - ratio * (double)a->part[i]) /
				((double)b->count / SAMPLE_PARTS) :
			/*
			 * If one log has no events, the ratio has no logarithm, so half an event is
			 * added to each part.
			 */
			log(((double)b->part[i] + 0.5) / ((double)a->part[i] + 0.5));
}

/* Returns the number of events that may be missing in the count of a type. */
static uint64_t missing_events(const struct sample_type *type)
{
	uint64_t sum;

	return __builtin_add_overflow(type->lost, type->untraced, &sum) ? UINT64_MAX : sum;
}

/*
 * Adds the count and the rate of an event type. a or b is NULL if that log lacks the type. Returns
 * false without memory.
 */
static bool add_type(struct compare *compare, const char *name, const struct sample_type *a,
		     const struct sample_type *b, double seconds_a, double seconds_b)
{
	static const struct sample_type none;
	struct comparison *count = add_row(compare, name, COMPARE_TYPE, COMPARE_COUNT), *rate;
	double difference[SAMPLE_PARTS];

	if (!count)
		return false;
	a = a ? a : &none;
	b = b ? b : &none;
	count->a = (double)a->count;
	count->b = (double)b->count;
	count->lost_a = missing_events(a);
	count->lost_b = missing_events(b);
	count_differences(a, b, difference);
	if (a->count >= COUNT_LEAST || b->count >= COUNT_LEAST)
		compare_test(compare, count, difference);
	if (seconds_a <= 0 || seconds_b <= 0)
		return true;
	rate = add_row(compare, name, COMPARE_TYPE, COMPARE_RATE);
	if (!rate)
		return false;
	rate->a = (double)a->count / seconds_a;
	rate->b = (double)b->count / seconds_b;
	rate->lost_a = missing_events(a);
	rate->lost_b = missing_events(b);
	if (!compare->row[compare->rows - 2].is_tested)
		return true;
	/*
	 * The rate differs from the count by a constant factor. So the logarithms have the same
	 * interval, shifted by a constant.
	 */
	set_interval(rate, difference, log(seconds_a / seconds_b));
	return true;
}

/* Adds the types of A in their order, then those that only B has. */
static bool add_types(struct compare *compare, const struct sample *a, const struct sample *b)
{
	double seconds_a = sample_seconds(a), seconds_b = sample_seconds(b);

	for (size_t i = 0; i < a->types; i++) {
		const struct sample_type *other = find_type(b, a->type[i].name);

		if ((a->type[i].count || a->type[i].lost ||
		     (other && (other->count || other->lost))) &&
		    !add_type(compare, a->type[i].name, &a->type[i], other, seconds_a, seconds_b))
			return false;
	}
	for (size_t i = 0; i < b->types; i++)
		if ((b->type[i].count || b->type[i].lost) && !find_type(a, b->type[i].name) &&
		    !add_type(compare, b->type[i].name, NULL, &b->type[i], seconds_a, seconds_b))
			return false;
	return true;
}

/* ------------------------------------------------------------------ spans */

/* Returns the series of the other log with this kind and name, NULL if there is none. */
static const struct sample_series *find_series(const struct sample *sample,
					       const struct series *series)
{
	for (size_t i = 0; i < sample->count; i++)
		if (sample->series[i].series->kind == series->kind &&
		    !strcmp(sample->series[i].series->name, series->name))
			return &sample->series[i];
	return NULL;
}

/* Stores the logarithms of the ratios of a quantile, part by part. */
static void series_differences(const struct sample_series *a, const struct sample_series *b,
			enum sample_quantile quantile, double *difference)
{
	/* A duration of 0 ns has no logarithm; half a nanosecond is added. */
	for (int i = 0; i < SAMPLE_PARTS; i++)
		difference[i] = log((b->quantile[quantile][i] + 0.5) /
				    (a->quantile[quantile][i] + 0.5));
}

static int compare_ascending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/*
 * Finds the common ratio: computes for each span the ratio of its medians in the two logs, and
 * takes the median of these ratios. Returns false without memory.
 */
static bool find_common(struct compare *compare, const struct sample *a, const struct sample *b)
{
	double *middle = calloc(a->count + 1, sizeof(*middle));
	size_t n = 0;

	if (!middle)
		return false;
	for (size_t i = 0; i < a->count; i++) {
		const struct sample_series *other = find_series(b, a->series[i].series);
		double difference[SAMPLE_PARTS];

		if (!other || !sample_has(&a->series[i], SAMPLE_P50) ||
		    !sample_has(other, SAMPLE_P50))
			continue;
		series_differences(&a->series[i], other, SAMPLE_P50, difference);
		middle[n++] = paired_of(difference, SAMPLE_PARTS).middle;
	}
	if (n >= COMMON_LEAST) {
		qsort(middle, n, sizeof(*middle), compare_ascending);
		compare->common_of = n;
		compare->common = n % 2 ? middle[n / 2] : (middle[n / 2 - 1] + middle[n / 2]) / 2;
	}
	free(middle);
	return true;
}

/*
 * Adds the quantiles of a span that both logs have. Returns false without memory. With
 * compare->relative the common ratio is removed before the test. Without it, compare->common is
 * 0.
 */
static bool add_series(struct compare *compare, const struct sample_series *a,
		       const struct sample_series *b)
{
	for (int i = 0; i < SAMPLE_QUANTILES; i++) {
		struct comparison *row = add_row(compare, a->series->name, (int)a->series->kind, i);
		double difference[SAMPLE_PARTS];

		if (!row)
			return false;
		row->a = histogram_quantile(&a->all, sample_quantile[i]);
		row->b = histogram_quantile(&b->all, sample_quantile[i]);
		row->lost_a = a->lost;
		row->lost_b = b->lost;
		if (!sample_has(a, i) || !sample_has(b, i))
			continue;
		series_differences(a, b, i, difference);
		for (int part = 0; part < SAMPLE_PARTS; part++)
			difference[part] -= compare->common;
		compare_test(compare, row, difference);
	}
	return true;
}

/* ------------------------------------------------------------------ all together */

static int by_p(const void *a, const void *b)
{
	const struct comparison *x = *(struct comparison *const *)a;
	const struct comparison *y = *(struct comparison *const *)b;

	return (x->p > y->p) - (x->p < y->p);
}

/*
 * Holm's method: the least p is multiplied by the number of tests, the next one by one less, and so
 * on; no result is less than the one before. Holm's method keeps the probability that any mark is
 * false below the level. The tests need not be independent for that. Returns false without memory.
 */
static bool adjust_all(struct compare *compare)
{
	struct comparison **order = calloc(compare->rows + 1, sizeof(*order));
	double before = 0;

	if (!order)
		return false;
	for (size_t i = 0; i < compare->rows; i++)
		if (compare->row[i].is_tested)
			order[compare->tested++] = &compare->row[i];
	if (compare->tested)
		qsort(order, compare->tested, sizeof(*order), by_p);
	for (size_t i = 0; i < compare->tested; i++) {
		before = fmax(before, fmin(1, order[i]->p * (double)(compare->tested - i)));
		order[i]->adjusted = before;
		order[i]->differs = before <= compare->level;
		compare->differ += order[i]->differs;
	}
	free(order);
	return true;
}

/* Spans that only one log has are not compared; their event types are. */
bool compare_samples(struct compare *compare, const struct sample *a, const struct sample *b)
{
	if (!add_types(compare, a, b) || (compare->relative && !find_common(compare, a, b)))
		return false;
	for (size_t i = 0; i < a->count; i++) {
		const struct sample_series *other = find_series(b, a->series[i].series);

		if (other && !add_series(compare, &a->series[i], other))
			return false;
	}
	return adjust_all(compare);
}

void compare_fini(struct compare *compare)
{
	free(compare->row);
}
