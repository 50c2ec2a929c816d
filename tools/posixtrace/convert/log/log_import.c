/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * log_import.c - reads one log, or several as one trace in the order of their times.
 *
 * The library opens and checks the logs. This file orders the events, and passes names of objects
 * before them. Facts and ledgers of several logs are joined by log_joined.c. Functions that return
 * int return 0 or an error number, unless their comments state a status of the tool.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/say.h"
#include "convert/log/log.h"
#include "convert/log/log_reading.h"
#include "show/merge_part.h"

#define FAULTS_SAID 20 /* greatest number of damaged places of one log that are printed */

struct import {
	struct fmt_flow *flow;
	struct merge merge;
	struct log_reading *reading;  /* parallel to merge.source */
	trace_id_t *trid;
	struct logfile **log;
};

/* The function compares the first eight bytes of the header (lib/log/FORMAT 2.1). */
bool log_detect(const struct fmt_head *head)
{
	return head->len >= 8 && !memcmp(head->bytes, "PXTRLOG1", 8);
}

/* ------------------------------------------------------------------ opening */

/*
 * Opens the input as a log. The library becomes the owner of the descriptor, so it gets a duplicate
 * of the input's descriptor. Returns a status of the tool, after a message if it is not TOOL_OK.
 */
static int open_log(struct import *import, struct fmt_input *input, struct merge_source *source)
{
	int fd = fmt_file(import->flow, input, NULL);

	if (fd < 0)
		return TOOL_FAILURE;
	fd = dup(fd);
	if (fd < 0) {
		say("%s: %s", fmt_input_name(input), strerror(errno));
		return TOOL_FAILURE;
	}
	return logfile_open_given(&source->log, fd, fmt_input_name(input));
}

/*
 * Opens all logs. Returns a status of the tool. Fails if a log cannot be opened, because the trace
 * would look complete without this log.
 */
static int open_logs(struct import *import, struct fmt_input *input)
{
	struct merge *merge = &import->merge;
	size_t count = import->flow->sources;

	merge->source = calloc(count, sizeof(*merge->source));
	import->reading = calloc(count, sizeof(*import->reading));
	import->trid = calloc(count, sizeof(*import->trid));
	import->log = calloc(count, sizeof(*import->log));
	if (!merge->source || !import->reading || !import->trid || !import->log) {
		say("%s", strerror(ENOMEM));
		return TOOL_FAILURE;
	}
	for (; input; input = input->next) {
		struct merge_source *source = &merge->source[merge->sources];
		int status = open_log(import, input, source);

		if (status)
			return status;
		source->error_ns = merge_error_of(merge, &source->log);
		import->log[merge->sources] = &source->log;
		import->trid[merge->sources++] = source->log.trid;
	}
	/*
	 * For several logs, prints the differences of time below which the order of events of two
	 * logs is uncertain.
	 */
	merge_say_bounds(merge);
	return TOOL_OK;
}

static void close_logs(struct import *import)
{
	for (size_t i = 0; i < import->merge.sources; i++) {
		logfile_close(&import->merge.source[i].log);
		log_reading_fini(&import->reading[i]);
	}
	free(import->merge.source);
	free(import->reading);
	free(import->trid);
	free(import->log);
}

/* ------------------------------------------------------------------ reading */

/* Reads the next event. *any becomes false at the end. */
static int read_next(struct merge_source *source, bool *any)
{
	int unavailable = 0;
	int err = posix_trace_getnext_np(source->log.trid, &source->event, &unavailable);

	*any = !err && !unavailable;
	return err;
}

/* Reads a single log in its own order. Returns 0 also if the sink has stopped. */
static int read_one(struct import *import)
{
	struct merge_source *source = &import->merge.source[0];
	bool any;
	int err;

	while (!(err = read_next(source, &any)) && any)
		if (!log_reading_event(&import->reading[0], &source->event))
			return 0;
	if (!err)
		log_reading_end(&import->reading[0]);
	return err;
}

/*
 * Reads the next event of one of several logs and finds its position in the order of all events.
 * After an error, prints it with the name of that log.
 */
static int advance_source(struct merge_source *source)
{
	bool any;
	int err = read_next(source, &any);

	source->has = false;
	if (any)
		merge_place(source);
	if (err)
		say("%s: %s", source->log.path, strerror(err));
	return err;
}

/*
 * Reads several logs and passes their events in one common order. The library's buffer for a log
 * has room for only one event. So the function reads the next event of a log only after it has
 * passed the log's current event.
 */
static int read_merged(struct import *import)
{
	struct merge *merge = &import->merge;
	struct merge_source *source;
	int err = 0;

	for (size_t i = 0; !err && i < merge->sources; i++)
		err = advance_source(&merge->source[i]);
	while (!err && (source = merge_first(merge))) {
		struct log_reading *reading = &import->reading[source - merge->source];

		if (!log_reading_event(reading, &source->event))
			return 0;
		source->any = true;
		err = advance_source(source);
		if (!err && !source->has && !log_reading_end(reading))
			return 0;
	}
	return err;
}

/*
 * Reads all events of the selected time. If a log has an index, the library skips the blocks
 * outside of this time.
 */
static int read_events(struct import *import)
{
	struct merge *merge = &import->merge;
	int err = 0;

	for (size_t i = 0; !err && i < merge->sources; i++)
		err = logfile_window(&merge->source[i].log, import->flow->seek_ns,
				     import->flow->until_ns);
	if (!err)
		err = merge->sources == 1 ? read_one(import) : read_merged(import);
	if (!err && !import->flow->stopped)
		err = joined_finish(import->reading, merge->sources);
	return err;
}

/*
 * Passes the names of objects of each log. The names precede the events, because several sinks need
 * the name of an object at its first event. Returns false if the sink has stopped.
 */
static bool pass_objects(const struct import *import)
{
	bool go = true;

	for (size_t i = 0; go && i < import->merge.sources; i++)
		go = log_reading_objects(&import->reading[i]);
	return go;
}

/* Prints the damaged places of each damaged log. Damage is known only after the reading. */
static void say_damage(struct import *import)
{
	for (size_t i = 0; i < import->merge.sources; i++) {
		if (!log_reading_is_damaged(&import->reading[i]))
			continue;
		logfile_say_faults(&import->merge.source[i].log, FAULTS_SAID);
		import->flow->status = tool_worse(import->flow->status, TOOL_DAMAGED);
	}
}

/*
 * Passes the whole trace, from fmt_begin() to fmt_finish(). Types are registered before
 * fmt_begin(), because fmt_begin() checks names in the options against them. Returns a status of
 * the tool.
 */
static int read_logs(struct import *import)
{
	struct fmt_flow *flow = import->flow;
	struct fmt_facts facts = { .pid = 0 };
	size_t count = import->merge.sources;
	int err = 0;

	for (unsigned i = 0; !err && i < count; i++)
		err = log_reading_begin(&import->reading[i], flow, &import->merge.source[i].log, i);
	if (!err)
		err = joined_facts(import->reading, count, &facts);
	if (!err && !joined_fits(import->reading, count))
		return TOOL_FAILURE;
	flow->objects = import->trid;
	flow->object_logs = count;
	flow->logs = import->log;
	/*
	 * If there are several logs, the values of file descriptors get no names, because the types
	 * of the logs get new numbers.
	 */
	flow->descriptors = count == 1 ? import->merge.source[0].log.descriptors : NULL;
	if (!err && fmt_begin(flow, &facts) && joined_notes(import->reading, count) &&
	    pass_objects(import)) {
		/* fmt_begin() has set until_ns; read_events() stops at this time. */
		flow->knows_until = true;
		err = read_events(import);
	}
	if (err)
		return fmt_fault(flow, FMT_REFUSE, FMT_NO_OFFSET, NULL, "%s", strerror(err));
	if (!flow->stopped)
		say_damage(import);
	return TOOL_OK;
}

int log_import(struct fmt_flow *flow, struct fmt_input *input)
{
	struct import import = { .flow = flow };
	int status;

	/* The only option for merging that applies here is --clock-error. */
	if (flow->clocks) {
		import.merge.error = flow->clocks->error;
		import.merge.errors = flow->clocks->errors;
	}
	status = open_logs(&import, input);
	if (!status)
		status = read_logs(&import);
	flow->objects = NULL;
	flow->object_logs = 0;
	flow->logs = NULL;
	flow->descriptors = NULL;
	close_logs(&import);
	return status;
}
