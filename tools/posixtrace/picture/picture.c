/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * picture.c - reads logs twice: the first time for counts, rows and the axis, the second time for
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
#include "log/losses.h"

/*
 * Returns the picture's index for a series of the current log. Series of the same name and kind
 * have the same index, even if they belong to different logs. Returns SIZE_MAX if memory is
 * lacking.
 */
static size_t series_index(struct picture *picture, const struct series *series)
{
	for (size_t i = 0; picture->current != picture->log && i < picture->count; i++)
		if (picture->series[i].series->kind == series->kind &&
		    !strcmp(picture->series[i].series->name, series->name))
			return i;
	if (!vec_grow(&picture->series, picture->count, 1))
		return SIZE_MAX;
	picture->series[picture->count].series = series;
	return picture->count++;
}

/*
 * Returns the picture's data for a series of the current log's pairing, or NULL if memory is
 * lacking. The pointer is valid until the next call. PICTURE_LOGS logs have at most 65536 series,
 * so 16 bits are enough for an index.
 */
static struct picture_series *series_of(struct picture *picture, const struct series *series)
{
	struct picture_log *log = picture->current;

	if (!vec_reach(&log->series, &log->count, series->index))
		return NULL;
	if (!log->series[series->index]) {
		size_t index = series_index(picture, series);

		if (index == SIZE_MAX)
			return NULL;
		log->series[series->index] = (uint32_t)index + 1;
	}
	return &picture->series[log->series[series->index] - 1];
}

/* First reading: counts a span. */
static void survey_span(struct picture *picture, const struct span *span, struct picture_row *row)
{
	struct picture_series *series = series_of(picture, span->series);
	const int64_t begin_ns = picture_time(picture, span->begin_ns);

	if (!series || !histogram_add(&series->time, span->time_ns)) {
		picture->err = ENOMEM;
		return;
	}
	row->spans++;
	picture->current->spans++;
	picture->spans++;
	picture->lengths[span->time_ns ? 63 - __builtin_clzll(span->time_ns) : 0]++;
	if (begin_ns < picture->begin_ns || picture->spans == 1)
		picture->begin_ns = begin_ns;
}

/*
 * Second reading: counts a span in the bins and keeps it if it is long enough. A span that began
 * before the axis is cut at the beginning of the axis. A span that also ended before the axis is
 * omitted. The function checks the limit of spans again, because the second reading might find more
 * spans than the first reading has counted.
 */
static void keep_span(struct picture *picture, const struct span *span, size_t row)
{
	const struct picture_log *log = picture->current;
	const int64_t end_ns = picture_time(picture, span->end_ns);
	const uint64_t begin = picture_place(picture, picture_time(picture, span->begin_ns));
	const uint32_t series = span->series->index < log->count ?
				log->series[span->series->index] : 0;
	const struct picture_span it = {
		.begin_ns = begin, .time_ns = picture_place(picture, end_ns) - begin,
		.row = (uint16_t)row, .series = (uint16_t)(series - 1),
	};

	if (!series || end_ns < picture->begin_ns || span->end_ns < span->begin_ns)
		return;
	pyramid_span(picture, &it);
	if (it.time_ns >= picture->least_ns && picture->spans_kept.items < picture->limit &&
	    runs_add(&picture->spans_kept, &(const struct item){
		.ns = it.begin_ns, .value = it.time_ns, .row = it.row, .kind = it.series }))
		picture->err = ENOMEM;
}

/* Returns the picture's facts about the type of the event that was read. */
static const struct counted_type *counted_type(const struct picture *picture,
					       const struct reading *reading)
{
	const struct picture_log *log = picture->current;

	return &log->type[reading->type->listed && reading->type->index < log->log.types ?
			  reading->type->index : log->log.types];
}

/* Returns the row of the present event. */
static struct picture_row *present_row(struct picture *picture)
{
	const struct posix_trace_event_np *event = &picture->reading->event;

	return rows_find(picture, event->info.posix_pid, event->tid);
}

/* Returns the place of the present event, and its type. */
static struct item present_point(const struct picture *picture, const struct picture_row *row)
{
	const struct reading *reading = picture->reading;

	return (struct item){
		.ns = picture_place(picture, picture_time(picture, reading->event.time_ns)),
		.row = (uint16_t)row->index, .kind = counted_type(picture, reading)->type };
}

/*
 * Second reading: keeps the fields of the present event, which must be wanted. "point" is the place
 * of the event. "span" is the span that the event ends, or NULL.
 */
static void keep_details(struct picture *picture, const struct item *point, const struct span *span)
{
	const struct reading *reading = picture->reading;
	const uint64_t of_log = (uint64_t)picture_current(picture) << 48;

	details_event(&picture->details, &picture->current->log, reading->type,
		      &counted_type(picture, reading)->details, &reading->event,
		      of_log + reading->ordinal, point, span);
}

/*
 * Called by the pairing for each span, in both readings. A span belongs to the row of the thread
 * that began it.
 */
static void take_span(void *arg, const struct span *span, const struct posix_trace_event_np *end)
{
	struct picture *picture = arg;
	struct picture_row *row = rows_find(picture, span->pid, span->begin_tid);

	if (!picture->second) {
		survey_span(picture, span, row);
		return;
	}
	keep_span(picture, span, row->index);
	if (end && picture->reading->is_wanted && picture->details.limit) {
		const struct item point = present_point(picture, present_row(picture));

		keep_details(picture, &point, span);
	}
}

/*
 * Returns the plan that the command why has for the event's type. The caller has checked that
 * has_state is true.
 */
static const struct plan *plan_of(const struct picture *picture, const struct reading *reading)
{
	return &picture->current->links.plan[reading->type->index];
}

/*
 * First reading: counts an event. The row keeps the times of its last event and of the thread's
 * end, because the name that the thread had at one of these times is searched later.
 */
static void survey_event(struct picture *picture, const struct reading *reading)
{
	struct picture_row *row = present_row(picture);
	const struct counted_type *type = counted_type(picture, reading);

	row->points++;
	row->thread = (uint64_t)reading->event.info.posix_thread_id;
	row->last_ns = reading->event.time_ns;
	thread_life_event(&row->life, reading->type->name, reading->event.time_ns);
	rows_program(&picture->log[picture_current(picture)], row, reading->type, &reading->event);
	picture->type[type->type].count++;
	if (type->has_state && states_has_change(plan_of(picture, reading)))
		picture->states.changes++;
	if (type->has_counters)
		curves_survey(&picture->curves, picture_current(picture), type->type, reading->type,
			      &reading->event);
}

/*
 * Second reading: keeps an event that has a call stack for the flame graph. Keeps the stack of an
 * unwanted event, too, because later events may refer to it.
 */
static void keep_flame(struct picture *picture, const struct reading *reading)
{
	const struct posix_trace_event_np *event = &reading->event;
	const struct log_type *type = reading->type;
	struct posix_trace_value_np value;
	struct stacks *stacks = &picture->current->stacks;
	struct flame flame = { .time_ns = picture_time(picture, event->time_ns) };
	struct stacks_found found;
	int time;

	if (stacks_take(stacks, type, event) || !reading->is_wanted ||
	    !stacks_find(stacks, type, event, &found))
		return;
	time = pairing_time_field(type->schema);
	if (time >= 0 && posix_trace_field_get_np(type->schema, (unsigned)time, 0, event->data,
						  event->data_len, 0, &value))
		flame.took_ns = value.u64;
	flame.row = (uint16_t)present_row(picture)->index;
	flame.type = counted_type(picture, reading)->type;
	if (flames_event(&picture->flames, &picture->current->log, event, &found, &flame))
		picture->err = ENOMEM;
}

/*
 * Second reading: counts an event in the bins, and keeps it if the number of events is within the
 * limit.
 */
static void keep_event(struct picture *picture, const struct reading *reading)
{
	const struct picture_row *row = present_row(picture);
	const struct item point = present_point(picture, row);
	const struct counted_type *type = counted_type(picture, reading);
	struct links *links = &picture->current->links;

	if (links_has(links, reading->type))
		links_event(links, reading->type, &reading->event, picture->least_ns);
	/*
	 * The row of the other threads has no states, because these threads have no common state.
	 */
	if (type->has_state && picture->states.rows && row->pid >= 0)
		states_event(&picture->states, point.row, &picture->current->log,
			     plan_of(picture, reading), reading->type, &reading->event, point.ns);
	pyramid_point(picture, point.row, point.kind, point.ns);
	if (type->has_counters)
		curves_keep(&picture->curves, picture_current(picture), point.kind, reading->type,
			    &reading->event, point.ns);
	if (picture->events <= picture->limit && picture->points.items < picture->limit &&
	    runs_add(&picture->points, &point))
		picture->err = ENOMEM;
	if (picture->details.limit) {
		picture->type[point.kind].errors +=
			details_has_error(reading->type, &type->details, &reading->event);
		keep_details(picture, &point, NULL);
	}
}

/*
 * Reads the current log once. Returns 0 or an error number. The bands use all events, also unwanted
 * events, because events of the stream itself begin and end the bands. The pairing gets all events,
 * too, because a wanted span may begin with an unwanted event.
 */
static int read_once(struct picture *picture, struct reading *reading)
{
	struct picture_log *log = picture->current;
	struct pairing *pairing = &log->pairing;
	int err;

	/* The times of the options may be relative to the first or last time of the log. */
	wanted_begin(&picture->wanted, log->log.info.first_ns, log->log.info.last_ns);
	err = picture->second ? stacks_before(&log->stacks, &log->log,
					      picture->wanted.choose.begin_ns) : 0;
	if (!err)
		err = reading_begin(reading, &log->log, &picture->wanted);
	picture->reading = reading;
	while (!err && !picture->err && reading_next(reading, &err)) {
		if (!picture->second)
			bands_event(picture, &reading->event);
		if (picture->second && counted_type(picture, reading)->has_stack)
			keep_flame(picture, reading);
		if (reading->is_wanted && picture->second)
			keep_event(picture, reading);
		else if (reading->is_wanted)
			survey_event(picture, reading);
		pairing_event(pairing, reading->type, &reading->event, reading->ordinal,
			      reading->is_wanted);
		if (pairing->err)
			picture->err = pairing->err;
	}
	reading_end(reading);
	pairing_end(pairing);
	return err ? err : picture->err;
}

/*
 * Returns the least length of the spans that are kept. If all spans are within the limit, the
 * result is 0. Otherwise it is the least power of two for which the number of spans of at least
 * this length is within the limit.
 */
static uint64_t least_length(const struct picture *picture, uint64_t limit)
{
	uint64_t sum = 0;

	for (int power = 63; power >= 0; power--) {
		sum += picture->lengths[power];
		if (sum > limit)
			return power == 63 ? UINT64_MAX : UINT64_C(1) << (power + 1);
	}
	return 0;
}

/*
 * Sets the axis. The axis may begin with a span before the first event. A duration in a damaged log
 * may have any length, so the axis begins before the first event by at most the time from the first
 * to the last event.
 */
static void set_axis(struct picture *picture)
{
	int64_t first_ns = 0, last_ns = 0; /* times of events */
	bool any = false;
	uint64_t length;

	for (size_t i = 0; i < picture->logs; i++) {
		const struct picture_log *log = &picture->log[i];

		if (!log->events)
			continue;
		if (!any || log->first_ns < first_ns)
			first_ns = log->first_ns;
		if (!any || log->last_ns > last_ns)
			last_ns = log->last_ns;
		any = true;
		picture->events += log->events;
	}
	length = (uint64_t)last_ns - (uint64_t)first_ns;
	if (!picture->spans || picture->begin_ns > first_ns)
		picture->begin_ns = first_ns;
	if ((uint64_t)first_ns - (uint64_t)picture->begin_ns > length)
		picture->begin_ns = (uint64_t)first_ns - (uint64_t)INT64_MIN < length ?
				    first_ns :
				    (int64_t)((uint64_t)first_ns - length);
	picture->length_ns = (uint64_t)last_ns - (uint64_t)picture->begin_ns;
	if (!picture->length_ns)
		picture->length_ns = 1;
	picture->least_ns = least_length(picture, picture->limit);
}

/* First reading of the current log. Returns 0 or an error number. */
static int survey_log(struct picture *picture)
{
	struct picture_log *log = picture->current;
	struct reading reading;
	int err = read_once(picture, &reading);

	log->events = reading.taken;
	log->first_ns = picture_time(picture, reading.first_ns);
	log->last_ns = picture_time(picture, reading.last_ns);
	bands_end(picture, reading.last_ns);
	return err;
}

/* Second reading of the current log. Returns 0 or an error number, and stores the exit status. */
static int keep_log(struct picture *picture, int *status)
{
	struct picture_log *log = picture->current;
	struct reading reading;
	int err = read_once(picture, &reading);

	states_end_log(&picture->states, picture_place(picture, log->last_ns));
	if (!err)
		err = posix_trace_get_ledger_np(log->log.trid, &log->ledger);
	if (err)
		return err;
	picture->lost += losses_count(&log->ledger);
	*status = tool_worse(*status, reading_status(&reading));
	return 0;
}

/*
 * Makes the picture. Returns 0 or an error number. The rows are final after the first reading, so
 * the second reading can store places. After an error, picture->current is the log of the error.
 */
static int picture_make(struct picture *picture, size_t bins, int *status)
{
	struct picture_log *const end = picture->log + picture->logs;
	int err;

	if (!rows_init(picture))
		return ENOMEM;
	for (; picture->current < end; picture->current++)
		if ((err = survey_log(picture)))
			return err;
	picture->current = picture->log;
	set_axis(picture);
	rows_sort(picture);
	rows_name(picture);
	if (!pyramid_init(picture, bins) ||
	    states_begin(&picture->states, picture->rows, picture->length_ns, picture->limit))
		return ENOMEM;
	picture->spans_kept.by_value = true;
	picture->second = true;
	picture->flames.limit = picture->limit;
	details_begin(&picture->details, picture->events,
		      least_length(picture, picture->details.limit / 2), picture->details.limit);
	curves_begin(&picture->curves, picture->length_ns, picture->limit);
	for (; picture->current < end; picture->current++)
		if ((err = keep_log(picture, status)))
			return err;
	picture->current = picture->log;
	return items_arrange(picture);
}

/*
 * Gives the types of the log their indexes in the picture. Types of the same name get the same
 * index, even if they belong to different logs. Returns false if memory is lacking.
 */
static bool read_types(struct picture *picture, struct picture_log *log)
{
	const size_t known = picture->types;

	if (links_begin(&log->links, &log->log))
		return false;
	log->type = calloc(log->log.types + 1, sizeof(*log->type));
	for (size_t i = 0; log->type && i < log->log.types; i++) {
		size_t index = 0;

		while (index < known && strcmp(picture->type[index].type->name,
					       log->log.list[i]->name))
			index++;
		if (index == known) {
			index = picture->types;
			if (!vec_grow(&picture->type, index, 1))
				return false;
			picture->type[picture->types++].type = log->log.list[i];
		}
		log->type[i].type = (uint16_t)index;
		log->type[i].details = details_plan(log->log.list[i]);
		log->type[i].has_counters = curves_has(log->log.list[i]->schema);
		log->type[i].has_state = states_has_change(&log->links.plan[i]) ||
					 states_has_reason(&log->links.plan[i]);
		log->type[i].has_stack = stacks_is_type(log->log.list[i]->name,
							log->log.list[i]->schema) ||
					 stacks_field(log->log.list[i]->name,
						      log->log.list[i]->schema) >= 0;
	}
	if (log->type)
		log->type[log->log.types].details = (struct details_plan){ -1, -1, -1 };
	return log->type != NULL;
}

int picture_open(struct picture *picture, const char *path)
{
	struct picture_log *log;
	int status;

	if (picture->logs == PICTURE_LOGS) {
		say("%s: more than %d logs", path, PICTURE_LOGS);
		return TOOL_USAGE;
	}
	/* The array never moves, since pairings have pointers to the logs. */
	if (!picture->log && !(picture->log = calloc(PICTURE_LOGS, sizeof(*picture->log)))) {
		say("%s", strerror(ENOMEM));
		return TOOL_FAILURE;
	}
	log = &picture->log[picture->logs];
	status = reading_open_one(&log->log, path, &picture->wanted);
	if (status)
		return status;
	picture->logs++;
	log->name = log->log.path;
	pairing_init(&log->pairing, take_span, picture);
	for (size_t i = 0; i < picture->wanted.pairs; i++)
		pairing_add(&log->pairing, picture->wanted.pair[i]);
	log->pairing.takes_back = wanted_uses_duration(&picture->wanted);
	function_names(&log->pairing, &log->log);
	if (!pairing_begin(&log->pairing, &log->log))
		return TOOL_USAGE;
	if (read_types(picture, log))
		return TOOL_OK;
	say("%s: %s", path, strerror(ENOMEM));
	return TOOL_FAILURE;
}

int picture_take(struct picture *picture, size_t bins, size_t limit)
{
	struct logfile *log[PICTURE_LOGS];
	int status = TOOL_OK, err = 0;

	for (size_t i = 0; i < picture->logs; i++)
		log[i] = &picture->log[i].log;
	if (!reading_names_fit(log, picture->logs, &picture->wanted))
		return TOOL_USAGE;
	picture->limit = limit;
	picture->current = picture->log;
	/* The element behind all types counts events of types that a log does not list. */
	if (!vec_grow(&picture->type, picture->types, 1))
		err = ENOMEM;
	for (size_t i = 0; i < picture->logs; i++)
		picture->log[i].type[picture->log[i].log.types].type = (uint16_t)picture->types;
	if (!err)
		err = picture_make(picture, bins, &status);
	if (!err)
		return status;
	say("%s: %s", picture->current->log.path, strerror(err));
	return TOOL_FAILURE;
}

/*
 * The picture uses names and types that belong to the logs, so all logs are open until this call.
 */
static void close_log(struct picture_log *log)
{
	free(log->type);
	free(log->series);
	links_fini(&log->links);
	stacks_fini(&log->stacks);
	pairing_fini(&log->pairing);
	logfile_close(&log->log);
}

/* The picture may be incomplete. Each pointer that was not set is NULL. */
void picture_fini(struct picture *picture)
{
	for (size_t i = 0; i < picture->count; i++)
		histogram_fini(&picture->series[i].time);
	for (size_t i = 0; i < PICTURE_LEVELS; i++)
		free(picture->level[i]);
	for (size_t i = 0; i < picture->logs; i++)
		close_log(&picture->log[i]);
	free(picture->log);
	free(picture->series);
	free(picture->type);
	free(picture->row);
	table_fini(&picture->of_row);
	free(picture->band);
	flames_fini(&picture->flames);
	curves_fini(&picture->curves);
	states_fini(&picture->states);
	details_fini(&picture->details);
	runs_fini(&picture->points);
	runs_fini(&picture->spans_kept);
	free(picture->lane);
	wanted_fini(&picture->wanted);
}
