/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* posix_trace_create_withlog(): the kinds of files that can be a log, and their content
 * afterwards. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "support/log.h"

static const int log_policies[] = { POSIX_TRACE_LOOP, POSIX_TRACE_UNTIL_FULL, POSIX_TRACE_APPEND };

/* Tries to create a stream with log. After a success, shuts the stream down again. */
static int try_create(int fd, int log_policy)
{
	const trace_id_t untouched = (trace_id_t)0x5a5a5a5a;
	trace_id_t trid = untouched;
	trace_attr_t attr;
	int err;

	log_wish_attr(&attr, &(struct log_wish){ .log_policy = log_policy });
	err = KEEPS_ERRNO(posix_trace_create_withlog(0, &attr, fd, &trid));
	if (err)
		ck_assert_uint_eq(trid, untouched);
	else
		shut(trid);
	return err;
}

/* WITHLOG-02, CREATE-25 */
START_TEST(a_descriptor_that_cannot_be_written_gives_ebadf)
{
	int fd = log_file(), read_only = log_file_again(fd, O_RDONLY);
	int path_only = log_file_again(fd, O_PATH);

	for (int i = 0; i < 3; i++) {
		ck_assert_int_eq(try_create(-1, log_policies[i]), EBADF);
		ck_assert_int_eq(try_create(read_only, log_policies[i]), EBADF);
		ck_assert_int_eq(try_create(path_only, log_policies[i]), EBADF);
	}
	close(path_only);
	close(read_only);
	close(fd);
	ck_assert_int_eq(try_create(fd, POSIX_TRACE_APPEND), EBADF);
}
END_TEST

/* WITHLOG-03, WITHLOG-04, CREATE-25 */
START_TEST(unseekable_files_are_refused_for_loop_and_until_full)
{
	int ends[2], sockets[2], null = open("/dev/null", O_RDWR | O_CLOEXEC);
	int terminal = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);

	ck_assert_int_eq(pipe2(ends, O_CLOEXEC), 0);
	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets), 0);
	for (int i = 0; i < 2; i++) {
		ck_assert_int_eq(try_create(ends[1], log_policies[i]), EINVAL);
		ck_assert_int_eq(try_create(sockets[0], log_policies[i]), EINVAL);
		ck_assert_int_eq(try_create(null, log_policies[i]), EINVAL);
		if (terminal >= 0)
			ck_assert_int_eq(try_create(terminal, log_policies[i]), EINVAL);
	}
	ck_assert_int_eq(try_create(null, POSIX_TRACE_APPEND), 0);
	close(null);
	if (terminal >= 0)
		close(terminal);
	for (int i = 0; i < 2; i++) {
		close(ends[i]);
		close(sockets[i]);
	}
}
END_TEST

static void trace_two(trace_id_t trid)
{
	trace_event_id_t id = type_of("two");

	start(trid);
	trace_number(id, 1);
	trace_number(id, 2);
	shut(trid);
}

/* WITHLOG-04, LOG-01, LOG-11 */
START_TEST(a_log_captured_from_a_pipe_or_a_socket_opens)
{
	struct siphon *siphon = siphon_start();
	int fd, sockets[2];

	siphon_release(siphon);
	trace_two(LOGGED(siphon_fd(siphon), .log_policy = POSIX_TRACE_APPEND));
	close(siphon_fd(siphon));
	fd = siphon_finish(siphon);
	ck_assert_log(fd, "START two=1 two=2 STOP(0)");
	assert_log_whole(fd);
	close(fd);

	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets), 0);
	siphon = siphon_start_at(sockets[1]);
	siphon_release(siphon);
	trace_two(LOGGED(sockets[0], .log_policy = POSIX_TRACE_APPEND));
	close(sockets[0]);
	fd = siphon_finish(siphon);
	ck_assert_log(fd, "START two=1 two=2 STOP(0)");
	close(fd);
}
END_TEST

/* WITHLOG-05 */
START_TEST(a_full_device_gives_enospc)
{
	int full = open("/dev/full", O_WRONLY | O_CLOEXEC);
	int err;

	if (full < 0)
		return; /* not every system has this device */
	err = try_create(full, POSIX_TRACE_APPEND);
	ck_assert_int_eq(err, ENOSPC);
	close(full);
}
END_TEST

/* WITHLOG-06, WITHLOG-04 */
START_TEST(a_write_only_descriptor_suffices_for_every_policy)
{
	for (int i = 0; i < 3; i++) {
		int fd = log_file(), write_only = log_file_again(fd, O_WRONLY);

		trace_two(LOGGED(write_only, .log_policy = log_policies[i]));
		close(write_only);
		ck_assert_log(fd, "START two=1 two=2 STOP(0)");
		assert_log_whole(fd);
		close(fd);
	}
}
END_TEST

/* WITHLOG-07 */
START_TEST(creation_keeps_preallocated_space)
{
	for (int i = 0; i < 3; i++) {
		int fd = log_file();
		struct stat before, after;
		trace_id_t trid;

		ck_assert_int_eq(posix_fallocate(fd, 0, 1 << 20), 0);
		before = log_stat(fd);
		trid = LOGGED(fd, .log_policy = log_policies[i]);
		after = log_stat(fd);
		ck_assert_int_ge(after.st_size, before.st_size);
		ck_assert_int_ge(after.st_blocks, before.st_blocks);
		trace_two(trid);
		ck_assert_log(fd, "START two=1 two=2 STOP(0)");
		close(fd);
	}
}
END_TEST

/* WITHLOG-08, LOG-17 */
START_TEST(an_old_log_is_invalid_from_creation_and_its_rest_is_cut_off)
{
	trace_event_id_t id = type_of("bulk");

	for (int i = 0; i < 3; i++) {
		int fd = log_file();
		trace_id_t trid = LOGGED_STARTED(fd, .log_policy = POSIX_TRACE_APPEND), opened;
		off_t long_size, short_size;
		size_t len;
		unsigned char *bytes;

		for (int n = 0; n < 5000; n++)
			trace_number(id, n);
		shut(trid);
		long_size = log_stat(fd).st_size;
		log_close(log_open(fd));

		ck_assert_int_eq(lseek(fd, 777, SEEK_SET), 777);
		trid = LOGGED(fd, .log_policy = log_policies[i]);
		FAILS(EINVAL, posix_trace_open(fd, &opened));
		trace_two(trid);
		ck_assert_log(fd, "START two=1 two=2 STOP(0)");
		assert_log_whole(fd);
		short_size = log_stat(fd).st_size;
		if (log_policies[i] != POSIX_TRACE_LOOP) /* a LOOP log has slots */
			ck_assert_int_lt(short_size, long_size);
		/*
		 * The log begins at offset 0, independent of the descriptor's offset: a copy of the
		 * bytes is a log.
		 */
		bytes = log_bytes(fd, &len);
		close(fd);
		fd = log_file_of(bytes, len);
		free(bytes);
		ck_assert_log(fd, "START two=1 two=2 STOP(0)");
		close(fd);
	}
}
END_TEST

/* Counts descriptors other than fd that are the same file and not close-on-exec. */
static int leaking_duplicates(int fd)
{
	struct stat this = log_stat(fd), other;
	int leaking = 0;

	for (int i = 3; i < 2048; i++)
		if (i != fd && !fstat(i, &other) && other.st_ino == this.st_ino &&
		    other.st_dev == this.st_dev)
			leaking += !(fcntl(i, F_GETFD) & FD_CLOEXEC);
	return leaking;
}

/* WITHLOG-09, SHUT-10 */
START_TEST(the_callers_descriptor_is_neither_moved_nor_changed_nor_closed)
{
	for (int i = 0; i < 3; i++) {
		int fd = log_file(), flags = fcntl(fd, F_GETFL);
		trace_id_t trid;

		ck_assert_int_eq(lseek(fd, 100, SEEK_SET), 100);
		trid = LOGGED_STARTED(fd, .log_policy = log_policies[i]);
		ck_assert_int_eq(leaking_duplicates(fd), 0);
		trace_number(type_of("two"), 1);
		OK(posix_trace_flush(trid));
		ck_assert_int_eq(lseek(fd, 0, SEEK_CUR), 100);
		trace_number(type_of("two"), 2);
		shut(trid);
		ck_assert_int_eq(lseek(fd, 0, SEEK_CUR), 100);
		ck_assert_int_eq(fcntl(fd, F_GETFL), flags);
		ck_assert_int_eq(fcntl(fd, F_GETFD), FD_CLOEXEC);
		ck_assert_log(fd, "START two=1 two=2 STOP(0)");
		ck_assert_int_eq(close(fd), 0);
	}
}
END_TEST

/* WITHLOG-09 */
START_TEST(closing_the_callers_descriptor_early_does_not_harm_the_log)
{
	int fd = log_file(), copy = log_file_again(fd, O_RDONLY);
	trace_id_t trid = LOGGED_STARTED(fd, .log_policy = POSIX_TRACE_APPEND);
	int other;

	close(fd);
	other = log_file(); /* the file gets the number of the descriptor */
	ck_assert_int_eq(other, fd);
	trace_number(type_of("two"), 1);
	OK(posix_trace_flush(trid));
	trace_number(type_of("two"), 2);
	shut(trid);
	ck_assert_int_eq(log_stat(other).st_size, 0);
	ck_assert_log(copy, "START two=1 two=2 STOP(0)");
	close(other);
	close(copy);
}
END_TEST

/* WITHLOG-10 */
START_TEST(o_append_is_accepted_for_append_and_else_only_with_a_right_log)
{
	for (int i = 0; i < 3; i++) {
		int fd = log_file(), appending = log_file_again(fd, O_WRONLY | O_APPEND);
		int err = try_create(appending, log_policies[i]);

		if (log_policies[i] == POSIX_TRACE_APPEND)
			ck_assert_int_eq(err, 0);
		else if (err)
			ck_assert_int_eq(err, EINVAL);
		if (!err) {
			ck_assert_int_eq(ftruncate(fd, 0), 0);
			trace_two(LOGGED(appending, .log_policy = log_policies[i]));
			ck_assert_log(fd, "START two=1 two=2 STOP(0)");
			assert_log_whole(fd);
		}
		ck_assert_int_ne(fcntl(appending, F_GETFL) & O_APPEND, 0);
		close(appending);
		close(fd);
	}
}
END_TEST

/* WITHLOG-10 as clarified: a log could not begin at offset 0 (WITHLOG-08). */
START_TEST(o_append_on_a_file_that_is_not_empty_is_refused)
{
	int fd = log_file_of("something", 9), appending = log_file_again(fd, O_WRONLY | O_APPEND);

	for (int i = 0; i < 3; i++)
		ck_assert_int_eq(try_create(appending, log_policies[i]), EINVAL);
	ck_assert_int_eq(log_stat(fd).st_size, 9);
	close(appending);
	close(fd);
}
END_TEST

/* WITHLOG-12 */
START_TEST(writing_and_reading_a_log_mark_the_files_times)
{
	const struct timespec old[2] = { { 1000000, 0 }, { 2000000, 0 } };
	int fd = log_file();
	trace_id_t trid = LOGGED_STARTED(fd, .log_policy = POSIX_TRACE_APPEND);
	struct statvfs device;
	struct stat before, after;

	trace_number(type_of("two"), 1);
	ck_assert_int_eq(futimens(fd, old), 0);
	before = log_stat(fd);
	usleep(20000); /* the duration of a tick of the coarsest clock of a current file system */
	OK(posix_trace_flush(trid));
	after = log_stat(fd);
	ck_assert_int_gt(after.st_mtim.tv_sec, old[1].tv_sec);
	ck_assert_int_gt(nanoseconds(&after.st_ctim), nanoseconds(&before.st_ctim));
	shut(trid);

	ck_assert_int_eq(futimens(fd, old), 0);
	history_free(log_history(fd));
	ck_assert_int_eq(fstatvfs(fd, &device), 0);
	if (!(device.f_flag & ST_NOATIME))
		ck_assert_int_gt(log_stat(fd).st_atim.tv_sec, old[0].tv_sec);
	close(fd);
}
END_TEST

SUITE_MAIN("posix_trace_create_withlog, files", a_descriptor_that_cannot_be_written_gives_ebadf,
	   unseekable_files_are_refused_for_loop_and_until_full,
	   a_log_captured_from_a_pipe_or_a_socket_opens, a_full_device_gives_enospc,
	   a_write_only_descriptor_suffices_for_every_policy,
	   creation_keeps_preallocated_space,
	   an_old_log_is_invalid_from_creation_and_its_rest_is_cut_off,
	   the_callers_descriptor_is_neither_moved_nor_changed_nor_closed,
	   closing_the_callers_descriptor_early_does_not_harm_the_log,
	   o_append_is_accepted_for_append_and_else_only_with_a_right_log,
	   o_append_on_a_file_that_is_not_empty_is_refused,
	   writing_and_reading_a_log_mark_the_files_times)
