/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* log_import.c - the logs of libposixtrace as a source: all that they say, in one order. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/say.h"
#include "convert/log/log.h"
#include "convert/log/log_reading.h"
#include "show/merge_part.h"

#define FAULTS_SAID 20

struct import {
	struct fmt_flow *flow;
	struct merge merge;
	struct log_reading *reading;  /* of each source of merge */
	trace_id_t *trid;
};

bool log_detect(const struct fmt_head *head)
{
	return head->len >= 8 && !memcmp(head->bytes, "PXTRLOG1", 8);
}

/* ------------------------------------------------------------------ opening */

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

/* A trace without one of the logs would look whole: all are opened, or none is converted. */
static int open_logs(struct import *import, struct fmt_input *input)
{
	struct merge *merge = &import->merge;
	size_t count = import->flow->sources;

	merge->source = calloc(count, sizeof(*merge->source));
	import->reading = calloc(count, sizeof(*import->reading));
	import->trid = calloc(count, sizeof(*import->trid));
	if (!merge->source || !import->reading || !import->trid) {
		say("%s", strerror(ENOMEM));
		return TOOL_FAILURE;
	}
	for (; input; input = input->next) {
		struct merge_source *source = &merge->source[merge->sources];
		int status = open_log(import, input, source);

		if (status)
			return status;
		source->error_ns = merge_error_of(merge, &source->log);
		import->trid[merge->sources++] = source->log.trid;
	}
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
}

/* ------------------------------------------------------------------ reading */

static int next(struct merge_source *source, bool *any)
{
	int unavailable = 0;
	int err = posix_trace_getnext_np(source->log.trid, &source->event, &unavailable);

	*any = !err && !unavailable;
	return err;
}

static int read_one(struct import *import)
{
	struct merge_source *source = &import->merge.source[0];
	bool any;
	int err;

	while (!(err = next(source, &any)) && any)
		if (!log_reading_event(&import->reading[0], &source->event))
			return 0;
	if (!err)
		log_reading_end(&import->reading[0]);
	return err;
}

static int advance(struct merge_source *source)
{
	bool any;
	int err = next(source, &any);

	source->has = false;
	if (any)
		merge_place(source);
	if (err)
		say("%s: %s", source->log.path, strerror(err));
	return err;
}

static int read_merged(struct import *import)
{
	struct merge *merge = &import->merge;
	struct merge_source *source;
	int err = 0;

	for (size_t i = 0; !err && i < merge->sources; i++)
		err = advance(&merge->source[i]);
	while (!err && (source = merge_first(merge))) {
		struct log_reading *reading = &import->reading[source - merge->source];

		if (!log_reading_event(reading, &source->event))
			return 0;
		source->any = true;
		err = advance(source);
		if (!err && !source->has && !log_reading_end(reading))
			return 0;
	}
	return err;
}

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

static bool tell_objects(const struct import *import)
{
	bool go = true;

	for (size_t i = 0; go && i < import->merge.sources; i++)
		go = log_reading_objects(&import->reading[i]);
	return go;
}

static void say_damage(struct import *import)
{
	for (size_t i = 0; i < import->merge.sources; i++) {
		if (!log_reading_is_damaged(&import->reading[i]))
			continue;
		logfile_say_faults(&import->merge.source[i].log, FAULTS_SAID);
		import->flow->status = tool_worse(import->flow->status, TOOL_DAMAGED);
	}
}

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
	if (!err && fmt_begin(flow, &facts) && joined_notes(import->reading, count) &&
	    tell_objects(import)) {
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

	if (flow->clocks) {
		import.merge.error = flow->clocks->error;
		import.merge.errors = flow->clocks->errors;
	}
	status = open_logs(&import, input);
	if (!status)
		status = read_logs(&import);
	flow->objects = NULL;
	flow->object_logs = 0;
	close_logs(&import);
	return status;
}
