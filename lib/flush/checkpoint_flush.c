/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * flush/checkpoint_flush.c - the marks of flushes in a checkpoint.
 *
 * The marks of a flush are the moments of its FLUSH_START, of its FLUSH_STOP and, if the flusher
 * reports a failure, of an ERROR. If a flush has failed or was interrupted, the drain has not
 * delivered the events of some marks. A process that completes the log needs these marks, so that
 * each FLUSH_START has its FLUSH_STOP (FLUSHF-04).
 */
#include "flush/checkpoint_flush.h"

#include <errno.h>
#include <string.h>

/*
 * Returns true for the kinds of marks of a flush. The parameter `kind` may be any number from
 * shared memory. Marks of other kinds are not saved, because a process that continues makes them
 * from records in the controller's ring and from times in the region.
 */
static bool is_of_a_flush(unsigned kind)
{
	return kind == PTX_MARK_FLUSH_START || kind == PTX_MARK_FLUSH_STOP ||
	       kind == PTX_MARK_ERROR;
}

/*
 * Saves the oldest PTX_CHECKPOINT_MARKS marks of flushes, in the order of time. If the log cannot
 * be written, the drain may have more such marks, which are not saved. The caller makes the
 * checkpoint invalid before this call and valid after it.
 */
void ptx_checkpoint_marks_save(const struct ptx_drain *drain, struct ptx_checkpoint_marks *to)
{
	uint32_t count = 0;

	for (size_t i = 0; i < drain->marks && count < PTX_CHECKPOINT_MARKS; i++) {
		const struct ptx_mark *mark =
			&drain->mark[(drain->mark_first + i) % drain->mark_room];

		if (!is_of_a_flush(mark->kind))
			continue;
		to->mark[count++] = (struct ptx_checkpoint_mark){
			.ticks = mark->ticks,
			.kind = mark->kind,
			.error = mark->error,
			.pid = mark->pid,
			.tid = mark->tid,
			.thread = mark->thread,
			.address = mark->address,
		};
	}
	to->count = count;
}

/*
 * A hostile traced process may have changed the saved marks. Each saved mark is copied once. It
 * becomes a mark only if its kind is that of a mark of a flush, and if its time is later than the
 * last delivered event and not in the future. A wrong error number or address only makes the log
 * wrong.
 */
int ptx_checkpoint_marks_restore(struct ptx_drain *drain, const struct ptx_checkpoint_marks *from)
{
	const uint64_t now = ptx_clock_ordered();
	const uint32_t count = from->count;

	for (uint32_t i = 0; i < count && i < PTX_CHECKPOINT_MARKS; i++) {
		struct ptx_checkpoint_mark saved;
		struct ptx_mark mark = { 0 };

		memcpy(&saved, &from->mark[i], sizeof saved);
		if (!is_of_a_flush(saved.kind) || saved.ticks > now ||
		    saved.ticks <= drain->last_ticks)
			continue;
		mark.ticks = saved.ticks;
		mark.kind = (enum ptx_mark_kind)saved.kind;
		mark.error = saved.error;
		mark.pid = saved.pid;
		mark.tid = saved.tid;
		mark.thread = saved.thread;
		mark.address = saved.address;
		if (!ptx_drain_mark_in_order(drain, &mark))
			return ENOMEM;
	}
	return 0;
}
