/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * flush/flusher.c - the thread that flushes a stream of policy FLUSH by itself (SFLUSH-02).
 *
 * The flusher flushes when closed chunks occupy half of the stream's size (the pool is filling),
 * when the stream is full, and when the oldest event is one second old. Between flushes it waits in
 * one of three ways. After a flush because of a filling pool, it examines the pool at short
 * intervals for a while, and meanwhile flushes when closed chunks occupy a sixteenth. Otherwise, if
 * writers may wake the flusher, it sleeps until a writer wakes it or the oldest event is one second
 * old. If writers may not wake it, it examines the pool at intervals that are so short that the
 * pool cannot fill up. Writers of another process may wake it only once, when the first of them
 * joins the stream.
 *
 * The code calls a short sleep a nap.
 *
 * All signals are blocked in the thread. The thread ends only at ptx_flusher_stop(), or with the
 * process. A child of fork() has no such thread.
 */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "arena/arena.h"
#include "base/barrier.h"
#include "base/clock.h"
#include "base/futex.h"
#include "base/life.h"
#include "base/msan.h"
#include "base/quiet.h"
#include "flush/flush_private.h"
#include "ring/pool.h"

/*
 * Times are in nanoseconds. AGE_NS is the age at which an event is written. The lengths of the naps
 * are: IDLE_NAP_NS when there is no event, BUSY_NAP_NS for a while after a flush because of a
 * filling pool, FAILED_NAP_NS after a failed flush. POLL_NS_MIN and POLL_NS_MAX bound the interval
 * of poll_ns().
 */
#define AGE_NS        1000000000u
#define IDLE_NAP_NS   500000000
#define BUSY_NAP_NS   20000
/* number of naps of BUSY_NAP_NS after the last flush because of a filling pool */
#define BUSY_NAPS     100
#define STACK_BYTES   (256u * 1024u)
#define FAILED_NAP_NS 100000000
#define POLL_NS_MIN   1000000
#define POLL_NS_MAX   20000000
/* ptx_flusher_stop() waits at most GONE_NS, in naps, until the kernel has removed the thread */
#define GONE_NS         PTX_NS_PER_S
#define GONE_NAP_NS     20000
#define BUSY_BYTES_A_NS 1 /* the greatest rate of writers that the flusher expects */

/*
 * Returns the state of the stream. The word is in shared memory and may be hostile. A wrong state
 * only makes the flusher flush, or sleep longer.
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
	 * After a pass, the drain has the oldest event of each ring in a buffer. A pass costs a
	 * barrier on all writers, so this function is not called while many events are recorded.
	 */
	pthread_mutex_lock(flush->lock);
	ptx_drain_pass(flush->drain);
	oldest = ptx_drain_oldest(flush->drain);
	/* The clock of another processor may be slightly ahead of drain->now. */
	age = oldest && flush->drain->now > oldest ? flush->drain->now - oldest : 0;
	pthread_mutex_unlock(flush->lock);
	if (!oldest)
		return IDLE_NAP_NS;
	if (age >= ptx_clock_ticks(AGE_NS))
		return 0;
	return (int64_t)AGE_NS - (int64_t)((unsigned __int128)age * PTX_NS_PER_S / ptx_clock_hz);
}

/*
 * Returns true if writers must not make the system call that wakes the flusher. Writers of other
 * processes must not make this call while they record, because a seccomp filter of their process
 * may forbid it. Writers of this process must not make it if the process is quiet (base/quiet.h).
 * control->quiet shows that some process of the arena is quiet.
 *
 * Ring 0 of a stream is the controller's. While the stream of another process has no further ring,
 * only the controller can record. The writer that gets ring 1 makes the call once (join_ring() in
 * point/record.c), before it records anything. From then on the flusher examines the pool. Only a
 * hostile process decreases the number of rings, so the flusher keeps the fact in a variable of its
 * own.
 */
static bool must_poll(struct ptx_flush *flush)
{
	const struct ptx_arena *arena = flush->drain->arena;

	if (arena != &ptx_arena_self && ptx_ring_count(flush->drain->rings) > 1)
		flush->has_writers = true;
	return flush->has_writers || ptx_is_quiet() ||
	       atomic_load_explicit(&arena->control->quiet, memory_order_relaxed);
}

/*
 * Sleeps until a writer that finds the pool filling, or that joins the stream of another process,
 * wakes the flusher, but at most `ns` nanoseconds and at most IDLE_NAP_NS.
 */
static void sleep_until_woken(struct ptx_flush *flush, int64_t ns)
{
	_Atomic uint32_t *asleep = &flush->drain->rings->region->flusher_asleep;

	/*
	 * The flusher stores 1 in flusher_asleep, runs the barrier, and then examines the pool and
	 * the number of rings. A writer may fill the pool or get a ring at the same time. Because
	 * of this order, either the flusher finds this below, or the writer finds the 1 and wakes
	 * the flusher (as (M) and (N) in ring/ring.h).
	 */
	atomic_store_explicit(asleep, 1, memory_order_relaxed);
	if (flush->drain->shared)
		ptx_barrier_everywhere();
	else
		ptx_barrier();
	if (!ptx_pool_is_filling(flush->drain->rings, 2) && state_of(flush) != PTX_FULL &&
	    !must_poll(flush) && !atomic_load_explicit(&flush->quit, memory_order_acquire))
		ptx_futex_nap(asleep, 1, ns < IDLE_NAP_NS ? ns : IDLE_NAP_NS);
	/* While flusher_asleep is 0, no writer makes a system call to wake the flusher. */
	atomic_store_explicit(asleep, 0, memory_order_relaxed);
}

/*
 * Returns the time in which writers at the rate BUSY_BYTES_A_NS fill half of the stream, at least
 * POLL_NS_MIN and at most POLL_NS_MAX.
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
 * flusher must end. The flusher sleeps on the word `quit`, so ptx_flusher_stop() can wake it
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
 * Flushes, and pauses if the flush failed or consumed no record. *stall_ns is the length of the
 * last pause after a flush without records, or 0 after a flush that consumed records.
 *
 * A flush consumes no record if a writer was suspended after it had read the clock and before it
 * published its record. Until this writer continues, the drain holds back all younger events of all
 * threads. Such a flush frees no chunk, so without a pause the next flush would follow immediately.
 * Each flush adds two events to the log, so there would be hundreds of them after a few
 * milliseconds. So each further pause is twice as long.
 *
 * During a pause the flusher does not examine the pool, of which only half may be free. When the
 * suspended writer has continued, other threads could fill the pool during a long pause, and events
 * would be lost. So a pause lasts at most poll_ns().
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
 * The flusher's thread. The variable `busy` is the number of short naps that remain. As long as it
 * is not 0, the flusher flushes when closed chunks occupy a sixteenth of the stream's size, so that
 * fast writers do not fill the pool during a nap. Returns NULL when `quit` is set.
 */
static void *flusher_run(void *argument)
{
	struct ptx_flush *flush = argument;
	_Atomic uint32_t never = 0;
	int64_t stall_ns = 0;
	unsigned busy = 0;

	ptx_msan_pause(); /* for as long as the thread lives */
	flush->tid = (uint32_t)syscall(SYS_gettid);
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
 * The stack is small, because it uses address space of the traced program. The signal handlers of
 * the program must not run in the flusher. A new thread inherits the signal mask of its creator, so
 * the creator blocks all signals until the thread exists. Returns 0, EAGAIN or ENOMEM.
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
	/* The error may be EINVAL: after unshare(CLONE_NEWPID) a process cannot create threads. */
	if (err)
		return EAGAIN;
	pthread_setname_np(flush->thread, "ptx-flush");
	/* From now on other threads may stop the flusher. */
	atomic_store_explicit(&flush->flusher, PTX_FLUSHER_RUNS, memory_order_release);
	return 0;
}

/* Stores a state that other threads may wait for. */
static void set_state(struct ptx_flush *flush, enum ptx_flusher state)
{
	atomic_store_explicit(&flush->flusher, state, memory_order_release);
	ptx_futex_wake(&flush->flusher);
}

/*
 * If the state is *seen, changes it to `state` and returns true. Otherwise stores the present state
 * in *seen and returns false.
 */
static bool change_state(struct ptx_flush *flush, uint32_t *seen, enum ptx_flusher state)
{
	return atomic_compare_exchange_strong_explicit(&flush->flusher, seen, state,
						       memory_order_acquire, memory_order_acquire);
}

/*
 * `quit` is stored before both calls that wake the flusher, because a flusher that is about to
 * sleep examines `quit` after it has stored 1 in flusher_asleep. So the flusher either sees `quit`
 * or is woken. If a flush is in progress, the function waits for its end.
 */
static void end_thread(struct ptx_flush *flush)
{
	atomic_store_explicit(&flush->quit, 1, memory_order_release);
	ptx_futex_wake(&flush->quit);
	ptx_flush_wake(flush);
	/* A hostile process may have stored 0 in the word on which the flusher sleeps. */
	ptx_futex_wake(&flush->drain->rings->region->flusher_asleep);
	pthread_join(flush->thread, NULL);
}

/*
 * Waits until the kernel has removed the thread from the process. pthread_join() returns before
 * that: a thread that ends wakes its joiner first. In between, the kernel refuses calls for which
 * the process must have one thread only. The wait is bounded, because a tracer, such as strace, may
 * keep the thread as a zombie.
 */
static void wait_until_gone(uint32_t tid)
{
	const uint32_t pid = (uint32_t)syscall(SYS_getpid);
	_Atomic uint32_t never = 0;

	for (uint32_t naps = 0; naps < GONE_NS / GONE_NAP_NS &&
				ptx_life_of_thread(pid, tid) == PTX_ALIVE; naps++)
		ptx_futex_nap(&never, 0, GONE_NAP_NS);
}

/*
 * A thread may be joined only once, so the exchange chooses one caller, which joins the flusher.
 * The other callers wait until the flusher has ended, because a caller may be about to forbid
 * system calls that the flusher makes.
 */
void ptx_flusher_stop(struct ptx_flush *flush, enum ptx_flusher state)
{
	uint32_t seen = atomic_load_explicit(&flush->flusher, memory_order_acquire);

	while (seen != PTX_FLUSHER_NONE && seen != (uint32_t)state) {
		if (seen == PTX_FLUSHER_CHANGES) {
			ptx_futex_wait(&flush->flusher, PTX_FLUSHER_CHANGES, NULL);
			seen = atomic_load_explicit(&flush->flusher, memory_order_acquire);
		} else if (seen == PTX_FLUSHER_PAUSED) {
			if (change_state(flush, &seen, state))
				return;
		} else if (change_state(flush, &seen, PTX_FLUSHER_CHANGES)) {
			end_thread(flush);
			if (state == PTX_FLUSHER_PAUSED)
				wait_until_gone(flush->tid);
			set_state(flush, state);
			return;
		}
	}
}

int ptx_flusher_resume(struct ptx_flush *flush)
{
	uint32_t seen = PTX_FLUSHER_PAUSED;
	int err;

	if (!change_state(flush, &seen, PTX_FLUSHER_CHANGES))
		return 0;
	atomic_store_explicit(&flush->quit, 0, memory_order_relaxed);
	err = ptx_flusher_start(flush);
	if (err)
		set_state(flush, PTX_FLUSHER_PAUSED);
	else
		ptx_futex_wake(&flush->flusher);
	return err;
}
