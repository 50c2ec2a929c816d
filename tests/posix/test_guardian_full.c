/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The writer of a log is killed when the device of the log is full. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/log.h"

enum { DEVICE = 1 << 20, TOO_MANY = 200000 };

static int log_on(const char *folder)
{
	char path[4096];
	int fd;

	snprintf(path, sizeof(path), "%s/log", folder);
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	ck_assert_int_ge(fd, 0);
	return fd;
}

/* A child that has found the device full, and waits to be killed. */
static pid_t start_writer(int fd, trace_event_id_t id)
{
	int ready[2];
	pid_t child;
	char byte;

	ck_assert_int_eq(pipe2(ready, O_CLOEXEC), 0);
	child = fork();
	if (child == 0) {
		trace_id_t trid = LOGGED_STARTED(fd, .policy = POSIX_TRACE_UNTIL_FULL,
						 .log_policy = POSIX_TRACE_APPEND,
						 .size = (size_t)TOO_MANY * 64);

		for (int i = 0; i < TOO_MANY; i++)
			trace_number(id, i);
		FAILS(ENOSPC, posix_trace_flush(trid));
		ck_assert_int_eq(write(ready[1], "", 1), 1);
		pause();
		_exit(2);
	}
	close(ready[1]);
	ck_assert_int_eq(read(ready[0], &byte, 1), 1);
	close(ready[0]);
	return child;
}

/* The writer is killed, and its guardian, which is ours then, waited for. */
static void kill_and_wait_for_all(pid_t writer)
{
	ck_assert_int_eq(kill(writer, SIGKILL), 0);
	while (waitpid(-1, NULL, 0) > 0 || errno == EINTR)
		;
	ck_assert_int_eq(errno, ECHILD);
}

/* EXIT-02, FLUSHF-07 */
START_TEST(where_there_is_no_room_the_log_has_what_was_in_it)
{
	const char *folder = small_device(DEVICE);
	trace_event_id_t id = type_of("n");
	struct history *history;
	size_t kept;
	int fd;

	if (!folder)
		return;
	ck_assert_int_eq(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
	fd = log_on(folder);
	kill_and_wait_for_all(start_writer(fd, id));
	history = log_history(fd);
	kept = history_count(history, id);
	ck_assert_uint_ge(kept, TOO_MANY / 4);
	ck_assert_uint_lt(kept, TOO_MANY);
	assert_numbers_from(history, id, 0, kept);
	history_free(history);
	close(fd);
}
END_TEST

/* EXIT-01, EXIT-02 */
START_TEST(where_there_is_room_by_then_the_log_is_completed)
{
	const char *folder = small_device(DEVICE);
	trace_event_id_t id = type_of("n");
	struct history *history;
	pid_t writer;
	int fd;

	if (!folder)
		return;
	ck_assert_int_eq(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
	fd = log_on(folder);
	writer = start_writer(fd, id);
	small_device_grow(folder, 16 * DEVICE);
	kill_and_wait_for_all(writer);
	history = log_history(fd);
	assert_numbers_from(history, id, 0, TOO_MANY);
	history_free(history);
	assert_log_whole(fd);
	close(fd);
}
END_TEST

SUITE_MAIN("guardian, full device", where_there_is_no_room_the_log_has_what_was_in_it,
	   where_there_is_room_by_then_the_log_is_completed)
