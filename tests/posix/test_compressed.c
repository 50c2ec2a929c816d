/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* posix_trace_attr_setlogcompression_np(): logs, their guardians, snapshots and composed logs. */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <trace_np.h>

#include "support/log.h"

#define EVENTS 5000

/* The function is also called outside of tests, where OK() has no meaning. */
static bool has_zstd(void)
{
	trace_attr_t attr;

	return !posix_trace_attr_init(&attr) && !posix_trace_attr_setlogcompression_np(&attr, 1);
}

START_TEST(levels_are_set_and_stored)
{
	static const int good[] = { POSIX_TRACE_COMPRESSION_MIN_NP, -1, 1, 3,
				    POSIX_TRACE_COMPRESSION_MAX_NP, 0 };
	static const int bad[] = { POSIX_TRACE_COMPRESSION_MIN_NP - 1,
				   POSIX_TRACE_COMPRESSION_MAX_NP + 1, 0x7fffffff, -0x7fffffff };
	trace_attr_t attr;
	int level = 77;

	memset(&attr, 0x5a, sizeof(attr));
	FAILS(EINVAL, posix_trace_attr_setlogcompression_np(&attr, 1));
	FAILS(EINVAL, posix_trace_attr_getlogcompression_np(&attr, &level));
	ck_assert_int_eq(level, 77);
	OK(posix_trace_attr_init(&attr));
	FAILS(EINVAL, posix_trace_attr_getlogcompression_np(&attr, NULL));
	FAILS(EINVAL, posix_trace_attr_setlogcompression_np(NULL, 1));
	OK(posix_trace_attr_getlogcompression_np(&attr, &level));
	ck_assert_int_eq(level, 0);
	if (!has_zstd()) {
		FAILS(ENOTSUP, posix_trace_attr_setlogcompression_np(&attr, 1));
		OK(posix_trace_attr_setlogcompression_np(&attr, 0));
		return;
	}
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		OK(posix_trace_attr_setlogcompression_np(&attr, good[i]));
		OK(posix_trace_attr_getlogcompression_np(&attr, &level));
		ck_assert_int_eq(level, good[i]);
	}
	OK(posix_trace_attr_setlogcompression_np(&attr, 5));
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		FAILS(EINVAL, posix_trace_attr_setlogcompression_np(&attr, bad[i]));
	OK(posix_trace_attr_getlogcompression_np(&attr, &level));
	ck_assert_int_eq(level, 5);
}
END_TEST

/* Starts a stream of this process with a log of this level, and returns the log. */
static int record(int level, int log_policy, trace_id_t *trid)
{
	int fd = log_file();
	trace_event_id_t id;
	trace_attr_t attr;

	log_wish_attr(&attr, &(struct log_wish){ .log_policy = log_policy, .log_size = 1 << 20 });
	OK(posix_trace_attr_setlogcompression_np(&attr, level));
	OK(posix_trace_create_withlog(0, &attr, fd, trid));
	OK(posix_trace_attr_destroy(&attr));
	OK(posix_trace_start(*trid));
	OK(posix_trace_eventid_open("n", &id));
	for (int n = 0; n < EVENTS; n++) {
		posix_trace_event(id, &n, sizeof(n));
		if (n % 500 == 499)
			OK(posix_trace_flush(*trid));
	}
	return fd;
}

/* Returns the level of the compression of the log in `fd`. */
static int level_of(int fd)
{
	trace_id_t trid = log_open(fd);
	trace_attr_t attr;
	int level;

	OK(posix_trace_get_attr(trid, &attr));
	OK(posix_trace_attr_getlogcompression_np(&attr, &level));
	log_close(trid);
	return level;
}

START_TEST(a_compressed_log_has_the_same_events_in_fewer_bytes)
{
	static const int policies[] = { POSIX_TRACE_APPEND, POSIX_TRACE_UNTIL_FULL,
					POSIX_TRACE_LOOP };
	const bool shrinks = policies[_i] != POSIX_TRACE_LOOP;
	trace_id_t trid;
	off_t plain;
	int fd;

	fd = record(0, policies[_i], &trid);
	OK(posix_trace_shutdown(trid));
	ck_assert_int_eq(level_of(fd), 0);
	plain = log_stat(fd).st_size;
	close(fd);
	fd = record(1, policies[_i], &trid);
	OK(posix_trace_shutdown(trid));
	assert_log_whole(fd);
	assert_log_numbers(fd, 64, 0, EVENTS);
	ck_assert_int_eq(level_of(fd), shrinks);
	if (shrinks)
		ck_assert_int_lt(log_stat(fd).st_size, plain / 2);
	close(fd);
}
END_TEST

/* EXIT-01 */
START_TEST(a_guardian_completes_a_compressed_log)
{
	NEEDS("guardian");
	int fd, pipe_fd[2];
	pid_t child;
	char c;

	ck_assert_int_eq(pipe(pipe_fd), 0);
	fd = log_file();
	child = fork();
	if (child == 0) {
		trace_event_id_t id;
		trace_attr_t attr;
		trace_id_t trid;

		log_wish_attr(&attr, &(struct log_wish){ .log_policy = POSIX_TRACE_APPEND,
							  .size = 1 << 20 });
		OK(posix_trace_attr_setlogcompression_np(&attr, 1));
		OK(posix_trace_create_withlog(0, &attr, fd, &trid));
		OK(posix_trace_start(trid));
		OK(posix_trace_eventid_open("n", &id));
		for (int n = 0; n < EVENTS; n++) {
			posix_trace_event(id, &n, sizeof(n));
			if (n == EVENTS / 2)
				OK(posix_trace_flush(trid));
		}
		if (write(pipe_fd[1], "r", 1) == 1)
			pause();
		_exit(1);
	}
	ck_assert_int_eq(close(pipe_fd[1]), 0);
	ck_assert_int_eq(read(pipe_fd[0], &c, 1), 1);
	kill(child, SIGKILL);
	ck_assert_int_eq(waitpid(child, NULL, 0), child);
	log_wait_for_end(fd);
	assert_log_whole(fd);
	assert_log_numbers(fd, 64, 0, EVENTS);
	ck_assert_int_eq(level_of(fd), 1);
	close(pipe_fd[0]);
	close(fd);
}
END_TEST

static void snapshot(void *arg, const struct posix_trace_stream_np *stream)
{
	if (!strcmp(stream->name, "compressed"))
		OK(posix_trace_snapshot_np(stream, *(int *)arg));
}

START_TEST(a_snapshot_has_the_level_of_its_stream)
{
	int fd = log_file();
	trace_event_id_t id;
	trace_attr_t attr;
	trace_id_t trid;

	OK(posix_trace_attr_init(&attr));
	OK(posix_trace_attr_setname(&attr, "compressed"));
	OK(posix_trace_attr_setlogcompression_np(&attr, -1));
	OK(posix_trace_create(0, &attr, &trid));
	OK(posix_trace_start(trid));
	OK(posix_trace_eventid_open("n", &id));
	for (int n = 0; n < 300; n++)
		posix_trace_event(id, &n, sizeof(n));
	OK(posix_trace_observe_np(0, snapshot, &fd));
	OK(posix_trace_shutdown(trid));
	assert_log_whole(fd);
	assert_log_numbers(fd, id, 0, 300);
	ck_assert_int_eq(level_of(fd), -1);
	close(fd);
}
END_TEST

SUITE_NEEDS("exec");

static Suite *build(void)
{
	TCase *tc;
	Suite *suite = support_suite("compressed logs", &tc);

	tcase_add_test(tc, levels_are_set_and_stored);
	if (!has_zstd())
		return suite;
	tcase_add_loop_test(tc, a_compressed_log_has_the_same_events_in_fewer_bytes, 0, 3);
	tcase_add_test(tc, a_guardian_completes_a_compressed_log);
	tcase_add_test(tc, a_snapshot_has_the_level_of_its_stream);
	return suite;
}

SUITE_MAIN_OF(build)
