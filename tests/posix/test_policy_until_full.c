/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Stream-full policy UNTIL_FULL: the stream stops automatically, and restarts when enough is read.
 */
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "support/payload.h"
#include "support/stream.h"

#define UNTIL_FULL(...) STARTED(.policy = POSIX_TRACE_UNTIL_FULL, __VA_ARGS__)

static int is_overrun(trace_id_t trid)
{
	return status_of(trid).posix_stream_overrun_status == POSIX_TRACE_OVERRUN;
}

/*
 * The history must be START, numbers from `first` without a gap, STOP(non-zero). Returns the next
 * number.
 */
static int assert_cycle(const struct history *history, int first)
{
	ck_assert_uint_ge(history->n, 3);
	ck_assert_uint_eq(history->event[0].info.posix_event_id, POSIX_TRACE_START);
	for (size_t i = 1; i + 1 < history->n; i++) {
		ck_assert_uint_ge(history->event[i].info.posix_event_id, 64);
		if (number_of(&history->event[i]) != first++)
			ck_abort_msg("number %d is in the place of %d",
				     number_of(&history->event[i]), first - 1);
	}
	ck_assert_uint_eq(history->event[history->n - 1].info.posix_event_id, POSIX_TRACE_STOP);
	ck_assert_int_ne(int_of(&history->event[history->n - 1]), 0);
	return first;
}

/* UFULL-01, UFULL-02, UFULL-03, UFULL-04, UFULL-13 */
START_TEST(the_stream_stops_by_itself_and_keeps_its_events)
{
	trace_event_id_t u = type_of("u");
	trace_id_t trid = UNTIL_FULL(.size = 4000);
	struct history *history;
	int calls = fill(trid, u, 64, 0);

	ck_assert_status(trid, SUSPENDED, FULL);
	for (int i = 0; i < 1000; i++)
		trace_number(u, -1);
	history = read_all(trid);
	/* The last call of fill() recorded the event that did not fit. */
	ck_assert_int_eq(assert_cycle(history, 0), calls - 1);
	history_free(history);
	shut(trid);
}
END_TEST

/* UFULL-04, UFULL-06, STATUS-04 */
START_TEST(the_event_that_did_not_fit_is_an_overrun)
{
	struct posix_trace_status_info status;
	trace_event_id_t u = type_of("u");
	trace_id_t trid = UNTIL_FULL(.size = 4000);

	for (int i = 0;; i++) {
		trace_number(u, i);
		status = status_of(trid);
		if (status.posix_stream_full_status == POSIX_TRACE_FULL)
			break;
		ck_assert_int_eq(status.posix_stream_overrun_status, POSIX_TRACE_NO_OVERRUN);
		ck_assert_int_eq(status.posix_stream_status, POSIX_TRACE_RUNNING);
	}
	ck_assert_int_eq(status.posix_stream_overrun_status, POSIX_TRACE_OVERRUN);
	ck_assert_int_eq(status.posix_stream_status, POSIX_TRACE_SUSPENDED);
	shut(trid);
}
END_TEST

/* UFULL-06 */
START_TEST(losses_count_while_full_and_not_while_stopped)
{
	trace_event_id_t u = type_of("u");
	trace_id_t trid = UNTIL_FULL(.size = 4000), stopped = UNTIL_FULL(.size = 1 << 20);

	stop(stopped);
	fill(trid, u, 64, 0);
	is_overrun(trid);
	for (int i = 0; i < 10; i++) {
		ck_assert(!is_overrun(trid));
		trace_number(u, -1);
		trace_number(u, -1);
		ck_assert(is_overrun(trid));
	}
	ck_assert(!is_overrun(stopped));
	shut(trid);
	shut(stopped);
}
END_TEST

/* UFULL-07, UFULL-08, UFULL-10, UFULL-11, UFULL-12 */
START_TEST(a_stream_read_empty_runs_again)
{
	trace_event_id_t u = type_of("u");
	trace_id_t trid = UNTIL_FULL(.size = 4000);

	for (int cycle = 0; cycle < 30; cycle++) {
		int calls = fill(trid, u, 64, 1000 * cycle);
		struct history *history = read_all(trid);

		ck_assert_int_eq(assert_cycle(history, 1000 * cycle),
				 1000 * cycle + calls - 1);
		history_free(history);
		ck_assert_status(trid, RUNNING, NOT_FULL);
		assert_empty(trid); /* the START is recorded with the next event, not before it */
	}
	trace_number(u, 5);
	ck_assert_events(trid, "START u=5");
	shut(trid);
}
END_TEST

/* UFULL-10: the START has a filter that was set while the stream was full */
START_TEST(the_start_of_a_restart_has_the_filter_in_force)
{
	trace_event_id_t u = type_of("u"), v = type_of("v");
	trace_id_t trid = UNTIL_FULL(.size = 4000);
	trace_event_set_t set;
	struct history *history;

	fill(trid, u, 64, 0);
	OK(posix_trace_eventset_empty(&set));
	OK(posix_trace_eventset_add(v, &set));
	OK(posix_trace_set_filter(trid, &set, POSIX_TRACE_ADD_EVENTSET));
	history = read_all(trid);
	ck_assert_uint_eq(history_count(history, POSIX_TRACE_FILTER), 0); /* FILTER-07 */
	history_free(history);
	trace_number(v, 1);
	trace_number(u, 2);
	ck_assert_events(trid, "START{v} u=2");
	shut(trid);
}
END_TEST

/*
 * UFULL-08, UFULL-09, UFULL-12: the stream restarts when half of the size is free. No status before
 * the restart reports a stop by call.
 */
START_TEST(half_of_the_size_read_is_enough)
{
	trace_event_id_t u = type_of("u");
	trace_id_t trid = UNTIL_FULL(.size = 1 << 20, .max_data = 64);
	size_t restarted_at = 0, half = stream_size(trid) / 2;
	int n = fill(trid, u, 64, 0) - 1, last = -1;
	struct history *history;
	struct seen seen;
	trace_attr_t attr;

	for (int i = 0; i <= n; i++) { /* the START and n events */
		struct posix_trace_status_info status = status_of(trid);

		if (status.posix_stream_status == POSIX_TRACE_RUNNING) {
			ck_assert_int_eq(status.posix_stream_full_status, POSIX_TRACE_NOT_FULL);
			restarted_at = i;
			break;
		}
		ck_assert_int_eq(status.posix_stream_full_status, POSIX_TRACE_FULL);
		ck_assert_int_eq(read_one(trid, &seen), 1);
		if (i)
			last = number_of(&seen);
		free(seen.data);
	}
	/*
	 * An event needs at most its maximum size, and memory is freed in pieces that are small
	 * compared with the size. The limit for the restart includes the memory that the stream has
	 * in addition to its size.
	 */
	OK(posix_trace_get_attr(trid, &attr));
	ck_assert_uint_ge(restarted_at * user_event_size(&attr, 64), half * 9 / 10);
	ck_assert_uint_le(restarted_at, (size_t)n * 3 / 4);
	trace_number(u, n);
	history = read_all(trid);
	for (size_t i = 0; i + 3 < history->n; i++)
		ck_assert_int_eq(number_of(&history->event[i]), ++last);
	ck_assert_int_eq(last, n - 1);
	ck_assert_uint_eq(history->event[history->n - 3].info.posix_event_id, POSIX_TRACE_STOP);
	ck_assert_int_ne(int_of(&history->event[history->n - 3]), 0);
	ck_assert_uint_eq(history->event[history->n - 2].info.posix_event_id, POSIX_TRACE_START);
	ck_assert_int_eq(number_of(&history->event[history->n - 1]), n);
	history_free(history);
	shut(trid);
}
END_TEST

/* UFULL-14, CLEAR-03 */
START_TEST(a_cleared_stream_waits_for_a_start)
{
	trace_event_id_t u = type_of("u");
	trace_id_t trid = UNTIL_FULL(.size = 4000);

	fill(trid, u, 64, 0);
	OK(posix_trace_clear(trid));
	ck_assert_status(trid, SUSPENDED, NOT_FULL);
	assert_empty(trid);
	trace_number(u, 1);
	ck_assert_status(trid, SUSPENDED, NOT_FULL);
	ck_assert(!is_overrun(trid));
	assert_empty(trid);
	start(trid);
	ck_assert_status(trid, RUNNING, NOT_FULL);
	trace_number(u, 2);
	ck_assert_events(trid, "START u=2");
	shut(trid);
}
END_TEST

static trace_event_id_t type;
static trace_id_t stream;
static _Atomic int waiting_tid, got_last;

/* Reads with waits until it has read number -7. */
static void *read_until_the_last(void *unused)
{
	struct posix_trace_event_info info;
	int unavailable, err, number = 0;
	char data[300];
	size_t len;

	(void)unused;
	waiting_tid = thread_id();
	while (number != -7) {
		err = posix_trace_getnext_event(stream, &info, data, sizeof(data), &len,
						&unavailable);
		if (err || unavailable)
			ck_abort_msg("getnext: %d", err);
		if (info.posix_event_id == type)
			memcpy(&number, data, sizeof(number));
	}
	got_last = 1;
	return NULL;
}

/* UFULL-16, UFULL-08 */
START_TEST(a_waiting_reader_gets_the_events_after_the_restart)
{
	pthread_t thread;

	type = type_of("u");
	stream = UNTIL_FULL(.size = 4000);
	fill(stream, type, 64, 0);
	thread = spawn(read_until_the_last, NULL);
	while (!waiting_tid || status_of(stream).posix_stream_status != POSIX_TRACE_RUNNING)
		sched_yield();
	spin_until_asleep(waiting_tid);
	ck_assert_int_eq(got_last, 0);
	trace_number(type, -7);
	join(thread);
	shut(stream);
}
END_TEST

enum { WRITERS = 4, PER_WRITER = 60000 };

static _Atomic int writers;
static _Atomic uint64_t made;

static void *write_payloads(void *arg)
{
	uint32_t who = (uint32_t)(uintptr_t)arg;
	unsigned char data[PAYLOAD_MIN];

	for (uint64_t n = 0; n < PER_WRITER; n++) {
		payload_make(data, sizeof(data), who, n);
		posix_trace_event(type, data, sizeof(data));
		made++;
	}
	writers--;
	return NULL;
}

/*
 * UFULL-02, UFULL-08, UFULL-11, UFULL-13, EVENT-19: several threads fill the stream again and again
 * while it is read. START and STOP alternate, events are only between them, and the order of each
 * thread is kept.
 */
START_TEST(cycles_of_many_threads_are_well_formed)
{
	uint64_t next[WRITERS] = { 0 }, read = 0, starts = 0, stops = 0;
	pthread_t thread[WRITERS];
	int running = 0;

	type = type_of("u");
	stream = UNTIL_FULL(.size = 20000);
	writers = WRITERS;
	for (uintptr_t i = 0; i < WRITERS; i++)
		thread[i] = spawn(write_payloads, (void *)i);
	/* At least until the first stop, because the writer may be slower than the reader. */
	while (status_of(stream).posix_stream_status == POSIX_TRACE_RUNNING)
		sched_yield();
	for (;;) {
		int none_writes = !writers;
		struct seen seen;
		uint64_t sequence;
		uint32_t who;

		if (!read_one(stream, &seen)) {
			if (none_writes)
				break;
			sched_yield();
			continue;
		}
		switch (seen.info.posix_event_id) {
		case POSIX_TRACE_START:
			if (running++)
				ck_abort_msg("a START without a STOP before it");
			starts++;
			break;
		case POSIX_TRACE_STOP:
			if (running-- != 1 || !int_of(&seen))
				ck_abort_msg("a STOP of a stopped stream");
			stops++;
			break;
		case POSIX_TRACE_OVERFLOW:
		case POSIX_TRACE_RESUME:
			ck_abort_msg("a mark of policy LOOP");
		default:
			if (!payload_read(seen.data, seen.len, &who, &sequence) || who >= WRITERS)
				ck_abort_msg("a torn event");
			if (!running)
				ck_abort_msg("an event outside START and STOP");
			if (sequence < next[who])
				ck_abort_msg("an event of thread %u came late or twice", who);
			next[who] = sequence + 1;
			read++;
		}
		free(seen.data);
	}
	for (int i = 0; i < WRITERS; i++)
		join(thread[i]);
	ck_assert_uint_gt(stops, 0);
	ck_assert_uint_ge(starts, stops);
	ck_assert_uint_le(read, made);
	shut(stream);
}
END_TEST

SUITE_MAIN("stream-full policy UNTIL_FULL",
	   the_stream_stops_by_itself_and_keeps_its_events,
	   the_event_that_did_not_fit_is_an_overrun,
	   losses_count_while_full_and_not_while_stopped,
	   a_stream_read_empty_runs_again,
	   the_start_of_a_restart_has_the_filter_in_force,
	   half_of_the_size_read_is_enough,
	   a_cleared_stream_waits_for_a_start,
	   a_waiting_reader_gets_the_events_after_the_restart,
	   cycles_of_many_threads_are_well_formed)
