/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* fork(): the child has none of its parent's streams, and can use the library. */
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/memory_file.h"
#include "support/stream.h"

/* Runs `body` in a child. The child ends with _exit(0) unless `body` ends it otherwise. */
static void in_child(void (*body)(void), int expected_status)
{
	int status;
	pid_t pid;

	fflush(NULL); /* so that the child does not write the same bytes again */
	pid = fork();
	ck_assert_int_ge(pid, 0);
	if (!pid) {
		alarm(120); /* a hanging child must not outlive the test */
		body();
		_exit(0);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_msg(status == expected_status, "the child ended with status %#x", status);
}

static trace_event_id_t u;

/* Uses every part of the library, from the creation of a stream on. */
static void use_all(void)
{
	trace_event_id_t v = type_of("of the child");
	trace_id_t trid = STREAM();

	trace_number(u, -1);
	start(trid);
	trace_number(u, 1);
	trace_number(v, 2);
	ck_assert_events(trid, "START u=1 of the child=2");
	trace_number(u, 3);
	stop(trid);
	ck_assert_events(trid, "u=3 STOP(0)");
	shut(trid);
}

/* FORK-10, FORK-08, FORK-02 */
START_TEST(a_child_has_streams_of_its_own)
{
	trace_id_t trid;

	u = type_of("u");
	trid = STARTED();
	trace_number(u, 1);
	for (int i = 0; i < 5; i++)
		in_child(use_all, 0);
	trace_number(u, 2);
	ck_assert_status(trid, RUNNING, NOT_FULL);
	ck_assert_events(trid, "START u=1 u=2");
	shut(trid);
}
END_TEST

static void trace_and_exit(void)
{
	for (int i = 0; i < 100; i++)
		trace_number(u, -1);
	exit(0); /* runs all handlers and destructors */
}

static void trace_and_kill(void)
{
	trace_number(u, -1);
	raise(SIGKILL);
}

static void leave_a_stream_and_exit(void)
{
	STARTED();
	trace_number(u, -1);
	exit(0);
}

/* FORK-08, FORK-02: the parent's streams do not change, however the child ends */
START_TEST(the_end_of_a_child_is_nothing_to_its_parent)
{
	trace_id_t loop, until, logged;
	struct history *history;
	int fd = memory_file("log", MFD_CLOEXEC);
	trace_attr_t attr;

	u = type_of("u");
	loop = STARTED(.policy = POSIX_TRACE_LOOP);
	until = STARTED(.policy = POSIX_TRACE_UNTIL_FULL);
	wish_attr(&attr, &(struct wish){ .policy = POSIX_TRACE_UNTIL_FULL });
	OK(posix_trace_attr_setlogfullpolicy(&attr, POSIX_TRACE_APPEND));
	OK(posix_trace_create_withlog(0, &attr, fd, &logged));
	start(logged);
	trace_number(u, 1);
	in_child(trace_and_exit, 0);
	trace_number(u, 2);
	in_child(leave_a_stream_and_exit, 0);
	trace_number(u, 3);
	in_child(trace_and_kill, SIGKILL);
	trace_number(u, 4);
	ck_assert_status(loop, RUNNING, NOT_FULL);
	ck_assert_status(until, RUNNING, NOT_FULL);
	ck_assert_status(logged, RUNNING, NOT_FULL);
	ck_assert_events(loop, "START u=1 u=2 u=3 u=4");
	ck_assert_events(until, "START u=1 u=2 u=3 u=4");
	shut(loop);
	shut(until);
	shut(logged);
	OK(posix_trace_open(fd, &logged));
	history = read_log(logged);
	ck_assert_uint_eq(history_count(history, u), 4);
	ck_assert_uint_eq(history_count(history, POSIX_TRACE_START), 1);
	ck_assert_uint_eq(history_count(history, POSIX_TRACE_STOP), 1);
	history_free(history);
	OK(posix_trace_close(logged));
	close(fd);
}
END_TEST

static int tell[2];

static void open_names_of_its_own(void)
{
	char name[TRACE_EVENT_NAME_MAX + 1];
	trace_event_id_t mine, known = type_of("known");
	trace_id_t trid;

	ck_assert_uint_eq(known, u);
	mine = type_of("child's");
	ck_assert_uint_ne(mine, known);
	ck_assert_uint_ne(type_of("another of the child"), mine);
	trid = STARTED();
	OK(posix_trace_eventid_get_name(trid, known, name));
	ck_assert_str_eq(name, "known");
	OK(posix_trace_eventid_get_name(trid, mine, name));
	ck_assert_str_eq(name, "child's");
	trace_number(known, 1);
	trace_number(mine, 2);
	ck_assert_events(trid, "START known=1 child's=2");
	shut(trid);
	if (write(tell[1], &mine, sizeof(mine)) != sizeof(mine))
		_exit(1);
}

/* FORK-09, EVID-16 */
START_TEST(names_of_before_the_fork_are_common_and_later_ones_are_not)
{
	char name[TRACE_EVENT_NAME_MAX + 1];
	trace_event_id_t theirs, mine;
	trace_id_t trid;

	u = type_of("known");
	ck_assert_int_eq(pipe(tell), 0);
	in_child(open_names_of_its_own, 0);
	ck_assert_int_eq(read(tell[0], &theirs, sizeof(theirs)), sizeof(theirs));
	close(tell[0]);
	close(tell[1]);
	trid = STARTED();
	FAILS(EINVAL, posix_trace_eventid_get_name(trid, theirs, name));
	trace_number(theirs, 1); /* in the child, this number is no event type */
	mine = type_of("parent's");
	OK(posix_trace_eventid_get_name(trid, mine, name));
	ck_assert_str_eq(name, "parent's");
	trace_number(u, 2);
	trace_number(mine, 3);
	ck_assert_events(trid, "START known=2 parent's=3");
	shut(trid);
}
END_TEST

static void fork_again(void)
{
	use_all();
	in_child(use_all, 0);
	use_all();
}

/* FORK-10 */
START_TEST(a_childs_child_is_no_different)
{
	u = type_of("u");
	in_child(fork_again, 0);
}
END_TEST

static _Atomic int over;

static void *trace_on(void *unused)
{
	(void)unused;
	while (!over)
		trace_number(u, 1);
	return NULL;
}

/* Calls without assertions: the files in which Check writes them would disturb the children. */
static void *create_on(void *unused)
{
	trace_id_t trid;

	(void)unused;
	while (!over)
		if (posix_trace_create(0, NULL, &trid) || posix_trace_start(trid) ||
		    posix_trace_shutdown(trid))
			ck_abort_msg("creating failed");
	return NULL;
}

static void *name_on(void *unused)
{
	trace_event_id_t id;
	char name[32];

	(void)unused;
	for (int n = 0; !over; n++) {
		snprintf(name, sizeof(name), "name %d", n % 300);
		if (posix_trace_eventid_open(name, &id))
			ck_abort_msg("naming failed");
	}
	return NULL;
}

static void *control_on(void *arg)
{
	trace_id_t trid = *(trace_id_t *)arg;
	struct posix_trace_status_info status;
	struct posix_trace_event_info info;
	trace_event_set_t none;
	int unavailable;
	size_t len;

	posix_trace_eventset_empty(&none);
	while (!over) {
		if (posix_trace_stop(trid) || posix_trace_start(trid) ||
		    posix_trace_get_status(trid, &status) ||
		    posix_trace_set_filter(trid, &none, POSIX_TRACE_SET_EVENTSET) ||
		    posix_trace_trygetnext_event(trid, &info, NULL, 0, &len, &unavailable))
			ck_abort_msg("controlling failed");
	}
	return NULL;
}

static void trace_first_then_use_all(void)
{
	trace_number(u, 1); /* immediately after the fork: EVENT-15 */
	trace_number(POSIX_TRACE_UNNAMED_USEREVENT, 1);
	use_all();
}

#ifdef __SANITIZE_ADDRESS__
enum { THREADS = 3 }; /* fork() does not release the locks of this allocator in the child: no
		       * malloc() */
#else
enum { THREADS = 5 };
#endif

/*
 * EVENT-15, FORK-10, FORK-08: the parent forks while its other threads are anywhere in the library
 */
START_TEST(a_child_of_many_threads_finds_nothing_locked)
{
	void *(*const body[])(void *) = { trace_on, trace_on, name_on, create_on, control_on };
	pthread_t thread[THREADS];
	trace_id_t trid;

	u = type_of("u");
	trid = STARTED();
	for (int i = 0; i < THREADS; i++)
		thread[i] = spawn(body[i], &trid);
	for (int i = 0; i < 100; i++)
		in_child(trace_first_then_use_all, 0);
	over = 1;
	for (int i = 0; i < THREADS; i++)
		join(thread[i]);
	shut(trid);
}
END_TEST

static void *trace_one(void *number)
{
	trace_number(u, (int)(intptr_t)number);
	return NULL;
}

/*
 * FORK-14: threads that were created before and after the stream are traced without further action
 */
START_TEST(new_threads_are_traced)
{
	trace_id_t trid;

	u = type_of("u");
	trid = STARTED();
	for (intptr_t i = 0; i < 5; i++)
		join(spawn(trace_one, (void *)i));
	ck_assert_events(trid, "START u=0 u=1 u=2 u=3 u=4");
	shut(trid);
}
END_TEST

SUITE_MAIN("fork",
	   a_child_has_streams_of_its_own,
	   the_end_of_a_child_is_nothing_to_its_parent,
	   names_of_before_the_fork_are_common_and_later_ones_are_not,
	   a_childs_child_is_no_different,
	   a_child_of_many_threads_finds_nothing_locked,
	   new_threads_are_traced)
