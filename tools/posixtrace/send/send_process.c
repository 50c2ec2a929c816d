/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * send_process.c - reads the events of a running process while they are recorded.
 *
 * The stream overwrites events that are not read in time. Therefore a slow receiver never delays
 * the process, but some events are lost, which the ledger counts.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/say.h"
#include "base/until.h"
#include "base/when.h"
#include "live/capture.h"
#include "live/process.h"
#include "send/send.h"

#define LOOK_MS        20    /* longest sleep between two readings */
/* greatest number of events that are read before signals are checked again */
#define EVENTS_AT_ONCE 65536
#define TYPES          1024  /* size of the cache of types */
#define STREAM_BYTES   (8u << 20) /* default */

struct send_plan send_plan;

struct sending {
	struct fmt_flow *flow;
	trace_id_t trid;
	const struct fmt_type *type[TYPES];
	struct posix_trace_ledger_np reported; /* the losses that were reported so far */
	unsigned char *data; /* memory for the data of one event, data_max bytes */
	size_t data_max;
};

/* Creates and starts the stream. Returns 0 or an error number. */
static int begin_stream(struct sending *sending)
{
	trace_attr_t attr;
	int err = posix_trace_attr_init(&attr);

	if (err)
		return err;
	posix_trace_attr_setname(&attr, "posixtrace send");
	err = posix_trace_attr_setstreamfullpolicy(&attr, POSIX_TRACE_LOOP);
	if (!err && send_plan.inherit)
		err = posix_trace_attr_setinherited(&attr, POSIX_TRACE_INHERITED);
	if (!err)
		err = posix_trace_attr_setstreamsize(&attr, send_plan.stream_size
						     ? send_plan.stream_size : STREAM_BYTES);
	if (!err)
		err = posix_trace_create(send_plan.pid, &attr, &sending->trid);
	posix_trace_attr_destroy(&attr);
	if (err)
		return err;
	err = posix_trace_get_attr(sending->trid, &attr);
	if (!err) {
		err = posix_trace_attr_getmaxdatasize(&attr, &sending->data_max);
		posix_trace_attr_destroy(&attr);
	}
	sending->data = err ? NULL : malloc(sending->data_max + 1); /* never a size of 0 */
	if (!err && !sending->data)
		err = ENOMEM;
	if (!err)
		err = posix_trace_start(sending->trid);
	if (err)
		posix_trace_shutdown(sending->trid);
	return err;
}

/*
 * Returns the description of a type, which is made at the type's first event. If the schema is
 * registered only after this event, the description lacks it.
 */
static const struct fmt_type *type_of(struct sending *sending, trace_event_id_t id)
{
	char name[TRACE_EVENT_NAME_MAX + 1] = "?", schema[POSIX_TRACE_SCHEMA_MAX_NP + 1];
	struct fmt_type what = { .name = name, .id = id, .number = id, .level = -1 };

	if (id < TYPES && sending->type[id])
		return sending->type[id];
	posix_trace_eventid_get_name(sending->trid, id, name);
	if (!posix_trace_eventid_get_schema_np(sending->trid, id, schema, sizeof(schema)) &&
	    *schema)
		what.schema = schema;
	if (id >= TYPES)
		return fmt_type(sending->flow, &what);
	return sending->type[id] = fmt_type(sending->flow, &what);
}

/*
 * Sends the events that are in the stream, at most EVENTS_AT_ONCE. *more becomes true if the stream
 * may have further events.
 */
static int read_some(struct sending *sending, bool *more)
{
	struct posix_trace_event_info info;
	struct fmt_event event = { .cpu = -1, .data = sending->data };
	int unavailable, err = 0;

	*more = false;
	for (long n = 0; n < EVENTS_AT_ONCE; n++) {
		err = posix_trace_trygetnext_event(sending->trid, &info, sending->data,
						   sending->data_max, &event.data_len,
						   &unavailable);
		if (err || unavailable)
			return err;
		event.type = type_of(sending, info.posix_event_id);
		event.time_ns = when_timespec(&info.posix_timestamp);
		event.pid = (uint32_t)info.posix_pid;
		event.thread = (uint64_t)info.posix_thread_id;
		event.address = (uintptr_t)info.posix_prog_address;
		event.truncation = info.posix_truncation_status;
		if (!fmt_event(sending->flow, &event))
			return 0;
	}
	*more = true;
	return 0;
}

/* Sends the losses since the last call. */
static int send_losses(struct sending *sending)
{
	struct posix_trace_ledger_np now;
	int err = posix_trace_get_ledger_np(sending->trid, &now);

	for (int i = 0; !err && i < POSIX_TRACE_LOST_CAUSES_NP; i++) {
		struct fmt_lost lost = { .cause = i, .counted = true };

		if (now.lost[i] <= sending->reported.lost[i])
			continue;
		lost.count = now.lost[i] - sending->reported.lost[i];
		sending->reported.lost[i] = now.lost[i];
		fmt_lost(sending->flow, &lost);
	}
	return err;
}

/* Sends all events that are in the stream now. */
static int read_all(struct sending *sending)
{
	bool more = true;
	int err = 0;

	while (!err && more && !sending->flow->stopped)
		err = read_some(sending, &more);
	return err ? err : send_losses(sending);
}

/*
 * Sends events until the end. The last reading is made after the stream was stopped, so it finds
 * all remaining events.
 */
static int follow_process(struct sending *sending, struct until *until)
{
	enum until_end why;
	int err = 0;

	until_limit(until, send_plan.duration_ns);
	capture_say_waiting(send_plan.pid);
	do {
		bool more;

		err = read_some(sending, &more);
		if (!err)
			err = send_losses(sending);
		if (err || !fmt_idle(sending->flow)) /* the sink has failed */
			return err;
		until->look_ms = more ? 0 : LOOK_MS;
	} while (!until_some(until, &why));
	err = posix_trace_stop(sending->trid);
	return err ? err : read_all(sending);
}

/*
 * The import function of the format. It reads the events of the process and does not use the input.
 */
static int import_process(struct fmt_flow *flow, struct fmt_input *input)
{
	struct fmt_facts facts = { .name = "posixtrace send", .pid = (uint32_t)send_plan.pid };
	struct fmt_end end = { .complete = true };
	static struct sending sending;
	struct until until;
	int err = until_begin_with_signals(&until, send_plan.pid);

	(void)input;
	if (err)
		return process_say_why(send_plan.pid, err);
	sending.flow = flow;
	err = begin_stream(&sending);
	if (err) {
		until_end(&until);
		return process_say_why(send_plan.pid, err);
	}
	if (fmt_begin(flow, &facts))
		err = follow_process(&sending, &until);
	if (!err)
		fmt_finish(flow, &end);
	posix_trace_shutdown(sending.trid);
	free(sending.data);
	until_end(&until);
	if (!err)
		return TOOL_OK;
	say("process %d: %s", (int)send_plan.pid, strerror(err));
	return TOOL_FAILURE;
}

const struct format send_process_format = {
	.name = "process",
	.summary = "the events of a running process",
	.import = import_process,
};
