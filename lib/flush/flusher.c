/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * flush/flusher.c - the thread that flushes a stream of policy FLUSH by itself (SFLUSH-02).
 *
 * It flushes when half of the pool is in use, when the stream is full, and when the oldest event
 * is one second old. Between flushes it waits in one of three ways. For a while after a flush that
 * was due to the pool, it looks at the pool at short intervals. Otherwise, if writers may wake it,
 * it sleeps until a writer wakes it or the oldest event is one second old. If writers may not wake
 * it, it looks at the pool at intervals in which the pool cannot fill up.
 *
 * All signals are blocked in the thread. It shares the turn and the stream's lock with callers, and
 * ends only at ptx_flusher_stop(), or with the process. A child of fork() has no such thread.
 */
#include <errno.h>
#include <signal.h>
#include <string.h>

#include "arena/arena.h"
#include "base/barrier.h"
#include "base/futex.h"
#include "base/msan.h"
#include "base/quiet.h"
#include "flush/flush_private.h"
#include "ring/pool.h"

/*
 * Times in nanoseconds. AGE_NS is the age at which an event is written. IDLE_NAP_NS is the nap when
 * there is no event, BUSY_NAP_NS the nap soon after a flush that was due to the pool, FAILED_NAP_NS
 * the nap after a failed flush. POLL_NS_MIN and POLL_NS_MAX bound the interval of poll_ns().
 */
#define AGE_NS        1000000000u
#define IDLE_NAP_NS   500000000
#define BUSY_NAP_NS   20000
#define BUSY_NAPS     100 /* number of short naps after the last flush that was due to the pool */
#define STACK_BYTES   (256u * 1024u)
#define FAILED_NAP_NS 100000000
#define POLL_NS_MIN   1000000
#define POLL_NS_MAX   20000000
#define BUSY_BYTES_A_NS 1 /* writers are assumed to record no more bytes in a nanosecond */

/*
 * The state word is shared and hostile: a wrong kind only makes the flusher flush, or sleep longer.
 */
static enum ptx_state state_of(const struct ptx_flush *flush)
{
	return ptx_state_kind(atomic_load_explicit(&flush->drain->rings->region->state,
						   memory_order_acquire));
}

/*
 * Returns the time in nanoseconds until the oldest event has the age AGE_NS, or IDLE_NAP_NS if
 * there is no event.
 */
static int64_t until_due(struct ptx_flush *flush)
{
	uint64_t oldest, age;

	/*
	 * After a pass, the drain has the oldest event of each ring in a buffer. The pass costs a
	 * barrier on all writers, so this function is not called while events come fast.
	 */
	pthread_mutex_lock(flush->lock);
	ptx_drain_pass(flush->drain);
	oldest = ptx_drain_oldest(flush->drain);
	/* Stamps of another processor may be slightly ahead of the member `now`. */
	age = oldest && flush->drain->now > oldest ? flush->drain->now - oldest : 0;
	pthread_mutex_unlock(flush->lock);
	if (!oldest)
		return IDLE_NAP_NS;
	if (age >= ptx_clock_ticks(AGE_NS))
		return 0;
	return (int64_t)AGE_NS - (int64_t)((unsigned __int128)age * PTX_NS_PER_S / ptx_clock_hz);
}

/*
 * Sleeps for at most `ns` nanoseconds, or until a writer that finds the pool half full wakes the
 * flusher.
 */
static void sleep_until_woken(struct ptx_flush *flush, int64_t ns)
{
	_Atomic uint32_t *asleep = &flush->drain->rings->region->flusher_asleep;

	/*
	 * The flusher stores 1 in flusher_asleep, runs the barrier and then looks at the pool. A
	 * writer may fill the pool at this moment. Because of this order, either the flusher sees
	 * below that the pool is filling, or the writer sees the 1 (as (M) and (N) in ring.h).
	 */
	atomic_store_explicit(asleep, 1, memory_order_relaxed);
	if (flush->drain->shared)
		ptx_barrier_everywhere();
	else
		ptx_barrier();
	if (!ptx_pool_is_filling(flush->drain->rings, 2) && state_of(flush) != PTX_FULL &&
	    !atomic_load_explicit(&flush->quit, memory_order_acquire))
		ptx_futex_nap(asleep, 1, ns < IDLE_NAP_NS ? ns : IDLE_NAP_NS);
	/* While flusher_asleep is 0, no writer makes a system call to wake the flusher. */
	atomic_store_explicit(asleep, 0, memory_order_relaxed);
}

/*
 * Returns true if writers must not make the system call that wakes the flusher. Writers of other
 * processes must not make it, because a filter of their program may forbid it. Writers of this
 * process must not make it if this process has a seccomp filter (base/quiet.h). control->quiet
 * shows that a process of the arena has such a filter.
 */
static bool must_poll(const struct ptx_flush *flush)
{
	const struct ptx_arena *arena = flush->drain->arena;

	return arena != &ptx_arena_self || ptx_is_quiet() ||
	       atomic_load_explicit(&arena->control->quiet, memory_order_relaxed);
}

/*
 * Returns an interval from POLL_NS_MIN to POLL_NS_MAX, in which writers at BUSY_BYTES_A_NS cannot
 * fill half of the stream.
 */
static int64_t poll_ns(const struct ptx_flush *flush)
{
	const struct ptx_geometry *geometry = &flush->drain->rings->geometry;
	uint64_t half = (uint64_t)geometry->chunks * geometry->chunk_bytes / 2;
	uint64_t ns = half / BUSY_BYTES_A_NS;

	return ns < POLL_NS_MIN ? POLL_NS_MIN : ns > POLL_NS_MAX ? POLL_NS_MAX : (int64_t)ns;
}

/*
 * Waits for `ns` nanoseconds, but ends earlier if the pool is filling, the stream is full, or the
 * flusher is to end. It sleeps on the word `quit`, so ptx_flusher_stop() can wake the flusher
 * immediately.
 */
static void poll_pool(struct ptx_flush *flush, int64_t ns)
{
	const int64_t interval = poll_ns(flush);

	for (; ns > 0 && !ptx_pool_is_filling(flush->drain->rings, 2) &&
	       state_of(flush) != PTX_FULL &&
	       !atomic_load_explicit(&flush->quit, memory_order_acquire);
	     ns -= interval)
		ptx_futex_nap(&flush->quit, 0, ns < interval ? ns : interval);
}

/*
 * Flushes, and pauses if the flush consumed no record. The cause of such a flush is a writer that
 * was suspended after it had read the clock and before it published its record. Until it continues,
 * the drain holds back all younger events, also those of other threads. As the flush frees no
 * chunk, the next flush would follow immediately if there were no pause. Each flush adds two marks
 * to the log, so there would be hundreds of them after a few milliseconds. So the pause is twice as
 * long after each further flush that consumed no record. During a pause the flusher does not look
 * at the pool, of which only half may be free. So a pause lasts at most poll_ns(). In a longer
 * pause, other threads could fill the pool after the writer has continued, and events would be
 * lost. *stall_ns is the last pause, or 0 after a flush that consumed records.
 */
static void flush_due(struct ptx_flush *flush, int64_t *stall_ns)
{
	static const struct ptx_flush_caller no_caller;
	const uint64_t consumed = atomic_load_explicit(&flush->consumed, memory_order_relaxed);
	const int64_t interval = poll_ns(flush);

	/*
	 * If the disk is full, it stays full for a while. The pause keeps the flusher from using
	 * the processor all the time.
	 */
	if (ptx_flush_run(flush, PTX_FLUSH_AUTOMATIC, &no_caller) != 0) {
		ptx_futex_nap(&flush->quit, 0, FAILED_NAP_NS);
	} else if (atomic_load_explicit(&flush->consumed, memory_order_relaxed) != consumed) {
		*stall_ns = 0;
	} else {
		*stall_ns = *stall_ns ? 2 * *stall_ns : BUSY_NAP_NS;
		if (*stall_ns > interval)
			*stall_ns = interval;
		ptx_futex_nap(&flush->quit, 0, *stall_ns);
	}
}

/*
 * The flusher's thread. The variable `busy` is the number of short naps that are left. While it is
 * not 0, a sixteenth of the pool is enough for a flush, so that fast writers never fill the pool
 * during a nap.
 */
static void *flusher_run(void *argument)
{
	struct ptx_flush *flush = argument;
	_Atomic uint32_t never = 0;
	int64_t stall_ns = 0;
	unsigned busy = 0;

	ptx_msan_pause(); /* for as long as the thread lives */
	while (!atomic_load_explicit(&flush->quit, memory_order_acquire)) {
		bool filling = ptx_pool_is_filling(flush->drain->rings, busy ? 16 : 2) ||
			       state_of(flush) == PTX_FULL;
		int64_t ns = filling ? 0 : busy ? BUSY_NAP_NS : until_due(flush);

		if (filling)
			busy = BUSY_NAPS;
		if (ns == 0) {
			flush_due(flush, &stall_ns);
		} else if (busy) {
			busy--;
			ptx_futex_nap(&never, 0, ns);
		} else if (must_poll(flush)) {
			poll_pool(flush, ns);
		} else {
			sleep_until_woken(flush, ns);
		}
	}
	return NULL;
}

/*
 * The stack is small, because it uses address space of the traced program. A new thread inherits
 * the signal mask of its creator, so the creator blocks all signals until the thread exists: the
 * program's handlers never run in the flusher. Returns 0, EAGAIN or ENOMEM.
 */
int ptx_flusher_start(struct ptx_flush *flush)
{
	pthread_attr_t attr;
	sigset_t all, before;
	int err;

	err = pthread_attr_init(&attr);
	if (err)
		return err;
	pthread_attr_setstacksize(&attr, STACK_BYTES);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	err = pthread_create(&flush->thread, &attr, flusher_run, flush);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attr);
	if (err)
		return err;
	/* The stream has no identifier yet, so no other thread can stop the flusher. */
	atomic_store_explicit(&flush->flusher, PTX_FLUSHER_RUNS, memory_order_relaxed);
	pthread_setname_np(flush->thread, "ptx-flush");
	return 0;
}

/*
 * The exchange chooses one caller, which joins the flusher, since a thread may be joined only once.
 * The other callers wait until the flusher has ended, because a caller may be about to forbid
 * system calls that the flusher makes. The member `quit` is stored before both wake-ups, because a
 * flusher that is about to sleep looks at `quit` after it has stored 1 in flusher_asleep. The
 * function waits until the flush in progress has ended.
 */
void ptx_flusher_stop(struct ptx_flush *flush)
{
	uint32_t seen = PTX_FLUSHER_RUNS;

	if (atomic_compare_exchange_strong_explicit(&flush->flusher, &seen, PTX_FLUSHER_ENDS,
						    memory_order_acquire, memory_order_acquire)) {
		atomic_store_explicit(&flush->quit, 1, memory_order_release);
		ptx_futex_wake(&flush->quit);
		ptx_flush_wake(flush);
		pthread_join(flush->thread, NULL);
		atomic_store_explicit(&flush->flusher, PTX_FLUSHER_NONE, memory_order_release);
		ptx_futex_wake(&flush->flusher);
		return;
	}
	for (; seen == PTX_FLUSHER_ENDS;
	     seen = atomic_load_explicit(&flush->flusher, memory_order_acquire))
		ptx_futex_wait(&flush->flusher, PTX_FLUSHER_ENDS, NULL);
}
