/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * latency.c - the command latency: measures the durations of spans and events.
 *
 * One reading of the log is enough for all figures. The figures need memory for each series, but
 * not for each event. The events around the slowest spans need a second reading, because only at
 * the end of the first reading it is known which spans are the slowest.
 */
#include "latency/latency.h"

#include <errno.h>
#include <unistd.h>
#include <stdlib.h>
#include <string.h>

#include "base/out.h"
#include "base/say.h"
#include "base/tool.h"
#include "base/vec.h"
#include "choose/at.h"
#include "choose/function_names.h"

extern const struct tool_command latency_command;

/*
 * The values of the options that only this file needs. "slowest" is at most SLOWEST_MAX, and
 * "around" at most SLOWEST_AROUND.
 */
struct options {
	enum when_form form;
	bool json;
	uint64_t slowest, around;
	struct at at;
};

/* In a damaged log the times may be in any order, so the difference may be negative or overflow. */
double latency_rate(const struct latency *latency, uint64_t count)
{
	int64_t ns;

	if (__builtin_sub_overflow(latency->last_ns, latency->first_ns, &ns) || ns <= 0)
		return 0;
	return (double)count * 1e9 / (double)ns;
}

/* ------------------------------------------------------------------ counting */

/*
 * Returns the figures of a series. If the series is new, the array grows. Returns NULL if memory is
 * lacking. The pointer is valid until the next call. series->index is below PAIRING_SERIES.
 */
static struct latency_series *series_of(struct latency *latency, const struct series *series)
{
	size_t i = latency->count;

	if (series->index < latency->count)
		return &latency->series[series->index];
	if (!vec_reach(&latency->series, &latency->count, series->index))
		return NULL;
	for (; i <= series->index; i++)
		latency->series[i].series = latency->pairing.series[i];
	return &latency->series[series->index];
}

/*
 * Adds the CPU time of a span. cpu_wall_ns is the sum of the durations of the spans that have a CPU
 * time. So cpu_ns divided by cpu_wall_ns is the right ratio, although other spans have no CPU time.
 */
static void add_cpu(struct latency_series *to, const struct span *span)
{
	to->cpu_count++;
	to->cpu_ns += span->cpu_ns;
	to->cpu_wall_ns += (double)span->time_ns;
	if (span->cpu_ns > to->cpu_max_ns)
		to->cpu_max_ns = span->cpu_ns;
}

/* The pairing calls this function for each span. */
static void take_span(void *arg, const struct span *span, const struct posix_trace_event_np *end)
{
	struct latency *latency = arg;
	struct latency_series *to = series_of(latency, span->series);

	(void)end;
	if (!to || !histogram_add(&to->time, span->time_ns)) {
		latency->err = ENOMEM;
		return;
	}
	if (span->has_cpu)
		add_cpu(to, span);
	/* The slowest spans are selected from the spans of all series together. */
	slowest_add(&latency->slowest, span);
}

/* Reads the log once and counts all spans. Returns 0 or an error number. */
static int count_events(struct latency *latency, struct reading *reading)
{
	int err = reading_begin(reading, &latency->log, &latency->wanted);

	while (!err && !latency->err && reading_next(reading, &err)) {
		pairing_event(&latency->pairing, reading->type, &reading->event, reading->ordinal,
			      reading->is_wanted);
		if (reading->is_wanted && reading->type->schema)
			locks_event(&latency->locks, reading->type, &reading->event);
		if (latency->pairing.err)
			latency->err = latency->pairing.err;
	}
	reading_end(reading);
	pairing_end(&latency->pairing);
	latency->events = reading->taken;
	latency->first_ns = reading->first_ns;
	latency->last_ns = reading->last_ns;
	/*
	 * If no span of a series has ended, the array has no entry for the series yet. This call
	 * makes the array long enough, because the unmatched events of all series are printed.
	 */
	if (latency->pairing.count &&
	    !series_of(latency, latency->pairing.series[latency->pairing.count - 1]))
		return ENOMEM;
	return err ? err : latency->err;
}

/*
 * Reads the log a second time to find the events around the slowest spans, and stops when it has
 * found all of them. Each event has the same ordinal in both readings. Returns 0 or an error
 * number.
 */
static int look_around(struct latency *latency)
{
	struct reading again;
	int err;

	/* If --slowest is not given, the heap is empty and no second reading is necessary. */
	if (!slowest_sort(&latency->slowest))
		return ENOMEM;
	if (!latency->slowest.left)
		return 0;
	err = reading_begin(&again, &latency->log, &latency->wanted);
	while (!err && reading_next(&again, &err))
		if (again.is_wanted && !slowest_event(&latency->slowest, &again))
			break;
	reading_end(&again);
	return err;
}

/*
 * Compares series for qsort(). The greatest total time is first, and series with equal totals are
 * in the order of their names.
 */
static int by_total(const void *a, const void *b)
{
	const struct latency_series *x = a, *y = b;

	if (x->time.total < y->time.total || x->time.total > y->time.total)
		return x->time.total < y->time.total ? 1 : -1;
	return strcmp(x->series->name, y->series->name);
}

/* Reads the losses of the log, in total and for each series. */
static int take_lost(struct latency *latency)
{
	int err = lost_take(&latency->lost, &latency->log);

	for (size_t i = 0; !err && i < latency->count; i++)
		/*
		 * If events of the types of a series were lost, the row of the series is printed
		 * with their number.
		 */
		latency->series[i].lost = lost_of_series(&latency->lost, &latency->pairing,
							 &latency->log, latency->series[i].series);
	return err;
}

/* ------------------------------------------------------------------ the command */

/*
 * Measures the durations in an open log and prints the result. Returns an exit status. After an
 * error it prints nothing on standard output, so that the user does not mistake a part of the
 * result for the whole.
 */
static int measure_open_log(struct latency *latency, const struct options *options)
{
	struct reading reading;
	int err;

	function_names(&latency->pairing, &latency->log);
	if (!pairing_begin(&latency->pairing, &latency->log))
		return TOOL_USAGE;
	/*
	 * If --where depends on durations, an event that begins a span is chosen at first. Only the
	 * event that ends the span decides whether the span is wanted.
	 */
	latency->pairing.takes_back = wanted_uses_duration(&latency->wanted);
	err = count_events(latency, &reading);
	if (!err)
		err = look_around(latency);
	if (!err)
		err = take_lost(latency);
	if (err) {
		say("%s: %s", latency->log.path, strerror(err));
		return TOOL_FAILURE;
	}
	locks_sort(&latency->locks);
	if (latency->count)
		qsort(latency->series, latency->count, sizeof(*latency->series), by_total);
	if (options->json)
		latency_json(&out_stdout, latency);
	else
		latency_text(&out_stdout, latency, options->form);
	return reading_status(&reading);
}

/* Opens the log, measures its durations and closes it. */
static int measure_log(struct latency *latency, const struct options *options, const char *path)
{
	int status;

	/* If one of the two calls fails, latency_fini() frees what has been allocated. */
	if (!locks_init(&latency->locks) ||
	    !slowest_init(&latency->slowest, (size_t)options->slowest, (size_t)options->around)) {
		say("%s", strerror(ENOMEM));
		return TOOL_FAILURE;
	}
	status = reading_open(&latency->log, path, &latency->wanted);
	if (status)
		return status;
	status = measure_open_log(latency, options);
	logfile_close(&latency->log);
	return status;
}

enum {
	OPT_PAIR = 256,
	OPT_SLOWEST,
	OPT_AROUND,
	OPT_UTC,
	OPT_RAW,
	OPT_JSON,
};

static const struct option_row option_rows[] = {
	{ "pair", OPT_PAIR, "BEGIN,END[,FIELD]...",
		"event types that begin and end a span, and fields that are equal in both; "
		"without fields the thread must be equal; may be repeated", OPTION_PAIR },
	{ "slowest", OPT_SLOWEST, "N",
		"print the N slowest operations and the events around them; the default is none" },
	{ "around", OPT_AROUND, "N",
		"print N events before and after each slowest operation; the default is 3",
		.needs = "slowest" },
	{ .rows = at_rows },
	{ .rows = wanted_choice_rows },
	{ "utc", OPT_UTC, NULL, "times in UTC" },
	{ "raw", OPT_RAW, NULL, "times in nanoseconds since 1970", .excludes = "utc" },
	{ "json", OPT_JSON, NULL, "a JSON object" },
	OPTION_HELP,
	OPTION_END
};

/*
 * Processes an option. Returns false if the option or its value is wrong; the error has been
 * printed. wanted_option() processes the options that choose events.
 */
static bool parse_option(struct latency *latency, struct options *options, int option)
{
	bool good;

	if (wanted_option(&latency->wanted, option, optarg, &good) ||
	    at_option(&options->at, option, optarg, &good))
		return good;
	switch (option) {
	/*
	 * The value is added to two pairings: wanted_pair() checks it and keeps it for the
	 * durations in --where, and pairing_add() adds it to the pairing of this command.
	 */
	case OPT_PAIR:
		return wanted_pair(&latency->wanted, optarg) &&
		       pairing_add(&latency->pairing, optarg);
	case OPT_SLOWEST:
		return tool_number_within("--slowest", optarg, 0, SLOWEST_MAX, &options->slowest);
	case OPT_AROUND:
		return tool_number_within("--around", optarg, 0, SLOWEST_AROUND, &options->around);
	case OPT_UTC:
		options->form = WHEN_UTC;
		return true;
	case OPT_RAW:
		options->form = WHEN_RAW;
		return true;
	case OPT_JSON:
		options->json = true;
		return true;
	}
	return false; /* tool_option() has printed the error */
}

/* Frees all memory. The function may be called at any time after pairing_init(). */
static void latency_fini(struct latency *latency)
{
	for (size_t i = 0; i < latency->count; i++)
		histogram_fini(&latency->series[i].time);
	free(latency->series);
	pairing_fini(&latency->pairing);
	locks_fini(&latency->locks);
	lost_fini(&latency->lost);
	slowest_fini(&latency->slowest);
	wanted_fini(&latency->wanted);
}

/* Parses the options and measures one log. The function frees all memory in any case. */
static int latency_run(int argc, char **argv)
{
	static struct latency latency;
	struct options options = { .around = 3 };
	int option, status = TOOL_OK;

	wanted_init(&latency.wanted);
	pairing_init(&latency.pairing, take_span, &latency);
	while (!status && (option = tool_option(argc, argv, &latency_command)) != -1) {
		if (option == 'h') {
			latency_fini(&latency);
			return tool_help(&latency_command);
		}
		if (!parse_option(&latency, &options, option))
			status = tool_usage(&latency_command);
	}
	if (!status && !wanted_ready(&latency.wanted, options.form == WHEN_UTC)) {
		status = tool_usage(&latency_command);
	} else if (!status) {
		options.at.wanted = &latency.wanted;
		options.at.pairs = true;
		options.at.joins = true;
		status = at_logs(&options.at, &latency_command, argv + optind,
				 (size_t)(argc - optind), 1, 1);
	}
	if (!status)
		status = measure_log(&latency, &options, options.at.path[0]);
	status = tool_worse(status, options.at.status);
	at_fini(&options.at);
	latency_fini(&latency);
	return status;
}

const struct tool_command latency_command = {
	.name = "latency",
	.usage = "[OPTION]... LOG...\n"
		 "[OPTION]... --at URL [LOG]",
	.about =
		"Prints how long operations in LOG (- is standard input) took: spans between an "
		"event type that begins them and one that ends them, and events with a field "
		"for a duration. Prints counts, rates, percentiles with an error of at most "
		"1/128 of the value, waits for locks, and the slowest operations with the "
		"events around them.",
	.options = option_rows,
	.notes =
		WANTED_TIME_NOTE
		"Exit status: 0 ok, 1 failure, 2 usage, 3 damaged or never closed.",
	.operands = OPTION_LOG,
	.run = latency_run,
};
