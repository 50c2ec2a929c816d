/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * flush/transfer.c - moves events from the drain into the log's block, and writes blocks to the
 * file.
 *
 * A flush has the turn: the mutex that lets only one flush of a stream run at a time. The caller
 * has the turn and the stream's lock. write_out() releases the stream's lock while it writes, and
 * ptx_transfer() releases it while it waits for a writer. Meanwhile other calls may change the
 * drain, so afterwards pointers into the drain are invalid, and the next event must be peeked
 * again. Only the thread that has the turn changes the log.
 *
 * A checkpoint (checkpoint.h) is the reader's progress, stored in the region for a process that
 * continues after this process was killed.
 */
#include <string.h>
#include <trace.h>

#include "arena/arena.h"
#include "base/futex.h"
#include "flush/checkpoint.h"
#include "flush/flush_private.h"
#include "log/write_append.h"

/*
 * A suspended writer may hold back events that a flush by a call must transfer. The call pauses for
 * HELD_BACK_NAP_NS, and then tries again. It gives up when it has paused HELD_BACK_NAPS times and
 * HELD_BACK_MOST_NS have passed. Both limits are needed, because on a busy machine this time may
 * pass after only few pauses.
 */
#define HELD_BACK_NAP_NS 50000
#define HELD_BACK_NAPS   4000
/* HELD_BACK_MOST_NS is ten times as long as the drain waits for one writer */
#define HELD_BACK_MOST_NS UINT64_C(2000000000)
/* number of synthetic events that most_records() assumes */
#define MARKS_MOST       1000

/*
 * Adds the name of a type to the log, unless the log has the name. Each event of a type is preceded
 * by a call. If the type has no name yet, or if the log rejects the name, the next call tries
 * again.
 */
void ptx_transfer_name(struct ptx_flush *flush, unsigned type)
{
	char text[PTX_TYPE_NAME_BYTES];

	if (flush->named[type / 64] >> (type % 64) & 1)
		return;
	if (ptx_names_get(flush->drain->arena->names, type, text) &&
	    ptx_log_name(flush->log, type, text) == 0)
		flush->named[type / 64] |= UINT64_C(1) << (type % 64);
}

/*
 * Writes the block and the lists to the file. The stream's lock is released while the file is
 * written. The checkpoint is written before the file. So one of the two checkpoints has the number
 * of events in the file, whether or not the write succeeds. After a success the chunks of these
 * events become free. After an error the block stays in memory, and the next call writes it again.
 * Returns 0 or the error of the write.
 */
static int write_out(struct ptx_flush *flush)
{
	int err;

	ptx_transfer_lists(flush);
	ptx_checkpoint_write(flush->drain, ptx_log_append_count(flush->log));
	pthread_mutex_unlock(flush->lock);
	err = ptx_log_write(flush->log);
	pthread_mutex_lock(flush->lock);
	if (!err)
		ptx_drain_settle(flush->drain);
	/* A LOOP log is OVERRUN when a new block has replaced a block with events (LOG-03). */
	if (ptx_log_overwritten(flush->log) != flush->overwritten) {
		flush->overwritten = ptx_log_overwritten(flush->log);
		flush->log_overrun = true;
	}
	ptx_flush_note_status(flush);
	return err;
}

/*
 * Converts an event of the drain to an event of the log. The data are not copied, and stay in the
 * drain until the event is consumed.
 */
static void make_event(const struct ptx_drain_event *from, struct ptx_log_event *to)
{
	to->len_flags = from->len_flags;
	to->type = from->type;
	to->pid = from->ident.pid;
	to->tid = from->ident.tid;
	to->thread = from->ident.thread;
	to->address = from->address;
	to->time_ns = from->time_ns;
	to->data = from->data;
}

/*
 * Counts the STOP that ends a log. This file, and not the drain, makes this STOP, but the STOP
 * counts as a synthetic event.
 */
static void count_stop(struct ptx_drain *drain)
{
	drain->synthetic++;
	drain->account.total.reported++;
	drain->account.type[POSIX_TRACE_STOP].reported++;
	ptx_ledger_thread(&drain->account, 0, 0, 0)->reported++;
}

/*
 * Adds the STOP that ends an UNTIL_FULL log, and counts it. The log has reserved room for the STOP,
 * so at most one write is needed before ptx_log_append_last() succeeds. If this write fails, the
 * function returns its error, and the log has no STOP yet. If the filter rejects STOP, the function
 * succeeds and the log ends without a STOP.
 */
static int put_last_stop(struct ptx_flush *flush, int64_t time_ns)
{
	const int automatic = 1;
	struct ptx_log_event stop = { .len_flags = sizeof(automatic), .type = POSIX_TRACE_STOP,
				      .time_ns = time_ns, .data = &automatic };
	enum ptx_log_append put;
	int err;

	if (!ptx_region_admits(flush->drain->rings->region, POSIX_TRACE_STOP))
		return 0;
	ptx_transfer_name(flush, POSIX_TRACE_STOP);
	put = ptx_log_append_last(flush->log, &stop);
	if (put == PTX_LOG_APPEND_WRITE_FIRST) {
		err = write_out(flush);
		if (err)
			return err;
		put = ptx_log_append_last(flush->log, &stop);
	}
	if (put == PTX_LOG_APPEND_DONE)
		count_stop(flush->drain);
	return 0;
}

/*
 * Ends a log of policy UNTIL_FULL: the log gets a STOP as its last event, and the stream is stopped
 * (LOG-04 to LOG-07). The parameter `event` is the event for which the log has no room. The
 * function does not consume this event. Returns 0 or the error of a write. After an error the log
 * has not ended: the next flush finds the same event, and calls the function again.
 */
static int end_log(struct ptx_flush *flush, const struct ptx_drain_event *event)
{
	struct ptx_region *region = flush->drain->rings->region;
	struct ptx_mark mark = { .kind = PTX_MARK_STOP };
	uint64_t state;
	/* the STOP has the time of the event that it replaces */
	int err = put_last_stop(flush, event->time_ns);

	if (err)
		return err;
	flush->log_overrun = true;
	/*
	 * log_full is set last. So if the STOP was added, each checkpoint with log_full also counts
	 * the STOP.
	 */
	flush->drain->log_full = true;
	state = atomic_load_explicit(&region->state, memory_order_acquire);
	/*
	 * If a writer sets FULL between the load and the exchange, the exchange fails, and the loop
	 * continues with the new state. A stream that is FULL or HELD becomes SUSPENDED, too,
	 * because it must not restart by itself when the log is full.
	 */
	while (ptx_state_kind(state) != PTX_SUSPENDED) {
		mark.ticks = ptx_drain_moment(flush->drain, false);
		if (atomic_compare_exchange_strong_explicit(
			    &region->state, &state, ptx_state_make(PTX_SUSPENDED, mark.ticks),
			    memory_order_acq_rel, memory_order_acquire)) {
			ptx_arena_changed(flush->drain->arena);
			flush->drain->full_marked = false;
			ptx_drain_mark(flush->drain, &mark);
			break;
		}
	}
	return 0;
}

/*
 * Moves one event to the log's block. Returns false if a write has failed, and stores the error in
 * *err. Otherwise returns true. In both cases the event may still be in the drain, for example
 * because the block had no room and was written first. So the caller must peek again.
 */
static bool transfer_one(struct ptx_flush *flush, const struct ptx_drain_event *event, int *err)
{
	struct ptx_log_event entry;

	*err = 0;
	/*
	 * If the log is full, each flush discards the events and succeeds, until the next clear
	 * (LOG-08).
	 */
	if (flush->drain->log_full) {
		flush->log_overrun = true;
		ptx_drain_consume(flush->drain, PTX_LOST_LOG_FULL);
		return true;
	}
	make_event(event, &entry);
	ptx_transfer_name(flush, event->type);
	switch (ptx_log_append(flush->log, &entry)) {
	case PTX_LOG_APPEND_DONE:
		ptx_drain_consume(flush->drain, PTX_LOST_CAUSES);
		return true;
	case PTX_LOG_APPEND_WRITE_FIRST:
		*err = write_out(flush);
		return *err == 0;
	case PTX_LOG_APPEND_FULL:
		*err = end_log(flush, event);
		return *err == 0;
	}
	return true;
}

/*
 * Returns an upper bound of the number of events in a stream: the number of records without data
 * that fit into the largest pool, plus MARKS_MOST synthetic events.
 */
static uint64_t most_records(const struct ptx_drain *drain)
{
	return ptx_drain_chunks(drain) *
		       (drain->rings->geometry.chunk_room / sizeof(struct ptx_record)) +
	       MARKS_MOST;
}

/*
 * If `target` is not UINT64_MAX, moves all events up to the time `target`. If it is UINT64_MAX,
 * moves all events, including the events that are recorded meanwhile, until the time `until`. Times
 * are in ticks. Returns 0 or the error of a write.
 *
 * A hostile writer can record event after event with the same time. So if `target` is not
 * UINT64_MAX, the function ends when it has moved more events than a stream can hold. A hostile
 * writer can also remain in a trace point for ever, so that the drain delivers no younger event. So
 * the time for which the function waits is limited.
 */
int ptx_transfer(struct ptx_flush *flush, uint64_t target, uint64_t until)
{
	const uint64_t too_long = ptx_clock_now() + ptx_clock_ticks(HELD_BACK_MOST_NS);
	uint64_t moved = 0;
	struct ptx_drain_event event;
	_Atomic uint32_t never = 0;
	/*
	 * `count`: number of rounds that found an event. `naps`: number of pauses, because a round
	 * found no event.
	 */
	unsigned count = 0, naps = 0;
	/* number of events that ptx_transfer_run() has moved; 0: transfer_one() is needed */
	uint32_t run;
	int err;

	for (;;) {
		if (!ptx_drain_peek(flush->drain, &event)) {
			if (flush->drain->watermark >= target || target == UINT64_MAX ||
			    (++naps > HELD_BACK_NAPS && ptx_clock_now() > too_long))
				break;
			/*
			 * A suspended writer may still publish an event that is older than the
			 * target. The lock is released during the pause, so that control calls need
			 * not wait.
			 */
			pthread_mutex_unlock(flush->lock);
			ptx_futex_nap(&never, 0, HELD_BACK_NAP_NS);
			pthread_mutex_lock(flush->lock);
			continue;
		}
		if (event.ticks > target)
			break;
		/*
		 * ptx_transfer_run() is the hot path. It only moves records of a ring. If
		 * `peeked_queue` is true, the event is a synthetic event and no record of a ring.
		 */
		run = flush->drain->peeked_queue ? 0 : ptx_transfer_run(flush, target);
		if (run == 0 && !transfer_one(flush, &event, &err))
			return err;
		moved += run ? run : 1;
		if (target != UINT64_MAX && moved > most_records(flush->drain))
			break;
		/* The clock is read only in one of 256 rounds, because reading it is slow. */
		if (++count % 256 == 0 && target == UINT64_MAX && ptx_clock_now() > until)
			break;
	}
	return write_out(flush);
}
