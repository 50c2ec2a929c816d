/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The writer of a log is killed when the device of the log is full. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/log.h"
#include "support/small_device.h"

/* Starts a child that fills the device and then waits to be killed. */
static pid_t start_writer(int fd, trace_event_id_t id)
{
	int ready[2];
	pid_t child;
	char byte;

	ck_assert_int_eq(pipe2(ready, O_CLOEXEC), 0);
	child = fork();
	if (child == 0) {
		small_device_fill(fd, id);
		ck_assert_int_eq(write(ready[1], "", 1), 1);
		pause();
		_exit(2);
	}
	close(ready[1]);
	ck_assert_int_eq(read(ready[0], &byte, 1), 1);
	close(ready[0]);
	return child;
}

/* Kills the writer and waits for its guardian, which is then a child of this process. */
static void kill_and_wait_for_all(pid_t writer)
{
	ck_assert_int_eq(kill(writer, SIGKILL), 0);
	while (waitpid(-1, NULL, 0) > 0 || errno == EINTR)
		;
	ck_assert_int_eq(errno, ECHILD);
}

/* EXIT-02, FLUSHF-07 */
START_TEST(without_room_the_log_keeps_its_events)
{
	const char *folder = small_device(DEVICE_BYTES);
	trace_event_id_t id = type_of("n");
	int fd;

	if (!folder)
		return;
	ck_assert_int_eq(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
	fd = small_device_log(folder);
	kill_and_wait_for_all(start_writer(fd, id));
	assert_log_cut(fd, id);
	close(fd);
}
END_TEST

/* EXIT-01, EXIT-02 */
START_TEST(where_there_is_room_by_then_the_log_is_completed)
{
	const char *folder = small_device(DEVICE_BYTES);
	trace_event_id_t id = type_of("n");
	pid_t writer;
	int fd;

	if (!folder)
		return;
	ck_assert_int_eq(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
	fd = small_device_log(folder);
	writer = start_writer(fd, id);
	small_device_grow(folder, 16 * DEVICE_BYTES);
	kill_and_wait_for_all(writer);
	assert_log_numbers(fd, id, 0, DEVICE_TOO_MANY);
	assert_log_whole(fd);
	close(fd);
}
END_TEST

SUITE_NEEDS("exec guardian");

SUITE_MAIN("guardian, full device", without_room_the_log_keeps_its_events,
	   where_there_is_room_by_then_the_log_is_completed)
