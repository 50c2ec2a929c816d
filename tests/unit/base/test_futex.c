/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Sleeping on a word. No test measures time: a sleeper is woken, or the time limit ends the test.
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/futex.h"
#include "support/support.h"

static _Atomic uint32_t word, done;

START_TEST(a_thread_that_finds_another_value_does_not_sleep)
{
	atomic_store(&word, 5);
	FAILS(EAGAIN, ptx_futex_wait(&word, 4, NULL));
	FAILS(EAGAIN, ptx_futex_nap(&word, 4, PTX_NS_PER_S));
}
END_TEST

START_TEST(a_moment_that_has_passed_ends_the_sleep)
{
	struct timespec past = { 1, 0 };

	atomic_store(&word, 5);
	FAILS(ETIMEDOUT, ptx_futex_wait(&word, 5, &past));
	FAILS(EAGAIN, ptx_futex_wait(&word, 4, &past)); /* the call compares the value first */
}
END_TEST

START_TEST(a_nap_ends_by_itself)
{
	FAILS(ETIMEDOUT, ptx_futex_nap(&word, 0, 1000));
	FAILS(ETIMEDOUT, ptx_futex_nap(&word, 0, 0));
}
END_TEST

START_TEST(an_invalid_time_is_refused_and_errors_are_returned)
{
	struct timespec bad = { 0, PTX_NS_PER_S };

	FAILS(EINVAL, ptx_futex_wait(&word, 0, &bad));
}
END_TEST

static void *sleep_on(void *errors)
{
	uint32_t value;

	while ((value = atomic_load(&word)) == 0) {
		int err = ptx_futex_wait(&word, value, NULL);

		if (err != 0 && err != EAGAIN && err != EINTR)
			return errors;
	}
	atomic_fetch_add(&done, 1);
	return NULL;
}

START_TEST(all_sleepers_are_woken)
{
	pthread_t threads[5];
	void *bad;

	for (int i = 0; i < 5; i++)
		ck_assert_int_eq(pthread_create(&threads[i], NULL, sleep_on, &word), 0);
	for (int i = 0; i < _i; i++)
		sched_yield(); /* any number of threads may sleep by now */
	atomic_store(&word, 1);
	errno = 4711;
	ptx_futex_wake(&word);
	ck_assert_int_eq(errno, 4711);
	for (int i = 0; i < 5; i++) {
		ck_assert_int_eq(pthread_join(threads[i], &bad), 0);
		ck_assert_ptr_null(bad);
	}
	ck_assert_uint_eq(atomic_load(&done), 5);
}
END_TEST

/* The word is in shared memory, as that of a stream: FUTEX_PRIVATE_FLAG would not work. */
START_TEST(a_sleeper_in_another_process_is_woken)
{
	_Atomic uint32_t *shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
					MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pid_t child;

	ck_assert_ptr_ne(shared, MAP_FAILED);
	child = fork();
	if (child == 0) {
		atomic_store(&shared[1], 1);
		while (atomic_load(&shared[0]) == 0)
			ptx_futex_wait(&shared[0], 0, NULL);
		_exit(0);
	}
	while (!atomic_load(&shared[1]))
		sched_yield();
	atomic_store(&shared[0], 1);
	ptx_futex_wake(&shared[0]);
	wait_well(child);
	munmap((void *)shared, 4096);
}
END_TEST

static void on_signal(int signal)
{
	(void)signal;
}

static void *sleep_until_interrupted(void *result)
{
	int *err = result;

	*err = ptx_futex_wait(&word, 0, NULL);
	atomic_store(&done, 1);
	return NULL;
}

START_TEST(a_signal_interrupts_the_sleep)
{
	struct sigaction action = { .sa_handler = on_signal };
	pthread_t thread;
	int err = -1;

	sigaction(SIGUSR1, &action, NULL);
	ck_assert_int_eq(pthread_create(&thread, NULL, sleep_until_interrupted, &err), 0);
	/*
	 * A wake-up before the sleep has no effect, so the test repeats the wake-up as often as
	 * necessary.
	 */
	while (!atomic_load(&done)) {
		pthread_kill(thread, SIGUSR1);
		sched_yield();
	}
	ck_assert_int_eq(pthread_join(thread, NULL), 0);
	ck_assert_int_eq(err, EINTR);
}
END_TEST

static Suite *suite(void)
{
	TCase *tc;
	Suite *s = support_suite("base: futex", &tc);

	tcase_add_test(tc, a_thread_that_finds_another_value_does_not_sleep);
	tcase_add_test(tc, a_moment_that_has_passed_ends_the_sleep);
	tcase_add_test(tc, a_nap_ends_by_itself);
	tcase_add_test(tc, an_invalid_time_is_refused_and_errors_are_returned);
	tcase_add_loop_test(tc, all_sleepers_are_woken, 0, 30);
	tcase_add_test(tc, a_sleeper_in_another_process_is_woken);
	tcase_add_test(tc, a_signal_interrupts_the_sleep);
	return s;
}

SUITE_MAIN_OF(suite)
