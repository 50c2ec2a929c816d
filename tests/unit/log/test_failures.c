/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* log/: full disks, limits, pipes without a reader, and files that cannot be opened again. */
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "log/format_tally.h"
#include "unit/log/budget.h"
#include "unit/log/sample.h"

static bool no_reopen;

int __real_ptx_io_open(const char *path, int flags, int *fd);
int __wrap_ptx_io_open(const char *path, int flags, int *fd);

int __wrap_ptx_io_open(const char *path, int flags, int *fd)
{
	if (no_reopen && (flags & O_ACCMODE) == O_WRONLY)
		return EACCES;
	return __real_ptx_io_open(path, flags, fd);
}

/* The write fails after each of the first thousand bytes behind the header. */
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

		/*
		 * Without an end and a closing area, a reader cannot find out that the log is not
		 * being written.
		 */
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
	enum ptx_log_append answer;
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGXFSZ);
	sigprocmask(SIG_BLOCK, &set, NULL);
	ck_assert_int_eq(sample_begin(&sample, fd, POSIX_TRACE_APPEND, 0, 8), 0);
	memset(&status, 0, sizeof(status));
	ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &old), 0);
	limit = old;
	limit.rlim_cur = 100000;
	/* Check writes to a file, too, so the test asserts nothing while the limit applies. */
	setrlimit(RLIMIT_FSIZE, &limit);
	answer = sample_put(&sample, 10000, &err);
	put = sample.events;
	end = ptx_log_complete(sample.log, &status, &sample.ledger);
	setrlimit(RLIMIT_FSIZE, &old);
	ck_assert_int_eq(answer, PTX_LOG_APPEND_WRITE_FIRST);
	ck_assert_int_eq(err, EFBIG);
	ck_assert_int_eq(end, EFBIG);
	reported = sample.ledger.total.reported;
	ck_assert_uint_gt(reported, 0);
	ck_assert_uint_eq(sample.ledger.total.lost[PTX_LOST_FLUSH_ERROR], put - reported);
	sample_die(&sample);

	stored = sample_open(fd, false); /* the writer lives, but has marked the log as complete */
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
	ck_assert_int_eq(sample_put(&sample, 10000, &err), PTX_LOG_APPEND_WRITE_FIRST);
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

/*
 * WITHLOG-10, CH-23, CLEAR-09: the file cannot be opened again, as an append-only file, or after
 * the process has dropped privileges.
 */
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
	OK(ptx_log_clear(sample.log, &sample.ledger, NULL));
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

/* CLEAR-07: the header could not be written, so the next write writes it. */
START_TEST(clear_that_fails_is_made_good_by_the_next_write)
{
	struct sample sample;
	int fd = sample_file();

	ck_assert_int_eq(sample_begin(&sample, fd, POSIX_TRACE_LOOP, 10000, 8), 0);
	sample_add(&sample, 100);
	sample_write(&sample);
	budget = 1000;
	FAILS(ENOSPC, ptx_log_clear(sample.log, &sample.ledger, NULL));
	budget = SIZE_MAX;
	sample.events = 0;
	sample_add(&sample, 7);
	ck_assert_int_eq(sample_end(&sample), 0);
	ck_assert_uint_eq(sample_read_file(fd, 0, 8), 7);
	sample_prove(fd);
	close(fd);
}
END_TEST

/*
 * A tally or a ledger that had no memory for a thread has its events without the thread. The other
 * one may know the thread. No column becomes negative, and the threads add up to the total.
 */
START_TEST(events_whose_thread_has_no_line_are_moved_in_other_lines)
{
	const struct ptx_log_source source = { .pid = 7, .tid = 8, .thread = 9 };
	struct ptx_ledger ledger;
	struct ptx_log_tally tally;
	uint64_t reported = 0, lost = 0;

	ptx_ledger_init(&ledger);
	ptx_log_tally_init(&tally);
	ledger.total.reported = ledger.type[64].reported = 5;
	tally.events = tally.type[64] = 3;
	if (_i == 0) { /* the ledger knows the thread */
		ptx_ledger_thread(&ledger, source.pid, source.tid, source.thread)->reported = 5;
		tally.unattributed = 3;
	} else { /* the tally knows the thread */
		ptx_ledger_thread(&ledger, 0, 0, 0)->reported = 5;
		ptx_log_tally_thread(&tally, &source, 3);
	}
	ptx_log_tally_move(&tally, &ledger, PTX_LOST_LOG_OVERWRITTEN);
	ck_assert_uint_eq(ledger.total.reported, 2);
	ck_assert_uint_eq(ledger.type[64].lost[PTX_LOST_LOG_OVERWRITTEN], 3);
	for (size_t i = 0; i < ledger.threads; i++) {
		ck_assert_uint_le(ledger.thread[i].line.reported, 5);
		reported += ledger.thread[i].line.reported;
		lost += ledger.thread[i].line.lost[PTX_LOST_LOG_OVERWRITTEN];
	}
	ck_assert_uint_eq(reported, 2);
	ck_assert_uint_eq(lost, 3);
	ptx_log_tally_fini(&tally);
	ptx_ledger_fini(&ledger);
}
END_TEST

static Suite *build(void)
{
	TCase *tc;
	Suite *suite = support_suite("log failures", &tc);

	tcase_add_test(tc, a_log_that_cannot_be_completed_keeps_what_was_written_and_its_account);
	tcase_add_test(tc, a_limit_on_file_size_is_an_error_and_the_log_opens_with_its_status);
	tcase_add_test(tc, a_reader_that_went_away_is_an_error);
	tcase_add_test(tc, where_a_file_cannot_be_reopened_o_append_works_with_policy_append_only);
	tcase_add_test(tc, a_full_device_refuses_the_log);
	tcase_add_test(tc, clear_that_fails_is_made_good_by_the_next_write);
	tcase_add_loop_test(tc, events_whose_thread_has_no_line_are_moved_in_other_lines, 0, 2);
	return suite;
}

SUITE_MAIN_OF(build)
