/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * drain/synthetic.c - events that no writer wrote: what the drain tells of marks and of gaps.
 */
#include "drain/synthetic.h"

#include "drain/step.h"
#include "record/eventset.h"

static struct ptx_drain_event *queue(struct ptx_drain *drain, unsigned type, uint64_t ticks,
				     const void *data, size_t len)
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

static void queue_int(struct ptx_drain *drain, unsigned type, uint64_t ticks, int value)
{
	uint32_t *data = &drain->queue_data[drain->queued];

	*data = (uint32_t)value;
	queue(drain, type, ticks, data, sizeof value);
}

static void queue_flush_mark(struct ptx_drain *drain, unsigned type, const struct ptx_mark *mark)
{
	struct ptx_drain_event *event = queue(drain, type, mark->ticks, NULL, 0);

	if (!event)
		return;
	event->ident.pid = mark->pid;
	event->ident.tid = mark->tid;
	event->ident.thread = mark->thread;
	event->address = mark->address;
}

static void queue_restart(struct ptx_drain *drain, const struct ptx_mark *mark)
{
	drain->queue_set[0] = PTX_EVENTSET_MAGIC;
	for (int i = 0; i < PTX_WORDS; i++)
		drain->queue_set[i + 1] = ~mark->admit[i];
	if (drain->flush_policy)
		queue(drain, POSIX_TRACE_RESUME, mark->ticks, NULL, 0);
	queue(drain, POSIX_TRACE_START, mark->ticks, drain->queue_set, PTX_EVENT_SET_BYTES);
}

static void begin_phase(struct ptx_drain *drain, uint64_t from, enum ptx_phase phase)
{
	drain->running = phase == PTX_PHASE_RUNNING;
	drain->full = phase == PTX_PHASE_FULL;
	ptx_phases_begin(&drain->phases, from, phase);
}

void ptx_synthetic_mark(struct ptx_drain *drain, const struct ptx_mark *first, bool silent)
{
	struct ptx_mark mark = *first;

	ptx_drain_drop_mark(drain);
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
	switch (mark.kind) {
	case PTX_MARK_FULL:
		queue_int(drain, POSIX_TRACE_STOP, mark.ticks, 1);
		if (drain->flush_policy)
			queue(drain, POSIX_TRACE_OVERFLOW, mark.ticks, NULL, 0);
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

/* OVERFLOW, at the time of the first event lost, and RESUME, at that of the survivor. */
void ptx_synthetic_gap(struct ptx_drain *drain, uint64_t after_gap)
{
	uint64_t first = drain->gap_first == UINT64_MAX ? drain->last_ticks + 1 : drain->gap_first;

	if (first < drain->last_ticks)
		first = drain->last_ticks; /* what was delivered is older than the gap */
	if (first > after_gap || drain->last_ticks == 0)
		first = drain->gap_first < after_gap ? drain->gap_first : after_gap;
	queue(drain, POSIX_TRACE_OVERFLOW, first, NULL, 0);
	queue(drain, POSIX_TRACE_RESUME, after_gap, NULL, 0);
	drain->reported_cut = drain->cut;
	drain->gap = false;
	drain->gap_first = UINT64_MAX;
	drain->after_gap = true;
}

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
	for (uint32_t i = 0; i < drain->queued; i++) { /* data of the drain's own moves along */
		if (drain->queue[i].data == &drain->queue_data[i + 1]) {
			drain->queue_data[i] = drain->queue_data[i + 1];
			drain->queue[i].data = &drain->queue_data[i];
		}
	}
}
