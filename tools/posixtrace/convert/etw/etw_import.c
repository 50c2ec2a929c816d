/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * etw_import.c - the source "etw": reads a log of Event Tracing for Windows.
 *
 * By default, the data of an event with a description is the decoded payload and, behind it, the
 * whole record, so that an export can write the record back. The data of any other event is only
 * the record. The functions that pass something to the sink return false if the conversion must
 * end.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/say.h"
#include "base/utf.h"
#include "base/vec.h"
#include "convert/etw/etw.h"
#include "convert/etw/etw_listing.h"
#include "convert/etw/etw_part.h"
#include "convert/etw/etw_restore.h"
#include "convert/etw/etw_sink.h"
#include "convert/etw/etw_span_events.h"
#include "convert/etw/etw_types.h"

struct import {
	struct fmt_flow *flow;
	struct etw_file file;
	struct etw_types types;
	bool meta, join;
	uint64_t level;         /* events of greater levels are omitted */
	int fd;
	struct etw_listing *listing; /* the sink gets lines; NULL: it gets events */
	struct etw_span_events *spans; /* the spans if --spans is given, otherwise NULL */

	/* if --join is given: whether an event is pending that may get further data */
	bool has_pending;
	struct fmt_event pending;
	struct etw_record pending_record;
	unsigned char *data;
	size_t data_len, data_room;
};

/*
 * The function read() of struct etw_input. It continues after a signal, and after a read of fewer
 * bytes.
 */
static int64_t read_at(void *arg, uint64_t at, void *to, size_t len)
{
	const struct import *im = arg;
	size_t have = 0;

	while (have < len) {
		ssize_t n = pread(im->fd, (char *)to + have, len - have, (off_t)(at + have));

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -1 : (int64_t)have;
		have += (size_t)n;
	}
	return (int64_t)have;
}

/* Prints that memory is lacking, and returns false. */
static bool say_no_memory(const struct import *im)
{
	fmt_fault(im->flow, FMT_REFUSE, FMT_NO_OFFSET, NULL, "%s", strerror(ENOMEM));
	return false;
}

/* Reads the options. Returns false after a message about a wrong value. */
static bool read_options(struct import *im, struct etw_options *options)
{
	struct fmt_flow *flow = im->flow;
	const char *given = fmt_option(flow, "etw-clock");
	uint64_t clock = 0;

	im->level = 255;
	im->join = fmt_flag(flow, "join");
	im->types.payload_only = fmt_flag(flow, "etw-payload") || im->join;
	/* The sink "etw" writes the records back, so it needs no decoded payloads. */
	im->types.raw = fmt_flag(flow, "etw-raw") || fmt_sink_is(flow, "etw");
	/*
	 * If the events lack whole records, no export can write the log back. So the header of the
	 * log is useless and is not passed, either.
	 */
	im->meta = !fmt_flag(flow, "no-meta") && !im->types.payload_only;
	im->types.records = im->meta;
	options->resync = fmt_flag(flow, "etw-resync");
	if (!fmt_option_number(flow, "etw-freq", 1, INT64_MAX, &options->frequency) ||
	    !fmt_option_number(flow, "level", 0, 255, &im->level) ||
	    /* The value "filetime" is for the sink. */
	    (given && !(fmt_sink_is(flow, "etw") && !strcmp(given, "filetime")) &&
	     !fmt_option_number(flow, "etw-clock", 1, 3, &clock)))
		return false;
	options->clock = (unsigned)clock;
	return true;
}

/* Passes the facts in the log's header. A name that is too long is cut between two characters. */
static bool begin_flow(struct import *im, struct findings *findings)
{
	const struct etw_log *log = &im->file.log;
	struct fmt_facts facts = {
		.creation_ns = etw_filetime_ns(log->start_time),
		.has_creation = true,
		.has_span = im->file.events > 0,
		.first_ns = im->file.first_ns,
		.last_ns = im->file.last_ns,
		.data_max = im->file.largest,
		.resolution_ns = 100,
	};
	/* Memory for two names of at most 64 KiB each. It is too large for the stack. */
	char *names = malloc(2 * 65536);

	if (!names)
		return say_no_memory(im);
	etw_log_names(log, names, names + 65536, 65536, findings);
	snprintf(facts.name, sizeof(facts.name), "%.*s",
		 (int)utf8_cut(names, strlen(names), sizeof(facts.name) - 1), names);
	free(names);
	snprintf(facts.generation, sizeof(facts.generation), "etw %u.%u.%u", log->version[0],
		 log->version[1], log->build);
	if (log->clock == ETW_CLOCK_PERFORMANCE) {
		snprintf(facts.clock, sizeof(facts.clock), "qpc");
		facts.clock_hz = (uint64_t)log->frequency;
		facts.resolution_ns = 1000000000 / log->frequency;
	} else if (log->clock == ETW_CLOCK_CPU) {
		snprintf(facts.clock, sizeof(facts.clock), "cycles");
		facts.clock_hz = log->cpu_mhz * UINT64_C(1000000);
		facts.resolution_ns = 1000 / log->cpu_mhz;
	} else {
		snprintf(facts.clock, sizeof(facts.clock), "system");
	}
	if (facts.resolution_ns < 1)
		facts.resolution_ns = 1;
	if (im->meta && log->record_bytes > facts.data_max)
		facts.data_max = log->record_bytes;
	if (im->spans && facts.data_max < ETW_SPAN_EVENT_BYTES)
		facts.data_max = ETW_SPAN_EVENT_BYTES;
	/*
	 * The lengths of decoded and joined events are not known yet, so the facts have the
	 * greatest possible length.
	 */
	if (im->join || !im->types.raw)
		facts.data_max = ETW_DATA_MAX;
	return fmt_begin(im->flow, &facts);
}

/* Passes the log's own header as an event, so that an export can write it back. */
static bool put_header(struct import *im)
{
	const struct etw_log *log = &im->file.log;
	struct fmt_event event = {
		.type = etw_types_header(&im->types),
		.time_ns = etw_filetime_ns(log->start_time),
		.cpu = -1,
		.data = log->record,
		.data_len = log->record_bytes,
	};

	return fmt_event(im->flow, &event);
}

/* Passes the event that --join has held back. */
static bool put_pending(struct import *im)
{
	if (!im->has_pending)
		return true;
	im->has_pending = false;
	im->pending.data = im->data;
	im->pending.data_len = im->data_len;
	return fmt_event(im->flow, &im->pending);
}

/* Appends data to the event that --join holds back. The caller limits the length. */
static bool append_data(struct import *im, const unsigned char *bytes, size_t len)
{
	if (!vec_reserve(&im->data, &im->data_room, im->data_len, len))
		return say_no_memory(im);
	memcpy(im->data + im->data_len, bytes, len);
	im->data_len += len;
	return true;
}

/*
 * Returns whether a record continues the data of the event before it. Such a record has type 5, and
 * has the class and the thread of that event.
 */
static bool is_extension(const struct etw_record *r, const struct etw_record *to)
{
	return r->type == 5 && etw_is_classic(r) && etw_is_classic(to) && r->tid == to->tid &&
	       r->pid == to->pid && !memcmp(r->guid, to->guid, sizeof(r->guid));
}

/*
 * With --join, an event is held back until the next record, which may have more data of the event.
 */
static bool join_extension(struct import *im, const struct etw_record *r,
			   const struct fmt_event *event)
{
	if (im->has_pending && is_extension(r, &im->pending_record) &&
	    im->data_len + r->size <= ETW_DATA_MAX)
		return append_data(im, r->bytes + r->header, r->size - r->header);
	if (!put_pending(im))
		return false;
	im->has_pending = true;
	im->pending = *event;
	im->pending_record = *r;
	im->data_len = 0;
	return append_data(im, event->data, event->data_len);
}

/* A record about lost data becomes a gap without a count, because the record has no count. */
static bool put_lost(struct import *im, const struct etw_record *r, int64_t time_ns)
{
	struct fmt_lost lost = {
		.cause = etw_lost_type(r) == 32 ? POSIX_TRACE_LOST_STREAM_FULL_NP :
						  POSIX_TRACE_LOST_FLUSH_ERROR_NP,
		.has_interval = true,
		.begin_ns = time_ns,
		.end_ns = time_ns,
	};

	return fmt_lost(im->flow, &lost);
}

/* Passes one event or, for a listing, its line. */
static bool put_event(struct import *im, const struct etw_record *r)
{
	struct fmt_event event = {
		.time_ns = etw_time_ns(&im->file.log, r->stamp),
		.pid = r->pid,
		.tid = r->tid,
		.thread = r->tid,
		.cpu = (int32_t)r->processor,
	};
	const char *text;

	event.type = etw_types_of(&im->types, r, &event.data, &event.data_len);
	if (!event.type)
		return say_no_memory(im);
	if (im->listing) {
		text = etw_types_text(&im->types, r);
		return text ? etw_list(im->listing, r, event.type->name, text, event.time_ns) :
			      say_no_memory(im);
	}
	if (im->join ? !join_extension(im, r, &event) : !fmt_event(im->flow, &event))
		return false;
	if (im->spans && !etw_span_events_put(im->spans, r, event.time_ns))
		return false;
	return !etw_lost_type(r) || put_lost(im, r, event.time_ns);
}

/*
 * Passes all events in order of time, except those of greater levels. The variable "more" is -1
 * after an error of the walk, and -2 if the sink has refused the last pending event. Returns false
 * after an error.
 */
static bool put_events(struct import *im)
{
	struct etw_walk *walk;
	struct etw_record record;
	int more = -1;

	if (!etw_walk_begin(&im->file, &walk)) {
		while ((more = etw_walk_next(walk, &record)) > 0) {
			if (record.level > 0 && (uint64_t)record.level > im->level)
				continue;
			if (!put_event(im, &record)) {
				etw_walk_end(walk);
				return false;
			}
		}
		if (im->join && !more && !put_pending(im))
			more = -2;
		etw_walk_end(walk);
	}
	if (more == -1)
		fmt_fault(im->flow, FMT_REFUSE, FMT_NO_OFFSET, NULL,
			  "the input cannot be read a second time, or memory is lacking");
	return !more;
}

/* Passes the counts of losses in the header, which have no time, and then the end. */
static bool finish_flow(struct import *im)
{
	const struct etw_log *log = &im->file.log;
	bool lost = log->events_lost || log->buffers_lost || im->file.lost_records;
	bool full = log->mode & ETW_MODE_CIRCULAR && log->buffer_size &&
		    log->buffers_written > im->file.buffers;
	struct fmt_end end = {
		.complete = !fmt_is_damaged(im->flow) && log->buffers_written,
		.has_status = true,
		.status = {
			.posix_stream_status = POSIX_TRACE_SUSPENDED,
			.posix_stream_full_status = full ? POSIX_TRACE_FULL : POSIX_TRACE_NOT_FULL,
			.posix_stream_overrun_status =
				lost || full ? POSIX_TRACE_OVERRUN : POSIX_TRACE_NO_OVERRUN,
		},
	};
	struct fmt_lost events = {
		.cause = POSIX_TRACE_LOST_STREAM_FULL_NP,
		.counted = true,
		.count = log->events_lost,
	};

	if (log->events_lost && !fmt_lost(im->flow, &events))
		return false;
	if (log->buffers_lost &&
	    !fmt_note(im->flow, "%u buffer%s lost, with an unknown number of events",
		      log->buffers_lost, log->buffers_lost == 1 ? " was" : "s were"))
		return false;
	return fmt_finish(im->flow, &end);
}

/*
 * Selects one of three ways to convert the file: as a listing, as an export of posixtrace that is
 * restored, or as any log of ETW.
 */
static int convert_file(struct import *im, struct findings *findings)
{
	if (fmt_wants_lines(im->flow)) {
		im->listing = etw_listing_new(im->flow, &im->file);
		if (!im->listing)
			return fmt_fault(im->flow, FMT_REFUSE, FMT_NO_OFFSET, NULL, "%s",
					 strerror(ENOMEM));
		if (!begin_flow(im, findings) || !put_events(im) || !etw_list_end(im->listing) ||
		    !finish_flow(im))
			return TOOL_FAILURE;
		return TOOL_OK;
	}
	/*
	 * With --no-meta, --etw-payload or --join, an export of posixtrace is not restored but read
	 * like any log of ETW.
	 */
	if (im->file.ours && im->meta)
		return etw_restore(im->flow, &im->file);
	if (fmt_flag(im->flow, "spans")) {
		im->spans = etw_span_events_new(im->flow, &im->file);
		if (!im->spans)
			return fmt_fault(im->flow, FMT_REFUSE, FMT_NO_OFFSET, NULL, "%s",
					 strerror(ENOMEM));
	}
	if (!begin_flow(im, findings) || (im->meta && !put_header(im)) || !put_events(im) ||
	    (im->spans && !etw_span_events_end(im->spans)) || !finish_flow(im))
		return TOOL_FAILURE;
	return TOOL_OK;
}

/*
 * The log is read twice, which is impossible for a pipe. So the function calls fmt_file(), which
 * copies a pipe to a temporary file. etw_import() prints the errors for which etw_open() makes no
 * finding, such as a lack of memory.
 */
int etw_import(struct fmt_flow *flow, struct fmt_input *input)
{
	struct import *im = calloc(1, sizeof(*im));
	struct etw_options options = { 0 };
	struct etw_input from = { .read = read_at };
	struct findings findings;
	int status = TOOL_FAILURE, err;

	if (!im)
		return fmt_fault(flow, FMT_REFUSE, FMT_NO_OFFSET, NULL, "%s", strerror(ENOMEM));
	im->flow = im->types.flow = flow;
	im->types.file = &im->file;
	findings_of_flow(&findings, flow);
	from.arg = im;
	if (!read_options(im, &options)) {
		status = TOOL_USAGE;
	} else if ((im->fd = fmt_file(flow, input, &from.size)) >= 0) {
		err = etw_open(&im->file, &from, &options, &findings);
		if (err && err != EINVAL)
			fmt_fault(flow, FMT_REFUSE, FMT_NO_OFFSET, NULL, "%s", strerror(err));
		if (!err) {
			status = convert_file(im, &findings);
			etw_close(&im->file);
		}
	}
	etw_listing_free(im->listing);
	etw_span_events_free(im->spans);
	etw_types_free(&im->types);
	free(im->data);
	free(im);
	return status;
}
