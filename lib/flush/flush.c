/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * flush/flush.c - runs a flush, for callers, for the flusher and for the end of a stream.
 *
 * A flush acquires two locks: first the turn, a mutex that lets one flush of a stream run at a
 * time, and then the stream's lock. It holds the turn until it ends. The stream's lock protects the
 * drain and most members of struct ptx_flush. transfer.c releases the stream's lock while it writes
 * to the file, so control calls and status do not wait for a disk. Meanwhile the turn ensures that
 * only one thread uses the log, as log/log.h requires.
 *
 * The status is also stored in the region (checkpoint_flush.h), for a guardian that continues if
 * this process is killed.
 */
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

/*
 * LET_GO_FIRST_NS: how long the flusher sleeps before it acquires the turn, if other threads wait
 * for the turn. FAILING_MARKS_MOST: a flush that follows a failed flush adds no marks if the drain
 * has more marks than this. So the number of marks is bounded.
 */
#define LET_GO_FIRST_NS   1000000
#define FAILING_MARKS_MOST 64
#define ERROR_MOST        4095 /* the kernel has no greater error number */
/* an automatic flush transfers new events for at most this time */
#define AUTOMATIC_SPAN_NS 1000000000u

/*
 * Called after each change of the status, because the process may be killed at any moment. Error
 * and overrun are in one word, so that a guardian finds the values of one moment.
 */
void ptx_flush_note_status(struct ptx_flush *flush)
{
	struct ptx_checkpoint_status *status = ptx_checkpoint_status(flush->drain);

	atomic_store_explicit(&status->overwritten, flush->overwritten, memory_order_relaxed);
	atomic_store_explicit(&status->word,
			      (uint64_t)(uint32_t)flush->error << 32 | flush->log_overrun,
			      memory_order_relaxed);
}

/*
 * Continues with the status in the region. In a new stream all values are 0. If this process
 * replaces a killed process, it continues with the status of that process. The region may be
 * hostile, so an impossible error number becomes EIO.
 */
static void resume_status(struct ptx_flush *flush)
{
	struct ptx_checkpoint_status *status = ptx_checkpoint_status(flush->drain);
	uint64_t word = atomic_load_explicit(&status->word, memory_order_relaxed);

	flush->error = word >> 32 <= ERROR_MOST ? (int)(word >> 32) : EIO;
	flush->log_overrun = word & 1;
	flush->overwritten = atomic_load_explicit(&status->overwritten, memory_order_relaxed);
}

/*
 * After an error the caller still owns `log` and `mapped`. The checkpoints are enabled before the
 * thread starts, because the thread's first flush writes a checkpoint.
 */
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
	flush->log_is_loop = ptx_log_is_loop(log);
	ptx_ledger_init(&flush->closing);
	resume_status(flush);
	ptx_checkpoint_enable(flush->drain);
	pthread_mutex_init(&flush->turn, NULL);
	pthread_mutex_init(&flush->rotation, NULL);
	flush->mapped = mapped;
	/*
	 * Reads the mappings of the process for the first time, so that the log has the mappings
	 * before the events whose addresses they explain.
	 */
	ptx_mapped_look(mapped, false);
	if (by_itself)
		err = ptx_flusher_start(flush);
	if (err) {
		pthread_mutex_destroy(&flush->rotation);
		pthread_mutex_destroy(&flush->turn);
		free(flush);
		return err;
	}
	*result = flush;
	return 0;
}

/*
 * Adds a mark, whose time is later than all delivered events and all marks. If there is no memory,
 * the mark is missing, but the flush continues.
 */
static void flush_mark(struct ptx_flush *flush, enum ptx_mark_kind kind, int error,
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

/*
 * Notes the error for posix_trace_get_status() (FLUSHF-08). The first error stays until it is
 * reported. A caller of posix_trace_flush() also gets the error as a result. An automatic flush has
 * no caller, so its failure becomes an event. The flusher tries again and again, so the failure
 * becomes an event only if the flush before it did not fail, too.
 */
static void note_failure(struct ptx_flush *flush, enum ptx_flush_kind kind, int err)
{
	static const struct ptx_flush_caller no_caller;

	if (!flush->error)
		flush->error = err;
	if (kind == PTX_FLUSH_AUTOMATIC && !flush->failing)
		flush_mark(flush, PTX_MARK_ERROR, err, &no_caller);
	flush->failing = true;
}

/*
 * Acquires the turn. A mutex is not fair: a flusher that always has work could lock the mutex again
 * and again before the waiting callers. So if a caller waits, the flusher sleeps for a moment
 * first. It sleeps only once, so callers cannot delay it for ever.
 */
void ptx_flush_wait_for_turn(struct ptx_flush *flush, enum ptx_flush_kind kind)
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
 * Makes the sources for all rings. Returns 0 or ENOMEM. After ENOMEM the events of some ring cannot
 * be read.
 */
static int add_sources(const struct ptx_flush *flush)
{
	const struct ptx_region *region = flush->drain->rings->region;

	return ptx_drain_sources(flush->drain,
				 atomic_load_explicit(&region->rings, memory_order_acquire)) ?
		       0 :
		       ENOMEM;
}

/* The caller has the turn, so the log is the same during the whole flush. */
int ptx_flush_with_turn(struct ptx_flush *flush, enum ptx_flush_kind kind,
			const struct ptx_flush_caller *caller)
{
	/*
	 * `framed` is true if the flush adds FLUSH_START and FLUSH_STOP. At the end of a stream
	 * with an UNTIL_FULL log, the flush adds no events, so that STOP remains the log's last
	 * event (SHUT-07).
	 */
	bool framed = kind != PTX_FLUSH_FINAL ||
		      ptx_log_policy(flush->log) != POSIX_TRACE_UNTIL_FULL;
	/*
	 * After a flush of one of these two kinds, no other flush of the log follows. So such a
	 * flush also transfers its own FLUSH_STOP.
	 */
	const bool is_last = kind == PTX_FLUSH_FINAL || kind == PTX_FLUSH_OF_LOG;
	uint64_t target;
	int err, lacking;

	pthread_mutex_lock(flush->lock);
	flush->flushing = true;
	/* the mark of an earlier FULL state must precede FLUSH_START */
	ptx_drain_sync(flush->drain);
	/*
	 * If the log cannot be written, each new try would add two marks. To bound their number,
	 * this flush then adds no marks.
	 */
	if (flush->failing && flush->drain->marks > FAILING_MARKS_MOST)
		framed = false;
	if (framed)
		flush_mark(flush, PTX_MARK_FLUSH_START, 0, caller);
	/*
	 * The target is a moment after FLUSH_START. A flush by a call does not transfer younger
	 * events than the target, so it ends although writers continue (FLUSHF-02). An automatic
	 * flush also transfers younger events, but for at most AUTOMATIC_SPAN_NS.
	 */
	target = ptx_drain_moment(flush->drain, false);
	/*
	 * If there is no memory to read a ring, the flush transfers no events. Otherwise a later
	 * flush would add older events of this ring, and they would be late. Only the final flush
	 * transfers all events that it can read, because no flush follows it.
	 */
	lacking = add_sources(flush);
	if (lacking && kind != PTX_FLUSH_FINAL)
		err = lacking;
	else if (kind == PTX_FLUSH_AUTOMATIC)
		err = ptx_transfer(flush, UINT64_MAX, target + ptx_clock_ticks(AUTOMATIC_SPAN_NS));
	else
		err = ptx_transfer(flush, target, 0);
	/*
	 * The FLUSH_STOP remains in the drain, and the next flush transfers it. The last flush of a
	 * log transfers it by a second call of ptx_transfer().
	 */
	if (framed)
		flush_mark(flush, PTX_MARK_FLUSH_STOP, 0, caller);
	if (!err && is_last)
		err = ptx_transfer(flush, ptx_drain_moment(flush->drain, false), 0);
	/* If `lacking` is not 0, events are missing in the log, so the caller gets an error. */
	if (!err)
		err = lacking;
	if (err)
		note_failure(flush, kind, err);
	else
		flush->failing = false;
	/* The flush may have made enough room for a full stream to restart (FLUSHF-03). */
	ptx_drain_sync(flush->drain);
	/*
	 * The last checkpoint of ptx_transfer() does not have the mark of the FLUSH_STOP. If this
	 * process is killed, the guardian needs this mark. So another checkpoint is written.
	 */
	ptx_checkpoint_write(flush->drain, ptx_log_append_count(flush->log));
	ptx_flush_note_status(flush);
	atomic_store_explicit(&flush->consumed, ptx_drain_consumed(flush->drain),
			      memory_order_relaxed);
	flush->flushing = false;
	pthread_mutex_unlock(flush->lock);
	return err;
}

/*
 * Any thread may call this function. It waits for flushes of other threads, and for the file if a
 * write blocks. While it flushes, SIGXFSZ and SIGPIPE are blocked in the calling thread
 * (base/shield.h).
 */
int ptx_flush_run(struct ptx_flush *flush, enum ptx_flush_kind kind,
		  const struct ptx_flush_caller *caller)
{
	struct ptx_shield shield;
	int err;

	/*
	 * Called before any lock of the stream is acquired, since ptx_mapped_look() may acquire the
	 * dynamic linker's lock (modules/mapped.h).
	 */
	ptx_mapped_look(flush->mapped, kind == PTX_FLUSH_AUTOMATIC);
	/* The turn is acquired before the stream's lock. */
	ptx_flush_wait_for_turn(flush, kind);
	ptx_shield_raise(&shield);
	err = ptx_flush_with_turn(flush, kind, caller);
	ptx_shield_lower(&shield);
	pthread_mutex_unlock(&flush->turn);
	return err;
}

/*
 * If `reset` is true, the caller reports the status to the program, so error and log_overrun are
 * cleared. They are also cleared in the region, so that a guardian does not report them again. The
 * caller holds the stream's lock.
 */
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

/*
 * A flush does not hold the stream's lock while it writes a block. In a LOOP log such a write
 * changes the number of overwritten events. So a caller that reads this number waits until no flush
 * runs.
 * In logs of other policies no events are overwritten, so the caller does not wait for a slow file.
 */
void ptx_flush_account_begin(struct ptx_flush *flush)
{
	if (flush->log_is_loop)
		ptx_flush_acquire_turn(flush);
}

void ptx_flush_account_end(struct ptx_flush *flush)
{
	if (flush->log_is_loop)
		ptx_flush_release_turn(flush);
}

/* Called with the stream's lock held, between ptx_flush_account_begin() and _end(). */
void ptx_flush_account(const struct ptx_flush *flush, struct ptx_ledger *ledger)
{
	ptx_log_account(flush->log, ledger);
}

/*
 * Wakes the flusher. Because of the exchange, only one of several callers makes the system call,
 * and only if the flusher is asleep.
 */
void ptx_flush_wake(struct ptx_flush *flush)
{
	struct ptx_region *region = flush->drain->rings->region;

	if (atomic_exchange_explicit(&region->flusher_asleep, 0, memory_order_acq_rel))
		ptx_futex_wake(&region->flusher_asleep);
}

/*
 * For calls that change the stream and the log together, such as a clear. The function waits until
 * a running flush has ended.
 */
void ptx_flush_acquire_turn(struct ptx_flush *flush)
{
	pthread_mutex_lock(&flush->turn);
}

void ptx_flush_release_turn(struct ptx_flush *flush)
{
	pthread_mutex_unlock(&flush->turn);
}

/*
 * Makes the log as it was after its creation, if the file permits this (CLEAR-07, CLEAR-09).
 * ptx_log_clear() corrects the drain's account: the events of the log become lost. The caller has
 * the turn, the stream's lock and a shield (base/shield.h). The function writes to the file while
 * the stream's lock is held.
 */
int ptx_flush_clear(struct ptx_flush *flush)
{
	int err;

	/*
	 * If this process is killed, a process that continues finds the log either empty or with
	 * its events. This checkpoint is for the empty log. The region also keeps the previous
	 * checkpoint, for the log with its events.
	 */
	flush->drain->log_full = false;
	ptx_checkpoint_write(flush->drain, 0);
	err = ptx_log_clear(flush->log, &flush->drain->account, flush->closed);
	ptx_drain_settle(flush->drain);
	/*
	 * The checkpoint is written once more, because the account has changed: the events of the
	 * log are now counted as cleared.
	 */
	ptx_checkpoint_write(flush->drain, ptx_log_append_count(flush->log));
	memset(flush->named, 0, sizeof flush->named);
	/* The status becomes that of a new log (CLEAR-07). */
	flush->overwritten = 0;
	flush->log_overrun = false;
	flush->failing = false;
	flush->error = 0;
	ptx_flush_note_status(flush);
	return err;
}

/*
 * The caller must hold neither the turn nor the stream's lock, because the flusher may wait for one
 * of them. A second call has no effect.
 */
void ptx_flush_stop(struct ptx_flush *flush)
{
	ptx_flusher_stop(flush, PTX_FLUSHER_NONE);
}

void ptx_flush_pause(struct ptx_flush *flush)
{
	ptx_flusher_stop(flush, PTX_FLUSHER_PAUSED);
}

void ptx_flush_resume(struct ptx_flush *flush)
{
	const int err = ptx_flusher_resume(flush);

	/*
	 * Without a flusher the stream may become full. A reader of the log must find the reason
	 * for the losses that follow.
	 */
	if (!err)
		return;
	pthread_mutex_lock(flush->lock);
	note_failure(flush, PTX_FLUSH_AUTOMATIC, err);
	ptx_flush_note_status(flush);
	pthread_mutex_unlock(flush->lock);
}

/* The ledger is part of struct ptx_flush, so the end of a stream needs no memory for it. */
struct ptx_ledger *ptx_flush_closing(struct ptx_flush *flush)
{
	return &flush->closing;
}

/*
 * The caller has ended the flusher, and no other thread uses `flush`. Returns 0 or the error of
 * ptx_log_complete(). The log is closed in any case.
 */
int ptx_flush_destroy(struct ptx_flush *flush, const struct ptx_log_status *status)
{
	struct ptx_shield shield;
	int err;

	ptx_transfer_rest(flush);
	if (flush->closed)
		ptx_ledger_subtract(&flush->closing, flush->closed);
	ptx_shield_raise(&shield);
	err = ptx_log_complete(flush->log, status, &flush->closing);
	ptx_shield_lower(&shield);
	ptx_log_destroy(flush->log);
	ptx_ledger_fini(&flush->closing);
	if (flush->closed)
		ptx_ledger_fini(flush->closed);
	free(flush->closed);
	ptx_mapped_destroy(flush->mapped);
	pthread_mutex_destroy(&flush->rotation);
	pthread_mutex_destroy(&flush->turn);
	free(flush);
	return err;
}
