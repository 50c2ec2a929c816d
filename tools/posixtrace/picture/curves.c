/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* curves.c - keeps the values of counters over time. */
#include "picture/curves.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "base/vec.h"

enum curve_place { FIRST, LEAST, GREATEST, LAST };

bool curves_has(const struct posix_trace_schema_np *schema)
{
	for (unsigned i = 0; schema && i < schema->fields; i++)
		if (schema->field[i].is_counter)
			return true;
	return false;
}

/*
 * For table_find(): returns whether a curve and the wanted curve have the same log, process, type
 * and field.
 */
static bool is_curve(const void *array, uint32_t index, const void *key)
{
	const struct curve *curve = (const struct curve *)array + index, *wanted = key;

	return curve->log == wanted->log && curve->pid == wanted->pid &&
	       curve->type == wanted->type &&
	       curve->counter.field == wanted->counter.field;
}

/*
 * Returns the curve of a counter. If the curve does not exist, makes it if "make" is true and there
 * is room; otherwise returns NULL. The pointer is valid until the next new curve is made.
 */
static struct curve *curve_of(struct curves *curves, const struct curve *wanted, bool make)
{
	uint64_t hash = hash_number(hash_number(HASH_BEGIN, (uint64_t)wanted->log << 32 |
						(unsigned)wanted->pid),
				    (uint64_t)wanted->type << 32 | wanted->counter.field);
	uint32_t index = table_find(&curves->of_curve, hash, is_curve, curves->curve, wanted);

	if (index != TABLE_NONE)
		return &curves->curve[index];
	if (!make || curves->count == CURVES_MAX)
		return NULL;
	if (!vec_grow(&curves->curve, curves->count, 1) ||
	    !table_add(&curves->of_curve, hash, (uint32_t)curves->count)) {
		curves->err = ENOMEM;
		return NULL;
	}
	curves->curve[curves->count] = *wanted;
	return &curves->curve[curves->count++];
}

/* Returns whether a value can be drawn, because it is a number and finite. */
static bool is_drawable(const struct posix_trace_value_np *value)
{
	return value->field->form != POSIX_TRACE_FORM_FLOAT_NP || isfinite(value->f64);
}

static void survey_value(struct curves *curves, struct curve *curve,
			 const struct posix_trace_value_np *value, int64_t time_ns)
{
	if (!curve) {
		curves->left_out++;
	} else if (is_drawable(value)) {
		curves->values++;
		counter_add(&curve->counter, value, time_ns);
	} else {
		curve->counter.unknown++;
	}
}

void curves_begin(struct curves *curves, uint64_t length_ns, size_t limit)
{
	size_t bins = curves->count ? limit / 4 / curves->count : 0;

	if (curves->values <= limit)
		return;
	bins = bins < 1 ? 1 : bins > CURVES_BINS ? CURVES_BINS : bins;
	curves->bin_ns = ((double)length_ns + 1) / (double)bins;
}

static void keep_value(struct curves *curves, const struct curve *curve,
		       const struct curve_value *value)
{
	if (runs_add(&curves->kept, &(const struct item){
		.ns = value->ns, .value = curves_bits(value->value),
		.row = (uint16_t)(curve - curves->curve) }))
		curves->err = ENOMEM;
}

/*
 * Keeps the first, least, greatest and last value of a bin, in the order of reading. If one value
 * is, for example, both the first and the least, it is kept once.
 */
static void keep_bin(struct curves *curves, struct curve *curve)
{
	const struct curve_value *kept = curve->kept;
	const struct curve_value *middle[2] = { &kept[LEAST], &kept[GREATEST] };

	if (!curve->has_bin)
		return;
	curve->has_bin = false;
	if (middle[0]->order > middle[1]->order) {
		middle[0] = &kept[GREATEST];
		middle[1] = &kept[LEAST];
	}
	keep_value(curves, curve, &kept[FIRST]);
	for (int i = 0; i < 2; i++)
		if (middle[i]->order != kept[FIRST].order && middle[i]->order != kept[LAST].order &&
		    (!i || middle[1]->order != middle[0]->order))
			keep_value(curves, curve, middle[i]);
	if (kept[LAST].order != kept[FIRST].order)
		keep_value(curves, curve, &kept[LAST]);
}

/*
 * Keeps a value, or compares it with the values of its bin. A value may be late because its writer
 * was interrupted. Such a value may begin a bin again whose values were kept already. In this case
 * more than four values of the bin are kept, which does no harm.
 */
static void add_value(struct curves *curves, struct curve *curve,
		      const struct posix_trace_value_np *value, uint64_t ns)
{
	struct curve_value one = { .ns = ns };
	uint64_t bin;

	if (!curve || !is_drawable(value))
		return;
	one.value = (double)counter_precise(value);
	one.order = curve->seen++;
	if (curves->bin_ns == 0) {
		keep_value(curves, curve, &one);
		return;
	}
	bin = (uint64_t)((double)ns / curves->bin_ns);
	if (bin != curve->bin)
		keep_bin(curves, curve);
	if (!curve->has_bin)
		for (int i = 0; i < 4; i++)
			curve->kept[i] = one;
	curve->has_bin = true;
	curve->bin = bin;
	if (one.value < curve->kept[LEAST].value)
		curve->kept[LEAST] = one;
	if (one.value > curve->kept[GREATEST].value)
		curve->kept[GREATEST] = one;
	curve->kept[LAST] = one;
}

/*
 * Surveys or keeps the value of each counter of an event. If there is no room for a new curve,
 * curve_of() returns NULL. If the data is too short, the last fields have no value.
 */
static void use_values(struct curves *curves, bool survey, uint16_t log, uint16_t type,
		       const struct log_type *of, const struct posix_trace_event_np *event,
		       uint64_t ns)
{
	struct curve wanted = { .log = log, .pid = event->info.posix_pid, .type = type, .of = of };
	struct posix_trace_value_np value;
	struct curve *curve;

	for (unsigned i = 0; i < of->schema->fields; i++) {
		if (!of->schema->field[i].is_counter ||
		    !posix_trace_field_get_np(of->schema, i, 0, event->data, event->data_len, 0,
					      &value))
			continue;
		wanted.counter.field = i;
		curve = curve_of(curves, &wanted, survey);
		if (survey)
			survey_value(curves, curve, &value, event->time_ns);
		else
			add_value(curves, curve, &value, ns);
	}
}

void curves_survey(struct curves *curves, uint16_t log, uint16_t type, const struct log_type *of,
		   const struct posix_trace_event_np *event)
{
	use_values(curves, true, log, type, of, event, 0);
}

void curves_keep(struct curves *curves, uint16_t log, uint16_t type, const struct log_type *of,
		 const struct posix_trace_event_np *event, uint64_t ns)
{
	use_values(curves, false, log, type, of, event, ns);
}

int curves_end(struct curves *curves)
{
	for (size_t i = 0; i < curves->count; i++)
		keep_bin(curves, &curves->curve[i]);
	return curves->err || runs_end(&curves->kept) ? ENOMEM : 0;
}

void curves_fini(struct curves *curves)
{
	free(curves->curve);
	table_fini(&curves->of_curve);
	runs_fini(&curves->kept);
}
