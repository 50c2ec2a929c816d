/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * sample.c - reads a log twice. The first reading counts events and spans. The second reading
 * divides them into parts of the right size.
 */
#include "diff/sample.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/say.h"
#include "base/tool.h"
#include "base/vec.h"
#include "choose/function_names.h"

const double sample_quantile[] = { 0.5, 0.9, 0.99 };
const char *const sample_quantile_name[] = { "p50", "p90", "p99" };

/*
 * The number of spans that a part must have for each quantile. With fewer spans the quantile would
 * depend mostly on chance. Even the p99 of 200 spans is only the second or third greatest duration.
 */
static const uint64_t least[] = { 8, 50, 200 };

bool sample_has(const struct sample_series *series, enum sample_quantile quantile)
{
	return series->count >= SAMPLE_PARTS * least[quantile];
}

double sample_seconds(const struct sample *sample)
{
	int64_t ns;

	return __builtin_sub_overflow(sample->last_ns, sample->first_ns, &ns) || ns < 0 ? 0 :
	       (double)ns / 1e9;
}

/*
 * Returns the figures of a series. If the series is new, the array grows. Returns NULL if memory is
 * lacking. The pointer is valid until the next call.
 */
static struct sample_series *series_of(struct sample *sample, const struct series *series)
{
	size_t i = sample->count;

	if (series->index < sample->count)
		return &sample->series[series->index];
	if (!vec_reach(&sample->series, &sample->count, series->index))
		return NULL;
	for (; i <= series->index; i++)
		sample->series[i].series = sample->pairing.series[i];
	return &sample->series[series->index];
}

/* Stores the quantiles of a part that is complete, and empties the histogram for the next part. */
static void end_part(struct sample_series *series, uint64_t part)
{
	for (int i = 0; i < SAMPLE_QUANTILES; i++)
		series->quantile[i][part] = histogram_quantile(&series->part, sample_quantile[i]);
	histogram_clear(&series->part);
}

/*
 * Adds a duration to the histogram of the whole log and to the histogram of its part. Each part has
 * the same number of spans. So the number of all spans, which the first reading has found,
 * determines the part of a span.
 */
static bool add_duration(struct sample_series *series, uint64_t ns)
{
	uint64_t part = series->done * SAMPLE_PARTS / series->count;

	if (!histogram_add(&series->all, ns) || !histogram_add(&series->part, ns))
		return false;
	series->done++;
	if (series->done == series->count || series->done * SAMPLE_PARTS / series->count != part)
		end_part(series, part);
	return true;
}

/*
 * The pairing calls this function for each span. If the log is still being written, the second
 * reading may find more spans than the first. The function ignores the additional spans.
 */
static void take_span(void *arg, const struct span *span, const struct posix_trace_event_np *end)
{
	struct sample *sample = arg;
	struct sample_series *series = series_of(sample, span->series);

	(void)end;
	if (!series)
		sample->err = ENOMEM;
	else if (!sample->second)
		series->count++;
	else if (series->done < series->count && series->count >= SAMPLE_PARTS &&
		 !add_duration(series, span->time_ns))
		sample->err = ENOMEM;
	/*
	 * If a series has fewer than SAMPLE_PARTS spans, it is not divided, and only the histogram
	 * of the whole log is filled.
	 */
	else if (series->count < SAMPLE_PARTS && !histogram_add(&series->all, span->time_ns))
		sample->err = ENOMEM;
}

/* Counts an event. For event types, the parts are equal spans of the log's time. */
static void count_event(struct sample *sample, const struct reading *reading)
{
	const struct log_type *type = reading->type;
	struct sample_type *to;
	double part;

	if (!type->listed || type->index >= sample->types)
		return;
	to = &sample->type[type->index];
	if (!sample->second) {
		to->count++;
		return;
	}
	part = ((double)reading->event.time_ns - (double)sample->first_ns) / 1e9 /
	       sample_seconds(sample) * SAMPLE_PARTS;
	to->part[part >= 0 && part < SAMPLE_PARTS ? (int)part : part > 0 ? SAMPLE_PARTS - 1 : 0]++;
}

/*
 * Reads the log once. Returns 0 or an error number. pairing_end() drops the spans that are still
 * open at the end of the log.
 */
static int read_once(struct sample *sample, struct reading *reading)
{
	int err = reading_begin(reading, &sample->log, &sample->wanted);

	while (!err && !sample->err && reading_next(reading, &err)) {
		if (reading->is_wanted)
			count_event(sample, reading);
		pairing_event(&sample->pairing, reading->type, &reading->event, reading->ordinal,
			      reading->is_wanted);
		if (sample->pairing.err)
			sample->err = sample->pairing.err;
	}
	reading_end(reading);
	pairing_end(&sample->pairing);
	return err ? err : sample->err;
}

/* Copies the names of types, since the log is closed before the comparison. */
static int name_types(struct sample *sample)
{
	sample->type = calloc(sample->log.types + 1, sizeof(*sample->type));
	if (!sample->type)
		return ENOMEM;
	sample->types = sample->log.types;
	for (size_t i = 0; i < sample->types; i++) {
		sample->type[i].name = strdup(sample->log.list[i]->name);
		if (!sample->type[i].name)
			return ENOMEM;
	}
	return 0;
}

/* Reads the losses by type and by series. */
static int take_lost(struct sample *sample)
{
	int err = lost_take(&sample->lost, &sample->log);

	for (size_t i = 0; !err && i < sample->types; i++)
		if (sample->log.list[i]->chosen) {
			sample->type[i].lost = sample->lost.type[i];
			sample->type[i].untraced = lost_untraced(&sample->lost, &sample->log, i);
		}
	for (size_t i = 0; !err && i < sample->count; i++)
		sample->series[i].lost = lost_of_series(&sample->lost, &sample->pairing,
							&sample->log, sample->series[i].series);
	return err;
}

int sample_take(struct sample *sample, const char *path)
{
	struct reading reading;
	int status = reading_open(&sample->log, path, &sample->wanted), err;

	if (status)
		return status;
	sample->pairing.take = take_span;
	sample->pairing.arg = sample;
	sample->pairing.takes_back = wanted_uses_duration(&sample->wanted);
	function_names(&sample->pairing, &sample->log);
	if (!pairing_begin(&sample->pairing, &sample->log)) {
		logfile_close(&sample->log);
		return TOOL_USAGE;
	}
	err = name_types(sample);
	if (!err)
		err = read_once(sample, &reading);
	if (!err) {
		sample->events = reading.taken;
		sample->first_ns = reading.first_ns;
		sample->last_ns = reading.last_ns;
		sample->second = true;
		err = read_once(sample, &reading);
	}
	if (!err)
		err = take_lost(sample);
	if (err) {
		say("%s: %s", sample->log.path, strerror(err));
		status = TOOL_FAILURE;
	} else {
		status = reading_status(&reading);
	}
	logfile_close(&sample->log);
	return status;
}

void sample_fini(struct sample *sample)
{
	for (size_t i = 0; i < sample->types; i++)
		free(sample->type[i].name);
	free(sample->type);
	for (size_t i = 0; i < sample->count; i++) {
		histogram_fini(&sample->series[i].all);
		histogram_fini(&sample->series[i].part);
	}
	free(sample->series);
	lost_fini(&sample->lost);
	pairing_fini(&sample->pairing);
	wanted_fini(&sample->wanted);
}
