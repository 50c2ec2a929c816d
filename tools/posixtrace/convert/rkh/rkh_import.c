/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * rkh_import.c - the source "rkh": converts frames of RKH to events. The data of an event is the
 * arguments of the frame as they were sent. In the dialect of posixtrace, rkh_ptx.c restores the
 * events instead.
 *
 * A gap in the sequence numbers gets the time of the frame after it. rkh_ledger.c counts the
 * missing events. Functions that return bool return false if the conversion must end, and functions
 * that return int return a status of the tool.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "convert/rkh/rkh_source.h"

#define READ_BYTES    65536
#define LIST_NUMBER   0x400 /* + the id of a record: the number of its type in listings */
#define NAME_BYTES    63
#define NS_PER_SECOND 1000000000

/* ------------------------------------------------------------------ the flow */

/*
 * Calls fmt_begin(), as late as possible. The facts state whether times are absolute or relative.
 * This depends on the dialect, which only the first frames show.
 */
static bool begin_first(struct rkh_source *source)
{
	struct fmt_facts facts = { .relative = source->decoder.dialect != RKH_DIALECT_PTX };

	source->begun = true;
	facts.clock_hz = source->decoder.config.hz;
	return fmt_begin(source->flow, &facts);
}

/* Calls fmt_begin() once, before the first event. */
static bool begin_once(struct rkh_source *source)
{
	return source->begun || begin_first(source);
}

/* Passes the gap as two events, OVERFLOW and RESUME, and then its losses. */
static bool pass_gap(struct rkh_source *source, int64_t time_ns)
{
	struct fmt_event event = { .cpu = -1, .time_ns = time_ns };
	uint64_t frames = source->gap_frames, damaged = source->gap_damaged;

	source->has_gap = false;
	source->gap_frames = source->gap_damaged = 0;
	event.type = fmt_type_named(source->flow, "posix_trace_overflow");
	if (!fmt_event(source->flow, &event))
		return false;
	event.type = fmt_type_named(source->flow, "posix_trace_resume");
	return fmt_event(source->flow, &event) && rkh_ledger_gap(source, frames, damaged, time_ns);
}

/*
 * A gap that is held back precedes the event, because the missing events are older than this event.
 */
bool rkh_source_event(struct rkh_source *source, struct fmt_event *event)
{
	if (!begin_once(source) || (source->has_gap && !pass_gap(source, event->time_ns)))
		return false;
	source->time_ns = event->time_ns;
	return fmt_event(source->flow, event);
}

/* Names beyond the limit are missing in the output, but their events are not. */
void rkh_source_named(struct rkh_source *source, int err)
{
	if (err && !source->too_many)
		fmt_fault(source->flow, FMT_WARN, FMT_NO_OFFSET, "names",
			  "more names than there is room for: the rest are left out");
	source->too_many |= err != 0;
}

/* ------------------------------------------------------------------ records */

/*
 * Passes the line in source->text. Returns false if the sink has stopped, or if memory is lacking.
 */
static bool pass_line(struct rkh_source *source)
{
	if (source->text.failed) {
		fmt_fault(source->flow, FMT_REFUSE, FMT_NO_OFFSET, NULL, "%s", strerror(ENOMEM));
		return false;
	}
	return fmt_line(source->flow, source->text.bytes, source->text.len);
}

/* Returns the type of the events with this id. A user event has the name from the stream. */
static const struct fmt_type *type_of(struct rkh_source *source, unsigned id)
{
	bool flat = source->decoder.dialect == RKH_DIALECT_2;
	const struct rkh_record *record = flat ? &rkh2_records[id] : &rkh3_records[id];
	const char *user = !flat && id >= RKH_USER && id < RKH_USER_END
		? rkh_names_find(source->names, RKH_EVENTS, id - RKH_USER) : NULL;
	struct fmt_type what = { .number = LIST_NUMBER + id, .level = -1 };
	char text[NAME_BYTES + 1];

	if (source->type[id])
		return source->type[id];
	if (record->name)
		snprintf(text, sizeof(text), "rkh.%s.%s", record->group, record->name);
	else if (user && *user)
		snprintf(text, sizeof(text), "rkh.USR.%s", user);
	else if (flat)
		snprintf(text, sizeof(text), "rkh.%u", id);
	else
		snprintf(text, sizeof(text), "rkh.%s.%u", rkh_groups[id >> 5], id & 31);
	what.name = text;
	return source->type[id] = fmt_type(source->flow, &what);
}

/*
 * Returns the time of a frame in nanoseconds since the counter of the stream was 0. If the stream
 * has no frequency, a tick is a microsecond. If the ticks are less than the ticks of the frame
 * before, the counter has overflowed once. Returns 0 for a frame without a time.
 */
static int64_t time_of(struct rkh_source *source, const struct rkh_frame *frame)
{
	const struct rkh_config *config = &source->decoder.config;
	__extension__ unsigned __int128 ns;

	if (!frame->has_time)
		return 0;
	if (frame->ticks < source->ticks && config->ts < 8)
		source->turns += UINT64_C(1) << 8 * config->ts;
	source->ticks = frame->ticks;
	ns = source->turns;
	ns += frame->ticks;
	ns = ns * NS_PER_SECOND / (config->hz ? config->hz : 1000000);
	return ns > INT64_MAX ? INT64_MAX : (int64_t)ns;
}

/*
 * Passes a configuration that is held back as an event. In the dialect of posixtrace, a
 * configuration becomes no event.
 */
static bool pass_config(struct rkh_source *source)
{
	struct fmt_event event = {
		.cpu = -1, .data = source->config, .data_len = sizeof(source->config),
	};

	if (!source->has_config)
		return true;
	source->has_config = false;
	if (source->decoder.dialect == RKH_DIALECT_PTX)
		return true;
	if (!begin_once(source))
		return false;
	event.type = type_of(source, RKH_TCFG);
	return rkh_source_event(source, &event);
}

/* A new configuration ends the stream before it. */
static bool take_config(struct rkh_source *source, const struct rkh_frame *frame)
{
	if (!pass_config(source) || (source->begun && !source->lines && !rkh_ledger_end(source)))
		return false;
	memcpy(source->config, frame->args, sizeof(source->config));
	/*
	 * Names and types of the previous stream are no longer valid, because the target may now
	 * run another program.
	 */
	memset(source->type, 0, sizeof(source->type));
	source->has_config = true;
	source->turns = source->ticks = 0;
	source->pid = source->tid = 0;
	source->thread = source->address = 0;
	return true;
}

/* Converts a frame to an event. If a user event gets a new name, its events get a new type. */
static bool handle_record(struct rkh_source *source, const struct rkh_frame *frame)
{
	bool ptx = source->decoder.dialect == RKH_DIALECT_PTX;
	struct fmt_event event = { .cpu = -1, .data = frame->args, .data_len = frame->len };

	if (frame->is_config)
		return take_config(source, frame);
	if (!pass_config(source) || !begin_once(source))
		return false;
	if (frame->record == &rkh3_records[RKH_TUSR] && frame->len && *frame->args < 32)
		source->type[RKH_USER + *frame->args] = NULL;
	if (ptx && frame->id >= RKH_USER && frame->id < RKH_USER_END)
		return rkh_ptx_frame(source, frame);
	if (ptx && frame->id == RKH_TUSR)
		return true;
	event.type = type_of(source, frame->id);
	event.time_ns = ptx ? rkh_ptx_time(source, frame) : time_of(source, frame);
	return rkh_source_event(source, &event);
}

/*
 * Handles a valid frame. If the frame has a name, the function keeps the name first, since the
 * filter uses names.
 */
static bool on_frame(void *arg, const struct rkh_frame *frame)
{
	struct rkh_source *source = arg;
	bool more;

	rkh_source_named(source, rkh_names_read(source->names, &source->decoder.config, frame));
	if (source->filter && (source->lines || source->decoder.dialect != RKH_DIALECT_PTX) &&
	    !rkh_filter_passes(source->filter, &source->decoder, source->names, frame))
		return true;
	if (source->lines) {
		rkh_list_frame(&source->text, frame, &source->decoder, source->names);
		more = pass_line(source);
	} else {
		more = handle_record(source, frame);
	}
	source->stopped |= !more;
	return more;
}

/* ------------------------------------------------------------------ unusual frames */

/*
 * Handles a fault of the stream. A gap is not damage, because the input itself may have no fault.
 */
static void on_trouble(void *arg, const struct rkh_trouble *t)
{
	static const char *const texts[RKH_ANOMALIES] = {
		[RKH_CHECKSUM] = "the sum of the frame is not 0",
		[RKH_SHORT] = "the frame is too short",
		[RKH_ABORT] = "the frame ends behind an escape",
		[RKH_BAD_ESCAPE] = "an escape precedes a byte that needs none",
		[RKH_OVERLONG] = "the frame is longer than --max-frame",
		[RKH_TRUNCATED] = "the input ends within a frame",
		[RKH_NOISE] = "no frame begins before the first flag",
		[RKH_DUPLICATE] = "the frame repeats the one before it",
		[RKH_UNKNOWN] = "no record has this id",
		[RKH_ARGS_SHORT] = "the arguments do not fit the record",
		[RKH_ARGS_TRAILING] = "bytes are left over behind the arguments",
	};
	struct rkh_source *source = arg;
	bool lost = t->anomaly <= RKH_TRUNCATED;

	if (source->lines && t->anomaly != RKH_UNKNOWN) {
		rkh_list_trouble(&source->text, t);
		source->stopped |= !pass_line(source);
	}
	if (t->anomaly == RKH_GAP) {
		source->has_gap = true;
		source->gap_frames += t->missing;
		source->gap_damaged += t->damaged;
		fmt_fault(source->flow, FMT_WARN, t->offset, rkh_anomaly_names[t->anomaly],
			  "number %u where %u was expected: at least %u frames are missing", t->got,
			  t->expected, t->missing);
	} else {
		fmt_fault(source->flow, lost ? FMT_DAMAGED : FMT_WARN, t->offset,
			  rkh_anomaly_names[t->anomaly], "%s", texts[t->anomaly]);
	}
}

/* ------------------------------------------------------------------ the input */

/*
 * Reads the input to its end. When a live sender pauses, a read returns fewer bytes than requested.
 */
static int read_all(struct rkh_source *source, struct fmt_input *input)
{
	unsigned char *bytes = malloc(READ_BYTES);
	ssize_t n = 0;

	if (!bytes)
		return fmt_fault(source->flow, FMT_REFUSE, FMT_NO_OFFSET, NULL, "%s",
				 strerror(ENOMEM));
	while (!source->stopped &&
	       (n = fmt_read(source->flow, input, bytes, READ_BYTES)) > 0) {
		if (!rkh_feed(&source->decoder, bytes, (size_t)n))
			break;
		/* A live sender has no more data for now. */
		if (n < READ_BYTES && source->begun && !fmt_idle(source->flow))
			break;
	}
	free(bytes);
	return n < 0 ? TOOL_FAILURE : TOOL_OK;
}

/* Ends the decoding, and passes the configuration and the gap that are still held back. */
static void finish_flow(struct rkh_source *source)
{
	struct fmt_end end = { 0 };

	rkh_end(&source->decoder);
	if (source->decoder.counts.noise && !source->decoder.counts.frames)
		fmt_fault(source->flow, FMT_DAMAGED, FMT_NO_OFFSET, "noise",
			  "the input has no frame");
	if (source->lines) {
		rkh_list_counts(&source->text, &source->decoder.counts);
		source->stopped |= !pass_line(source);
	}
	if (source->stopped || !pass_config(source) || !begin_once(source) ||
	    (source->has_gap && !source->lines && !pass_gap(source, source->time_ns)) ||
	    !rkh_ledger_end(source))
		return;
	end.complete = !fmt_is_damaged(source->flow);
	fmt_finish(source->flow, &end);
}

/* Reads the options, prepares the input and converts it. */
static int convert_input(struct rkh_source *source, struct fmt_input *input)
{
	int status = rkh_source_open(source);

	if (!status && !fmt_serial(source->flow, input))
		status = TOOL_USAGE;
	if (status)
		return status;
	source->names = rkh_names_new();
	if (!source->names)
		return fmt_fault(source->flow, FMT_REFUSE, FMT_NO_OFFSET, NULL, "%s",
				 strerror(ENOMEM));
	source->decoder.listener =
		(struct rkh_listener){ .trouble = on_trouble, .frame = on_frame, .arg = source };
	source->lines = fmt_wants_lines(source->flow);
	if (source->lines && !begin_once(source))
		return TOOL_FAILURE;
	status = read_all(source, input);
	if (!status)
		finish_flow(source);
	return status;
}

/* The struct is allocated, because it is large: it contains the text of a schema. */
int rkh_import(struct fmt_flow *flow, struct fmt_input *input)
{
	struct rkh_source *source = calloc(1, sizeof(*source));
	int status;

	if (!source)
		return fmt_fault(flow, FMT_REFUSE, FMT_NO_OFFSET, NULL, "%s", strerror(ENOMEM));
	source->flow = flow;
	status = convert_input(source, input);
	rkh_close(&source->decoder);
	rkh_names_free(source->names);
	rkh_filter_free(source->filter);
	free(source->text.bytes);
	free(source->data);
	free(source);
	return status;
}
