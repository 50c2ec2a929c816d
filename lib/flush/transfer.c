/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * flush/transfer.c - events from the drain into the log's block, and blocks into the file.
 */
#include <string.h>
#include <trace.h>

#include "arena/arena.h"
#include "base/futex.h"
#include "flush/checkpoint.h"
#include "flush/flush_private.h"
#include "log/write_append.h"

#define HELD_BACK_NAP_NS 50000
#define HELD_BACK_NAPS   4000
#define HELD_BACK_MOST_NS UINT64_C(2000000000) /* ten times as long as one writer is waited for */
#define MARKS_MOST       1000

void ptx_transfer_name(struct ptx_flush *flush, unsigned type)
{
	char text[PTX_TYPE_NAME_BYTES];

	if (flush->named[type / 64] >> (type % 64) & 1)
		return;
	if (ptx_names_get(flush->drain->arena->names, type, text) &&
	    ptx_log_name(flush->log, type, text) == 0)
		flush->named[type / 64] |= UINT64_C(1) << (type % 64);
}

/* Writes what was put, without the stream's lock. */
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
	if (ptx_log_overwritten(flush->log) != flush->overwritten) {
		flush->overwritten = ptx_log_overwritten(flush->log);
		flush->log_overrun = true;
	}
	ptx_flush_note_status(flush);
	return err;
}

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

static void count_stop(struct ptx_drain *drain)
{
	drain->synthetic++;
	drain->account.total.reported++;
	drain->account.type[POSIX_TRACE_STOP].reported++;
	ptx_ledger_thread(&drain->account, 0, 0, 0)->reported++;
}

/* The log takes no more: its last event is a STOP, and the stream stops with it (LOG-04 to -07). */
static void end_log(struct ptx_flush *flush, const struct ptx_drain_event *event)
{
	struct ptx_region *region = flush->drain->rings->region;
	struct ptx_mark mark = { .kind = PTX_MARK_STOP };
	struct ptx_log_event stop = { .len_flags = sizeof(int), .type = POSIX_TRACE_STOP };
	const int automatic = 1;
	uint64_t state;

	stop.time_ns = event->time_ns;
	stop.data = &automatic;
	flush->log_overrun = true;
	if (ptx_region_admits(region, POSIX_TRACE_STOP)) {
		enum ptx_log_append put;

		ptx_transfer_name(flush, POSIX_TRACE_STOP);
		put = ptx_log_append_last(flush->log, &stop);
		if (put == PTX_LOG_APPEND_WRITE_FIRST) {
			write_out(flush);
			put = ptx_log_append_last(flush->log, &stop);
		}
		if (put == PTX_LOG_APPEND_DONE)
			count_stop(flush->drain);
	}
	/* Not before: a checkpoint that says so is of a log that has the STOP. */
	flush->drain->log_full = true;
	state = atomic_load_explicit(&region->state, memory_order_acquire);
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
}

/* One event from the stream to the log. False with *err: try again later. */
static bool transfer_one(struct ptx_flush *flush, const struct ptx_drain_event *event, int *err)
{
	struct ptx_log_event entry;

	*err = 0;
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
		end_log(flush, event);
		return true;
	}
	return true;
}

/* Returns the most records that a stream can hold, with some events of the drain itself. */
static uint64_t most_records(const struct ptx_drain *drain)
{
	return ptx_drain_chunks(drain) *
		       (drain->rings->geometry.chunk_room / sizeof(struct ptx_record)) +
	       MARKS_MOST;
}

/*
 * Everything up to target, or all that there is behind writers that go on, until then. A hostile
 * writer stamps event after event with the same time, or holds back the order for ever: more than a
 * stream can hold is not waited for.
 */
int ptx_transfer(struct ptx_flush *flush, uint64_t target, uint64_t until)
{
	const uint64_t too_long = ptx_clock_now() + ptx_clock_ticks(HELD_BACK_MOST_NS);
	uint64_t moved = 0;
	struct ptx_drain_event event;
	_Atomic uint32_t never = 0;
	unsigned count = 0, naps = 0;
	uint32_t run;
	int err;

	for (;;) {
		if (!ptx_drain_peek(flush->drain, &event)) {
			if (flush->drain->watermark >= target || target == UINT64_MAX ||
			    (++naps > HELD_BACK_NAPS && ptx_clock_now() > too_long))
				break;
			/* Somebody older than the target may be about to publish. */
			pthread_mutex_unlock(flush->lock);
			ptx_futex_nap(&never, 0, HELD_BACK_NAP_NS);
			pthread_mutex_lock(flush->lock);
			continue;
		}
		if (event.ticks > target)
			break;
		run = flush->drain->peeked_queue ? 0 : ptx_transfer_run(flush, target);
		if (run == 0 && !transfer_one(flush, &event, &err))
			return err;
		moved += run ? run : 1;
		if (target != UINT64_MAX && moved > most_records(flush->drain))
			break;
		if (++count % 256 == 0 && target == UINT64_MAX && ptx_clock_now() > until)
			break;
	}
	return write_out(flush);
}
