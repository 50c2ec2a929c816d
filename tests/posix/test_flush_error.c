/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* posix_trace_flush() and posix_trace_shutdown() when the log cannot be written. */
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <unistd.h>

#include "support/ledger.h"
#include "support/log.h"
#include "support/small_device.h"

static void limit_files(rlim_t bytes)
{
	struct rlimit limit;

	ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &limit), 0);
	limit.rlim_cur = bytes;
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

static atomic_int signals_taken;

static void take_signal(int number)
{
	(void)number;
	atomic_fetch_add(&signals_taken, 1);
}

/* FLUSHF-07, FLUSHF-08, FLUSHF-09, STATUS-07, STATUS-12 */
START_TEST(a_file_size_limit_gives_efbig_and_no_signal)
{
	const int n = 10000;
	int fd = log_file();
	trace_event_id_t id = type_of("n");
	struct posix_trace_status_info status;
	trace_id_t trid;

	signal(SIGXFSZ, take_signal);
	trid = stream_of_many(fd, id, n);
	limit_files(64 << 10);
	FAILS(EFBIG, posix_trace_flush(trid));
	FAILS(EFBIG, posix_trace_flush(trid));
	status = status_of(trid);
	ck_assert_int_eq(status.posix_stream_flush_error, EFBIG);
	ck_assert_int_eq(status.posix_stream_flush_status, POSIX_TRACE_NOT_FLUSHING);
	ck_assert_int_eq(status_of(trid).posix_stream_flush_error, 0);
	ck_assert_int_eq(atomic_load(&signals_taken), 0);

	/* As clarified: the events remain in the stream, and the next flush tries again. */
	limit_files(RLIM_INFINITY);
	OK(posix_trace_flush(trid));
	ck_assert_int_eq(status_of(trid).posix_stream_flush_error, 0);
	shut(trid);
	assert_log_numbers(fd, id, 0, (size_t)n);
	assert_log_whole(fd);
	signal(SIGXFSZ, SIG_DFL);
	close(fd);
}
END_TEST

/* FLUSHF-07, FLUSHF-08, SHUT-05, SHUT-06, STATUS-12 */
START_TEST(a_full_device_gives_enospc_and_keeps_what_it_has)
{
	const char *folder = small_device(DEVICE_BYTES);
	trace_event_id_t id = type_of("n");
	trace_id_t trid;
	int fd;

	if (!folder)
		return;
	fd = small_device_log(folder);
	trid = small_device_fill(fd, id);
	FAILS(ENOSPC, posix_trace_shutdown(trid));
	FAILS(EINVAL, posix_trace_flush(trid));
	assert_log_cut(fd, id);
	close(fd);
}
END_TEST

/* FLUSHF-07, FLUSHF-08 */
START_TEST(events_wait_until_a_full_device_has_room)
{
	const char *folder = small_device(DEVICE_BYTES);
	trace_event_id_t id = type_of("n");
	struct posix_trace_ledger_np ledger;
	trace_id_t trid;
	int fd;

	if (!folder)
		return;
	fd = small_device_log(folder);
	trid = small_device_fill(fd, id);
	OK(posix_trace_get_ledger_type_np(trid, id, &ledger));
	ck_assert_uint_eq(ledger.called, DEVICE_TOO_MANY);
	ck_assert_uint_gt(ledger.unread, 0);
	ck_assert_uint_eq(ledger.reported + ledger.unread, DEVICE_TOO_MANY);
	small_device_grow(folder, 16 * DEVICE_BYTES);
	OK(posix_trace_flush(trid));
	OK(posix_trace_get_ledger_type_np(trid, id, &ledger));
	ck_assert_uint_eq(ledger.reported, DEVICE_TOO_MANY);
	shut(trid);
	assert_log_numbers(fd, id, 0, DEVICE_TOO_MANY);
	assert_log_whole(fd);
	close(fd);
}
END_TEST

/*
 * LOG-04, LOG-05, FLUSHF-07: the log is full when its first block of 65536 bytes has no room for
 * the STOP. So the flush must write the block before it can add the STOP.
 */
START_TEST(a_full_log_gets_its_stop_when_its_file_can_be_written)
{
	int fd = log_file();
	trace_event_id_t id = type_of("n");
	trace_id_t trid = LOGGED_STARTED(fd, .policy = POSIX_TRACE_UNTIL_FULL, .size = 1 << 18,
					 .log_policy = POSIX_TRACE_UNTIL_FULL,
					 .log_size = 65536 + 32);
	struct history *history;

	for (int i = 0; i < 3000; i++)
		trace_number(id, i);
	signal(SIGXFSZ, take_signal);
	limit_files(4096);
	FAILS(EFBIG, posix_trace_flush(trid));
	FAILS(EFBIG, posix_trace_flush(trid));
	ck_assert_status(trid, RUNNING, NOT_FULL);
	limit_files(RLIM_INFINITY);
	OK(posix_trace_flush(trid));
	ck_assert_status(trid, SUSPENDED, NOT_FULL);
	shut(trid);
	history = log_history(fd);
	ck_assert_uint_gt(history_count(history, id), 1000);
	ck_assert_uint_lt(history_count(history, id), 3000);
	ck_assert_uint_eq(history_count(history, POSIX_TRACE_STOP), 1);
	ck_assert_uint_eq(history->event[history->n - 1].info.posix_event_id, POSIX_TRACE_STOP);
	history_free(history);
	assert_log_whole(fd);
	signal(SIGXFSZ, SIG_DFL);
	close(fd);
}
END_TEST

/* FLUSHF-09, SHUT-05, SHUT-06 */
START_TEST(a_broken_pipe_is_an_error_and_no_signal)
{
	int before = support_descriptors(), ends[2];
	trace_id_t trid;

	ck_assert_int_eq(pipe2(ends, O_CLOEXEC), 0);
	signal(SIGPIPE, take_signal);
	trid = LOGGED_STARTED(ends[1], .policy = POSIX_TRACE_UNTIL_FULL,
			      .log_policy = POSIX_TRACE_APPEND);
	trace_number(type_of("n"), 1);
	close(ends[0]);
	FAILS(EPIPE, posix_trace_flush(trid));
	ck_assert_int_eq(status_of(trid).posix_stream_flush_error, EPIPE);
	FAILS(EPIPE, posix_trace_shutdown(trid));
	FAILS(EINVAL, posix_trace_shutdown(trid));
	close(ends[1]);
	ck_assert_int_eq(atomic_load(&signals_taken), 0);
	ck_assert_int_eq(support_descriptors(), before);
	signal(SIGPIPE, SIG_DFL);
}
END_TEST

/* FLUSHF-09 */
START_TEST(a_signal_that_the_program_had_pending_stays_pending)
{
	sigset_t pipe_signal, pending;
	int ends[2];
	trace_id_t trid;

	ck_assert_int_eq(pipe2(ends, O_CLOEXEC), 0);
	sigemptyset(&pipe_signal);
	sigaddset(&pipe_signal, SIGPIPE);
	pthread_sigmask(SIG_BLOCK, &pipe_signal, NULL);
	pthread_kill(pthread_self(), SIGPIPE);
	trid = LOGGED_STARTED(ends[1], .policy = POSIX_TRACE_UNTIL_FULL,
			      .log_policy = POSIX_TRACE_APPEND);
	close(ends[0]);
	FAILS(EPIPE, posix_trace_flush(trid));
	FAILS(EPIPE, posix_trace_shutdown(trid));
	sigpending(&pending);
	ck_assert_int_eq(sigismember(&pending, SIGPIPE), 1);
	sigemptyset(&pending);
	pthread_sigmask(SIG_BLOCK, NULL, &pending);
	ck_assert_int_eq(sigismember(&pending, SIGPIPE), 1);
	signal(SIGPIPE, SIG_IGN);
	pthread_sigmask(SIG_UNBLOCK, &pipe_signal, NULL);
	signal(SIGPIPE, SIG_DFL);
	close(ends[1]);
}
END_TEST

/* The reader takes nothing. The kernel has accepted some bytes, and no call waits for ever. */
START_TEST(a_full_pipe_in_non_blocking_mode_is_an_error)
{
	trace_event_id_t id = type_of("n");
	uint32_t noise[64], random = 1;
	trace_id_t trid;
	int ends[2];

	ck_assert_int_eq(pipe2(ends, O_CLOEXEC | O_NONBLOCK), 0);
	ck_assert_int_gt(fcntl(ends[1], F_SETPIPE_SZ, 8192), 0);
	trid = LOGGED_STARTED(ends[1], .policy = POSIX_TRACE_UNTIL_FULL,
			      .log_policy = POSIX_TRACE_APPEND);
	for (int i = 0; i < 200; i++) {
		for (unsigned k = 0; k < sizeof noise / sizeof noise[0]; k++)
			noise[k] = random = random * 1664525 + 1013904223;
		posix_trace_event(id, noise, sizeof noise);
	}
	FAILS(EAGAIN, posix_trace_flush(trid));
	ck_assert_int_eq(status_of(trid).posix_stream_flush_error, EAGAIN);
	ck_assert_ledger_closes(trid);
	FAILS(EAGAIN, posix_trace_shutdown(trid));
	close(ends[0]);
	close(ends[1]);
}
END_TEST

SUITE_MAIN("posix_trace_flush, errors", a_file_size_limit_gives_efbig_and_no_signal,
	   a_full_device_gives_enospc_and_keeps_what_it_has,
	   events_wait_until_a_full_device_has_room,
	   a_full_log_gets_its_stop_when_its_file_can_be_written,
	   a_broken_pipe_is_an_error_and_no_signal,
	   a_signal_that_the_program_had_pending_stays_pending,
	   a_full_pipe_in_non_blocking_mode_is_an_error)
