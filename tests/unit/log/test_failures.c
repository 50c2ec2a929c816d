/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * log/: pipes, full disks, limits and readers that went away.
 *
 * The writing functions of base/io.h are wrapped: with a budget set, they write that much and
 * then fail. So a write can be made to stop at any byte.
 */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "support/payload.h"
#include "unit/log/sample.h"

static bool no_reopen;
static size_t budget = SIZE_MAX;
static int budget_error = ENOSPC;

int __real_ptx_io_write(int fd, const void *bytes, size_t len, size_t *done);
int __real_ptx_io_write_at(int fd, const void *bytes, size_t len, uint64_t offset, size_t *done);
int __wrap_ptx_io_write(int fd, const void *bytes, size_t len, size_t *done);
int __wrap_ptx_io_write_at(int fd, const void *bytes, size_t len, uint64_t offset, size_t *done);

int __real_ptx_io_open(const char *path, int flags, int *fd);
int __wrap_ptx_io_open(const char *path, int flags, int *fd);

int __wrap_ptx_io_open(const char *path, int flags, int *fd)
{
	if (no_reopen && (flags & O_ACCMODE) == O_WRONLY)
		return EACCES;
	return __real_ptx_io_open(path, flags, fd);
}

int __wrap_ptx_io_write(int fd, const void *bytes, size_t len, size_t *done)
{
	size_t part = len - *done < budget ? len - *done : budget;
	int err = __real_ptx_io_write(fd, bytes, *done + part, done);

	if (budget != SIZE_MAX)
		budget -= part;
	return err ? err : *done < len ? budget_error : 0;
}

int __wrap_ptx_io_write_at(int fd, const void *bytes, size_t len, uint64_t offset, size_t *done)
{
	size_t part = len - *done < budget ? len - *done : budget;
	int err = __real_ptx_io_write_at(fd, bytes, *done + part, offset, done);

	if (budget != SIZE_MAX)
		budget -= part;
	return err ? err : *done < len ? budget_error : 0;
}

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

/* A pipe whose other end goes to a file, as "program | cat >file" does. */
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

/* WITHLOG-04: a socket in non-blocking mode is waited for. */
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
 * Where a write stops the next one goes on: nothing twice, nothing missing. i % 3 is the kind of
 * log, i / 3 seeds where writes stop. FLUSHF-11, clarification 9
 */
START_TEST(wherever_writes_stop_a_log_continues_there)
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
		budget = SIZE_MAX; /* or a block that grows meanwhile would never get through */
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
		sample_put(&sample, 1, &err); /* refused while a block is under way */
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

/* Each of the first thousand bytes behind the header may be the last one that can be written. */
START_TEST(a_log_that_cannot_be_completed_keeps_what_was_written_and_its_account)
{
	for (size_t last = 0; last < 3000; last += 17) {
		struct ptx_ledger *ledger;
		struct ptx_stored *stored;
		struct sample sample;
		int fd = sample_file(), err;
		uint64_t n;

		ck_assert_int_eq(sample_begin(&sample, fd, POSIX_TRACE_APPEND, 0, 8), 0);
		sample_add(&sample, 20);
		sample_write(&sample);
		sample_add(&sample, 5);
		budget = last;
		ledger = &sample.ledger;
		err = KEEPS_ERRNO(ptx_log_complete(sample.log, &sample.status, ledger));
		ck_assert(err == ENOSPC || (!err && last > 1000));
		ck_assert_uint_eq(ledger->total.called, 25);
		ck_assert_uint_eq(ptx_ledger_sum(&ledger->total), 25);
		n = ledger->total.reported;
		ck_assert(n == 20 || n == 25);
		ck_assert_uint_eq(ledger->total.lost[PTX_LOST_FLUSH_ERROR], 25 - n);
		budget = SIZE_MAX;
		sample_die(&sample);

		/* Without an end and a closing area nobody can know that it is not written on. */
		if (err) {
			ck_assert(!!ptx_stored_open(fd, false, &stored) ||
				  (ptx_stored_close(stored), n == 25));
			stored = sample_open(fd, true);
			ck_assert_uint_eq(sample_read(stored, 0, 8), n);
			ptx_stored_close(stored);
		} else {
			sample_prove(fd);
		}
		close(fd);
	}
}
END_TEST

/* FLUSHF-07, FLUSHF-09, SHUT-06, LOG-19 */
START_TEST(a_limit_on_file_size_is_an_error_and_the_log_opens_with_its_status)
{
	struct rlimit limit, old;
	struct ptx_log_status status;
	const struct ptx_ledger *ledger;
	struct ptx_stored *stored;
	struct sample sample;
	uint64_t reported, put;
	int fd = sample_file(), err, end;
	enum ptx_log_put answer;
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGXFSZ);
	sigprocmask(SIG_BLOCK, &set, NULL);
	ck_assert_int_eq(sample_begin(&sample, fd, POSIX_TRACE_APPEND, 0, 8), 0);
	memset(&status, 0, sizeof(status));
	ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &old), 0);
	limit = old;
	limit.rlim_cur = 100000;
	/* Check, too, writes to a file: nothing is asserted while the limit stands. */
	setrlimit(RLIMIT_FSIZE, &limit);
	answer = sample_put(&sample, 10000, &err);
	put = sample.events;
	end = ptx_log_complete(sample.log, &status, &sample.ledger);
	setrlimit(RLIMIT_FSIZE, &old);
	ck_assert_int_eq(answer, PTX_LOG_PUT_WRITE_FIRST);
	ck_assert_int_eq(err, EFBIG);
	ck_assert_int_eq(end, EFBIG);
	reported = sample.ledger.total.reported;
	ck_assert_uint_gt(reported, 0);
	ck_assert_uint_eq(sample.ledger.total.lost[PTX_LOST_FLUSH_ERROR], put - reported);
	sample_die(&sample);

	stored = sample_open(fd, false); /* its writer lives, but wrote that it is done */
	ck_assert_uint_eq(sample_read(stored, 0, 8), reported);
	ck_assert_int_eq(ptx_stored_status(stored)->flush_error, EFBIG);
	ck_assert_int_eq(ptx_stored_status(stored)->log_overrun, POSIX_TRACE_OVERRUN);
	ledger = ptx_stored_ledger(stored);
	ck_assert_uint_eq(ledger->total.called, put);
	ck_assert_uint_eq(ledger->total.reported, reported);
	ck_assert_uint_eq(ledger->total.lost[PTX_LOST_FLUSH_ERROR], put - reported);
	ptx_stored_close(stored);
	close(fd);
}
END_TEST

/* FLUSHF-09 */
START_TEST(a_reader_that_went_away_is_an_error)
{
	struct sample sample;
	uint64_t reported;
	int ends[2], err;
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGPIPE);
	sigprocmask(SIG_BLOCK, &set, NULL);
	ck_assert_int_eq(pipe2(ends, O_CLOEXEC), 0);
	ck_assert_int_eq(sample_begin(&sample, ends[1], POSIX_TRACE_APPEND, 0, 8), 0);
	sample_add(&sample, 10);
	sample_write(&sample);
	close(ends[0]);
	ck_assert_int_eq(sample_put(&sample, 10000, &err), PTX_LOG_PUT_WRITE_FIRST);
	ck_assert_int_eq(err, EPIPE);
	ck_assert_int_eq(ptx_log_write(sample.log), EPIPE);
	ck_assert_int_eq(ptx_log_complete(sample.log, &sample.status, &sample.ledger), EPIPE);
	reported = sample.ledger.total.reported;
	ck_assert_uint_eq(reported, 10);
	ck_assert_uint_eq(ptx_ledger_sum(&sample.ledger.total), sample.ledger.total.called);
	sample_die(&sample);
	close(ends[1]);
}
END_TEST

/* WITHLOG-10, CH-23, CLEAR-09: as with an append-only file, or after privileges were dropped. */
START_TEST(where_a_file_cannot_be_reopened_o_append_works_with_policy_append_only)
{
	char path[] = "/tmp/ptx-log-XXXXXX";
	int file = mkstemp(path), fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
	struct sample sample;

	no_reopen = true;
	ck_assert_int_eq(sample_begin(&sample, fd, POSIX_TRACE_LOOP, 10000, 8), EINVAL);
	ck_assert_int_eq(sample_begin(&sample, fd, POSIX_TRACE_UNTIL_FULL, 10000, 8), EINVAL);
	ck_assert_int_eq(sample_begin(&sample, fd, POSIX_TRACE_APPEND, 0, 8), 0);
	sample_add(&sample, 3000);
	sample_write(&sample);
	OK(ptx_log_clear(sample.log, &sample.ledger));
	sample.events = 0;
	sample_add(&sample, 2000);
	sample_write(&sample);
	sample_add(&sample, 2000);
	ck_assert_int_eq(sample_end(&sample), 0);
	ck_assert_uint_eq(sample_read_file(file, 0, 8), 4000);
	sample_prove(file);
	close(fd);

	fd = open(path, O_WRONLY | O_CLOEXEC);
	ck_assert_int_eq(sample_begin(&sample, fd, POSIX_TRACE_LOOP, 10000, 8), 0);
	sample_add(&sample, 1000);
	ck_assert_int_eq(sample_end(&sample), 0);
	sample_prove(file);
	close(fd);
	close(file);
	unlink(path);
}
END_TEST

/* WITHLOG-05 */
START_TEST(a_full_device_refuses_the_log)
{
	int fd = open("/dev/full", O_WRONLY | O_CLOEXEC);
	struct sample sample;

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(sample_begin(&sample, fd, POSIX_TRACE_APPEND, 0, 8), ENOSPC);
	close(fd);
	fd = sample_file();
	budget = 4095;
	ck_assert_int_eq(sample_begin(&sample, fd, POSIX_TRACE_LOOP, 100000, 8), ENOSPC);
	close(fd);
}
END_TEST

/* CLEAR-09: what went into the pipe stays, what did not is forgotten; both are accounted for. */
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
	OK(ptx_log_clear(sample.log, &sample.ledger));
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

/* CLEAR-09: wherever the pipe was when it took no more, the log goes on whole. */
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
		OK(ptx_log_clear(sample.log, &sample.ledger));
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

/* CLEAR-07: the header could not be written, the next write does it. */
START_TEST(clear_that_fails_is_made_good_by_the_next_write)
{
	struct sample sample;
	int fd = sample_file();

	ck_assert_int_eq(sample_begin(&sample, fd, POSIX_TRACE_LOOP, 10000, 8), 0);
	sample_add(&sample, 100);
	sample_write(&sample);
	budget = 1000;
	FAILS(ENOSPC, ptx_log_clear(sample.log, &sample.ledger));
	budget = SIZE_MAX;
	sample.events = 0;
	sample_add(&sample, 7);
	ck_assert_int_eq(sample_end(&sample), 0);
	ck_assert_uint_eq(sample_read_file(fd, 0, 8), 7);
	sample_prove(fd);
	close(fd);
}
END_TEST

static Suite *build(void)
{
	TCase *tc;
	Suite *suite = support_suite("log failures", &tc);

	tcase_add_test(tc, a_log_through_a_pipe_is_the_log_in_a_file);
	tcase_add_test(tc, a_full_socket_is_waited_for);
	tcase_add_loop_test(tc, wherever_writes_stop_a_log_continues_there, 0, 24);
	tcase_add_test(tc, a_pipe_that_takes_one_byte_at_a_time_gets_the_whole_log);
	tcase_add_test(tc, a_log_that_cannot_be_completed_keeps_what_was_written_and_its_account);
	tcase_add_test(tc, a_limit_on_file_size_is_an_error_and_the_log_opens_with_its_status);
	tcase_add_test(tc, a_reader_that_went_away_is_an_error);
	tcase_add_test(tc, where_a_file_cannot_be_reopened_o_append_works_with_policy_append_only);
	tcase_add_test(tc, a_full_device_refuses_the_log);
	tcase_add_test(tc, clear_of_a_log_in_a_pipe_goes_on);
	tcase_add_test(tc, clear_of_a_log_of_which_half_a_block_is_in_a_pipe_finishes_that_block);
	tcase_add_test(tc, clear_that_fails_is_made_good_by_the_next_write);
	return suite;
}

SUITE_MAIN_OF(build)
