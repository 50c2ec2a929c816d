/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * flush/flusher.c - the thread that flushes a stream of policy FLUSH by itself (SFLUSH-02).
 *
 * It flushes when half of the pool is taken, when the stream has filled up, and one second after
 * the oldest event. While events come fast it looks by itself, at short intervals, and where
 * writers are other processes always; else, when it sleeps for longer, it asks writers to wake it.
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

#define AGE_NS        1000000000u
#define IDLE_NAP_NS   500000000
#define BUSY_NAP_NS   20000
#define BUSY_NAPS     100 /* so many short naps after the last flush that was due to the pool */
#define STACK_BYTES   (256u * 1024u)
#define FAILED_NAP_NS 100000000
#define LOOK_NS_MIN   1000000
#define LOOK_NS_MAX   20000000
#define BUSY_BYTES_A_NS 1 /* what writers bring at most */

static enum ptx_state state_of(const struct ptx_flush *flush)
{
	return ptx_state_kind(atomic_load_explicit(&flush->drain->rings->region->state,
						   memory_order_acquire));
}

/* Nanoseconds until the oldest event is due, IDLE_NAP_NS if there is none. */
static int64_t until_due(struct ptx_flush *flush)
{
	uint64_t oldest, age;

	pthread_mutex_lock(flush->lock);
	ptx_drain_pass(flush->drain);
	oldest = ptx_drain_oldest(flush->drain);
	age = oldest && flush->drain->now > oldest ? flush->drain->now - oldest : 0;
	pthread_mutex_unlock(flush->lock);
	if (!oldest)
		return IDLE_NAP_NS;
	if (age >= ptx_clock_ticks(AGE_NS))
		return 0;
	return (int64_t)AGE_NS - (int64_t)((unsigned __int128)age * PTX_NS_PER_S / ptx_clock_hz);
}

static void sleep_until_wished(struct ptx_flush *flush, int64_t ns)
{
	_Atomic uint32_t *wish = &flush->drain->rings->region->flush_wish;

	atomic_store_explicit(wish, 1, memory_order_relaxed);
	if (flush->drain->shared)
		ptx_barrier_everywhere();
	else
		ptx_barrier();
	if (!ptx_pool_is_filling(flush->drain->rings, 2) && state_of(flush) != PTX_FULL &&
	    !atomic_load_explicit(&flush->quit, memory_order_acquire))
		ptx_futex_nap(wish, 1, ns < IDLE_NAP_NS ? ns : IDLE_NAP_NS);
	atomic_store_explicit(wish, 0, memory_order_relaxed);
}

/*
 * Writers in other processes are not asked to wake: the call may be one that their program must not
 * make. Neither are those of this process where a seccomp filter says what may be called.
 */
static bool looks_by_itself(const struct ptx_flush *flush)
{
	const struct ptx_arena *arena = flush->drain->arena;

	return arena != &ptx_arena_self || ptx_is_quiet() ||
	       atomic_load_explicit(&arena->control->quiet, memory_order_relaxed);
}

/* So often that writers, at BUSY_BYTES_A_NS, do not fill the half of the stream meanwhile. */
static int64_t look_ns(const struct ptx_flush *flush)
{
	const struct ptx_geometry *geometry = &flush->drain->rings->geometry;
	uint64_t half = (uint64_t)geometry->chunks * geometry->chunk_bytes / 2;
	uint64_t ns = half / BUSY_BYTES_A_NS;

	return ns < LOOK_NS_MIN ? LOOK_NS_MIN : ns > LOOK_NS_MAX ? LOOK_NS_MAX : (int64_t)ns;
}

static void look_for(struct ptx_flush *flush, int64_t ns)
{
	const int64_t look = look_ns(flush);

	for (; ns > 0 && !ptx_pool_is_filling(flush->drain->rings, 2) &&
	       state_of(flush) != PTX_FULL &&
	       !atomic_load_explicit(&flush->quit, memory_order_acquire);
	     ns -= look)
		ptx_futex_nap(&flush->quit, 0, ns < look ? ns : look);
}

/*
 * Flushes. A writer that is suspended between its clock reading and its publishing keeps back all
 * younger events, also of other threads: the pool stays as taken as it was, and a flush without a
 * pause would follow at once. Each would add its two marks to the log, hundreds in a few
 * milliseconds. So the flusher pauses after a flush that took no record, for twice as long each
 * time. *stall_ns is the last pause, 0 after a flush that took some.
 */
static void flush_due(struct ptx_flush *flush, int64_t *stall_ns)
{
	static const struct ptx_flush_caller nobody;
	const uint64_t taken = atomic_load_explicit(&flush->taken, memory_order_relaxed);

	if (ptx_flush_run(flush, PTX_FLUSH_AUTOMATIC, &nobody) != 0) {
		ptx_futex_nap(&flush->quit, 0, FAILED_NAP_NS);
	} else if (atomic_load_explicit(&flush->taken, memory_order_relaxed) != taken) {
		*stall_ns = 0;
	} else {
		*stall_ns = *stall_ns ? 2 * *stall_ns : BUSY_NAP_NS;
		if (*stall_ns > LOOK_NS_MAX)
			*stall_ns = LOOK_NS_MAX;
		ptx_futex_nap(&flush->quit, 0, *stall_ns);
	}
}

static void *run(void *argument)
{
	struct ptx_flush *flush = argument;
	_Atomic uint32_t never = 0;
	int64_t stall_ns = 0;
	unsigned busy = 0;

	ptx_msan_pause(); /* as long as the thread lives */
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
		} else if (looks_by_itself(flush)) {
			look_for(flush, ns);
		} else {
			sleep_until_wished(flush, ns);
		}
	}
	return NULL;
}

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
	err = pthread_create(&flush->thread, &attr, run, flush);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attr);
	if (err)
		return err;
	flush->has_thread = true;
	pthread_setname_np(flush->thread, "ptx-flush");
	return 0;
}

void ptx_flusher_stop(struct ptx_flush *flush)
{
	atomic_store_explicit(&flush->quit, 1, memory_order_release);
	ptx_futex_wake(&flush->quit);
	ptx_flush_wake(flush);
	pthread_join(flush->thread, NULL);
	flush->has_thread = false;
}
