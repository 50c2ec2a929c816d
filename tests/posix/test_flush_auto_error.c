/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* An automatic flush has no caller that gets its error, so it reports the error in the stream. */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/resource.h>

#include "support/log.h"

static void limit_files(rlim_t bytes)
{
	struct rlimit limit;

	ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &limit), 0);
	limit.rlim_cur = bytes < limit.rlim_max ? bytes : limit.rlim_max;
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

/* Starts a small stream with a flusher, which appends to the log. */
static trace_id_t start_flushed(int fd)
{
	return LOGGED_STARTED(fd, .policy = POSIX_TRACE_FLUSH, .log_policy = POSIX_TRACE_APPEND,
			      .size = 1 << 18);
}

/*
 * SYSEV-02, SYSEV-06, STATUS-12, FLUSHF-09: the limit is removed again, so that the log can report
 * the error
 */
START_TEST(the_error_of_an_automatic_flush_is_an_event)
{
	int fd = log_file(), error = 0;
	trace_event_id_t id = type_of("n");
	trace_id_t trid = start_flushed(fd);
	struct posix_trace_status_info status;
	struct history *history;
	size_t errors = 0;

	limit_files(8192);
	/*
	 * The loop has no assertions: Check writes each of them into a file, to which the limit
	 * applies.
	 */
	while (!error) {
		for (int i = 0; i < 1000; i++)
			trace_number(id, i);
		if (posix_trace_get_status(trid, &status))
			break;
		error = status.posix_stream_flush_error;
	}
	ck_assert_int_eq(error, EFBIG);
	limit_files(RLIM_INFINITY);
	shut(trid);

	history = log_history(fd);
	for (size_t i = 0; i < history->n; i++) {
		const struct seen *seen = &history->event[i];

		if (seen->info.posix_event_id != POSIX_TRACE_ERROR)
			continue;
		errors++;
		ck_assert_int_eq(int_of(seen), EFBIG);
		ck_assert_int_eq(seen->info.posix_truncation_status, POSIX_TRACE_NOT_TRUNCATED);
		ck_assert_int_eq(seen->info.posix_pid, 0);
		ck_assert(!seen->info.posix_thread_id);
		ck_assert_ptr_null(seen->info.posix_prog_address);
	}
	ck_assert_uint_ge(errors, 1);
	history_free(history);
	assert_log_whole(fd);
	close(fd);
}
END_TEST

static atomic_bool has_no_threads;

/* The library calls this function, too. */
int pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*run)(void *), void *arg)
{
	int (*real)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *) =
		(__typeof__(real))dlsym(RTLD_NEXT, "pthread_create");

	return atomic_load(&has_no_threads) ? EAGAIN : real(thread, attr, run, arg);
}

/*
 * The library ends the flusher before the program calls unshare(). Afterwards it cannot start the
 * flusher. The second time it can.
 */
START_TEST(a_thread_that_cannot_be_started_again_is_an_error)
{
	int fd = log_file(), errors = 0;
	trace_event_id_t id = type_of("n");
	trace_id_t trid = start_flushed(fd);
	struct posix_trace_status_info status;
	struct history *history;
	off_t size = 0;

	for (int i = 0; i < 2; i++) {
		OK(posix_trace_confine_np(POSIX_TRACE_CONFINE_ALONE_NP));
		/* There is no flusher now. The size of the second time is used below. */
		size = log_stat(fd).st_size;
		atomic_store(&has_no_threads, i == 0);
		errno = 4711;
		OK(posix_trace_confine_np(POSIX_TRACE_CONFINE_ALONE_END_NP));
		ck_assert_int_eq(errno, 4711);
		OK(posix_trace_get_status(trid, &status));
		ck_assert_int_eq(status.posix_stream_flush_error, i ? 0 : EAGAIN);
	}
	trace_number(id, 1);
	/* Only the flusher writes events into the file before the shutdown. */
	while (log_stat(fd).st_size == size)
		sched_yield();
	shut(trid);
	history = log_history(fd);
	for (size_t i = 0; i < history->n; i++)
		if (history->event[i].info.posix_event_id == POSIX_TRACE_ERROR) {
			ck_assert_int_eq(int_of(&history->event[i]), EAGAIN);
			errors++;
		}
	ck_assert_int_eq(errors, 1);
	history_free(history);
	assert_log_whole(fd);
	close(fd);
}
END_TEST

SUITE_MAIN("automatic flushes that fail", the_error_of_an_automatic_flush_is_an_event,
	   a_thread_that_cannot_be_started_again_is_an_error)
