/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * compare.c - makes the comparisons of two samples and tests them.
 *
 * Both logs are divided into SAMPLE_PARTS parts. For each part the ratio of the figures of the two
 * logs is computed, and all tests use the logarithms of these ratios. In logarithms a factor is a
 * summand, and "twice as slow" is as far from "equal" as "twice as fast".
 */
#include "diff/compare.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "diff/paired.h"

#define CONFIDENCE   0.95
/* a count is tested if at least one log has this number of events */
#define COUNT_LEAST  (3 * SAMPLE_PARTS)
#define COMMON_LEAST 3                  /* a common ratio needs at least this number of spans */

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
 * Appends a comparison. Returns NULL if memory is lacking. The next call may move the rows, so the
 * pointer is valid only until then. The function does not copy "name", which belongs to a sample
 * that exists longer than the comparison.
 */
static struct comparison *add_row(struct compare *compare, const char *name, int kind, int quantity)
{
	struct comparison *row;

	if (!vec_grow(&compare->row, compare->rows, 1))
		return NULL;
	row = &compare->row[compare->rows++];
	row->name = name;
	row->kind = kind;
	row->quantity = quantity;
	return row;
}

/*
 * Computes the ratio and its interval. "difference" has the logarithms of the ratios of the parts,
 * and "shift" is added to each of them.
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
 * Tests a comparison against the margin. p becomes small if the ratio is farther from 1 than the
 * margin allows. adjust_all() adjusts p later, when all tests are known.
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
 * Finds the type with this name. A type of one log is compared with the type of the other log that
 * has the same name. Their ids may differ, because each log assigns its own ids.
 */
static const struct sample_type *find_type(const struct sample *sample, const char *name)
{
	for (size_t i = 0; i < sample->types; i++)
		if (!strcmp(sample->type[i].name, name))
			return &sample->type[i];
	return NULL;
}

/*
 * Stores a difference for each part. The difference is the logarithm of the ratio of the two logs'
 * total counts, plus the part's deviation from that ratio. If both logs have the same burst of
 * events, but in different parts, the burst causes two deviations that cancel each other in the
 * mean.
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
			 * If one log has no events of the type, the logarithm would be infinite. So
			 * half an event is added to each part.
			 */
			log(((double)b->part[i] + 0.5) / ((double)a->part[i] + 0.5));
}

/* Returns an upper bound for the number of events that are missing in the count of a type. */
static uint64_t missing_events(const struct sample_type *type)
{
	uint64_t sum;

	return __builtin_add_overflow(type->lost, type->untraced, &sum) ? UINT64_MAX : sum;
}

/*
 * Adds the comparisons of the count and of the rate of an event type. If one log lacks the type, a
 * or b is NULL. Returns false if memory is lacking.
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
	 * The rate is the count times a constant factor. So in logarithms the interval of the rate
	 * is the interval of the count, shifted by a constant.
	 */
	set_interval(rate, difference, log(seconds_a / seconds_b));
	return true;
}

/* Adds the types of log A in their order, then the types that only log B has. */
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

/*
 * Returns the series of this sample that has the kind and name of a series of the other sample, or
 * NULL if there is none.
 */
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
	/* A duration of 0 ns has no logarithm, so half a nanosecond is added to each duration. */
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
 * Finds the ratio that most spans have in common. For each span, the ratio of its medians in the
 * two logs is computed. The common ratio is the median of these ratios. Returns false if memory is
 * lacking.
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
 * Adds the comparisons of the quantiles of a span that both logs have. The common ratio is removed
 * before each test; without --relative compare->common is 0, so nothing is removed. Returns false
 * if memory is lacking.
 */
static bool add_series(struct compare *compare, const struct sample_series *a,
		       const struct sample_series *b)
{
	for (int i = 0; i < SAMPLE_QUANTILES; i++) {
		struct comparison *row = add_row(compare, a->series->name, (int)a->series->kind, i);
		double difference[SAMPLE_PARTS];

		if (!row)
			return false;
		row->a = (double)histogram_percentile(&a->all, sample_quantile[i]);
		row->b = (double)histogram_percentile(&b->all, sample_quantile[i]);
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
 * Adjusts p of all tests by Holm's method. It multiplies the least p by the number of tests, the
 * next p by one less, and so on. If a result would be less than the result before it, the result
 * becomes equal to the result before it. If nothing differs, the probability that any comparison is
 * marked is then at most the level, even if the tests are not independent. Returns false if memory
 * is lacking.
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

/*
 * The function does not compare a span that only one log has, but it compares the event types of
 * such a span.
 */
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
