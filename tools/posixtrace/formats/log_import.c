/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* formats/log_import.c - the logs of libposixtrace as a source: all that they say. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "formats/flow.h"
#include "formats/log.h"
#include "gaps.h"
#include "logfile.h"
#include "say.h"
#include "when.h"

#define FAULTS_SAID 20

struct reading {
	struct fmt_flow *flow;
	struct logfile log;
	const struct fmt_type **type; /* by id */
	size_t ids;
	int cause;                    /* of a gap in the stream, as its policy says */
	bool skipped;                 /* a damaged part */
	struct gaps gaps;
	int64_t last_ns;              /* the greatest time so far */
};

bool log_detect(const struct fmt_head *head)
{
	return head->len >= 8 && !memcmp(head->bytes, "PXTRLOG1", 8);
}

static int read_facts(const struct logfile *log, struct fmt_facts *facts)
{
	struct posix_trace_ledger_np ledger;
	struct timespec time;
	int err = posix_trace_get_attr(log->trid, &facts->attr);

	if (err)
		return err;
	facts->has_attr = true;
	posix_trace_attr_getname(&facts->attr, facts->name);
	posix_trace_attr_getgenversion(&facts->attr, facts->generation);
	if (!posix_trace_attr_getclockres(&facts->attr, &time))
		facts->resolution_ns = when_timespec(&time);
	if (!posix_trace_attr_getcreatetime(&facts->attr, &time)) {
		facts->creation_ns = when_timespec(&time);
		facts->has_creation = true;
	}
	memcpy(facts->host, log->info.host, sizeof(facts->host));
	memcpy(facts->clock, log->info.clock, sizeof(facts->clock));
	facts->clock_hz = log->info.clock_hz;
	facts->pid = (uint32_t)log->info.pid;
	/* The library opens logs of this byte order only. */
	facts->big_endian = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;
	facts->has_span = log->info.blocks > 0;
	facts->first_ns = log->info.first_ns;
	facts->last_ns = log->info.last_ns;
	err = posix_trace_get_ledger_np(log->trid, &ledger);
	facts->has_events = !err && log->whole;
	facts->events = facts->has_events ? ledger.reported : 0;
	return err;
}

static const struct fmt_type *learn(struct reading *reading, trace_event_id_t id)
{
	const struct log_type *type = logfile_type(&reading->log, id);
	struct fmt_type what = { .name = type->name, .id = id, .number = id, .level = -1 };

	what.schema = type->schema_text;
	if (id >= reading->ids)
		return fmt_type(reading->flow, &what);
	reading->type[id] = fmt_type(reading->flow, &what);
	return reading->type[id];
}

static inline const struct fmt_type *type_of(struct reading *reading, trace_event_id_t id)
{
	return __builtin_expect(id < reading->ids && reading->type[id], true)
		? reading->type[id] : learn(reading, id);
}

/*
 * The counts come with the ledger; here is where something is missing. While stopped, nothing is.
 */
static bool tell_gap(struct reading *reading, const struct gap *gap)
{
	struct fmt_lost lost = {
		.cause = gap->kind == GAP_DAMAGED ? POSIX_TRACE_LOST_DAMAGED_NP :
			 gap->kind == GAP_FULL ? POSIX_TRACE_LOST_STREAM_FULL_NP : reading->cause,
		.has_interval = true, .begin_ns = gap->begin_ns, .end_ns = gap->end_ns,
	};

	return gap->kind == GAP_STOPPED || fmt_lost(reading->flow, &lost);
}

static bool look_for_gaps(struct reading *reading, const struct posix_trace_event_np *event)
{
	struct gap gap[GAPS_OF_AN_EVENT];
	unsigned count = gaps_event(&reading->gaps, event, gap);

	reading->skipped |= (event->flags & POSIX_TRACE_EVENT_GAP_NP) != 0;
	for (unsigned i = 0; i < count; i++)
		if (!tell_gap(reading, &gap[i]))
			return false;
	return true;
}

/* A stream that stays full loses events up to the end. */
static bool end_gaps(struct reading *reading)
{
	struct gap gap;

	return !gaps_end(&reading->gaps, reading->last_ns, &gap) || tell_gap(reading, &gap);
}

static bool tell_objects(struct reading *reading)
{
	struct posix_trace_object_np from;
	int unavailable;

	/* Opening the log has read the first object. */
	posix_trace_object_rewind_np(reading->log.trid);
	while (!posix_trace_object_getnext_np(reading->log.trid, &from, &unavailable) &&
	       !unavailable) {
		struct fmt_object object = {
			.kind = posix_trace_object_kind_name_np(from.kind), .number = from.kind,
			.pid = (uint32_t)from.pid, .pointer = from.pointer, .name = from.name,
			.name_len = strlen(from.name), .has_since = true, .since_ns = from.time_ns,
		};

		if (!fmt_object(reading->flow, &object))
			return false;
	}
	return true;
}

static int read_events(struct reading *reading)
{
	struct posix_trace_event_np e;
	struct fmt_event event = { .cpu = -1 };
	int err, unavailable;

	while (!(err = posix_trace_getnext_np(reading->log.trid, &e, &unavailable)) &&
	       !unavailable) {
		if ((e.info.posix_event_id <= POSIX_TRACE_FLUSH_STOP || e.flags) &&
		    !look_for_gaps(reading, &e))
			return 0;
		gaps_pass(&reading->gaps, e.time_ns);
		if (e.time_ns > reading->last_ns)
			reading->last_ns = e.time_ns;
		event.type = type_of(reading, e.info.posix_event_id);
		event.time_ns = e.time_ns;
		event.pid = (uint32_t)e.info.posix_pid;
		event.tid = (uint32_t)e.tid;
		event.thread = (uint64_t)e.info.posix_thread_id;
		event.address = (uintptr_t)e.info.posix_prog_address;
		event.truncation = e.info.posix_truncation_status;
		event.flags = e.flags & ~POSIX_TRACE_EVENT_BLOCK_NP;
		event.data = e.data;
		event.data_len = e.data_len;
		if (!fmt_event(reading->flow, &event))
			return 0;
	}
	return err;
}

static int ledger_of_types(struct reading *reading, struct fmt_end *end)
{
	struct fmt_type_line *line = calloc(reading->log.types + 1, sizeof(*line));

	if (!line)
		return ENOMEM;
	end->type = line;
	for (size_t i = 0; i < reading->log.types; i++) {
		trace_event_id_t id = reading->log.list[i]->id;

		if (posix_trace_get_ledger_type_np(reading->log.trid, id,
						   &line[end->types].ledger))
			continue;
		line[end->types++].type = type_of(reading, id);
	}
	return 0;
}

static int ledger_of_threads(struct reading *reading, struct fmt_end *end)
{
	struct fmt_thread_line *lines = NULL;
	size_t room = 0;

	for (;;) {
		int unavailable, err;

		if (end->threads == room) {
			struct fmt_thread_line *more;

			room = room ? 2 * room : 64;
			more = realloc(lines, room * sizeof(*more));
			if (!more) {
				free(lines);
				end->thread = NULL;
				return ENOMEM;
			}
			lines = more;
			end->thread = lines;
		}
		err = posix_trace_get_ledger_thread_np(reading->log.trid, end->threads,
						       &lines[end->threads].thread,
						       &lines[end->threads].ledger, &unavailable);
		if (err || unavailable)
			return err;
		end->threads++;
	}
}

static int finish(struct reading *reading)
{
	struct fmt_end end = { .complete = reading->log.info.complete != 0 };
	int err = posix_trace_get_status(reading->log.trid, &end.status);

	end.has_status = !err;
	if (!err)
		err = posix_trace_get_ledger_np(reading->log.trid, &end.ledger);
	end.has_ledger = !err;
	if (!err)
		err = ledger_of_types(reading, &end);
	if (!err)
		err = ledger_of_threads(reading, &end);
	if (!err)
		fmt_finish(reading->flow, &end);
	free((void *)end.type);
	free((void *)end.thread);
	return err;
}

/* Reading ran into damage, or the counts tell of damage that it did not run into. */
static bool looks_damaged(const struct reading *reading, uint64_t events)
{
	struct posix_trace_ledger_np ledger;

	return logfile_is_damaged(&reading->log) || reading->skipped ||
	       posix_trace_get_ledger_np(reading->log.trid, &ledger) ||
	       (ledger.reported != events && !reading->flow->seek_ns &&
		logfile_ends_before(&reading->log, reading->flow->until_ns));
}

static int cause_of_gaps(const trace_attr_t *attr)
{
	int policy;

	return !posix_trace_attr_getstreamfullpolicy(attr, &policy) && policy == POSIX_TRACE_LOOP
		? POSIX_TRACE_LOST_OVERWRITTEN_NP : POSIX_TRACE_LOST_STREAM_FULL_NP;
}

static int read_log(struct reading *reading)
{
	struct fmt_flow *flow = reading->flow;
	struct fmt_facts facts = { .pid = 0 };
	uint64_t before = flow->read;
	int err = read_facts(&reading->log, &facts);

	if (!err) {
		reading->ids = 1024;
		reading->type = calloc(reading->ids, sizeof(struct fmt_type *));
		err = reading->type ? 0 : ENOMEM;
	}
	reading->cause = cause_of_gaps(&facts.attr);
	reading->last_ns = INT64_MIN;
	for (size_t i = 0; !err && i < reading->log.types; i++)
		learn(reading, reading->log.list[i]->id);
	flow->objects = reading->log.trid;
	if (!err && fmt_begin(flow, &facts) && tell_objects(reading)) {
		flow->knows_until = true;
		err = logfile_window(&reading->log, flow->seek_ns, flow->until_ns);
		if (!err)
			err = read_events(reading);
		if (!err && !flow->stopped && end_gaps(reading))
			err = finish(reading);
	}
	if (err)
		return fmt_fault(flow, FMT_REFUSE, FMT_NO_OFFSET, NULL, "%s", strerror(err));
	if (!flow->stopped && looks_damaged(reading, flow->read - before)) {
		logfile_say_faults(&reading->log, FAULTS_SAID);
		flow->status = tool_worse(flow->status, TOOL_DAMAGED);
	}
	return TOOL_OK;
}

int log_import(struct fmt_flow *flow, struct fmt_input *input)
{
	struct reading reading = { .flow = flow };
	int fd = fmt_file(flow, input, NULL), status;

	if (fd < 0)
		return TOOL_FAILURE;
	fd = dup(fd);
	if (fd < 0)
		return fmt_fault(flow, FMT_REFUSE, FMT_NO_OFFSET, NULL, "%s", strerror(errno));
	status = logfile_open_given(&reading.log, fd, fmt_input_name(input));
	if (status)
		return status;
	status = read_log(&reading);
	flow->objects = 0;
	free(reading.type);
	logfile_close(&reading.log);
	return status;
}
