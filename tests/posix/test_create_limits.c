/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The number of streams of one process that posix_trace_create() creates, and the calls that free
 * their places. test_sys_max.c counts the streams of all processes.
 */
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/folder.h"
#include "support/stream.h"

/* Small streams, so that the maximum number of them fits into little memory. */
static int create_small(trace_id_t *trid)
{
	static trace_attr_t attr;
	static int ready;

	if (!ready)
		wish_attr(&attr, &(struct wish){ .size = 4096 });
	ready = 1;
	return KEEPS_ERRNO(posix_trace_create(0, &attr, trid));
}

/*
 * Creates streams until there is no free place and returns their number. Other programs of the same
 * user may have streams, too. So a test can only assert "at most the limit" and "at least 8", and
 * compare results.
 */
static int create_all(trace_id_t *trid, int room)
{
	int n;

	for (n = 0; n < room; n++) {
		int err = create_small(&trid[n]);

		if (err) {
			ck_assert_int_eq(err, EAGAIN);
			break;
		}
	}
	return n;
}

static long sys_max(void)
{
	return posix_trace_sysconf_np(_SC_TRACE_SYS_MAX);
}

/* CREATE-12: one stream too many is refused, and a shutdown frees its place */
START_TEST(one_stream_too_many_is_EAGAIN_until_another_is_shut_down)
{
	long max = sys_max();
	trace_id_t *trid = calloc(max + 1, sizeof(*trid));
	int n = create_all(trid, max + 1);

	ck_assert_int_ge(n, _POSIX_TRACE_SYS_MAX);
	ck_assert_int_le(n, max);
	for (int round = 0; round < 3; round++) {
		trace_id_t none = 77;

		FAILS(EAGAIN, create_small(&none));
		ck_assert_uint_eq(none, 77);
		shut(trid[round]);
		OK(create_small(&trid[round]));
	}
	while (n--)
		shut(trid[n]);
	free(trid);
}
END_TEST

/* SHUT-02: a place is free whenever posix_trace_shutdown() has returned */
START_TEST(places_never_wear_out)
{
	for (int round = 0; round < 500; round++) {
		trace_id_t trid;

		OK(create_small(&trid));
		start(trid);
		shut(trid);
	}
}
END_TEST

/* A child that acquires places, reports their number, and waits to be killed. */
static pid_t hoarder(int *taken)
{
	int tell[2];
	pid_t pid;

	ck_assert_int_eq(pipe(tell), 0);
	pid = fork();
	if (!pid) {
		trace_id_t trid[_POSIX_TRACE_SYS_MAX];
		int n = create_all(trid, _POSIX_TRACE_SYS_MAX);

		if (write(tell[1], &n, sizeof(n)) != sizeof(n))
			_exit(1);
		for (;;)
			pause();
	}
	close(tell[1]);
	ck_assert_int_eq(read(tell[0], taken, sizeof(*taken)), sizeof(*taken));
	close(tell[0]);
	return pid;
}

/* CREATE-13: the places of a killed controller are free again */
START_TEST(a_killed_controller_gives_its_places_back)
{
	long max = sys_max();
	trace_id_t *trid = calloc(max + 1, sizeof(*trid));
	int n;

	/*
	 * More processes than there are places, so that a place that is not freed would be missing.
	 */
	for (int killed = 0; killed < 2 * max; ) {
		int taken = 0;
		pid_t pid = hoarder(&taken);

		ck_assert_int_eq(taken, _POSIX_TRACE_SYS_MAX);
		killed += taken;
		ck_assert_int_eq(kill(pid, SIGKILL), 0);
		ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
	}
	n = create_all(trid, _POSIX_TRACE_SYS_MAX);
	ck_assert_int_eq(n, _POSIX_TRACE_SYS_MAX);
	while (n--)
		shut(trid[n]);
	free(trid);
}
END_TEST

static atomic_int ticks;

static void tick(int signal)
{
	(void)signal;
	atomic_fetch_add(&ticks, 1);
}

/*
 * CREATE-20, START-07, STOP-06, FILTER-14: many signals arrive, without SA_RESTART. Each call
 * either succeeds or is interrupted. An interrupted creation leaves no stream, and an interrupted
 * posix_trace_set_filter() does not change the filter.
 */
START_TEST(signals_do_not_break_control_calls)
{
	struct sigaction action = { .sa_handler = tick };
	struct itimerval often = { { 0, 200 }, { 0, 200 } }, never = { { 0, 0 }, { 0, 0 } };
	trace_event_set_t all, got;

	sigaction(SIGALRM, &action, NULL);
	OK(posix_trace_eventset_fill(&all, POSIX_TRACE_ALL_EVENTS));
	setitimer(ITIMER_REAL, &often, NULL);
	/* The calls continue until enough signals have interrupted them. */
	for (int round = 0; round < 100 || atomic_load(&ticks) < 200; round++) {
		trace_id_t trid;
		int err, member;

		err = create_small(&trid);
		ck_assert(err == 0 || err == EINTR);
		if (err)
			continue;
		do
			err = posix_trace_start(trid);
		while (err == EINTR);
		ck_assert_int_eq(err, 0);
		err = posix_trace_set_filter(trid, &all, POSIX_TRACE_SET_EVENTSET);
		ck_assert(err == 0 || err == EINTR);
		while (posix_trace_get_filter(trid, &got) == EINTR)
			continue;
		OK(posix_trace_eventset_ismember(POSIX_TRACE_START, &got, &member));
		ck_assert_int_eq(!member, err == EINTR);
		do
			err = posix_trace_stop(trid);
		while (err == EINTR);
		ck_assert_int_eq(err, 0);
		shut(trid);
	}
	setitimer(ITIMER_REAL, &never, NULL);
}
END_TEST

SUITE_MAIN_IN_FOLDER("posix_trace_create: limits",
	   one_stream_too_many_is_EAGAIN_until_another_is_shut_down,
	   places_never_wear_out,
	   a_killed_controller_gives_its_places_back,
	   signals_do_not_break_control_calls)
