/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * log_reading.c - passes the types, objects, events and gaps of one log to the flow.
 *
 * The gaps come from the events that a stream records about itself (log/gaps.h) and from damaged
 * blocks. A gap is passed with its place and time, but without a count, because the ledger at the
 * end has the counts.
 */
#include "convert/log/log_reading.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define IDS 1024 /* a log can name types with smaller numbers: see TRACE_USER_EVENT_MAX */

/*
 * Registers a type of the log with the flow. A damaged log may have numbers from IDS on. The type
 * of such a number is not kept, so the function searches it again at each event.
 */
static const struct fmt_type *read_type(struct log_reading *reading, trace_event_id_t id)
{
	const struct log_type *type = logfile_type(reading->log, id);
	struct fmt_type what = { .name = type->name, .id = id, .number = id, .level = -1,
				 .schema = type->schema_text };
	const struct fmt_type *learned;

	if (reading->flow->sources > 1) {
		/*
		 * Another log may use the number for another type, so the flow identifies the type
		 * by name and schema and not by number.
		 */
		what.id = 0;
		what.number = 0;
		learned = flow_type_described(reading->flow, &what);
	} else {
		learned = fmt_type(reading->flow, &what);
	}
	if (id < reading->ids)
		reading->type[id] = learned;
	return learned;
}

const struct fmt_type *log_reading_type(struct log_reading *reading, trace_event_id_t id)
{
	return __builtin_expect(id < reading->ids && reading->type[id], true)
		       ? reading->type[id]
		       : read_type(reading, id);
}

/*
 * Returns the cause of a gap between OVERFLOW and RESUME: overwritten events for a stream of policy
 * LOOP, a full stream for all others.
 */
static int cause_of_gaps(trace_id_t trid)
{
	trace_attr_t attr;
	int policy;

	return !posix_trace_get_attr(trid, &attr) &&
	       !posix_trace_attr_getstreamfullpolicy(&attr, &policy) && policy == POSIX_TRACE_LOOP
		? POSIX_TRACE_LOST_OVERWRITTEN_NP : POSIX_TRACE_LOST_STREAM_FULL_NP;
}

int log_reading_begin(struct log_reading *reading, struct fmt_flow *flow, struct logfile *log,
		      unsigned source)
{
	*reading = (struct log_reading){ .flow = flow, .log = log, .source = source,
				     .cause = cause_of_gaps(log->trid), .last_ns = INT64_MIN };
	reading->type = calloc(IDS, sizeof(struct fmt_type *));
	if (!reading->type)
		return ENOMEM;
	reading->ids = IDS;
	for (size_t i = 0; i < log->types; i++)
		read_type(reading, log->list[i]->id);
	return 0;
}

void log_reading_fini(struct log_reading *reading)
{
	free(reading->type);
}

bool log_reading_objects(const struct log_reading *reading)
{
	trace_id_t trid = reading->log->trid;
	struct posix_trace_object_np from;
	int unavailable;

	/*
	 * Returns to the first object, because logfile_open_given() has read it to test whether the
	 * log has objects.
	 */
	posix_trace_object_rewind_np(trid);
	while (!posix_trace_object_getnext_np(trid, &from, &unavailable) && !unavailable) {
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

/*
 * Passes a gap. A gap in which the stream was stopped is not passed, because it is not a loss.
 * Returns false if the sink has stopped.
 */
static bool pass_gap(struct log_reading *reading, const struct gap *gap)
{
	struct fmt_lost lost = {
		.cause = gap->kind == GAP_DAMAGED ? POSIX_TRACE_LOST_DAMAGED_NP :
			 gap->kind == GAP_FULL ? POSIX_TRACE_LOST_STREAM_FULL_NP : reading->cause,
		.has_interval = true, .begin_ns = gap->begin_ns, .end_ns = gap->end_ns,
		.source = reading->source,
	};

	return gap->kind == GAP_STOPPED || fmt_lost(reading->flow, &lost);
}

/*
 * Passes the gaps that end with this event. A flag of the event says that the library has skipped a
 * damaged part of the log before the event. Returns false if the sink has stopped.
 */
static bool pass_gaps(struct log_reading *reading, const struct posix_trace_event_np *event)
{
	struct gap gap[GAPS_OF_AN_EVENT];
	unsigned count = gaps_event(&reading->gaps, event, gap);

	reading->skipped |= (event->flags & POSIX_TRACE_EVENT_GAP_NP) != 0;
	for (unsigned i = 0; i < count; i++)
		if (!pass_gap(reading, &gap[i]))
			return false;
	return true;
}

bool log_reading_end(struct log_reading *reading)
{
	struct gap gap;

	return !gaps_end(&reading->gaps, reading->last_ns, &gap) || pass_gap(reading, &gap);
}

bool log_reading_event(struct log_reading *reading, const struct posix_trace_event_np *e)
{
	struct fmt_event event;

	reading->events++;
	/*
	 * Only events of the stream itself, and events with flags, can begin or end a gap. This
	 * test keeps the cost of all other events low.
	 */
	if ((e->info.posix_event_id <= POSIX_TRACE_FLUSH_STOP || e->flags) &&
	    !pass_gaps(reading, e))
		return false;
	gaps_pass(&reading->gaps, e->time_ns);
	if (e->time_ns > reading->last_ns)
		reading->last_ns = e->time_ns;
	event = (struct fmt_event){
		.type = log_reading_type(reading, e->info.posix_event_id),
		.time_ns = e->time_ns,
		.pid = (uint32_t)e->info.posix_pid,
		.tid = (uint32_t)e->tid,
		.thread = (uint64_t)e->info.posix_thread_id,
		.address = (uintptr_t)e->info.posix_prog_address,
		.cpu = -1,
		.truncation = e->info.posix_truncation_status,
		/* The flag of a block's first event is meaningless outside of this log. */
		.flags = e->flags & ~POSIX_TRACE_EVENT_BLOCK_NP,
		.data = e->data,
		.data_len = e->data_len,
		.source = reading->source,
	};
	/*
	 * The data of these events is a filter, a set of type numbers. A number may mean different
	 * types in different logs, so the data is omitted if there are several logs.
	 */
	if (reading->flow->sources > 1 && (e->info.posix_event_id == POSIX_TRACE_START ||
					   e->info.posix_event_id == POSIX_TRACE_FILTER))
		event.data_len = 0;
	return fmt_event(reading->flow, &event);
}

bool log_reading_is_damaged(const struct log_reading *reading)
{
	/*
	 * If the reading covers only a part of the log, different counts are not a sign of damage.
	 */
	struct posix_trace_ledger_np ledger;

	return logfile_is_damaged(reading->log) || reading->skipped ||
	       posix_trace_get_ledger_np(reading->log->trid, &ledger) ||
	       (ledger.reported != reading->events && !reading->flow->seek_ns &&
		logfile_ends_before(reading->log, reading->flow->until_ns));
}
