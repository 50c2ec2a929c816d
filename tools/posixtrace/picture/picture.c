/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * picture.c - reads a log twice: the first time for counts, rows and the axis, the second time for
 * points and spans.
 */
#include "picture/picture.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/say.h"
#include "base/tool.h"
#include "base/vec.h"
#include "choose/function_names.h"

/*
 * Returns the picture's data of a series of the pairing. The array has the indexes of the pairing's
 * series and grows when a span of a new series ends. Returns NULL without memory. The pointer is
 * valid until the next call.
 */
static struct picture_series *series_of(struct picture *picture, const struct series *series)
{
	size_t i = picture->count;

	if (series->index < picture->count)
		return &picture->series[series->index];
	if (!vec_reach(&picture->series, &picture->count, series->index))
		return NULL;
	for (; i <= series->index; i++)
		picture->series[i].series = picture->pairing.series[i];
	return &picture->series[series->index];
}

/* First reading: counts a span. */
static void survey_span(struct picture *picture, const struct span *span, struct picture_row *row)
{
	struct picture_series *series = series_of(picture, span->series);

	if (!series || !histogram_add(&series->time, span->time_ns)) {
		picture->err = ENOMEM;
		return;
	}
	row->spans++;
	picture->spans++;
	picture->lengths[span->time_ns ? 63 - __builtin_clzll(span->time_ns) : 0]++;
	if (span->begin_ns < picture->begin_ns || picture->spans == 1)
		picture->begin_ns = span->begin_ns;
}

/*
 * Second reading: counts a span in the bins and keeps it if it is long enough. If a span began
 * before the axis, it begins with the axis here; if it also ended before the axis, it is left out.
 * The limit of spans is checked again, because the second reading might find more spans than the
 * first one counted.
 */
static void keep_span(struct picture *picture, const struct span *span, size_t row)
{
	const struct picture_span it = {
		.begin_ns = picture_place(picture, span->begin_ns),
		.time_ns = picture_place(picture, span->end_ns) -
			   picture_place(picture, span->begin_ns),
		.row = (uint16_t)row, .series = (uint16_t)span->series->index,
	};

	if (span->end_ns < picture->begin_ns || span->end_ns < span->begin_ns)
		return;
	pyramid_span(picture, &it);
	if (it.time_ns >= picture->least_ns && picture->spans_kept.items < picture->limit &&
	    runs_add(&picture->spans_kept, &(const struct item){
		.ns = it.begin_ns, .value = it.time_ns, .row = it.row, .kind = it.series }))
		picture->err = ENOMEM;
}

/*
 * Called by the pairing for each span, in both readings. A span belongs to the row of the thread
 * that began it.
 */
static void take_span(void *arg, const struct span *span, const struct posix_trace_event_np *end)
{
	struct picture *picture = arg;
	struct picture_row *row = rows_find(picture, span->pid, span->begin_tid);

	(void)end;
	if (!picture->second)
		survey_span(picture, span, row);
	else
		keep_span(picture, span, row->index);
}

/* Returns the index of the event's type among those of the picture. */
static uint16_t type_index(const struct picture *picture, const struct reading *reading)
{
	return (uint16_t)(reading->type->listed && reading->type->index < picture->types ?
			  reading->type->index : picture->types);
}

/*
 * First reading: counts an event. The name of a thread is looked up later, as of the time of its
 * last event.
 */
static void survey_event(struct picture *picture, const struct reading *reading)
{
	struct picture_row *row = rows_find(picture, reading->event.info.posix_pid,
					    reading->event.tid);
	const uint16_t type = type_index(picture, reading);

	row->points++;
	row->thread = (uint64_t)reading->event.info.posix_thread_id;
	row->last_ns = reading->event.time_ns;
	rows_program(row, reading->type, &reading->event);
	picture->type[type].count++;
	if (picture->type[type].has_counters)
		curves_survey(&picture->curves, type, reading->type, &reading->event);
}

/*
 * Second reading: keeps the event for the flame graph if it has a call stack, and the stack itself
 * even if its event is not wanted.
 */
static void keep_flame(struct picture *picture, const struct reading *reading)
{
	const struct posix_trace_event_np *event = &reading->event;
	const struct log_type *type = reading->type;
	struct posix_trace_value_np value;
	struct flame flame = { .time_ns = event->time_ns };
	struct stacks_found found;
	int time;

	if (stacks_take(&picture->flames.stacks, type, event) || !reading->is_wanted ||
	    !stacks_find(&picture->flames.stacks, type, event, &found))
		return;
	time = pairing_time_field(type->schema);
	if (time >= 0 && posix_trace_field_get_np(type->schema, (unsigned)time, 0, event->data,
						  event->data_len, 0, &value))
		flame.took_ns = value.u64;
	flame.row = (uint16_t)rows_find(picture, event->info.posix_pid, event->tid)->index;
	flame.type = type_index(picture, reading);
	picture->err = flames_event(&picture->flames, &picture->log, event, &found, &flame);
}

/* Second reading: counts an event in the bins and keeps it if there are not too many. */
static void keep_event(struct picture *picture, const struct reading *reading)
{
	const struct picture_row *row = rows_find(picture, reading->event.info.posix_pid,
						  reading->event.tid);
	uint16_t type = type_index(picture, reading);
	uint64_t ns = picture_place(picture, reading->event.time_ns);

	if (links_has(&picture->links, type))
		links_event(&picture->links, type, reading->type, &reading->event,
			    picture->least_ns);
	pyramid_point(picture, row->index, type, ns);
	if (picture->type[type].has_counters)
		curves_keep(&picture->curves, type, reading->type, &reading->event, ns);
	if (picture->events <= picture->limit && picture->points.items < picture->limit &&
	    runs_add(&picture->points, &(const struct item){
		.ns = ns, .row = (uint16_t)row->index, .kind = type }))
		picture->err = ENOMEM;
}

/*
 * Reads the log once. Returns 0 or an error number. The bands use all events, also those that are
 * not wanted, because events of the stream itself begin and end the bands. The pairing gets all
 * events, too, because a wanted span may begin with an event that is not wanted.
 */
static int read_once(struct picture *picture, struct reading *reading)
{
	int err = picture->second ? stacks_before(&picture->flames.stacks, &picture->log,
						  picture->wanted.choose.begin_ns) : 0;

	if (!err)
		err = reading_begin(reading, &picture->log, &picture->wanted);
	while (!err && !picture->err && reading_next(reading, &err)) {
		if (!picture->second)
			bands_event(picture, &reading->event);
		if (picture->second)
			keep_flame(picture, reading);
		if (reading->is_wanted && picture->second)
			keep_event(picture, reading);
		else if (reading->is_wanted)
			survey_event(picture, reading);
		pairing_event(&picture->pairing, reading->type, &reading->event, reading->ordinal,
			      reading->is_wanted);
		if (picture->pairing.err)
			picture->err = picture->pairing.err;
	}
	reading_end(reading);
	pairing_end(&picture->pairing);
	return err ? err : picture->err;
}

/*
 * Returns the least length of the spans that are kept. It is 0 if all spans are within the limit.
 * Otherwise it is a power of two, the least one for which the spans of at least this length are
 * within the limit.
 */
static uint64_t least_length(const struct picture *picture)
{
	uint64_t sum = 0;

	for (int power = 63; power >= 0; power--) {
		sum += picture->lengths[power];
		if (sum > picture->limit)
			return power == 63 ? UINT64_MAX : UINT64_C(1) << (power + 1);
	}
	return 0;
}

/*
 * Sets the axis. A duration in a damaged log may have any length, so the axis begins before
 * the first event by at most the time from the first to the last event.
 */
static void set_axis(struct picture *picture, const struct reading *reading)
{
	uint64_t length;

	picture->events = reading->taken;
	picture->first_ns = reading->first_ns;
	picture->last_ns = reading->last_ns;
	length = (uint64_t)picture->last_ns - (uint64_t)picture->first_ns;
	if (!picture->spans || picture->begin_ns > picture->first_ns)
		picture->begin_ns = picture->first_ns;
	if ((uint64_t)picture->first_ns - (uint64_t)picture->begin_ns > length)
		picture->begin_ns = (uint64_t)picture->first_ns - (uint64_t)INT64_MIN < length ?
				    picture->first_ns :
				    (int64_t)((uint64_t)picture->first_ns - length);
	picture->length_ns = (uint64_t)picture->last_ns - (uint64_t)picture->begin_ns;
	if (!picture->length_ns)
		picture->length_ns = 1;
	picture->least_ns = least_length(picture);
}

/*
 * Makes the picture. Returns 0 or an error number. The rows are final after the first reading, so
 * the second one can store places.
 */
static int picture_make(struct picture *picture, struct reading *reading, size_t bins)
{
	int err;

	picture->types = picture->log.types;
	picture->type = calloc(picture->types + 1, sizeof(*picture->type));
	if (!picture->type || !rows_init(picture))
		return ENOMEM;
	for (size_t i = 0; i < picture->types; i++) {
		picture->type[i].type = picture->log.list[i];
		picture->type[i].has_counters = curves_has(picture->log.list[i]->schema);
	}
	err = read_once(picture, reading);
	if (err)
		return err;
	set_axis(picture, reading);
	bands_end(picture);
	rows_sort(picture);
	rows_name(picture);
	if (!pyramid_init(picture, bins) || links_begin(&picture->links, &picture->log))
		return ENOMEM;
	picture->spans_kept.by_value = true;
	picture->second = true;
	picture->flames.limit = picture->limit;
	curves_begin(&picture->curves, picture->length_ns, picture->limit);
	err = read_once(picture, reading);
	if (!err)
		err = posix_trace_get_ledger_np(picture->log.trid, &picture->ledger);
	return err ? err : items_arrange(picture);
}

/*
 * The readings share the open log. After an error the log is closed here. Otherwise the caller
 * closes it after drawing, because the names and types belong to the log.
 */
int picture_take(struct picture *picture, const char *path, size_t bins, size_t limit)
{
	struct reading reading;
	int status = reading_open(&picture->log, path, &picture->wanted), err;

	if (status)
		return status;
	picture->limit = limit;
	picture->pairing.take = take_span;
	picture->pairing.arg = picture;
	picture->pairing.takes_back = wanted_asks_duration(&picture->wanted);
	function_names(&picture->pairing, &picture->log);
	if (!pairing_begin(&picture->pairing, &picture->log)) {
		logfile_close(&picture->log);
		return TOOL_USAGE;
	}
	err = picture_make(picture, &reading, bins);
	if (err) {
		say("%s: %s", picture->log.path, strerror(err));
		logfile_close(&picture->log);
		return TOOL_FAILURE;
	}
	return reading_status(&reading);
}

/* Accepts a picture of which only a part was made, because all pointers begin as NULL. */
void picture_fini(struct picture *picture)
{
	for (size_t i = 0; i < picture->count; i++)
		histogram_fini(&picture->series[i].time);
	for (size_t i = 0; i < PICTURE_LEVELS; i++)
		free(picture->level[i]);
	free(picture->series);
	free(picture->type);
	free(picture->row);
	table_fini(&picture->of_row);
	free(picture->band);
	flames_fini(&picture->flames);
	curves_fini(&picture->curves);
	links_fini(&picture->links);
	runs_fini(&picture->points);
	runs_fini(&picture->spans_kept);
	free(picture->lane);
	pairing_fini(&picture->pairing);
	wanted_fini(&picture->wanted);
}
