/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Stream-full policy FLUSH. To make a flush slow, the log is a pipe that is not read yet. The flush
 * then lasts as long as the test needs.
 */
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/log.h"
#include "support/named_thread.h"

#define STREAM_BYTES (256u << 10)
/*
 * A size for which the bytes that a blocked flush has moved (into a pipe and a block of the log)
 * are far less than half.
 */
#define STUCK_BYTES  (1u << 20)

static struct posix_trace_ledger_np line_of(trace_id_t trid, trace_event_id_t id)
{
	struct posix_trace_ledger_np line;

	OK(posix_trace_get_ledger_type_np(trid, id, &line));
	return line;
}

/* SFLUSH-01, SFLUSH-02, SFLUSH-07 */
START_TEST(old_events_are_flushed_although_the_stream_is_not_full)
{
	int fd = log_file();
	trace_id_t trid = LOGGED_STARTED(fd, .size = STREAM_BYTES);
	trace_event_id_t id = type_of("n");

	trace_number(id, 1);
	trace_number(id, 2);
	wait_until(line_of(trid, id).reported == 2);
	ck_assert_uint_eq(line_of(trid, id).unread, 0);
	ck_assert_status(trid, RUNNING, NOT_FULL);
	shut(trid);
	ck_assert_log(fd, "START n=1 n=2 STOP(0)");
	close(fd);
}
END_TEST

/* SFLUSH-01, SFLUSH-02, FLUSHF-04 */
START_TEST(a_stream_that_fills_slowly_enough_never_stops)
{
	const int per_wait = 500, waits = 40; /* 20,000 events, twice the stream's capacity */
	int fd = log_file(), flushing = 0;
	trace_event_id_t id = type_of("n");
	trace_id_t trid = LOGGED_STARTED(fd, .log_policy = POSIX_TRACE_APPEND,
					 .size = STREAM_BYTES);
	struct posix_trace_ledger_np line;
	struct history *history;

	for (int wait = 0; wait < waits; wait++) {
		for (int i = 0; i < per_wait; i++)
			trace_number(id, wait * per_wait + i);
		/* When more than half of the stream's memory is used, the system must flush. */
		wait_until(line_of(trid, id).unread <= 4500);
	}
	line = line_of(trid, id);
	ck_assert_uint_eq(line.called, per_wait * waits);
	ck_assert_uint_eq(line.reported + line.unread, per_wait * waits);
	ck_assert_int_eq(status_of(trid).posix_stream_overrun_status, POSIX_TRACE_NO_OVERRUN);
	shut(trid);
	history = log_history(fd);
	assert_numbers_from(history, id, 0, (size_t)(per_wait * waits));
	ck_assert_uint_eq(history_count(history, POSIX_TRACE_STOP), 1);
	ck_assert_uint_eq(history_count(history, POSIX_TRACE_OVERFLOW), 0);
	ck_assert_uint_ge(history_count(history, POSIX_TRACE_FLUSH_START), 2);
	for (size_t i = 0; i < history->n; i++) {
		switch (history->event[i].info.posix_event_id) {
		case POSIX_TRACE_FLUSH_START:
			ck_assert_int_eq(flushing++, 0);
			break;
		case POSIX_TRACE_FLUSH_STOP:
			ck_assert_int_eq(--flushing, 0);
			break;
		}
	}
	ck_assert_int_eq(flushing, 0);
	history_free(history);
	close(fd);
}
END_TEST

/* SFLUSH-02: CH-36, marks alone are no reason to flush */
START_TEST(an_idle_stream_is_not_flushed_again_and_again)
{
	int fd = log_file();
	trace_id_t trid = LOGGED_STARTED(fd, .size = STREAM_BYTES);
	struct history *history;

	OK(posix_trace_flush(trid));
	usleep(2500000);
	shut(trid);
	history = log_history(fd);
	ck_assert_uint_eq(history_count(history, POSIX_TRACE_FLUSH_START), 2);
	history_free(history);
	close(fd);
}
END_TEST

/*
 * A FLUSH stream whose flush waits for the pipe. The flush and the stream have n events, and the
 * stream has stopped because it is full. `lost` is the number of events that were called after the
 * stop.
 */
struct stuck {
	struct siphon *siphon;
	trace_id_t trid;
	trace_event_id_t id;
	int called;
	int lost_after;
};

static struct stuck get_stuck(int lost_after)
{
	struct stuck stuck = { .siphon = siphon_start(), .id = type_of("n") };

	stuck.trid = LOGGED_STARTED(siphon_fd(stuck.siphon), .log_policy = POSIX_TRACE_APPEND,
				    .size = STUCK_BYTES);
	stuck.called = fill(stuck.trid, stuck.id, 256, 0);
	wait_until(status_of(stuck.trid).posix_stream_flush_status == POSIX_TRACE_FLUSHING);
	stuck.lost_after = lost_after;
	for (int i = 0; i < lost_after; i++)
		trace_number(stuck.id, stuck.called + i);
	return stuck;
}

/* Threads that record a burst of several chunks each, and do not end. */
#define THREADS 60
static pthread_barrier_t recorded, may_end;

static void *burst(void *arg)
{
	const trace_event_id_t id = *(trace_event_id_t *)arg;
	char data[200] = { 0 };

	for (int i = 0; i < 39; i++)
		posix_trace_event(id, data, sizeof(data));
	pthread_barrier_wait(&recorded);
	pthread_barrier_wait(&may_end);
	return NULL;
}

/*
 * A flush cannot free open chunks, so open chunks are no reason for the next flush, whatever their
 * sizes are. Each flush with its events would make the log longer.
 */
START_TEST(open_chunks_of_many_threads_are_not_flushed_again_and_again)
{
	static const size_t sizes[] = { 512u << 10, 64u << 10 };
	pthread_t thread[THREADS];

	for (int s = 0; s < 2; s++) {
		int fd = log_file(), same = 0;
		trace_id_t trid = LOGGED_STARTED(fd, .size = sizes[s], .max_data = 1024);
		trace_event_id_t id = type_of("u");
		off_t before = 0;

		pthread_barrier_init(&recorded, NULL, THREADS + 1);
		pthread_barrier_init(&may_end, NULL, THREADS + 1);
		for (int i = 0; i < THREADS; i++)
			ck_assert_int_eq(pthread_create(&thread[i], NULL, burst, &id), 0);
		pthread_barrier_wait(&recorded);
		/* The log grows until the last flush ends, and does not grow afterwards. */
		while (same < 5) {
			usleep(50000);
			same = log_stat(fd).st_size == before ? same + 1 : 0;
			before = log_stat(fd).st_size;
		}
		pthread_barrier_wait(&may_end);
		for (int i = 0; i < THREADS; i++)
			pthread_join(thread[i], NULL);
		shut(trid);
		close(fd);
	}
}
END_TEST

/* SFLUSH-08, STATUS-11, SFLUSH-03, SFLUSH-04, SFLUSH-05, STATUS-04, EVENT-16 */
START_TEST(a_stream_that_fills_during_its_flush_stops_and_is_seen_flushing)
{
	struct stuck stuck = get_stuck(7);
	struct posix_trace_status_info status;
	struct posix_trace_ledger_np line = line_of(stuck.trid, stuck.id);

	ck_assert_status(stuck.trid, SUSPENDED, FULL);
	trace_number(stuck.id, 0);
	status = status_of(stuck.trid);
	ck_assert_int_eq(status.posix_stream_flush_status, POSIX_TRACE_FLUSHING);
	ck_assert_int_eq(status.posix_stream_overrun_status, POSIX_TRACE_OVERRUN);
	ck_assert_int_eq(status.posix_stream_flush_error, 0);
	ck_assert_int_eq(status.posix_log_overrun_status, POSIX_TRACE_NO_OVERRUN);
	/* The flush recorded more than the content of one pipe. */
	ck_assert_uint_gt(line.unread * 256, 65536);
	ck_assert_uint_ge(line.lost[POSIX_TRACE_LOST_STREAM_FULL_NP], 7);
	ck_assert_uint_eq(line.called, stuck.called + 7);

	close(siphon_fd(stuck.siphon));
	siphon_release(stuck.siphon);
	wait_until(status_of(stuck.trid).posix_stream_status == POSIX_TRACE_RUNNING);
	ck_assert_status(stuck.trid, RUNNING, NOT_FULL);
	shut(stuck.trid);
	close(siphon_finish(stuck.siphon));
}
END_TEST

/* Returns whether this process has a thread that flushes. */
static bool has_flusher(void)
{
	const int found = named_thread("ptx-flush");

	ck_assert_int_ge(found, 0);
	return found;
}

static _Atomic pid_t confiner[2];

/* Calls posix_trace_confine_np(). Returns whether the flusher had ended when the call returned. */
static void *confine(void *arg)
{
	static bool yes;

	atomic_store((_Atomic pid_t *)arg, thread_id());
	OK(posix_trace_confine_np(POSIX_TRACE_CONFINE_ALL_NP));
	return has_flusher() ? NULL : &yes;
}

/* One of the threads joins the flusher, which waits for the pipe. The other thread waits, too. */
START_TEST(two_threads_that_confine_the_process_both_wait_for_the_flusher)
{
	struct stuck stuck = get_stuck(0);
	pthread_t thread[2];

	close(siphon_fd(stuck.siphon));
	for (int i = 0; i < 2; i++)
		thread[i] = spawn(confine, (void *)&confiner[i]);
	for (int i = 0; i < 2; i++) {
		wait_until(atomic_load(&confiner[i]) != 0);
		spin_until_asleep(atomic_load(&confiner[i]));
	}
	ck_assert(has_flusher());
	siphon_release(stuck.siphon);
	for (int i = 0; i < 2; i++)
		ck_assert_ptr_nonnull(join(thread[i]));
	/* The library has no thread that could be ended. */
	OK(posix_trace_confine_np(POSIX_TRACE_CONFINE_ALL_NP));
	shut(stuck.trid);
	close(siphon_finish(stuck.siphon));
}
END_TEST

START_TEST(a_process_that_must_be_alone_has_its_flusher_again)
{
	trace_event_id_t id = type_of("n");
	int fd = log_file();
	trace_id_t trid = LOGGED_STARTED(fd, .policy = POSIX_TRACE_FLUSH);

	for (int i = 0; i < 3; i++) {
		OK(posix_trace_confine_np(POSIX_TRACE_CONFINE_ALONE_NP));
		OK(posix_trace_confine_np(POSIX_TRACE_CONFINE_ALONE_NP));
		ck_assert(!has_flusher());
		OK(posix_trace_confine_np(POSIX_TRACE_CONFINE_ALONE_END_NP));
		OK(posix_trace_confine_np(POSIX_TRACE_CONFINE_ALONE_END_NP));
		ck_assert(has_flusher());
		trace_number(id, i);
		/* The flusher writes the event by itself. */
		wait_until(line_of(trid, id).reported == (uint64_t)i + 1);
	}
	/* A filter for all threads ends the flusher for ever. */
	OK(posix_trace_confine_np(POSIX_TRACE_CONFINE_ALONE_NP));
	OK(posix_trace_confine_np(POSIX_TRACE_CONFINE_ALL_NP));
	OK(posix_trace_confine_np(POSIX_TRACE_CONFINE_ALONE_END_NP));
	ck_assert(!has_flusher());
	shut(trid);
	assert_log_numbers(fd, id, 0, 3);
	close(fd);
}
END_TEST

/*
 * The kernel refuses this call in a process with several threads. It counts a thread that ends for
 * a short time after pthread_join() has returned, so the test tries often.
 */
START_TEST(a_process_without_its_flusher_is_alone)
{
	int fd = log_file();
	trace_id_t trid;

	/* A sanitizer or an emulator may have a thread. */
	if (unshare(CLONE_THREAD) != 0) {
		close(fd);
		return;
	}
	trid = LOGGED_STARTED(fd, .policy = POSIX_TRACE_FLUSH);
	ck_assert_int_eq(unshare(CLONE_THREAD), -1);
	for (int i = 0; i < 500; i++) {
		OK(posix_trace_confine_np(POSIX_TRACE_CONFINE_ALONE_NP));
		ck_assert_msg(unshare(CLONE_THREAD) == 0, "not alone in pause %d", i);
		OK(posix_trace_confine_np(POSIX_TRACE_CONFINE_ALONE_END_NP));
	}
	shut(trid);
	close(fd);
}
END_TEST

static void *pause_when_cancelled(void *arg)
{
	int err;

	pthread_cancel(pthread_self());
	err = posix_trace_confine_np(POSIX_TRACE_CONFINE_ALONE_NP);
	err |= posix_trace_confine_np(POSIX_TRACE_CONFINE_ALONE_END_NP);
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
	OK(err);
	return arg;
}

/*
 * If the thread were cancelled, a shutdown would wait for ever for the thread that pauses the
 * flusher.
 */
START_TEST(a_thread_is_not_cancelled_while_it_pauses_the_flusher)
{
	int fd = log_file();
	trace_id_t trid = LOGGED_STARTED(fd, .policy = POSIX_TRACE_FLUSH);

	ck_assert_ptr_eq(join(spawn(pause_when_cancelled, &fd)), &fd);
	ck_assert(has_flusher());
	shut(trid);
	close(fd);
}
END_TEST

/* Finds the next event, from *i on, whose type is one of those that delimit a gap. */
static const struct seen *next_mark(const struct history *history, size_t *i)
{
	for (; *i < history->n; (*i)++) {
		switch (history->event[*i].info.posix_event_id) {
		case POSIX_TRACE_START:
		case POSIX_TRACE_STOP:
		case POSIX_TRACE_OVERFLOW:
		case POSIX_TRACE_RESUME:
			return &history->event[(*i)++];
		}
	}
	ck_abort_msg("the log ends before all marks of a gap were met");
	return NULL;
}

/* SFLUSH-04, SFLUSH-05, SFLUSH-06, UFULL-10 */
START_TEST(the_log_reports_the_gap_by_stop_overflow_resume_start)
{
	struct stuck stuck = get_stuck(10);
	const struct seen *stop_mark, *overflow, *resume, *start_mark;
	trace_event_id_t after = type_of("after");
	struct posix_trace_ledger_np line;
	int64_t before_release = now_ns();
	struct history *history;
	size_t i = 0, last_before = 0;
	int fd;

	close(siphon_fd(stuck.siphon));
	siphon_release(stuck.siphon);
	wait_until(status_of(stuck.trid).posix_stream_status == POSIX_TRACE_RUNNING);
	trace_number(after, 1);
	line = line_of(stuck.trid, stuck.id);
	shut(stuck.trid);
	fd = siphon_finish(stuck.siphon);
	history = log_history(fd);

	ck_assert_uint_eq(next_mark(history, &i)->info.posix_event_id, POSIX_TRACE_START);
	stop_mark = next_mark(history, &i);
	last_before = i - 2;
	overflow = next_mark(history, &i);
	resume = next_mark(history, &i);
	start_mark = next_mark(history, &i);
	ck_assert_uint_eq(stop_mark->info.posix_event_id, POSIX_TRACE_STOP);
	ck_assert_int_ne(int_of(stop_mark), 0);
	ck_assert_uint_eq(overflow->info.posix_event_id, POSIX_TRACE_OVERFLOW);
	ck_assert_uint_eq(overflow->len, 0);
	ck_assert_uint_eq(resume->info.posix_event_id, POSIX_TRACE_RESUME);
	ck_assert_uint_eq(resume->len, 0);
	ck_assert_uint_eq(start_mark->info.posix_event_id, POSIX_TRACE_START);
	ck_assert_uint_eq(next_mark(history, &i)->info.posix_event_id, POSIX_TRACE_STOP);

	/*
	 * The time of OVERFLOW is that of the first lost event; the time of RESUME is that of the
	 * START.
	 */
	ck_assert_int_eq(nanoseconds(&resume->info.posix_timestamp),
			 nanoseconds(&start_mark->info.posix_timestamp));
	ck_assert_int_ge(nanoseconds(&overflow->info.posix_timestamp),
			 nanoseconds(&history->event[last_before].info.posix_timestamp));
	ck_assert_int_le(nanoseconds(&overflow->info.posix_timestamp), before_release);
	ck_assert_int_ge(nanoseconds(&start_mark->info.posix_timestamp), before_release);

	/* Recorded events are delivered from first to last, and lost events are counted. */
	assert_numbers_from(history, stuck.id, 0, line.called -
			    line.lost[POSIX_TRACE_LOST_STREAM_FULL_NP]);
	ck_assert_uint_eq(line.called, stuck.called + stuck.lost_after);
	ck_assert_uint_eq(history_count(history, after), 1);
	history_free(history);
	close(fd);
}
END_TEST

static void *shut_down(void *arg)
{
	trace_id_t trid = *(trace_id_t *)arg;

	return posix_trace_shutdown(trid) ? arg : NULL;
}

/* SFLUSH-06 as clarified, SHUT-01, SHUT-03 */
START_TEST(shut_down_while_stopped_the_log_ends_in_overflow_only)
{
	struct stuck stuck = get_stuck(10);
	struct history *history;
	pthread_t thread;
	size_t i = 0;
	int fd;

	stop(stuck.trid); /* no restart while the shutdown waits for the flush */
	thread = spawn(shut_down, &stuck.trid);
	close(siphon_fd(stuck.siphon));
	siphon_release(stuck.siphon);
	ck_assert_ptr_null(join(thread));
	fd = siphon_finish(stuck.siphon);
	history = log_history(fd);
	ck_assert_uint_eq(next_mark(history, &i)->info.posix_event_id, POSIX_TRACE_START);
	ck_assert_uint_eq(next_mark(history, &i)->info.posix_event_id, POSIX_TRACE_STOP);
	ck_assert_int_ne(int_of(&history->event[i - 1]), 0);
	ck_assert_uint_eq(next_mark(history, &i)->info.posix_event_id, POSIX_TRACE_OVERFLOW);
	for (; i < history->n; i++) {
		trace_event_id_t id = history->event[i].info.posix_event_id;

		ck_assert(id == POSIX_TRACE_FLUSH_START || id == POSIX_TRACE_FLUSH_STOP);
	}
	history_free(history);
	close(fd);
}
END_TEST

/* STOP-03, STOP-05 and its clarification, START-04 */
START_TEST(stop_cancels_the_restart_and_start_arms_it_again)
{
	for (int arm = 0; arm < 2; arm++) {
		struct stuck stuck = get_stuck(1);
		struct posix_trace_ledger_np before, after;
		int fd;

		stop(stuck.trid);
		ck_assert_status(stuck.trid, SUSPENDED, FULL);
		if (arm) {
			start(stuck.trid);
			ck_assert_status(stuck.trid, SUSPENDED, FULL);
		}
		close(siphon_fd(stuck.siphon));
		siphon_release(stuck.siphon);
		OK(posix_trace_flush(stuck.trid));
		if (arm) {
			ck_assert_status(stuck.trid, RUNNING, NOT_FULL);
		} else {
			ck_assert_status(stuck.trid, SUSPENDED, NOT_FULL);
			before = line_of(stuck.trid, stuck.id);
			trace_number(stuck.id, 0);
			after = line_of(stuck.trid, stuck.id);
			ck_assert_uint_eq(after.called, before.called);
			ck_assert_int_eq(status_of(stuck.trid).posix_stream_overrun_status,
					 POSIX_TRACE_NO_OVERRUN);
		}
		shut(stuck.trid);
		fd = siphon_finish(stuck.siphon);
		assert_log_whole(fd);
		close(fd);
	}
}
END_TEST

/* SLOOP-12 */
START_TEST(a_loop_stream_is_never_flushed_by_itself)
{
	int fd = log_file();
	trace_event_id_t id = type_of("n");
	trace_id_t trid = LOGGED_STARTED(fd, .policy = POSIX_TRACE_LOOP, .size = STREAM_BYTES);
	off_t size = log_stat(fd).st_size;

	for (int i = 0; i < 3000; i++)
		trace_number(id, i);
	usleep(1500000); /* a FLUSH stream would have flushed by now (SFLUSH-02) */
	ck_assert_uint_eq(line_of(trid, id).reported, 0);
	ck_assert_int_eq(log_stat(fd).st_size, size);
	OK(posix_trace_flush(trid));
	ck_assert_uint_eq(line_of(trid, id).reported, 3000);
	shut(trid);
	close(fd);
}
END_TEST

/* UFULL-15 */
START_TEST(an_until_full_stream_is_never_flushed_by_itself)
{
	int fd = log_file();
	trace_event_id_t id = type_of("n");
	trace_id_t trid = LOGGED_STARTED(fd, .policy = POSIX_TRACE_UNTIL_FULL);

	fill(trid, id, 64, 0);
	usleep(1500000);
	ck_assert_status(trid, SUSPENDED, FULL);
	ck_assert_uint_eq(line_of(trid, id).reported, 0);
	shut(trid);
	close(fd);
}
END_TEST

SUITE_MAIN("stream-full policy FLUSH",
	   old_events_are_flushed_although_the_stream_is_not_full,
	   a_stream_that_fills_slowly_enough_never_stops,
	   an_idle_stream_is_not_flushed_again_and_again,
	   open_chunks_of_many_threads_are_not_flushed_again_and_again,
	   a_stream_that_fills_during_its_flush_stops_and_is_seen_flushing,
	   two_threads_that_confine_the_process_both_wait_for_the_flusher,
	   a_process_that_must_be_alone_has_its_flusher_again,
	   a_process_without_its_flusher_is_alone,
	   a_thread_is_not_cancelled_while_it_pauses_the_flusher,
	   the_log_reports_the_gap_by_stop_overflow_resume_start,
	   shut_down_while_stopped_the_log_ends_in_overflow_only,
	   stop_cancels_the_restart_and_start_arms_it_again,
	   a_loop_stream_is_never_flushed_by_itself,
	   an_until_full_stream_is_never_flushed_by_itself)
