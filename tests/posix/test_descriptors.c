/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The program closes descriptors that it has not opened, as daemons do, and then has files of its
 * own with these numbers. The program may lose its log, but the library does not write, truncate or
 * close a file of the program.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/ledger.h"
#include "support/log.h"

#define NUMBERS 1024

static bool was_open[NUMBERS];

static void note_descriptors(void)
{
	for (int fd = 0; fd < NUMBERS; fd++)
		was_open[fd] = fcntl(fd, F_GETFD) >= 0;
}

/* A file of the program that must remain unchanged. */
static int precious(void)
{
	int fd = log_file();

	ck_assert_int_eq(write(fd, "precious", 8), 8);
	return fd;
}

static void assert_precious(int fd)
{
	char bytes[16];

	ck_assert_int_eq(log_stat(fd).st_size, 8);
	ck_assert_int_eq(pread(fd, bytes, sizeof(bytes), 0), 8);
	ck_assert_int_eq(memcmp(bytes, "precious", 8), 0);
}

/*
 * Makes each number that the library has used since then a descriptor of the file. Returns the
 * number of these descriptors.
 */
static int take_numbers(int file)
{
	int taken = 0;

	for (int fd = 3; fd < NUMBERS; fd++) {
		if (was_open[fd] || fcntl(fd, F_GETFD) < 0 || fd == file)
			continue;
		ck_assert_int_eq(dup2(file, fd), fd);
		was_open[fd] = true;
		taken++;
	}
	return taken;
}

/* Asserts that the library has closed none of the numbers, which belong to the program. */
static void assert_numbers_open(int file)
{
	const struct stat mine = log_stat(file);

	for (int fd = 3; fd < NUMBERS; fd++)
		if (was_open[fd])
			ck_assert_int_ge(fcntl(fd, F_GETFD), 0);
	ck_assert_int_eq(mine.st_size, 8);
}

static const int log_policy[] = { POSIX_TRACE_LOOP, POSIX_TRACE_UNTIL_FULL, POSIX_TRACE_APPEND };

/* FLUSHF-01: the flush reports the loss of the log in its result and in the status */
START_TEST(a_log_is_not_written_into_another_file)
{
	struct posix_trace_status_info status;
	int log = log_file(), mine = precious();
	trace_event_id_t id = type_of("n");
	trace_id_t trid;

	note_descriptors();
	trid = LOGGED_STARTED(log, .policy = POSIX_TRACE_UNTIL_FULL, .log_policy = log_policy[_i]);
	trace_number(id, 1);
	OK(posix_trace_flush(trid));
	ck_assert_int_gt(take_numbers(mine), 0);
	for (int n = 0; n < 100; n++)
		trace_number(id, n);
	ck_assert_int_eq(posix_trace_flush(trid), EBADF);
	OK(posix_trace_get_status(trid, &status));
	ck_assert_int_eq(status.posix_stream_flush_error, EBADF);
	assert_precious(mine);
	ck_assert_int_ne(posix_trace_clear(trid), 0);
	assert_precious(mine);
	ck_assert_int_eq(posix_trace_shutdown(trid), EBADF);
	assert_precious(mine);
	assert_numbers_open(mine);
	close(log);
	close(mine);
}
END_TEST

/* The numbers are free, so the program's next files get them. */
START_TEST(descriptors_that_were_closed_are_noticed)
{
	int log = log_file(), mine;
	trace_event_id_t id = type_of("n");
	trace_id_t trid;

	note_descriptors();
	trid = LOGGED_STARTED(log, .policy = POSIX_TRACE_FLUSH);
	for (int fd = 3; fd < NUMBERS; fd++)
		if (!was_open[fd])
			close(fd);
	mine = precious();
	trace_number(id, 1);
	ck_assert_int_eq(posix_trace_flush(trid), EBADF);
	ck_assert_int_eq(posix_trace_shutdown(trid), EBADF);
	assert_precious(mine);
	close(log);
	close(mine);
}
END_TEST

/*
 * A program truncates the log, or replaces its contents. The blocks that follow would be behind a
 * hole, or among the program's bytes.
 */
START_TEST(a_truncated_log_is_an_error_and_is_not_written)
{
	int log = log_file(), mine = dup(log);
	trace_event_id_t id = type_of("n");
	struct posix_trace_ledger_np line;
	trace_id_t trid;

	trid = LOGGED_STARTED(log, .policy = POSIX_TRACE_UNTIL_FULL,
			      .log_policy = log_policy[_i % 3]);
	trace_number(id, 1);
	OK(posix_trace_flush(trid));
	ck_assert_int_eq(ftruncate(mine, 0), 0);
	if (_i >= 3)
		ck_assert_int_eq(pwrite(mine, "precious", 8, 0), 8);
	for (int n = 0; n < 100; n++)
		trace_number(id, n);
	ck_assert_int_eq(posix_trace_flush(trid), EIO);
	ck_assert_ledger_closes(trid);
	line = ledger_of_type(trid, id);
	ck_assert_int_eq(line.called, 101);
	ck_assert_int_eq(posix_trace_shutdown(trid), EIO);
	if (_i >= 3)
		assert_precious(mine);
	else
		ck_assert_int_eq(log_stat(mine).st_size, 0);
	close(log);
	close(mine);
}
END_TEST

/* Space that the program allocates behind the log is no damage. */
START_TEST(a_log_whose_file_has_grown_is_written)
{
	int log = log_file();
	trace_event_id_t id = type_of("n");
	trace_id_t trid;

	trid = LOGGED_STARTED(log, .policy = POSIX_TRACE_UNTIL_FULL);
	trace_number(id, 1);
	OK(posix_trace_flush(trid));
	ck_assert_int_eq(ftruncate(log, 1 << 20), 0);
	trace_number(id, 2);
	OK(posix_trace_flush(trid));
	OK(posix_trace_shutdown(trid));
	trid = log_open(log);
	ck_assert_int_eq(log_next_number(trid), 1);
	ck_assert_int_eq(log_next_number(trid), 2);
	log_close(trid);
	close(log);
}
END_TEST

/* The program's next file may get the inode number of the deleted log. */
START_TEST(a_later_file_with_the_inode_number_of_the_log_is_another)
{
	char path[] = "/tmp/posixtrace-log-XXXXXX";
	trace_event_id_t id = type_of("n");
	int log = mkstemp(path), mine;
	struct stat before, now;
	trace_id_t trid;

	ck_assert_int_ge(log, 0);
	before = log_stat(log);
	note_descriptors();
	trid = LOGGED_STARTED(log, .policy = POSIX_TRACE_UNTIL_FULL);
	ck_assert_int_eq(unlink(path), 0);
	for (int fd = 3; fd < NUMBERS; fd++)
		if (!was_open[fd] || fd == log)
			close(fd);
	mine = open(path, O_RDWR | O_CREAT | O_EXCL, 0600);
	ck_assert_int_eq(write(mine, "precious", 8), 8);
	now = log_stat(mine);
	for (int fd = 200; fd < NUMBERS; fd++)
		ck_assert_int_eq(dup2(mine, fd), fd);
	trace_number(id, 1);
	/* If no other file gets the inode number, the file is a different file anyway. */
	if (now.st_ino != before.st_ino)
		ck_assert_int_eq(posix_trace_flush(trid), EBADF);
	else
		posix_trace_flush(trid);
	posix_trace_shutdown(trid);
	assert_precious(mine);
	unlink(path);
}
END_TEST

/* The same as the test above, with a pipe: no bytes of the log appear in another pipe. */
START_TEST(a_log_is_not_written_into_another_pipe)
{
	int log[2], mine[2];
	trace_event_id_t id = type_of("n");
	trace_id_t trid;
	char byte;

	ck_assert_int_eq(pipe(log), 0);
	ck_assert_int_eq(pipe2(mine, O_NONBLOCK), 0);
	note_descriptors();
	trid = LOGGED_STARTED(log[1], .policy = POSIX_TRACE_UNTIL_FULL,
			      .log_policy = POSIX_TRACE_APPEND);
	ck_assert_int_gt(take_numbers(mine[1]), 0);
	trace_number(id, 1);
	ck_assert_int_eq(posix_trace_flush(trid), EBADF);
	ck_assert_int_eq(posix_trace_shutdown(trid), EBADF);
	ck_assert_int_eq(read(mine[0], &byte, 1), -1);
	ck_assert_int_eq(errno, EAGAIN);
}
END_TEST

/*
 * An opened log: its events end there, and posix_trace_close() closes no descriptor of the program.
 */
START_TEST(an_opened_log_is_not_read_from_another_file)
{
	int log = log_of(10), other = log_of(20), mine = precious();
	trace_id_t trid;
	int events = 0;

	note_descriptors();
	trid = log_open(log);
	ck_assert_int_gt(take_numbers(other), 0);
	while (log_next_number(trid) >= 0)
		events++;
	ck_assert_int_le(events, 10); /* events that were already read may be delivered */
	OK(posix_trace_close(trid));
	assert_numbers_open(mine);
	close(log);
	close(other);
	close(mine);
}
END_TEST

/* The shutdown of a stream of another process closes only descriptors of the library. */
START_TEST(a_stream_of_another_process_closes_nothing_of_the_programs)
{
	int mine = precious(), ready[2];
	trace_id_t trid;
	pid_t child;
	char c;

	ck_assert_int_eq(pipe(ready), 0);
	child = fork();
	if (child == 0) {
		if (write(ready[1], "r", 1) == 1)
			pause();
		_exit(1);
	}
	ck_assert_int_eq(read(ready[0], &c, 1), 1);
	note_descriptors();
	OK(posix_trace_create(child, NULL, &trid));
	ck_assert_int_gt(take_numbers(mine), 0);
	OK(posix_trace_shutdown(trid));
	assert_numbers_open(mine);
	assert_precious(mine);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
}
END_TEST

/* Programs expect low descriptor numbers, so the library uses high ones. */
START_TEST(descriptors_of_the_library_have_high_numbers)
{
	int log = log_file(), opened = log_of(1);
	trace_id_t trid, stored;

	note_descriptors();
	trid = LOGGED_STARTED(log, .policy = POSIX_TRACE_FLUSH);
	stored = log_open(opened);
	for (int fd = 0; fd < 200; fd++)
		ck_assert_int_eq(fcntl(fd, F_GETFD) >= 0, was_open[fd]);
	log_close(stored);
	shut(trid);
	close(log);
	close(opened);
}
END_TEST

static Suite *build(void)
{
	/* These tests leave descriptors open, so they run without the fixture that counts them. */
	Suite *suite = suite_create("descriptors of the library");
	TCase *tc = tcase_create("core");

	suite_add_tcase(suite, tc);
	tcase_add_loop_test(tc, a_log_is_not_written_into_another_file, 0, 3);
	tcase_add_test(tc, descriptors_that_were_closed_are_noticed);
	tcase_add_loop_test(tc, a_truncated_log_is_an_error_and_is_not_written, 0, 6);
	tcase_add_test(tc, a_log_whose_file_has_grown_is_written);
	tcase_add_test(tc, a_later_file_with_the_inode_number_of_the_log_is_another);
	tcase_add_test(tc, a_log_is_not_written_into_another_pipe);
	tcase_add_test(tc, an_opened_log_is_not_read_from_another_file);
	tcase_add_test(tc, a_stream_of_another_process_closes_nothing_of_the_programs);
	tcase_add_test(tc, descriptors_of_the_library_have_high_numbers);
	return suite;
}

SUITE_MAIN_OF(build)
