/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* base/io.h: complete reads and writes. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

#include "base/io.h"
#include "support/memory_file.h"
#include "support/support.h"

enum { LEN = 3000000 };

static volatile sig_atomic_t interrupts;

static void interrupt(int sig)
{
	(void)sig;
	interrupts++;
}

static void *drain(void *arg)
{
	int fd = *(int *)arg;
	char *bytes = malloc(LEN);
	size_t got = 0;
	ssize_t n;

	/* In small pieces, so that the pipe is full repeatedly for the writer. */
	while (got < LEN &&
	       ((n = read(fd, bytes + got, LEN - got < 10000 ? LEN - got : 10000)) > 0 ||
		(n < 0 && errno == EINTR))) {
		got += n > 0 ? (size_t)n : 0;
		usleep(100);
	}
	return bytes;
}

/* For FLUSHF-09: signals without SA_RESTART, and, with _i = 1, a pipe in non-blocking mode. */
START_TEST(a_write_goes_on_after_signals_and_full_pipes)
{
	struct sigaction action = { .sa_handler = interrupt };
	struct itimerval timer = { { 0, 2000 }, { 0, 100 } }, off = { { 0, 0 }, { 0, 0 } };
	char *bytes = malloc(LEN), *got;
	size_t done = 0;
	pthread_t thread;
	int ends[2];

	for (size_t i = 0; i < LEN; i++)
		bytes[i] = (char)(i * 31 + i / 1000);
	ck_assert_int_eq(pipe2(ends, O_CLOEXEC), 0);
	if (_i)
		ck_assert_int_eq(fcntl(ends[1], F_SETFL, O_NONBLOCK), 0);
	ck_assert_int_eq(pthread_create(&thread, NULL, drain, &ends[0]), 0);
	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &timer, NULL);
	OK(ptx_io_write(ends[1], bytes, LEN, &done, PTX_IO_NO_LIMIT));
	setitimer(ITIMER_REAL, &off, NULL);
	ck_assert_uint_eq(done, LEN);
	ck_assert_int_eq(pthread_join(thread, (void **)&got), 0);
	ck_assert(!memcmp(got, bytes, LEN));
	ck_assert_int_gt(interrupts, 0);
	free(got);
	free(bytes);
	close(ends[0]);
	close(ends[1]);
}
END_TEST

START_TEST(writing_goes_on_where_it_stopped)
{
	int fd = memory_file("io", MFD_CLOEXEC);
	char text[32] = "";
	size_t done = 4, got;

	OK(ptx_io_write_at(fd, "0123456789", 10, 100, &done));
	ck_assert_uint_eq(done, 10);
	OK(ptx_io_read_at(fd, text, sizeof(text), 100, &got));
	ck_assert_uint_eq(got, 10);
	ck_assert_mem_eq(text, "\0\0\0\0" "456789", 10);
	ck_assert_int_eq(lseek(fd, 0, SEEK_CUR), 0);
	close(fd);
}
END_TEST

START_TEST(errors_are_returned_and_errno_stays)
{
	int full = open("/dev/full", O_WRONLY | O_CLOEXEC), ends[2], fd;
	size_t done = 0, got;
	char text[8];

	FAILS(ENOSPC, ptx_io_write(full, "x", 1, &done, PTX_IO_NO_LIMIT));
	ck_assert_uint_eq(done, 0);
	FAILS(EBADF, ptx_io_write(-1, "x", 1, &done, PTX_IO_NO_LIMIT));
	FAILS(EBADF, ptx_io_read_at(full, text, 1, 0, &got));
	FAILS(EFBIG, ptx_io_write_at(full, "x", 1, UINT64_MAX, &done));
	FAILS(EINVAL, ptx_io_read_at(full, text, 1, UINT64_MAX, &got));
	FAILS(ENOENT, ptx_io_open("/nowhere/at/all", O_RDONLY, &fd));
	ck_assert_int_eq(pipe2(ends, O_CLOEXEC), 0);
	close(ends[0]);
	signal(SIGPIPE, SIG_IGN);
	FAILS(EPIPE, ptx_io_write(ends[1], "x", 1, &done, PTX_IO_NO_LIMIT));
	close(ends[1]);
	close(full);
	ck_assert_uint_eq(KEEPS_ERRNO(ptx_io_read_text("/nowhere", text, sizeof(text))), 0);
	ck_assert_uint_eq(ptx_io_read_text("/proc/self/comm", text, 4), 3);
	ck_assert_uint_eq(strlen(text), 3);
}
END_TEST

/* Without a reader, and with one that reads a part. */
START_TEST(a_write_with_a_limit_ends_without_a_reader)
{
	char *bytes = calloc(1, LEN);
	size_t done = 0, before;
	int ends[2];

	ck_assert_int_eq(pipe2(ends, O_CLOEXEC | O_NONBLOCK), 0);
	FAILS(EAGAIN, ptx_io_write(ends[1], bytes, LEN, &done, 1));
	ck_assert_uint_gt(done, 0);
	before = done;
	FAILS(EAGAIN, ptx_io_write(ends[1], bytes, LEN, &done, 0));
	ck_assert_uint_eq(done, before);
	ck_assert_int_eq(read(ends[0], bytes, 4096), 4096);
	FAILS(EAGAIN, ptx_io_write(ends[1], bytes, LEN, &done, 1));
	ck_assert_uint_eq(done, before + 4096);
	free(bytes);
	close(ends[0]);
	close(ends[1]);
}
END_TEST

static void *write_on(void *arg)
{
	size_t done = 0;

	(void)arg;
	/* Cancellation is requested and enabled, so write() would be cancelled. */
	pthread_cancel(pthread_self());
	ptx_io_write(*(int *)arg, "x", 1, &done, PTX_IO_NO_LIMIT);
	ptx_io_write(*(int *)arg, "y", 1, &done, PTX_IO_NO_LIMIT);
	return done == 1 ? arg : NULL;
}

/* For SIGCAN-03 */
START_TEST(writing_is_no_cancellation_point)
{
	int ends[2];
	pthread_t thread;
	void *answer;

	ck_assert_int_eq(pipe2(ends, O_CLOEXEC), 0);
	ck_assert_int_eq(pthread_create(&thread, NULL, write_on, &ends[1]), 0);
	ck_assert_int_eq(pthread_join(thread, &answer), 0);
	ck_assert_ptr_eq(answer, &ends[1]);
	close(ends[0]);
	close(ends[1]);
}
END_TEST

static int count_names(void *arg, int folder, const char *name)
{
	struct stat file;

	ck_assert_int_eq(name[0], 'f');
	OK(fstatat(folder, name, &file, 0));
	return ++*(int *)arg == 2000 ? -1 : 0;
}

START_TEST(the_names_of_a_folder_are_listed)
{
	char path[] = "/tmp/posixtrace-list-XXXXXX", name[100];
	int count = 0;

	ck_assert_ptr_nonnull(mkdtemp(path));
	FAILS(ENOENT, ptx_io_list("/no/such/folder", count_names, &count));
	FAILS(ENOTDIR, ptx_io_list("/dev/null", count_names, &count));
	OK(ptx_io_list(path, count_names, &count));
	ck_assert_int_eq(count, 0);
	for (int i = 0; i < 999; i++) {
		snprintf(name, sizeof(name), "%s/f%d", path, i);
		OK(mkdir(name, 0700));
	}
	OK(ptx_io_list(path, count_names, &count));
	ck_assert_int_eq(count, 999);
	count = 1500;
	FAILS(-1, ptx_io_list(path, count_names, &count)); /* the result of take() ends the loop */
	ck_assert_int_eq(count, 2000);
	for (int i = 0; i < 999; i++) {
		snprintf(name, sizeof(name), "%s/f%d", path, i);
		OK(rmdir(name));
	}
	OK(rmdir(path));
}
END_TEST

static Suite *build(void)
{
	TCase *tc;
	Suite *suite = support_suite("io", &tc);

	tcase_add_loop_test(tc, a_write_goes_on_after_signals_and_full_pipes, 0, 2);
	tcase_add_test(tc, a_write_with_a_limit_ends_without_a_reader);
	tcase_add_test(tc, writing_goes_on_where_it_stopped);
	tcase_add_test(tc, errors_are_returned_and_errno_stays);
	tcase_add_test(tc, writing_is_no_cancellation_point);
	tcase_add_test(tc, the_names_of_a_folder_are_listed);
	return suite;
}

SUITE_MAIN_OF(build)
