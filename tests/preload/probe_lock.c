/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "preload/probe.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static pthread_spinlock_t spin;
static pthread_barrier_t barrier;
static sem_t semaphore;
static _Atomic int stage;

static void nap(void)
{
	struct timespec a_while = { 0, 20000000 };

	nanosleep(&a_while, NULL);
}

static void reach(int wanted)
{
	while (atomic_load(&stage) != wanted)
		nap();
}

static _Atomic int waiter;

/* Reads its state and the time that it has run, in ticks; 0: it has not stored its number yet. */
static char state_of(const _Atomic int *tid, unsigned long *ticks)
{
	char path[64], state;
	FILE *file;

	snprintf(path, sizeof path, "/proc/self/task/%d/stat", atomic_load(tid));
	file = fopen(path, "r");
	if (!file)
		return 0;
	MUST(fscanf(file, "%*d (%*[^)]) %c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu", &state,
		    ticks) == 2);
	fclose(file);
	return state;
}

void probe_until_waiting(const _Atomic int *tid)
{
	unsigned long ticks;

	for (int seen = 0; seen < 5; seen = state_of(tid, &ticks) == 'S' ? seen + 1 : 0)
		nap();
}

/* Waits until the thread has run for a while, for locks that wait without sleeping. */
static void until_spinning(void)
{
	unsigned long first = 0, ticks = 0;

	for (state_of(&waiter, &first); ticks < first + 3; state_of(&waiter, &ticks))
		nap();
}

/* Waits for every object that the other thread holds. */
static void *other(void *arg)
{
	struct timespec past = { 0, 0 };

	errno = 4711;
	atomic_store(&waiter, (int)syscall(SYS_gettid));
	reach(1);
	MUST(pthread_mutex_timedlock(&mutex, &past) == ETIMEDOUT);
	atomic_store(&stage, 2);
	MUST(pthread_mutex_lock(&mutex) == 0);
	MUST(pthread_mutex_unlock(&mutex) == 0);
	MUST(pthread_rwlock_rdlock(&rwlock) == 0);
	MUST(pthread_rwlock_unlock(&rwlock) == 0);
	MUST(pthread_spin_lock(&spin) == 0);
	MUST(pthread_spin_unlock(&spin) == 0);
	MUST(sem_wait(&semaphore) == 0);
	pthread_barrier_wait(&barrier);
	MUST(pthread_mutex_lock(&mutex) == 0);
	atomic_store(&stage, 3);
	while (atomic_load(&stage) != 4)
		MUST(pthread_cond_wait(&cond, &mutex) == 0);
	MUST(pthread_mutex_unlock(&mutex) == 0);
	MUST(errno == 4711);
	return arg;
}

static pthread_once_t once = PTHREAD_ONCE_INIT, nested = PTHREAD_ONCE_INIT;
static _Atomic int runs;
static pthread_t once_waiter;

static void count_run(void)
{
	runs++;
}

static void *wait_once(void *arg)
{
	atomic_store(&waiter, (int)syscall(SYS_gettid));
	MUST(pthread_once(&once, count_run) == 0);
	return arg;
}

/*
 * The child of fork() executes the initialiser again, because no thread of it will end it. Returns
 * when another thread waits for this initialiser.
 */
static void initialise(void)
{
	pid_t child = fork();

	if (child == 0)
		_exit(pthread_once(&once, count_run) != 0 || runs != 1);
	MUST(child > 0 && waitpid(child, &child, 0) > 0 && child == 0);
	count_run();
	MUST(pthread_once(&nested, count_run) == 0);
	MUST(pthread_create(&once_waiter, NULL, wait_once, NULL) == 0);
	while (!atomic_load(&waiter))
		nap();
	probe_until_waiting(&waiter);
}

static int once_only(int argc, char **argv)
{
	(void)argc, (void)argv;
	MUST(pthread_once(&once, initialise) == 0);
	MUST(pthread_once(&once, initialise) == 0 && pthread_once(&nested, initialise) == 0);
	MUST(pthread_join(once_waiter, NULL) == 0);
	MUST(runs == 2);
	printf("%d\n", (int)syscall(SYS_gettid));
	return 0;
}

static int contended(int argc, char **argv)
{
	pthread_t thread;

	(void)argc, (void)argv;
	MUST(sem_init(&semaphore, 0, 0) == 0 && pthread_barrier_init(&barrier, NULL, 2) == 0);
	MUST(pthread_spin_init(&spin, 0) == 0);
	MUST(pthread_create(&thread, NULL, other, NULL) == 0);
	MUST(pthread_mutex_lock(&mutex) == 0);
	MUST(pthread_rwlock_wrlock(&rwlock) == 0);
	MUST(pthread_spin_lock(&spin) == 0);
	atomic_store(&stage, 1);
	reach(2);
	probe_until_waiting(&waiter);
	MUST(pthread_mutex_unlock(&mutex) == 0);
	probe_until_waiting(&waiter);
	MUST(pthread_rwlock_unlock(&rwlock) == 0);
	until_spinning();
	MUST(pthread_spin_unlock(&spin) == 0);
	probe_until_waiting(&waiter);
	MUST(sem_post(&semaphore) == 0);
	pthread_barrier_wait(&barrier);
	reach(3);
	MUST(pthread_mutex_lock(&mutex) == 0);
	atomic_store(&stage, 4);
	MUST(pthread_cond_signal(&cond) == 0);
	MUST(pthread_mutex_unlock(&mutex) == 0);
	MUST(pthread_join(thread, NULL) == 0);
	return 0;
}

/* Calls whose result depends on the owner or the kind of the lock, without a wait. */
static int uncontended(int argc, char **argv)
{
	pthread_mutexattr_t attr;
	pthread_mutex_t recursive, checked;

	(void)argc, (void)argv;
	errno = 4711;
	MUST(pthread_mutexattr_init(&attr) == 0);
	MUST(pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_RECURSIVE) == 0);
	MUST(pthread_mutex_init(&recursive, &attr) == 0);
	MUST(pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_ERRORCHECK) == 0);
	MUST(pthread_mutex_init(&checked, &attr) == 0);
	for (int i = 0; i < 100; i++)
		MUST(pthread_mutex_lock(&recursive) == 0);
	for (int i = 0; i < 100; i++)
		MUST(pthread_mutex_unlock(&recursive) == 0);
	MUST(pthread_mutex_unlock(&recursive) == EPERM);
	MUST(pthread_mutex_lock(&mutex) == 0);
	MUST(pthread_mutex_trylock(&mutex) == EBUSY);
	MUST(pthread_mutex_unlock(&mutex) == 0);
	MUST(pthread_rwlock_rdlock(&rwlock) == 0 && pthread_rwlock_rdlock(&rwlock) == 0);
	MUST(pthread_rwlock_trywrlock(&rwlock) == EBUSY);
	MUST(pthread_rwlock_unlock(&rwlock) == 0 && pthread_rwlock_unlock(&rwlock) == 0);
	MUST(sem_init(&semaphore, 0, 1) == 0 && sem_wait(&semaphore) == 0);
	MUST(errno == 4711);
	MUST(pthread_mutex_lock(&checked) == 0);
	MUST(pthread_mutex_lock(&checked) == EDEADLK);
	MUST(pthread_mutex_unlock(&checked) == 0);
	return 0;
}

static void *waits(void *arg)
{
	(void)arg;
	atomic_store(&waiter, (int)syscall(SYS_gettid));
	sem_wait(&semaphore);
	return NULL;
}

/* sem_wait() is a cancellation point also if it need not wait. */
static int cancelled(int argc, char **argv)
{
	pthread_t thread;
	void *result;

	(void)argc, (void)argv;
	MUST(sem_init(&semaphore, 0, 0) == 0);
	MUST(pthread_create(&thread, NULL, waits, NULL) == 0);
	probe_until_waiting(&waiter);
	MUST(pthread_cancel(thread) == 0);
	MUST(pthread_join(thread, &result) == 0 && result == PTHREAD_CANCELED);
	MUST(sem_post(&semaphore) == 0);
	MUST(pthread_cancel(pthread_self()) == 0);
	waits(NULL);
	return 1;
}

static void *runs_cancelled(void *arg)
{
	(void)arg;
	return cancelled(0, NULL) ? &mutex : NULL;
}

static int lock_cancel(int argc, char **argv)
{
	pthread_t thread;
	void *result;

	(void)argc, (void)argv;
	MUST(pthread_create(&thread, NULL, runs_cancelled, NULL) == 0);
	MUST(pthread_join(thread, &result) == 0 && result == PTHREAD_CANCELED);
	return 0;
}

/* More locks at a time than the shim remembers. */
static int many(int argc, char **argv)
{
	pthread_mutex_t mutexes[20];

	(void)argc, (void)argv;
	for (int i = 0; i < 20; i++)
		MUST(pthread_mutex_init(&mutexes[i], NULL) == 0 &&
		     pthread_mutex_lock(&mutexes[i]) == 0);
	for (int i = 0; i < 20; i++)
		MUST(pthread_mutex_unlock(&mutexes[i]) == 0);
	return 0;
}

/* Invalid times and clocks: an error of a call that need not wait remains an error. */
static int wrong_time(int argc, char **argv)
{
	const struct timespec late = { 0, 1000000000 }, never = { 0, -1 };
	pthread_mutex_t one = PTHREAD_MUTEX_INITIALIZER;
	pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
	sem_t some;

	(void)argc, (void)argv;
	MUST(sem_init(&some, 0, 4) == 0);
	MUST(pthread_mutex_timedlock(&one, &late) == 0 && pthread_mutex_unlock(&one) == 0);
	MUST(pthread_mutex_clocklock(&one, 99, &late) == EINVAL);
	MUST(pthread_rwlock_timedrdlock(&lock, &late) == EINVAL);
	MUST(pthread_rwlock_timedwrlock(&lock, &never) == EINVAL);
	MUST(pthread_rwlock_clockrdlock(&lock, CLOCK_MONOTONIC, &late) == EINVAL);
	MUST(pthread_rwlock_clockwrlock(&lock, 99, &never) == EINVAL);
	MUST(sem_timedwait(&some, &late) == -1 && errno == EINVAL);
	MUST(sem_clockwait(&some, 99, &late) == -1 && errno == EINVAL);
	return 0;
}

const struct probe probes_lock[] = {
	{ "wrong-time", wrong_time },
	{ "contended", contended },
	{ "once", once_only },
	{ "uncontended", uncontended },
	{ "lock-cancel", lock_cancel },
	{ "many-locks", many },
	{ 0 }
};
