/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A log whose writer has died is complete when a reader opens it, because readers wait for the
 * guardian. The children of the test are the writers. Their guardians become children of the test,
 * which is a subreaper.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/log.h"

#define EVENTS      500
#define FLUSHED     201
#define GUARDIAN_AT (3584 + 200) /* guardian_pid in the header of a log (FORMAT 2.2) */

static void adopt_guardians(void)
{
	ck_assert_int_eq(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
}

/*
 * Traces this process into `fd`, flushes after some of the events, reports this, and waits to be
 * killed.
 */
static void trace_into(int fd, int ready)
{
	trace_event_id_t id = type_of("n");
	trace_id_t trid;

	trid = LOGGED_STARTED(fd, .policy = POSIX_TRACE_UNTIL_FULL,
			      .log_policy = POSIX_TRACE_APPEND, .size = 1 << 20);
	for (int n = 0; n < EVENTS; n++) {
		trace_number(id, n);
		if (n == FLUSHED - 1)
			OK(posix_trace_flush(trid));
	}
	if (write(ready, "r", 1) == 1)
		pause();
	_exit(1);
}

/* Leaves this process only a few descriptors, also for its children. */
static void limit_descriptors(void)
{
	const struct rlimit limit = { 64, 64 };

	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
	while (dup(STDERR_FILENO) >= 0)
		;
	for (int i = 0; i < 6; i++)
		ck_assert_int_eq(close(63 - i), 0);
}

static bool has_few_descriptors;

static pid_t start_writer(int fd)
{
	int ready[2];
	pid_t child;
	char c;

	ck_assert_int_eq(pipe(ready), 0);
	child = fork();
	if (child == 0 && has_few_descriptors)
		limit_descriptors();
	if (child == 0)
		trace_into(fd, ready[1]);
	ck_assert_int_eq(close(ready[1]), 0);
	ck_assert_int_eq(read(ready[0], &c, 1), 1);
	ck_assert_int_eq(close(ready[0]), 0);
	return child;
}

static void kill_writer(pid_t child)
{
	ck_assert_int_eq(kill(child, SIGKILL), 0);
	ck_assert_int_eq(waitpid(child, NULL, 0), child);
}

static pid_t guardian_of(int fd)
{
	uint32_t pid;

	ck_assert_int_eq(pread(fd, &pid, sizeof(pid), GUARDIAN_AT), sizeof(pid));
	ck_assert_uint_ne(pid, 0);
	return (pid_t)pid;
}

static void assert_all_events(int fd, trace_id_t trid)
{
	struct posix_trace_status_info status;

	OK(posix_trace_get_status(trid, &status));
	ck_assert_int_eq(status.posix_stream_flush_error, 0);
	log_close(trid);
	assert_log_numbers(fd, type_of("n"), 0, EVENTS);
	assert_log_whole(fd);
}

/*
 * LOG-17, EXIT-02: the reader needs no loop and no pause: after waitpid() reports the death, the
 * log is complete
 */
START_TEST(a_log_opened_after_waitpid_is_complete)
{
	adopt_guardians();
	for (int i = 0; i < 10; i++) {
		int fd = log_file();

		kill_writer(start_writer(fd));
		assert_all_events(fd, log_open(fd));
		close(fd);
	}
}
END_TEST

/* EXIT-02: the guardian needs descriptors, but not those of its creator. */
START_TEST(a_process_with_few_descriptors_has_a_guardian)
{
	int fd = log_file();

	adopt_guardians();
	has_few_descriptors = true;
	kill_writer(start_writer(fd));
	assert_all_events(fd, log_open(fd));
	close(fd);
}
END_TEST

START_TEST(a_reader_waits_for_a_guardian_that_has_not_begun)
{
	char program[] = "/tmp/posixtrace-slow-XXXXXX", go[] = "/tmp/posixtrace-go-XXXXXX";
	int fd = log_file();
	pid_t opener;

	adopt_guardians();
	ck_assert_int_ge(close(mkstemp(go)), 0);
	ck_assert_int_eq(unlink(go), 0);
	make_slow_guardian(program, go);
	setenv("POSIXTRACE_GUARDIAN", program, 1);
	kill_writer(start_writer(fd));
	opener = fork();
	if (opener == 0) {
		usleep(200000);
		_exit(close(creat(go, 0600)));
	}
	assert_all_events(fd, log_open(fd));
	waitpid(opener, NULL, 0);
	unlink(go);
	unlink(program);
	close(fd);
}
END_TEST

/*
 * A reader with salvage also waits: posix_trace_open_np() returns the log as the guardian completes
 * it.
 */
START_TEST(a_salvaging_reader_waits_as_well)
{
	int fd = log_file();
	trace_id_t trid;

	adopt_guardians();
	kill_writer(start_writer(fd));
	OK(posix_trace_open_np(fd, POSIX_TRACE_OPEN_SALVAGE_NP, &trid));
	assert_all_events(fd, trid);
	close(fd);
}
END_TEST

/*
 * A stopped guardian may continue at any time. So a reader gives up after a while and does not get
 * an incomplete log.
 */
START_TEST(a_log_with_a_stopped_guardian_is_being_written)
{
	int fd = log_file(), again, got;
	trace_id_t trid;
	pid_t child, guardian;
	char bytes[4096];

	adopt_guardians();
	child = start_writer(fd);
	guardian = guardian_of(fd);
	ck_assert_int_eq(kill(guardian, SIGSTOP), 0);
	kill_writer(child);
	ck_assert_int_eq(posix_trace_open(fd, &trid), EINVAL);
	/*
	 * No guardian completes a copy. So a reader opens it, and reports that the end is missing.
	 */
	again = log_file();
	lseek(fd, 0, SEEK_SET);
	while ((got = (int)read(fd, bytes, sizeof(bytes))) > 0)
		ck_assert_int_eq(write(again, bytes, (size_t)got), got);
	ck_assert_int_eq(log_status(again).posix_stream_flush_error, EIO);
	close(again);
	ck_assert_int_eq(kill(guardian, SIGCONT), 0);
	assert_all_events(fd, log_open(fd));
	close(fd);
}
END_TEST

/* A reader that must not wait learns that a guardian runs, and may open the incomplete log. */
START_TEST(a_reader_need_not_wait_for_a_guardian)
{
	int fd = log_file();
	struct posix_trace_loginfo_np info;
	trace_id_t trid;
	pid_t child, guardian;

	adopt_guardians();
	child = start_writer(fd);
	/* The writer runs. */
	ck_assert_int_eq(posix_trace_open_np(fd, POSIX_TRACE_OPEN_NOWAIT_NP, &trid), EINVAL);
	guardian = guardian_of(fd);
	ck_assert_int_eq(kill(guardian, SIGSTOP), 0);
	kill_writer(child);
	ck_assert_int_eq(posix_trace_open_np(fd, POSIX_TRACE_OPEN_NOWAIT_NP, &trid), EBUSY);
	OK(posix_trace_open_np(fd, POSIX_TRACE_OPEN_NOWAIT_NP | POSIX_TRACE_OPEN_SALVAGE_NP,
			       &trid));
	OK(posix_trace_get_loginfo_np(trid, &info));
	ck_assert_int_eq(info.complete, 0);
	log_close(trid);
	ck_assert_int_eq(kill(guardian, SIGCONT), 0);
	assert_all_events(fd, log_open(fd));
	OK(posix_trace_open_np(fd, POSIX_TRACE_OPEN_NOWAIT_NP, &trid));
	log_close(trid);
	close(fd);
}
END_TEST

/* EXIT-02: no process exists that could complete the log, so the reader does not wait. */
START_TEST(a_log_without_writer_and_guardian_has_the_flushed_events)
{
	int fd = log_file();
	pid_t child, guardian;

	adopt_guardians();
	child = start_writer(fd);
	guardian = guardian_of(fd);
	ck_assert_int_eq(kill(guardian, SIGKILL), 0);
	kill_writer(child);
	ck_assert_int_eq(log_status(fd).posix_stream_flush_error, EIO);
	assert_log_numbers(fd, type_of("n"), 0, FLUSHED);
	close(fd);
}
END_TEST

/* The same as the test above, but the guardian is killed while a reader waits for it. */
START_TEST(a_reader_is_rid_of_a_guardian_that_is_killed)
{
	int fd = log_file();
	pid_t child, guardian, killer;

	adopt_guardians();
	child = start_writer(fd);
	guardian = guardian_of(fd);
	ck_assert_int_eq(kill(guardian, SIGSTOP), 0);
	kill_writer(child);
	killer = fork();
	if (killer == 0) {
		usleep(200000);
		_exit(kill(guardian, SIGKILL));
	}
	ck_assert_int_eq(log_status(fd).posix_stream_flush_error, EIO);
	ck_assert_int_eq(waitpid(killer, NULL, 0), killer);
	assert_log_numbers(fd, type_of("n"), 0, FLUSHED);
	close(fd);
}
END_TEST

/* Creates a stream with its log in `fd`. */
static void create_in(int fd)
{
	LOGGED(fd, .policy = POSIX_TRACE_UNTIL_FULL, .log_policy = POSIX_TRACE_APPEND);
}

/* The rotation begins with a stream whose log is in another file. */
static void rotate_to(int fd)
{
	const trace_id_t trid = LOGGED(log_file(), .policy = POSIX_TRACE_UNTIL_FULL,
				       .log_policy = POSIX_TRACE_APPEND);

	raise(SIGSTOP);
	OK(posix_trace_rotate_log_np(trid, fd));
}

/*
 * Runs act(fd) in a child, and kills it with SIGKILL at its system call number `call` after `stops`
 * stops. Returns false if the child has ended before.
 */
static bool kill_at_call(void (*act)(int), int stops, int fd, int call)
{
	const pid_t child = fork();
	int status;

	if (child == 0) {
		ck_assert_int_eq(ptrace(PTRACE_TRACEME, 0, NULL, NULL), 0);
		raise(SIGSTOP);
		act(fd);
		_exit(0);
	}
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert(WIFSTOPPED(status));
	ck_assert_int_eq(ptrace(PTRACE_SETOPTIONS, child, NULL, PTRACE_O_TRACESYSGOOD), 0);
	while (call > 0) {
		const long request = stops ? PTRACE_CONT : PTRACE_SYSCALL;

		ck_assert_int_eq(ptrace(request, child, NULL, NULL), 0);
		ck_assert_int_eq(waitpid(child, &status, 0), child);
		if (WIFEXITED(status))
			return false;
		if (stops)
			stops -= WSTOPSIG(status) == SIGSTOP;
		else
			call -= WSTOPSIG(status) == (SIGTRAP | 0x80);
	}
	kill_writer(child);
	return true;
}

/*
 * The creator is killed at each of its system calls, while no guardian has begun its work. A reader
 * that does not wait gets one of three results, and each stays true when the guardians have ended:
 * the file has no log, a guardian completes the log (EBUSY), or no process changes the log any
 * more.
 */
static void assert_results_stay(void (*act)(int), int stops)
{
	char program[] = "/tmp/posixtrace-slow-XXXXXX", go[] = "/tmp/posixtrace-go-XXXXXX";
	int results[3] = { 0 };

	adopt_guardians();
	ck_assert_int_ge(close(mkstemp(go)), 0);
	make_slow_guardian(program, go);
	setenv("POSIXTRACE_GUARDIAN", program, 1);
	for (int call = 1;; call++) {
		int fd = log_file(), before, after;
		size_t bytes_before, bytes_after;
		unsigned char *content_before, *content_after;
		trace_id_t trid;
		bool killed;

		ck_assert_int_eq(unlink(go), 0);
		killed = kill_at_call(act, stops, fd, call);
		before = posix_trace_open_np(fd, POSIX_TRACE_OPEN_NOWAIT_NP, &trid);
		if (!before)
			log_close(trid);
		content_before = log_bytes(fd, &bytes_before);
		ck_assert_int_ge(close(creat(go, 0600)), 0);
		while (wait(NULL) > 0)
			;
		after = posix_trace_open_np(fd, POSIX_TRACE_OPEN_NOWAIT_NP, &trid);
		if (!after)
			log_close(trid);
		content_after = log_bytes(fd, &bytes_after);
		ck_assert_int_eq(after, before == EBUSY ? 0 : before);
		if (before != EBUSY) {
			ck_assert_uint_eq(bytes_after, bytes_before);
			ck_assert_mem_eq(content_after, content_before, bytes_before);
		}
		results[before == EINVAL ? 0 : before == EBUSY ? 1 : 2]++;
		free(content_before);
		free(content_after);
		close(fd);
		if (!killed)
			break;
	}
	unlink(go);
	unlink(program);
	/* The calls before the header and the calls after it were reached. */
	ck_assert_int_gt(results[0], 0);
	ck_assert_int_gt(results[1], 0);
}

/* LOG-17, EXIT-02 */
START_TEST(a_creator_may_be_killed_at_each_call)
{
	assert_results_stay(create_in, 0);
}
END_TEST

START_TEST(a_rotation_may_be_killed_at_each_call)
{
	assert_results_stay(rotate_to, 1);
}
END_TEST

SUITE_NEEDS("exec guardian");

SUITE_MAIN("guardian: opening the log", a_log_opened_after_waitpid_is_complete,
	   a_process_with_few_descriptors_has_a_guardian,
	   a_reader_waits_for_a_guardian_that_has_not_begun, a_salvaging_reader_waits_as_well,
	   a_log_with_a_stopped_guardian_is_being_written, a_reader_need_not_wait_for_a_guardian,
	   a_log_without_writer_and_guardian_has_the_flushed_events,
	   a_reader_is_rid_of_a_guardian_that_is_killed, a_creator_may_be_killed_at_each_call,
	   a_rotation_may_be_killed_at_each_call)
