/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * flush/checkpoint_flush.c - the marks of flushes in a checkpoint.
 *
 * A flush that failed, or was interrupted, has marks that no event reports yet. The process that
 * completes the log needs them, so that each FLUSH_START has its FLUSH_STOP (FLUSHF-04).
 */
#include "flush/checkpoint_flush.h"

#include <errno.h>
#include <string.h>

/*
 * Returns true for the kinds of marks of a flush. The parameter `kind` may be any number from
 * shared memory. Marks of other kinds are not saved, because they are made again from records in
 * the controller's ring and from times in the region.
 */
static bool is_of_a_flush(unsigned kind)
{
	return kind == PTX_MARK_FLUSH_START || kind == PTX_MARK_FLUSH_STOP ||
	       kind == PTX_MARK_ERROR;
}

/*
 * Saves the oldest PTX_CHECKPOINT_MARKS marks of flushes. More may exist if the log cannot be
 * written. The marks are in the order of time. The caller's checkpoint is not valid meanwhile.
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
 * The traced process could have changed the saved marks. Each is copied once, and becomes a mark
 * only if it can be true: its kind is one of a flush, and its time is after the last delivered
 * event and not in the future. A wrong error number or address has no other effect than to be in
 * the log. Returns 0 or ENOMEM.
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
