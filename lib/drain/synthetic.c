/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * drain/synthetic.c - the events that the drain makes of marks and of gaps.
 *
 * The drain processes a mark or a gap only when the queue is empty, and then adds at most two
 * events to the queue. So PTX_DRAIN_QUEUE places are always enough, and the functions allocate no
 * memory. The events have process 0, thread 0 and a null address (SYSEV-06). Only the FLUSH events
 * of a flush by a call have the process, the thread and the address of that call.
 */
#include "drain/synthetic.h"

#include "drain/step.h"
#include "record/eventset.h"

/*
 * Adds an event to the queue. Returns NULL, and adds no event, if the filter rejects the type or
 * the queue has no place. The bytes at `data` are not copied, so they must remain until the event
 * is consumed.
 */
static struct ptx_drain_event *synthetic_queue(struct ptx_drain *drain, unsigned type,
					       uint64_t ticks, const void *data, size_t len)
{
	struct ptx_drain_event *event = &drain->queue[drain->queued];

	if (!ptx_region_admits(drain->rings->region, type) || drain->queued == PTX_DRAIN_QUEUE)
		return NULL;
	memset(event, 0, sizeof *event);
	event->type = (uint16_t)type;
	event->len_flags = (uint32_t)len;
	event->ticks = ticks;
	event->data = data;
	drain->queued++;
	return event;
}

/*
 * Queues an event whose data is an int. Each event in the queue has an int of its own in
 * queue_data, at the same index.
 */
static void queue_int(struct ptx_drain *drain, unsigned type, uint64_t ticks, int value)
{
	uint32_t *data = &drain->queue_data[drain->queued];

	*data = (uint32_t)value;
	synthetic_queue(drain, type, ticks, data, sizeof value);
}

/*
 * FLUSH_START and FLUSH_STOP have the caller's identity and address if a call flushed (SYSEV-04).
 */
static void queue_flush_mark(struct ptx_drain *drain, unsigned type, const struct ptx_mark *mark)
{
	struct ptx_drain_event *event = synthetic_queue(drain, type, mark->ticks, NULL, 0);

	if (!event)
		return;
	event->ident.pid = mark->pid;
	event->ident.tid = mark->tid;
	event->ident.thread = mark->thread;
	event->address = mark->address;
}

/*
 * Queues the events of a restart: for the policy FLUSH first RESUME, and for every policy START.
 * The data of START is the filter: an event set with the rejected types, which is the complement of
 * mark->admit. One set (queue_set) is enough, because at most one restart is in the queue. RESUME
 * ends the gap that OVERFLOW has begun at the FULL mark (SFLUSH-06).
 */
static void queue_restart(struct ptx_drain *drain, const struct ptx_mark *mark)
{
	drain->queue_set[0] = PTX_EVENTSET_MAGIC;
	for (int i = 0; i < PTX_WORDS; i++)
		drain->queue_set[i + 1] = ~mark->admit[i];
	if (drain->flush_policy)
		synthetic_queue(drain, POSIX_TRACE_RESUME, mark->ticks, NULL, 0);
	synthetic_queue(drain, POSIX_TRACE_START, mark->ticks, drain->queue_set,
			PTX_EVENT_SET_BYTES);
}

/*
 * Notes that delivery has reached a change of the state. The members `running` and `full` have the
 * state for the next records, and the phases have the earlier states for late records.
 */
static void begin_phase(struct ptx_drain *drain, uint64_t from, enum ptx_phase phase)
{
	drain->running = phase == PTX_PHASE_RUNNING;
	drain->full = phase == PTX_PHASE_FULL;
	ptx_phases_begin(&drain->phases, from, phase);
}

void ptx_synthetic_mark(struct ptx_drain *drain, const struct ptx_mark *first, bool silent)
{
	struct ptx_mark mark = *first; /* a copy, because ptx_drain_drop_mark() removes *first */

	ptx_drain_drop_mark(drain);
	/* A silent mark changes the state, too. */
	switch (mark.kind) {
	case PTX_MARK_START:
	case PTX_MARK_RESTART:
		begin_phase(drain, mark.ticks, PTX_PHASE_RUNNING);
		break;
	case PTX_MARK_STOP:
		begin_phase(drain, mark.ticks, PTX_PHASE_STOPPED);
		break;
	case PTX_MARK_FULL:
		begin_phase(drain, mark.ticks, PTX_PHASE_FULL);
		break;
	default:
		break;
	}
	if (silent)
		return;
	/* For a START and a STOP by a call, the controller has recorded the events in its ring. */
	switch (mark.kind) {
	case PTX_MARK_FULL:
		/* The data of STOP is 1, because the stream stopped by itself (SFLUSH-04). */
		queue_int(drain, POSIX_TRACE_STOP, mark.ticks, 1);
		if (drain->flush_policy)
			synthetic_queue(drain, POSIX_TRACE_OVERFLOW, mark.ticks, NULL, 0);
		break;
	case PTX_MARK_RESTART:
		queue_restart(drain, &mark);
		break;
	case PTX_MARK_FLUSH_START:
		queue_flush_mark(drain, POSIX_TRACE_FLUSH_START, &mark);
		break;
	case PTX_MARK_FLUSH_STOP:
		queue_flush_mark(drain, POSIX_TRACE_FLUSH_STOP, &mark);
		break;
	case PTX_MARK_ERROR:
		queue_int(drain, POSIX_TRACE_ERROR, mark.ticks, mark.error);
		break;
	default:
		break;
	}
}

/*
 * The time of OVERFLOW is not earlier than the last delivered event and not later than the
 * survivor, which is the first event after the gap. If the survivor is LATE, both conditions cannot
 * be true, and only the second one is. If the writer has not stored the time of the first lost
 * event yet, the function uses the tick after the last delivered event.
 */
void ptx_synthetic_gap(struct ptx_drain *drain, uint64_t after_gap)
{
	uint64_t first = drain->gap_first == UINT64_MAX ? drain->last_ticks + 1 : drain->gap_first;

	if (first < drain->last_ticks)
		/* the gap cannot begin before the last delivered event */
		first = drain->last_ticks;
	/* If no event was delivered before, last_ticks is 0 and is no lower bound. */
	if (first > after_gap || drain->last_ticks == 0)
		first = drain->gap_first < after_gap ? drain->gap_first : after_gap;
	synthetic_queue(drain, POSIX_TRACE_OVERFLOW, first, NULL, 0);
	synthetic_queue(drain, POSIX_TRACE_RESUME, after_gap, NULL, 0);
	drain->reported_cut = drain->cut;
	drain->gap = false;
	drain->gap_first = UINT64_MAX;
	/* find_next() does not apply the cut before the survivor is delivered */
	drain->after_gap = true;
}

/*
 * A synthetic event counts as called only when it is consumed (drain->synthetic). A synthetic event
 * that is never consumed is in no column, so the equation of the ledger still holds.
 */
void ptx_synthetic_consume(struct ptx_drain *drain, enum ptx_lost cause)
{
	struct ptx_drain_event *event = &drain->queue[0];
	struct ptx_ledger_line *thread = ptx_ledger_thread(
		&drain->account, event->ident.pid, event->ident.tid, event->ident.thread);

	ptx_step_add(&drain->account.total, cause);
	ptx_step_add(&drain->account.type[event->type], cause);
	ptx_step_add(thread, cause);
	drain->synthetic++;
	ptx_step_delivered(drain, event->ticks);
	drain->queued--;
	memmove(&drain->queue[0], &drain->queue[1], drain->queued * sizeof drain->queue[0]);
	/* If the data of an event are in queue_data, they move with the event. */
	for (uint32_t i = 0; i < drain->queued; i++) {
		if (drain->queue[i].data == &drain->queue_data[i + 1]) {
			drain->queue_data[i] = drain->queue_data[i + 1];
			drain->queue[i].data = &drain->queue_data[i];
		}
	}
}
