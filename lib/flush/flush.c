/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * flush/flush.c - one flush at a time, for callers, for the flusher and for the end of a stream.
 *
 * A flush acquires two locks, first the turn and then the stream's lock. It holds the turn from its
 * begin to its end. The stream's lock protects the drain and the members of struct ptx_flush.
 * transfer.c releases the stream's lock while it writes to the file, so control calls and status do
 * not wait for a disk. Meanwhile the turn ensures that only one caller uses the log, as log/log.h
 * demands.
 *
 * The status is also stored in the region (checkpoint_flush.h), so that a guardian continues with
 * it.
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
 * LET_GO_FIRST_NS is the time in nanoseconds that a flusher sleeps before it acquires the turn, if
 * other threads wait for the turn. If there are more than FAILING_MARKS_MOST marks, a flush that
 * follows a failed one adds no marks, so that the number of marks is bounded.
 */
#define LET_GO_FIRST_NS   1000000
#define FAILING_MARKS_MOST 64
#define ERROR_MOST        4095 /* the kernel has no greater error number */
/* an automatic flush transfers new events for this time at most */
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
 * Continues with the status of the process that had the stream before; in a new stream all values
 * are 0. The memory is hostile: a number that is no error number becomes EIO.
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
 * After an error the caller still owns `log` and `mapped`, and nothing else remains. The checkpoint
 * is enabled before the thread starts, because the thread's first flush writes one.
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
	ptx_ledger_init(&flush->closing);
	resume_status(flush);
	ptx_checkpoint_enable(flush->drain);
	pthread_mutex_init(&flush->turn, NULL);
	flush->mapped = mapped;
	/*
	 * The first look at the mappings is made here, so that the mappings are in the log before
	 * the events whose addresses they explain.
	 */
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

/*
 * Adds a mark with a moment of its own, so that no event has the same time. If there is no memory,
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
 * no caller, so its failure becomes an event. Several failures in a row make only one event,
 * because the flusher tries again all the time.
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
 * Acquires the turn. A mutex is not fair: a flusher that always has work could lock it again and
 * again before the others. So the flusher sleeps for a moment if a caller waits. It sleeps only
 * once before it locks the mutex, so callers cannot keep it from the turn for ever.
 */
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
 * Makes the sources for all rings. Returns 0 or ENOMEM. After ENOMEM the events of some ring cannot
 * be read, and a flush must not omit them.
 */
static int add_sources(const struct ptx_flush *flush)
{
	const struct ptx_region *region = flush->drain->rings->region;

	return ptx_drain_sources(flush->drain,
				 atomic_load_explicit(&region->rings, memory_order_acquire)) ?
		       0 :
		       ENOMEM;
}

/*
 * Any thread may call this function. It waits for flushes of other threads, and for the file if the
 * file blocks. The calling thread has SIGXFSZ and SIGPIPE blocked meanwhile (base/shield.h).
 */
int ptx_flush_run(struct ptx_flush *flush, enum ptx_flush_kind kind,
		  const struct ptx_flush_caller *caller)
{
	/*
	 * SHUT-07: the last flush into an UNTIL_FULL log adds no events of its own, so that STOP
	 * remains the log's last event.
	 */
	bool framed = kind != PTX_FLUSH_FINAL ||
		      ptx_log_policy(flush->log) != POSIX_TRACE_UNTIL_FULL;
	struct ptx_shield shield;
	uint64_t target;
	int err, lacking;

	/*
	 * No lock of the stream is held here, since ptx_mapped_look() may acquire the dynamic
	 * linker's lock (modules/mapped.h).
	 */
	ptx_mapped_look(flush->mapped, kind == PTX_FLUSH_AUTOMATIC);
	/* The turn is acquired before the stream's lock. */
	wait_for_turn(flush, kind);
	ptx_shield_raise(&shield);
	pthread_mutex_lock(flush->lock);
	flush->flushing = true;
	ptx_drain_sync(flush->drain); /* the mark of an earlier FULL comes first */
	/*
	 * If the log cannot be written, each new try would add two marks. To bound their number,
	 * the variable `framed` becomes false, and this flush adds none.
	 */
	if (flush->failing && flush->drain->marks > FAILING_MARKS_MOST)
		framed = false;
	if (framed)
		flush_mark(flush, PTX_MARK_FLUSH_START, 0, caller);
	/*
	 * The target is a moment after FLUSH_START. A call transfers the events up to this moment
	 * and no younger ones, so it ends although writers continue (FLUSHF-02). An automatic flush
	 * also transfers younger events, but for no longer than AUTOMATIC_SPAN_NS.
	 */
	target = ptx_drain_moment(flush->drain, false);
	/*
	 * If a ring cannot be read and events of the other rings were transferred, the older events
	 * of that ring would be late. So nothing is transferred, except by the final flush, which
	 * transfers all that it can.
	 */
	lacking = add_sources(flush);
	if (lacking && kind != PTX_FLUSH_FINAL)
		err = lacking;
	else if (kind == PTX_FLUSH_AUTOMATIC)
		err = ptx_transfer(flush, UINT64_MAX, target + ptx_clock_ticks(AUTOMATIC_SPAN_NS));
	else
		err = ptx_transfer(flush, target, 0);
	/*
	 * The FLUSH_STOP is younger than the target, so it remains in the drain for the next flush.
	 * The final flush has no successor, so it transfers once more.
	 */
	if (framed)
		flush_mark(flush, PTX_MARK_FLUSH_STOP, 0, caller);
	if (!err && kind == PTX_FLUSH_FINAL)
		err = ptx_transfer(flush, ptx_drain_moment(flush->drain, false), 0);
	/*
	 * The final flush has transferred all that it could. If `lacking` is not 0, the result
	 * shows the caller that events are missing.
	 */
	if (!err)
		err = lacking;
	if (err)
		note_failure(flush, kind, err);
	else
		flush->failing = false;
	/* The flush may have made the room that a full stream needs (FLUSHF-03). */
	ptx_drain_sync(flush->drain);
	/*
	 * The checkpoint of the last write lacks the FLUSH_STOP, which the next flush delivers. So
	 * another checkpoint is written.
	 */
	ptx_checkpoint_write(flush->drain, ptx_log_append_count(flush->log));
	ptx_flush_note_status(flush);
	atomic_store_explicit(&flush->consumed, ptx_drain_consumed(flush->drain),
			      memory_order_relaxed);
	flush->flushing = false;
	pthread_mutex_unlock(flush->lock);
	ptx_shield_lower(&shield);
	pthread_mutex_unlock(&flush->turn);
	return err;
}

/*
 * If `reset` is true, the caller reports the status, so the members `error` and `overrun` are
 * cleared. They are also cleared in the region, so that a guardian does not report them again.
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
 * A flush writes a block without holding the stream's lock. In a LOOP log this write changes the
 * numbers of overwritten events. So a caller that reads these numbers waits for the write. Logs of
 * other policies have no such numbers, so the ledger of such a log does not wait for a slow file.
 */
void ptx_flush_account_begin(struct ptx_flush *flush)
{
	if (ptx_log_is_loop(flush->log))
		ptx_flush_acquire_turn(flush);
}

void ptx_flush_account_end(struct ptx_flush *flush)
{
	if (ptx_log_is_loop(flush->log))
		ptx_flush_release_turn(flush);
}

/* Called with the stream's lock held, between ptx_flush_account_begin() and _end(). */
void ptx_flush_account(const struct ptx_flush *flush, struct ptx_ledger *ledger)
{
	ptx_log_account(flush->log, ledger);
}

/*
 * The exchange lets only one of several callers make the system call. If the flusher is awake, no
 * caller makes it.
 */
void ptx_flush_wake(struct ptx_flush *flush)
{
	struct ptx_region *region = flush->drain->rings->region;

	if (atomic_exchange_explicit(&region->flusher_asleep, 0, memory_order_acq_rel))
		ptx_futex_wake(&region->flusher_asleep);
}

/*
 * Used by calls that change the stream and the log together, such as a clear. The function may
 * block as long as a flush does.
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
 * The result of the write is not used: if the write fails, the log is not damaged, and the only
 * effect is that readers do not wait for the guardian.
 */
void ptx_flush_guarded(struct ptx_flush *flush, uint32_t pid, uint64_t start)
{
	struct ptx_shield shield;

	ptx_flush_acquire_turn(flush);
	ptx_shield_raise(&shield);
	(void)ptx_log_guarded(flush->log, pid, start);
	ptx_shield_lower(&shield);
	ptx_flush_release_turn(flush);
}

/*
 * Restores the state that the log had after its creation, if the file permits it (CLEAR-07,
 * CLEAR-09). ptx_log_clear() corrects the drain's account for the events that the log loses. The
 * caller has the turn, the stream's lock and a shield. The function writes to the file while the
 * lock is held.
 */
int ptx_flush_clear(struct ptx_flush *flush)
{
	int err;

	/*
	 * This checkpoint is for a process that finds the log empty and continues the stream. The
	 * region also keeps the previous checkpoint, for a process that finds the log with its
	 * events.
	 */
	flush->drain->log_full = false;
	ptx_checkpoint_write(flush->drain, 0);
	err = ptx_log_clear(flush->log, &flush->drain->account);
	ptx_drain_settle(flush->drain);
	/*
	 * The checkpoint is written once more, because the account has changed: the events of the
	 * log are now counted as cleared. If the log could not be emptied, its number of events is
	 * the same as before.
	 */
	ptx_checkpoint_write(flush->drain, ptx_log_append_count(flush->log));
	memset(flush->named, 0, sizeof flush->named);
	/* CLEAR-07: the status is that of a new log. */
	flush->overwritten = 0;
	flush->log_overrun = false;
	flush->failing = false;
	flush->error = 0;
	ptx_flush_note_status(flush);
	return err;
}

/*
 * The caller must not hold the turn or the stream's lock, because the flusher may wait for either.
 * A second call has no effect.
 */
void ptx_flush_stop(struct ptx_flush *flush)
{
	ptx_flusher_stop(flush);
}

/*
 * The caller fills this ledger before ptx_flush_destroy(). The ledger is part of the flush, so the
 * end of a stream needs no memory for it.
 */
struct ptx_ledger *ptx_flush_closing(struct ptx_flush *flush)
{
	return &flush->closing;
}

/*
 * The caller has ended the flusher, and no other thread uses the flush. After an error, which is
 * returned, the log is closed, too.
 */
int ptx_flush_destroy(struct ptx_flush *flush, const struct ptx_log_status *status)
{
	struct ptx_shield shield;
	int err;

	const struct ptx_names *names = flush->drain->arena->names;

	/* LOG-10: a log has all event types of the process, also those without an event. */
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
