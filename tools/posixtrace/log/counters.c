/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* counters.c - computes the least, greatest, last and mean values of counters. */
#include "log/counters.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

bool counters_init(struct counters *counters, const struct posix_trace_schema_np *schema)
{
	unsigned count = 0;

	memset(counters, 0, sizeof(*counters));
	for (unsigned i = 0; schema && i < schema->fields; i++)
		count += schema->field[i].is_counter != 0;
	/* Most types have no counters and need no memory. */
	if (!count)
		return true;
	counters->counter = calloc(count, sizeof(*counters->counter));
	if (!counters->counter)
		return false;
	for (unsigned i = 0; i < schema->fields; i++)
		if (schema->field[i].is_counter)
			counters->counter[counters->count++].field = i;
	return true;
}

void counters_fini(struct counters *counters)
{
	free(counters->counter);
	memset(counters, 0, sizeof(*counters));
}

/*
 * Compares two values in their own type, because a double would round large integers. The values
 * are not NAN.
 */
static bool is_less(const struct posix_trace_value_np *a, const struct posix_trace_value_np *b)
{
	switch (a->field->form) {
	case POSIX_TRACE_FORM_SIGNED_NP:
		return a->s64 < b->s64;
	case POSIX_TRACE_FORM_FLOAT_NP:
		return a->f64 < b->f64;
	default:
		return a->u64 < b->u64;
	}
}

/*
 * On x86 a long double has 64 bits of precision, so it holds each integer exactly. On other
 * machines it is at least as precise as a double, which is enough, because the mean is a double.
 */
long double counter_precise(const struct posix_trace_value_np *value)
{
	switch (value->field->form) {
	case POSIX_TRACE_FORM_SIGNED_NP:
		return (long double)value->s64;
	case POSIX_TRACE_FORM_FLOAT_NP:
		return (long double)value->f64;
	default:
		return (long double)value->u64;
	}
}

/* NAN is neither less nor greater than any number, and would make the sum NAN. */
void counter_add(struct counter *counter, const struct posix_trace_value_np *value,
		 int64_t time_ns)
{
	if (value->field->form == POSIX_TRACE_FORM_FLOAT_NP && isnan(value->f64)) {
		counter->unknown++;
		return;
	}
	if (!counter->count || is_less(value, &counter->min))
		counter->min = *value;
	if (!counter->count || is_less(&counter->max, value))
		counter->max = *value;
	/*
	 * If two events have the same time, the last value is from the event that is later in the
	 * log.
	 */
	if (!counter->count || time_ns >= counter->last_ns) {
		counter->last = *value;
		counter->last_ns = time_ns;
	}
	counter->sum += counter_precise(value);
	counter->count++;
}

/* If the type has counters, its schema is valid, and the fields of the counters are numbers. */
void counters_event(struct counters *counters, const struct log_type *type,
		    const struct posix_trace_event_np *event)
{
	struct posix_trace_value_np value;

	for (unsigned i = 0; i < counters->count; i++)
		/* If the data is too short, the last fields have no value. */
		if (posix_trace_field_get_np(type->schema, counters->counter[i].field, 0,
					     event->data, event->data_len, 0, &value))
			counter_add(&counters->counter[i], &value, event->time_ns);
}

void counters_add(struct counters *counters, const struct counters *part)
{
	for (unsigned i = 0; i < counters->count && i < part->count; i++) {
		struct counter *to = &counters->counter[i];
		const struct counter *from = &part->counter[i];

		/* If a part has counted no values, its min, max and last are undefined. */
		to->unknown += from->unknown;
		if (!from->count)
			continue;
		if (!to->count || is_less(&from->min, &to->min))
			to->min = from->min;
		if (!to->count || is_less(&to->max, &from->max))
			to->max = from->max;
		if (!to->count || from->last_ns >= to->last_ns) {
			to->last = from->last;
			to->last_ns = from->last_ns;
		}
		to->sum += from->sum;
		to->count += from->count;
	}
}

/*
 * The function divides the sum only here at the end, so that the mean of equal integers is exact.
 */
double counters_mean(const struct counter *counter)
{
	return (double)(counter->sum / (long double)counter->count);
}
