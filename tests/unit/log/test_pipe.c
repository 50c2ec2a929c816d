/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* log/: pipes, sockets and other files that accept only a part of a write. */
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "support/random.h"
#include "unit/log/budget.h"
#include "unit/log/sample.h"

struct capture {
	int from;
	int to;
	pthread_t thread;
};

static void *copy(void *arg)
{
	struct capture *capture = arg;
	char bytes[5000];
	ssize_t got;

	while ((got = read(capture->from, bytes, sizeof(bytes))) > 0)
		if (write(capture->to, bytes, (size_t)got) != got)
			break;
	return NULL;
}

/* Makes a pipe, and a process that copies it to a file as "program | cat >file" does. */
static int pipe_to(struct capture *capture, int file)
{
	int ends[2];

	ck_assert_int_eq(pipe2(ends, O_CLOEXEC), 0);
	capture->from = ends[0];
	capture->to = file;
	ck_assert_int_eq(pthread_create(&capture->thread, NULL, copy, capture), 0);
	return ends[1];
}

static void captured(struct capture *capture)
{
	pthread_join(capture->thread, NULL);
	close(capture->from);
}

/* WITHLOG-04, CH-20 */
START_TEST(a_log_through_a_pipe_is_the_log_in_a_file)
{
	struct ptx_log_facts facts;
	struct capture capture;
	struct sample sample;
	int fd[2] = { sample_file(), sample_file() }, end = pipe_to(&capture, fd[1]);
	uint8_t *bytes[2];
	size_t size[2];

	sample_facts(&facts, POSIX_TRACE_APPEND, 0, 50);
	for (int i = 0; i < 2; i++) {
		sample_begin_frozen(&sample, i ? end : fd[0], &facts);
		for (int n = 0; n < 50; n++) {
			sample_add(&sample, 1000);
			sample_write(&sample);
		}
		ck_assert_int_eq(sample_end(&sample), 0);
	}
	close(end);
	captured(&capture);
	for (int i = 0; i < 2; i++) {
		bytes[i] = sample_bytes(fd[i], &size[i]);
		ck_assert_uint_eq(sample_read_file(fd[i], 0, 50), 50000);
		sample_prove(fd[i]);
		memset(bytes[i] + PTX_LOG_CLOSING_AT, 0, 512);
	}
	ck_assert_uint_eq(size[0], size[1]);
	ck_assert_mem_eq(bytes[0], bytes[1], size[0]);
	free(bytes[0]);
	free(bytes[1]);
	close(fd[0]);
	close(fd[1]);
}
END_TEST

/* WITHLOG-04: the writer waits for a socket in non-blocking mode. */
START_TEST(a_full_socket_is_waited_for)
{
	struct capture capture;
	struct sample sample;
	int ends[2], file = sample_file();

	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends),
			 0);
	ck_assert_int_eq(fcntl(ends[0], F_SETFL, 0), 0);
	capture.from = ends[0];
	capture.to = file;
	ck_assert_int_eq(pthread_create(&capture.thread, NULL, copy, &capture), 0);
	ck_assert_int_eq(sample_begin(&sample, ends[1], POSIX_TRACE_APPEND, 0, 50), 0);
	sample_add(&sample, 50000);
	ck_assert_int_eq(sample_end(&sample), 0);
	close(ends[1]);
	captured(&capture);
	ck_assert_uint_eq(sample_read_file(file, 0, 50), 50000);
	close(file);
}
END_TEST

/*
 * The next write continues where a write stopped: no byte is written twice, and none is missing. _i
 * % 3 is the kind of log. _i / 3 is the seed of the places where writes stop. FLUSHF-11,
 * clarification 9
 */
START_TEST(a_log_continues_where_a_write_stopped)
{
	static const uint32_t policies[] = { POSIX_TRACE_APPEND, POSIX_TRACE_LOOP,
					     POSIX_TRACE_APPEND };
	int kind = _i % 3, file = sample_file(), end = file, failures = 0, err;
	uint64_t random = 1000 + (uint64_t)_i / 3;
	struct capture capture = { 0 };
	struct sample sample;

	if (kind == 2)
		end = pipe_to(&capture, file);
	ck_assert_int_eq(sample_begin(&sample, end, policies[kind], 10000000, 20), 0);
	while (sample.events < 20000) {
		sample_put(&sample, 50, &err);
		do {
			budget = random_between(&random, 0, 3500);
			err = ptx_log_write(sample.log);
			failures += err != 0;
		} while (err && random_between(&random, 0, 3));
		budget = SIZE_MAX; /* otherwise a block that grows meanwhile would never be
				    * complete */
	}
	ck_assert_int_gt(failures, 50);
	ck_assert_int_eq(sample_end(&sample), 0);
	if (kind == 2) {
		close(end);
		captured(&capture);
	}
	ck_assert_uint_ge(sample_read_file(file, 0, 20), 20000);
	sample_prove(file);
	close(file);
}
END_TEST

/* FLUSHF-11 */
START_TEST(a_pipe_that_takes_one_byte_at_a_time_gets_the_whole_log)
{
	struct capture capture = { 0 };
	struct sample sample;
	int file = sample_file(), end = pipe_to(&capture, file), err = 0;

	ck_assert_int_eq(sample_begin(&sample, end, POSIX_TRACE_APPEND, 0, 20), 0);
	for (int i = 0; i < 3000; i++) {
		budget = 1;
		sample_put(&sample, 1, &err); /* refused, because a block is partly written */
		err = ptx_log_write(sample.log);
	}
	ck_assert_int_eq(err, ENOSPC);
	ck_assert_uint_gt(sample.events, 10);
	budget = SIZE_MAX;
	err = (int)sample.events;
	ck_assert_int_eq(sample_end(&sample), 0);
	close(end);
	captured(&capture);
	ck_assert_int_eq((int)sample_read_file(file, 0, 20), err);
	sample_prove(file);
	close(file);
}
END_TEST

/*
 * CLEAR-09: bytes that are in the pipe remain, and other bytes are discarded. The account has both.
 */
START_TEST(clear_of_a_log_in_a_pipe_goes_on)
{
	struct capture capture;
	struct ptx_stored_event got;
	struct ptx_stored *stored;
	struct sample sample;
	int file = sample_file(), end = pipe_to(&capture, file);
	uint64_t n = 0;

	ck_assert_int_eq(sample_begin(&sample, end, POSIX_TRACE_APPEND, 0, 8), 0);
	sample_add(&sample, 10);
	sample_write(&sample);
	sample_add(&sample, 10);
	OK(ptx_log_clear(sample.log, &sample.ledger, NULL));
	sample_add(&sample, 10);
	ptx_log_complete(sample.log, &sample.status, &sample.ledger);
	sample_die(&sample);
	close(end);
	captured(&capture);
	sample_prove(file);
	stored = sample_open(file, false);
	ck_assert_uint_eq(ptx_stored_ledger(stored)->total.called, 30);
	ck_assert_uint_eq(ptx_stored_ledger(stored)->total.reported, 20);
	ck_assert_uint_eq(ptx_stored_ledger(stored)->total.lost[PTX_LOST_CLEARED], 10);
	for (; ptx_stored_next(stored, &got); n++)
		ck_assert_int_eq((int64_t)got.record->time, SAMPLE_TIME(n < 10 ? n : n + 10));
	ck_assert_uint_eq(n, 20);
	ptx_stored_close(stored);
	close(file);
}
END_TEST

/* CLEAR-09: the log continues completely, with any byte as the last one in the pipe. */
START_TEST(clear_of_a_log_of_which_half_a_block_is_in_a_pipe_finishes_that_block)
{
	unsigned kept = 0, forgotten = 0;

	for (size_t last = 0; last < 1300; last += 13) {
		struct capture capture;
		struct sample sample;
		int file = sample_file(), end = pipe_to(&capture, file);

		ck_assert_int_eq(sample_begin(&sample, end, POSIX_TRACE_APPEND, 0, 8), 0);
		sample_add(&sample, 10);
		budget = last;
		ptx_log_write(sample.log);
		budget = SIZE_MAX;
		OK(ptx_log_clear(sample.log, &sample.ledger, NULL));
		if (sample.ledger.total.reported)
			kept++;
		else
			forgotten++;
		ck_assert_uint_eq(sample.ledger.total.reported +
				  sample.ledger.total.lost[PTX_LOST_CLEARED], 10);
		sample_write(&sample);
		sample_add(&sample, 10);
		ck_assert_int_eq(sample_end(&sample), 0);
		close(end);
		captured(&capture);
		sample_prove(file);
		close(file);
	}
	ck_assert_uint_gt(kept, 10);
	ck_assert_uint_gt(forgotten, 10);
}
END_TEST

static Suite *build(void)
{
	TCase *tc;
	Suite *suite = support_suite("log pipes", &tc);

	tcase_add_test(tc, a_log_through_a_pipe_is_the_log_in_a_file);
	tcase_add_test(tc, a_full_socket_is_waited_for);
	tcase_add_loop_test(tc, a_log_continues_where_a_write_stopped, 0, 24);
	tcase_add_test(tc, a_pipe_that_takes_one_byte_at_a_time_gets_the_whole_log);
	tcase_add_test(tc, clear_of_a_log_in_a_pipe_goes_on);
	tcase_add_test(tc, clear_of_a_log_of_which_half_a_block_is_in_a_pipe_finishes_that_block);
	return suite;
}

SUITE_MAIN_OF(build)
