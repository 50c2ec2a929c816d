/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * reading.c - reads a log's events one after the other. It applies the options, computes durations,
 * shows the progress and notes damage.
 */
#include "choose/reading.h"

#include <string.h>

#include "base/say.h"
#include "base/tool.h"

/*
 * Marks those names of the expression of --where that the log's schemas have. Returns false after
 * it printed an error.
 */
static bool where_learns(struct logfile *log, struct wanted *wanted)
{
	struct durations durations;

	if (!durations_begin(&durations, wanted, log))
		return false;
	durations_end(&durations);
	for (size_t i = 0; i < log->types; i++)
		if (log->list[i]->schema)
			where_mark_names(wanted->where, log->list[i]->schema);
	return true;
}

bool reading_names_fit(struct logfile *const *log, size_t logs, struct wanted *wanted)
{
	const struct logfile *one[READING_LOGS];

	for (size_t i = 0; i < logs; i++) {
		one[i] = log[i];
		if (wanted->where && !where_learns(log[i], wanted))
			return false;
	}
	/* If no schema has a name of the expression, the name is probably mistyped. */
	if (wanted->where && where_say_unknown(wanted->where))
		return false;
	choose_say_unknown(&wanted->choose, one, logs);
	return true;
}

int reading_open_one(struct logfile *log, const char *path, struct wanted *wanted)
{
	int status = logfile_open(log, path, NULL);

	if (status)
		return status;
	wanted_begin(wanted, log->info.first_ns, log->info.last_ns);
	for (size_t i = 0; i < log->types; i++)
		/*
		 * The types are chosen once here, so that the loop over the events compares no
		 * names.
		 */
		log->list[i]->chosen = choose_type(&wanted->choose, log->list[i]->name);
	return TOOL_OK;
}

int reading_open(struct logfile *log, const char *path, struct wanted *wanted)
{
	int status = reading_open_one(log, path, wanted);

	if (status || reading_names_fit(&log, 1, wanted))
		return status;
	logfile_close(log);
	return TOOL_USAGE;
}

int reading_begin(struct reading *reading, struct logfile *log, struct wanted *wanted)
{
	int err = posix_trace_rewind(log->trid);

	memset(reading, 0, sizeof(*reading));
	reading->log = log;
	reading->wanted = wanted;
	durations_begin_open(&reading->durations, wanted);
	pairing_names(&reading->durations.pairing, log);
	/*
	 * If an event begins a span, its duration is unknown until the event that ends the span.
	 * Callers can discard the event that begins the span later, so it is chosen for now.
	 */
	reading->durations.keeps_begins = true;
	meter_begin(&reading->meter, logfile_events(log), true);
	/*
	 * With the index of the log, the library skips events before --begin and stops behind
	 * --end.
	 */
	return err ? err : logfile_window(log, wanted->choose.begin_ns, wanted->choose.end_ns);
}

/*
 * A type that the log does not list gets its struct log_type only when an event has the type. So
 * the name of such a type is compared for each event.
 */
static bool is_chosen(const struct reading *reading)
{
	return reading->type->listed ? reading->type->chosen :
	       choose_type(&reading->wanted->choose, reading->type->name);
}

bool reading_next(struct reading *reading, int *err)
{
	struct posix_trace_event_np *event = &reading->event;
	int unavailable;

	*err = posix_trace_getnext_np(reading->log->trid, event, &unavailable);
	/*
	 * The limit is checked after the event was read. So the function may read one event too
	 * many, which costs less than a further check before each event.
	 */
	if (*err || unavailable || reading->taken == reading->wanted->limit)
		return false;
	meter_step(&reading->meter);
	reading->ordinal++;
	reading->skipped |= (event->flags & POSIX_TRACE_EVENT_GAP_NP) != 0;
	reading->type = logfile_type(reading->log, event->info.posix_event_id);
	/*
	 * This call precedes the choice, because the duration of a span also needs the event that
	 * begins the span, which the options may exclude.
	 */
	durations_event(&reading->durations, reading->type, event);
	reading->is_wanted = is_chosen(reading) &&
			     wanted_event(reading->wanted, event, reading->type->name,
					  reading->type->schema, &reading->durations);
	if (!reading->is_wanted)
		return true;
	if (!reading->taken++)
		reading->first_ns = reading->last_ns = event->time_ns;
	if (event->time_ns < reading->first_ns)
		reading->first_ns = event->time_ns;
	if (event->time_ns > reading->last_ns)
		reading->last_ns = event->time_ns;
	return true;
}

void reading_end(struct reading *reading)
{
	durations_end(&reading->durations);
	meter_end(&reading->meter);
}

int reading_status(const struct reading *reading)
{
	const struct logfile *log = reading->log;

	if (!logfile_is_damaged(log) && !reading->skipped)
		return TOOL_OK;
	if (log->is_fetched)
		say("%s: damaged, or not complete in the database", log->path);
	else
		say("%s: damaged or not complete; 'posixtrace verify' says where", log->path);
	return TOOL_DAMAGED;
}
