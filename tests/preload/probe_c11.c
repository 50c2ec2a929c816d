/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The functions of <threads.h>. */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#include "preload/probe.h"

static mtx_t mutex;
static cnd_t cond;
static once_flag once = ONCE_FLAG_INIT, nested = ONCE_FLAG_INIT;
static _Atomic int stage, waiter, runs;
static thrd_t once_waiter;

static void nap(void)
{
	thrd_sleep(&(struct timespec){ .tv_nsec = 20000000 }, NULL);
}

static void reach(int wanted)
{
	while (atomic_load(&stage) != wanted)
		nap();
}

/* Waits in vain and then for the mutex of the main thread, and for the condition, twice. */
static int waits(void *arg)
{
	const struct timespec past = { 0, 0 };

	errno = 4711;
	atomic_store(&waiter, (int)syscall(SYS_gettid));
	reach(1);
	MUST(mtx_timedlock(&mutex, &past) == thrd_timedout && mtx_trylock(&mutex) == thrd_busy);
	atomic_store(&stage, 2);
	MUST(mtx_lock(&mutex) == thrd_success);
	MUST(cnd_timedwait(&cond, &mutex, &past) == thrd_timedout);
	atomic_store(&stage, 3);
	while (atomic_load(&stage) != 4)
		MUST(cnd_wait(&cond, &mutex) == thrd_success);
	atomic_store(&stage, 5);
	while (atomic_load(&stage) != 6)
		MUST(cnd_wait(&cond, &mutex) == thrd_success);
	MUST(mtx_unlock(&mutex) == thrd_success);
	MUST(errno == 4711);
	return *(int *)arg;
}

static void count_run(void)
{
	runs++;
}

static int wait_once(void *arg)
{
	(void)arg;
	atomic_store(&waiter, (int)syscall(SYS_gettid));
	call_once(&once, count_run);
	thrd_exit(-7);
}

/* Returns when another thread waits for this initialiser. */
static void initialise(void)
{
	count_run();
	call_once(&nested, count_run);
	atomic_store(&waiter, 0);
	MUST(thrd_create(&once_waiter, wait_once, NULL) == thrd_success);
	while (!atomic_load(&waiter))
		nap();
	probe_until_waiting(&waiter);
}

static void wake(int next_stage, int (*by)(cnd_t *))
{
	reach(next_stage - 1);
	MUST(mtx_lock(&mutex) == thrd_success);
	atomic_store(&stage, next_stage);
	MUST(by(&cond) == thrd_success && mtx_unlock(&mutex) == thrd_success);
}

static void *ends(void *arg)
{
	return arg;
}

static int returns(void *arg)
{
	return *(int *)arg;
}

static int c11(int argc, char **argv)
{
	const struct timespec late = { .tv_sec = 1 << 30 };
	thrd_t thread;
	int value = -5, result;

	(void)argc, (void)argv;
	MUST(mtx_init(&mutex, mtx_timed) == thrd_success && cnd_init(&cond) == thrd_success);
	MUST(thrd_create(&thread, waits, &value) == thrd_success);
	MUST(mtx_lock(&mutex) == thrd_success);
	atomic_store(&stage, 1);
	reach(2);
	probe_until_waiting(&waiter);
	MUST(mtx_unlock(&mutex) == thrd_success);
	wake(4, cnd_signal);
	wake(6, cnd_broadcast);
	MUST(thrd_join(thread, &result) == thrd_success && result == value);
	call_once(&once, initialise);
	call_once(&once, initialise);
	MUST(thrd_join(once_waiter, &result) == thrd_success && result == -7 && runs == 2);
	MUST(thrd_create(&thread, returns, &value) == thrd_success);
	MUST(thrd_detach(thread) == thrd_success);
	MUST(pthread_create(&thread, NULL, ends, NULL) == 0);
	MUST(pthread_clockjoin_np(thread, NULL, CLOCK_MONOTONIC, &late) == 0);
	MUST(thrd_join(thrd_current(), NULL) == thrd_error);
	printf("%d\n", (int)syscall(SYS_gettid));
	return 0;
}

/* Recursive mutexes, and errors of a mutex that need no wait. */
static int c11_kinds(int argc, char **argv)
{
	mtx_t recursive;

	(void)argc, (void)argv;
	MUST(mtx_init(&recursive, mtx_plain | mtx_recursive) == thrd_success);
	MUST(mtx_lock(&recursive) == thrd_success && mtx_trylock(&recursive) == thrd_success);
	MUST(mtx_unlock(&recursive) == thrd_success && mtx_unlock(&recursive) == thrd_success);
	MUST(mtx_unlock(&recursive) == thrd_error);
	return 0;
}

const struct probe probes_c11[] = { { "c11", c11 }, { "c11-kinds", c11_kinds }, { 0 } };
