/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "flush/flush.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "arena/arena.h"
#include "base/futex.h"
#include "base/shield.h"
#include "flush/checkpoint.h"
#include "flush/checkpoint_flush.h"
#include "flush/flush_private.h"

#define LET_GO_FIRST_NS   1000000
#define FAILING_MARKS_MOST 64
#define ERROR_MOST        4095 /* the kernel has no greater error number */
#define AUTOMATIC_SPAN_NS 1000000000u /* so long one automatic flush goes on behind the writers */

void ptx_flush_note_status(struct ptx_flush *flush)
{
	struct ptx_checkpoint_status *status = ptx_checkpoint_status(flush->drain);

	atomic_store_explicit(&status->overwritten, flush->overwritten, memory_order_relaxed);
	atomic_store_explicit(&status->word,
			      (uint64_t)(uint32_t)flush->error << 32 | flush->log_overrun,
			      memory_order_relaxed);
}

/* That of a process that is gone, which had the stream before; all zero in a new stream. */
static void take_status(struct ptx_flush *flush)
{
	struct ptx_checkpoint_status *status = ptx_checkpoint_status(flush->drain);
	uint64_t word = atomic_load_explicit(&status->word, memory_order_relaxed);

	flush->error = word >> 32 <= ERROR_MOST ? (int)(word >> 32) : EIO;
	flush->log_overrun = word & 1;
	flush->overwritten = atomic_load_explicit(&status->overwritten, memory_order_relaxed);
}

int ptx_flush_create(struct ptx_drain *drain, pthread_mutex_t *lock, struct ptx_log *log,
		     bool by_itself, struct ptx_mapped *mapped, struct ptx_flush **result)
{
	struct ptx_flush *flush = calloc(1, sizeof *flush);
	int err = 0;

	if (!flush)
		return ENOMEM;
	flush->drain = drain;
	flush->lock = lock;
	flush->log = log;
	ptx_ledger_init(&flush->closing);
	take_status(flush);
	ptx_checkpoint_enable(flush->drain);
	pthread_mutex_init(&flush->turn, NULL);
	flush->mapped = mapped;
	ptx_mapped_look(mapped, false);
	if (by_itself)
		err = ptx_flusher_start(flush);
	if (err) {
		pthread_mutex_destroy(&flush->turn);
		free(flush);
		return err;
	}
	*result = flush;
	return 0;
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

/* A mutex is not fair, and a flusher that has no end of work would take it again and again. */
static void wait_for_turn(struct ptx_flush *flush, enum ptx_flush_kind kind)
{
	_Atomic uint32_t never = 0;

	if (kind == PTX_FLUSH_AUTOMATIC) {
		if (atomic_load_explicit(&flush->callers, memory_order_relaxed))
			ptx_futex_nap(&never, 0, LET_GO_FIRST_NS);
		pthread_mutex_lock(&flush->turn);
		return;
	}
	atomic_fetch_add_explicit(&flush->callers, 1, memory_order_relaxed);
	pthread_mutex_lock(&flush->turn);
	atomic_fetch_sub_explicit(&flush->callers, 1, memory_order_relaxed);
}

/*
 * ENOMEM: the events of some thread cannot be taken, and a flush that left them out would be none.
 */
static int know_rings(const struct ptx_flush *flush)
{
	const struct ptx_region *region = flush->drain->rings->region;

	return ptx_drain_sources(flush->drain,
				 atomic_load_explicit(&region->rings, memory_order_acquire)) ?
		       0 :
		       ENOMEM;
}

int ptx_flush_run(struct ptx_flush *flush, enum ptx_flush_kind kind,
		  const struct ptx_flush_caller *caller)
{
	bool framed = kind != PTX_FLUSH_FINAL ||
		      ptx_log_policy(flush->log) != POSIX_TRACE_UNTIL_FULL;
	struct ptx_shield shield;
	uint64_t target;
	int err, lacking;

	ptx_mapped_look(flush->mapped, kind == PTX_FLUSH_AUTOMATIC);
	wait_for_turn(flush, kind);
	ptx_shield_raise(&shield);
	pthread_mutex_lock(flush->lock);
	flush->flushing = true;
	ptx_drain_sync(flush->drain); /* a FULL that came before stands before */
	/* A log that cannot be written takes none of them, however often somebody tries. */
	if (flush->failing && flush->drain->marks > FAILING_MARKS_MOST)
		framed = false;
	if (framed)
		mark(flush, PTX_MARK_FLUSH_START, 0, caller);
	target = ptx_drain_moment(flush->drain, false);
	/*
	 * If a ring cannot be read, younger events of others would make its events late, so nothing
	 * is transferred. The final flush transfers all that it can.
	 */
	lacking = know_rings(flush);
	if (lacking && kind != PTX_FLUSH_FINAL)
		err = lacking;
	else if (kind == PTX_FLUSH_AUTOMATIC)
		err = ptx_transfer(flush, UINT64_MAX, target + ptx_clock_ticks(AUTOMATIC_SPAN_NS));
	else
		err = ptx_transfer(flush, target, 0);
	if (framed)
		mark(flush, PTX_MARK_FLUSH_STOP, 0, caller);
	if (!err && kind == PTX_FLUSH_FINAL)
		err = ptx_transfer(flush, ptx_drain_moment(flush->drain, false), 0);
	if (!err)
		err = lacking;
	if (err)
		note_failure(flush, kind, err);
	else
		flush->failing = false;
	ptx_drain_sync(flush->drain);
	/* With the FLUSH_STOP, which the next flush will deliver. */
	ptx_checkpoint_write(flush->drain, ptx_log_append_count(flush->log));
	ptx_flush_note_status(flush);
	atomic_store_explicit(&flush->taken, ptx_drain_taken(flush->drain), memory_order_relaxed);
	flush->flushing = false;
	pthread_mutex_unlock(flush->lock);
	ptx_shield_lower(&shield);
	pthread_mutex_unlock(&flush->turn);
	return err;
}

void ptx_flush_status(struct ptx_flush *flush, struct ptx_flush_status *status, bool reset)
{
	status->flushing = flush->flushing;
	status->error = flush->error;
	status->log_overrun = flush->log_overrun;
	status->log_full = flush->drain->log_full || ptx_log_is_full(flush->log);
	if (reset) {
		flush->error = 0;
		flush->log_overrun = false;
		ptx_flush_note_status(flush);
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

/* Without what the log says, readers would not wait for the guardian: no harm to the log. */
void ptx_flush_guarded(struct ptx_flush *flush, uint32_t pid, uint64_t start)
{
	struct ptx_shield shield;

	ptx_flush_take_turn(flush);
	ptx_shield_raise(&shield);
	(void)ptx_log_guarded(flush->log, pid, start);
	ptx_shield_lower(&shield);
	ptx_flush_give_turn(flush);
}

/* The log starts anew, where it can; the log knows which events are no longer reported. */
int ptx_flush_clear(struct ptx_flush *flush)
{
	int err;

	/*
	 * A process that finds the log empty continues from this checkpoint. Until the log is
	 * empty, the other checkpoint is valid.
	 */
	flush->drain->log_full = false;
	ptx_checkpoint_write(flush->drain, 0);
	err = ptx_log_clear(flush->log, &flush->drain->account);
	ptx_drain_settle(flush->drain);
	/*
	 * Once more: now what the log had is counted as cleared; if it has it still, that is so
	 * many events.
	 */
	ptx_checkpoint_write(flush->drain, ptx_log_append_count(flush->log));
	memset(flush->named, 0, sizeof flush->named);
	flush->overwritten = 0;
	flush->log_overrun = false;
	flush->failing = false;
	flush->error = 0;
	ptx_flush_note_status(flush);
	return err;
}

void ptx_flush_stop(struct ptx_flush *flush)
{
	if (flush->has_thread)
		ptx_flusher_stop(flush);
}

struct ptx_ledger *ptx_flush_closing(struct ptx_flush *flush)
{
	return &flush->closing;
}

int ptx_flush_destroy(struct ptx_flush *flush, const struct ptx_log_status *status)
{
	struct ptx_shield shield;
	int err;

	const struct ptx_names *names = flush->drain->arena->names;

	for (unsigned type = ptx_names_next(names, 0); type; type = ptx_names_next(names, type))
		ptx_transfer_name(flush, type);
	ptx_transfer_lists(flush);
	ptx_shield_raise(&shield);
	err = ptx_log_complete(flush->log, status, &flush->closing);
	ptx_shield_lower(&shield);
	ptx_log_destroy(flush->log);
	ptx_ledger_fini(&flush->closing);
	ptx_mapped_destroy(flush->mapped);
	pthread_mutex_destroy(&flush->turn);
	free(flush);
	return err;
}
