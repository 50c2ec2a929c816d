/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "drain/flush.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "arena/arena.h"
#include "base/futex.h"
#include "base/shield.h"
#include "drain/flush_private.h"

#define HELD_BACK_NAP_NS  50000
#define AUTOMATIC_SPAN_NS 1000000000u /* so long one automatic flush goes on behind the writers */

int ptx_flush_create(struct ptx_stream *stream, struct ptx_log *log, struct ptx_flush **result)
{
	struct ptx_flush *flush = calloc(1, sizeof *flush);
	int err = 0;

	if (!flush)
		return ENOMEM;
	flush->stream = stream;
	flush->drain = stream->drain;
	flush->log = log;
	pthread_mutex_init(&flush->turn, NULL);
	if (stream->attr.stream_policy == POSIX_TRACE_FLUSH)
		err = ptx_flusher_start(flush);
	if (err) {
		pthread_mutex_destroy(&flush->turn);
		free(flush);
		return err;
	}
	*result = flush;
	return 0;
}

static void name(struct ptx_flush *flush, unsigned type)
{
	char text[PTX_TYPE_NAME_BYTES];

	if (flush->named[type / 64] >> (type % 64) & 1)
		return;
	if (ptx_names_get(ptx_names, type, text) && ptx_log_name(flush->log, type, text) == 0)
		flush->named[type / 64] |= UINT64_C(1) << (type % 64);
}

/* Writes what was put, without the stream's lock. */
static int write_out(struct ptx_flush *flush)
{
	int err;

	pthread_mutex_unlock(&flush->stream->lock);
	err = ptx_log_write(flush->log);
	pthread_mutex_lock(&flush->stream->lock);
	if (ptx_log_overwritten(flush->log) != flush->overwritten) {
		flush->overwritten = ptx_log_overwritten(flush->log);
		flush->log_overrun = true;
	}
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
	flush->log_full = true;
	flush->log_overrun = true;
	if (atomic_load_explicit(&region->admit[0], memory_order_relaxed) >> POSIX_TRACE_STOP & 1) {
		name(flush, POSIX_TRACE_STOP);
		if (ptx_log_put_last(flush->log, &stop) == PTX_LOG_PUT_WRITE_FIRST) {
			write_out(flush);
			ptx_log_put_last(flush->log, &stop);
		}
		flush->drain->synthetic++;
		flush->drain->account.total.reported++;
		flush->drain->account.type[POSIX_TRACE_STOP].reported++;
		ptx_ledger_thread(&flush->drain->account, 0, 0, 0)->reported++;
	}
	state = atomic_load_explicit(&region->state, memory_order_acquire);
	while (ptx_state_kind(state) != PTX_SUSPENDED) {
		mark.ticks = ptx_drain_moment(flush->drain, false);
		if (atomic_compare_exchange_strong_explicit(
			    &region->state, &state, ptx_state_make(PTX_SUSPENDED, mark.ticks),
			    memory_order_acq_rel, memory_order_acquire)) {
			ptx_control_changed(0);
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
	if (flush->log_full) {
		flush->log_overrun = true;
		ptx_drain_consume(flush->drain, PTX_LOST_LOG_FULL);
		return true;
	}
	make_event(event, &entry);
	name(flush, event->type);
	switch (ptx_log_put(flush->log, &entry)) {
	case PTX_LOG_PUT_DONE:
		ptx_drain_consume(flush->drain, PTX_LOST_CAUSES);
		flush->transferred++;
		return true;
	case PTX_LOG_PUT_WRITE_FIRST:
		*err = write_out(flush);
		return *err == 0;
	case PTX_LOG_PUT_FULL:
		end_log(flush, event);
		return true;
	}
	return true;
}

/* Everything up to target, or all that there is behind writers that go on. */
static int transfer(struct ptx_flush *flush, uint64_t target, uint64_t until)
{
	struct ptx_drain_event event;
	_Atomic uint32_t never = 0;
	unsigned count = 0;
	int err;

	for (;;) {
		if (!ptx_drain_peek(flush->drain, &event)) {
			if (flush->drain->watermark >= target || target == UINT64_MAX)
				break;
			/* Somebody older than the target may be about to publish. */
			pthread_mutex_unlock(&flush->stream->lock);
			ptx_futex_nap(&never, 0, HELD_BACK_NAP_NS);
			pthread_mutex_lock(&flush->stream->lock);
			continue;
		}
		if (event.ticks > target)
			break;
		if (!transfer_one(flush, &event, &err))
			return err;
		if (++count % 1024 == 0 && target == UINT64_MAX && ptx_clock_now() > until)
			break;
	}
	return write_out(flush);
}

static void mark(struct ptx_flush *flush, enum ptx_mark_kind kind, int error,
		 const struct ptx_flush_caller *caller)
{
	struct ptx_mark mark = { .kind = kind, .error = error };

	mark.ticks = ptx_drain_moment(flush->drain, false);
	mark.pid = caller->pid;
	mark.tid = caller->tid;
	mark.thread = caller->thread;
	mark.address = caller->address;
	ptx_drain_mark(flush->drain, &mark);
}

static void note_failure(struct ptx_flush *flush, enum ptx_flush_kind kind, int err)
{
	static const struct ptx_flush_caller nobody;

	if (!flush->error)
		flush->error = err;
	if (kind == PTX_FLUSH_AUTOMATIC && !flush->failing)
		mark(flush, PTX_MARK_ERROR, err, &nobody);
	flush->failing = true;
}

int ptx_flush_run(struct ptx_flush *flush, enum ptx_flush_kind kind,
		  const struct ptx_flush_caller *caller)
{
	bool framed = kind != PTX_FLUSH_FINAL ||
		      flush->stream->attr.log_policy != POSIX_TRACE_UNTIL_FULL;
	struct ptx_shield shield;
	uint64_t target;
	int err;

	pthread_mutex_lock(&flush->turn);
	ptx_shield_raise(&shield);
	pthread_mutex_lock(&flush->stream->lock);
	flush->flushing = true;
	ptx_drain_sync(flush->drain); /* a FULL that came before stands before */
	if (framed)
		mark(flush, PTX_MARK_FLUSH_START, 0, caller);
	target = ptx_drain_moment(flush->drain, false);
	if (kind == PTX_FLUSH_AUTOMATIC)
		err = transfer(flush, UINT64_MAX, target + ptx_clock_ticks(AUTOMATIC_SPAN_NS));
	else
		err = transfer(flush, target, 0);
	if (framed)
		mark(flush, PTX_MARK_FLUSH_STOP, 0, caller);
	if (!err && kind == PTX_FLUSH_FINAL)
		err = transfer(flush, ptx_drain_moment(flush->drain, false), 0);
	if (err)
		note_failure(flush, kind, err);
	else
		flush->failing = false;
	ptx_drain_sync(flush->drain);
	flush->flushing = false;
	pthread_mutex_unlock(&flush->stream->lock);
	ptx_shield_lower(&shield);
	pthread_mutex_unlock(&flush->turn);
	return err;
}

void ptx_flush_status(struct ptx_flush *flush, struct ptx_flush_status *status, bool reset)
{
	status->flushing = flush->flushing;
	status->error = flush->error;
	status->log_overrun = flush->log_overrun;
	status->log_full = flush->log_full || ptx_log_is_full(flush->log);
	if (reset) {
		flush->error = 0;
		flush->log_overrun = false;
	}
}

void ptx_flush_account(const struct ptx_flush *flush, struct ptx_ledger *ledger)
{
	ptx_log_account(flush->log, ledger);
}

void ptx_flush_wake(struct ptx_flush *flush)
{
	struct ptx_region *region = flush->drain->rings->region;

	if (atomic_exchange_explicit(&region->flush_wish, 0, memory_order_acq_rel))
		ptx_futex_wake(&region->flush_wish);
}

void ptx_flush_take_turn(struct ptx_flush *flush)
{
	pthread_mutex_lock(&flush->turn);
}

void ptx_flush_give_turn(struct ptx_flush *flush)
{
	pthread_mutex_unlock(&flush->turn);
}

/* The log starts anew, where it can; the log knows which events are no longer reported. */
int ptx_flush_clear(struct ptx_flush *flush)
{
	int err = ptx_log_clear(flush->log, &flush->drain->account);

	memset(flush->named, 0, sizeof flush->named);
	flush->overwritten = 0;
	flush->log_full = false;
	flush->log_overrun = false;
	flush->failing = false;
	flush->error = 0;
	return err;
}

void ptx_flush_stop(struct ptx_flush *flush)
{
	if (flush->has_thread)
		ptx_flusher_stop(flush);
}

int ptx_flush_destroy(struct ptx_flush *flush, const struct ptx_log_status *status,
		      struct ptx_ledger *ledger)
{
	struct ptx_shield shield;
	int err;

	for (unsigned type = ptx_names_next(ptx_names, 0); type;
	     type = ptx_names_next(ptx_names, type))
		name(flush, type);
	ptx_shield_raise(&shield);
	err = ptx_log_complete(flush->log, status, ledger);
	ptx_shield_lower(&shield);
	ptx_log_destroy(flush->log);
	pthread_mutex_destroy(&flush->turn);
	free(flush);
	return err;
}
