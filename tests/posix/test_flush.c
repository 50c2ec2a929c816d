/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* posix_trace_flush(): the events that it moves, its marks, and simultaneous flushes. */
#include <stdatomic.h>
#include <unistd.h>

#include "support/log.h"

static struct posix_trace_ledger_np line_of(trace_id_t trid, trace_event_id_t id)
{
	struct posix_trace_ledger_np line;

	OK(posix_trace_get_ledger_type_np(trid, id, &line));
	return line;
}

/* FLUSHF-01, FLUSHF-02, FLUSHF-03, SIZE-10 */
START_TEST(a_flush_moves_everything_to_the_log_and_frees_its_space)
{
	const int each = 100, rounds = 20;
	int fd = log_file();
	trace_event_id_t id = type_of("n");
	trace_attr_t attr;
	trace_id_t trid;

	OK(posix_trace_attr_init(&attr));
	trid = LOGGED_STARTED(fd, .policy = POSIX_TRACE_UNTIL_FULL,
			      .log_policy = POSIX_TRACE_APPEND,
			      .size = system_event_size(&attr) +
				      (size_t)each * user_event_size(&attr, sizeof(int)));
	for (int round = 0; round < rounds; round++) {
		for (int i = 0; i < each; i++)
			trace_number(id, round * each + i);
		OK(posix_trace_flush(trid));
		ck_assert_uint_eq(line_of(trid, id).unread, 0);
		ck_assert_uint_eq(line_of(trid, id).reported, (round + 1) * each);
		ck_assert_status(trid, RUNNING, NOT_FULL);
	}
	ck_assert_int_eq(status_of(trid).posix_stream_overrun_status, POSIX_TRACE_NO_OVERRUN);
	shut(trid);
	assert_log_numbers(fd, id, 0, (size_t)(rounds * each));
	close(fd);
}
END_TEST

/* FLUSHF-04, LOG-14, SYSEV-03 */
START_TEST(marks_stand_where_the_flush_began_and_ended)
{
	int fd = log_file();
	trace_id_t trid = LOGGED_STARTED(fd, .policy = POSIX_TRACE_UNTIL_FULL);
	trace_event_id_t id = type_of("n");
	struct history *history;

	trace_number(id, 1);
	OK(posix_trace_flush(trid));
	trace_number(id, 2);
	OK(posix_trace_flush(trid));
	OK(posix_trace_flush(trid));
	trace_number(id, 3);
	stop(trid);
	OK(posix_trace_flush(trid));
	shut(trid);
	ck_assert_log_all(fd, "START n=1 FLUSH_START FLUSH_STOP n=2 FLUSH_START FLUSH_STOP "
			      "FLUSH_START FLUSH_STOP n=3 STOP(0) FLUSH_START FLUSH_STOP "
			      "FLUSH_START FLUSH_STOP");
	history = log_history(fd);
	for (size_t i = 0; i < history->n; i++) {
		const struct seen *seen = &history->event[i];

		if (seen->info.posix_event_id == POSIX_TRACE_FLUSH_START ||
		    seen->info.posix_event_id == POSIX_TRACE_FLUSH_STOP) {
			ck_assert_uint_eq(seen->len, 0);
			ck_assert_int_eq(seen->info.posix_truncation_status,
					 POSIX_TRACE_NOT_TRUNCATED);
		}
	}
	history_free(history);
	close(fd);
}
END_TEST

/* FLUSHF-05, FLUSHF-10, FLUSHF-03 */
START_TEST(an_empty_and_suspended_stream_is_flushed_with_marks)
{
	int fd = log_file();
	trace_id_t trid = LOGGED(fd);

	OK(posix_trace_flush(trid));
	ck_assert_status(trid, SUSPENDED, NOT_FULL);
	OK(posix_trace_flush(trid));
	ck_assert_status(trid, SUSPENDED, NOT_FULL);
	shut(trid);
	ck_assert_log_all(fd, "FLUSH_START FLUSH_STOP FLUSH_START FLUSH_STOP "
			      "FLUSH_START FLUSH_STOP");
	close(fd);
}
END_TEST

/* FLUSHF-05, FILTER-11 */
START_TEST(a_filter_leaves_the_marks_out_but_not_the_flush)
{
	int fd = log_file();
	trace_id_t trid = LOGGED(fd, .policy = POSIX_TRACE_UNTIL_FULL);
	trace_event_id_t id = type_of("n");
	trace_event_set_t marks;

	posix_trace_eventset_empty(&marks);
	posix_trace_eventset_add(POSIX_TRACE_FLUSH_START, &marks);
	posix_trace_eventset_add(POSIX_TRACE_FLUSH_STOP, &marks);
	OK(posix_trace_set_filter(trid, &marks, POSIX_TRACE_SET_EVENTSET));
	start(trid);
	trace_number(id, 1);
	OK(posix_trace_flush(trid));
	ck_assert_uint_eq(line_of(trid, id).reported, 1);
	trace_number(id, 2);
	shut(trid);
	ck_assert_log_all(fd, "START{posix_trace_flush_start posix_trace_flush_stop} n=1 n=2 "
			      "STOP(0)");
	close(fd);
}
END_TEST

/* FLUSHF-05: the space of the marks is not part of the stream's size (SIZE-11) */
START_TEST(the_marks_take_no_space_from_the_stream)
{
	const int n = 50;
	int fd = log_file();
	trace_event_id_t id = type_of("n");
	struct history *history;
	trace_attr_t attr;
	trace_id_t trid;

	OK(posix_trace_attr_init(&attr));
	trid = LOGGED_STARTED(fd, .policy = POSIX_TRACE_LOOP, .log_policy = POSIX_TRACE_APPEND,
			      .size = system_event_size(&attr) +
				      (size_t)n * user_event_size(&attr, sizeof(int)));
	for (int i = 0; i < n; i++)
		trace_number(id, i);
	for (int i = 0; i < 200; i++)
		OK(posix_trace_flush(trid));
	for (int i = 0; i < n; i++)
		trace_number(id, n + i);
	shut(trid);
	history = log_history(fd);
	assert_numbers_from(history, id, 0, 2 * (size_t)n);
	ck_assert_uint_eq(history_count(history, POSIX_TRACE_FLUSH_START), 201);
	ck_assert_uint_eq(history_count(history, POSIX_TRACE_OVERFLOW), 0);
	history_free(history);
	close(fd);
}
END_TEST

/* FLUSHF-06, LEGAL-07 */
START_TEST(only_an_active_stream_with_log_can_be_flushed)
{
	int fd = log_file();
	trace_id_t trid = STREAM(0), opened;

	FAILS(EINVAL, posix_trace_flush(trid));
	shut(trid);
	FAILS(EINVAL, posix_trace_flush(trid));
	FAILS(EINVAL, posix_trace_flush(0));
	FAILS(EINVAL, posix_trace_flush(~(trace_id_t)0));
	shut(LOGGED(fd));
	opened = log_open(fd);
	FAILS(EINVAL, posix_trace_flush(opened));
	log_close(opened);
	close(fd);
}
END_TEST

/* UFULL-15, UFULL-08, UFULL-10, UFULL-12, FLUSHF-03 */
START_TEST(a_flush_restarts_a_stream_that_had_stopped_because_it_was_full)
{
	int fd = log_file(), n;
	trace_id_t trid = LOGGED_STARTED(fd, .policy = POSIX_TRACE_UNTIL_FULL,
					 .log_policy = POSIX_TRACE_APPEND);
	trace_event_id_t id = type_of("n"), last = type_of("last");
	struct posix_trace_ledger_np line;
	struct history *history;
	size_t i = 0;

	n = fill(trid, id, sizeof(int), 0);
	ck_assert_status(trid, SUSPENDED, FULL);
	line = line_of(trid, id);
	ck_assert_uint_eq(line.reported, 0);
	ck_assert_uint_eq(line.unread + line.lost[POSIX_TRACE_LOST_STREAM_FULL_NP], n);
	OK(posix_trace_flush(trid));
	ck_assert_status(trid, RUNNING, NOT_FULL);
	trace_number(last, 1);
	shut(trid);

	history = log_history(fd);
	assert_numbers_from(history, id, 0, line.unread);
	while (history->event[i].info.posix_event_id != POSIX_TRACE_STOP)
		i++;
	ck_assert_int_ne(int_of(&history->event[i]), 0);
	ck_assert_uint_eq(history->event[i - 1].info.posix_event_id, id);
	while (history->event[i].info.posix_event_id != last)
		i++;
	while (history->event[i].info.posix_event_id != POSIX_TRACE_START &&
	       history->event[i].info.posix_event_id != POSIX_TRACE_STOP)
		i--;
	ck_assert_uint_eq(history->event[i].info.posix_event_id, POSIX_TRACE_START);
	history_free(history);
	close(fd);
}
END_TEST

struct flusher {
	trace_id_t trid;
	atomic_bool *stop;
};

static void *flush_on(void *arg)
{
	struct flusher *flusher = arg;

	while (!atomic_load(flusher->stop))
		if (posix_trace_flush(flusher->trid))
			return arg;
	return NULL;
}

/* FLUSHF-11, FLUSHF-04, GEN-07 */
START_TEST(concurrent_flushes_take_turns_and_lose_nothing)
{
	enum { FLUSHERS = 4, EVENTS = 100000 };
	int fd = log_file(), open_marks = 0;
	trace_id_t trid = LOGGED_STARTED(fd, .policy = POSIX_TRACE_UNTIL_FULL,
					 .log_policy = POSIX_TRACE_APPEND,
					 .size = (size_t)EVENTS * 128);
	trace_event_id_t id = type_of("n");
	atomic_bool stopped = false;
	struct flusher flusher = { trid, &stopped };
	pthread_t thread[FLUSHERS];
	struct history *history;

	for (int i = 0; i < FLUSHERS; i++)
		thread[i] = spawn(flush_on, &flusher);
	for (int i = 0; i < EVENTS; i++)
		trace_number(id, i);
	OK(posix_trace_flush(trid));
	atomic_store(&stopped, true);
	for (int i = 0; i < FLUSHERS; i++)
		ck_assert_ptr_null(join(thread[i]));
	shut(trid);
	history = log_history(fd);
	assert_numbers_from(history, id, 0, EVENTS);
	for (size_t i = 0; i < history->n; i++) {
		switch (history->event[i].info.posix_event_id) {
		case POSIX_TRACE_FLUSH_START:
			ck_assert_int_eq(open_marks++, 0);
			break;
		case POSIX_TRACE_FLUSH_STOP:
			ck_assert_int_eq(--open_marks, 0);
			break;
		}
	}
	ck_assert_int_eq(open_marks, 0);
	history_free(history);
	assert_log_whole(fd);
	close(fd);
}
END_TEST

SUITE_MAIN("posix_trace_flush", a_flush_moves_everything_to_the_log_and_frees_its_space,
	   marks_stand_where_the_flush_began_and_ended,
	   an_empty_and_suspended_stream_is_flushed_with_marks,
	   a_filter_leaves_the_marks_out_but_not_the_flush,
	   the_marks_take_no_space_from_the_stream, only_an_active_stream_with_log_can_be_flushed,
	   a_flush_restarts_a_stream_that_had_stopped_because_it_was_full,
	   concurrent_flushes_take_turns_and_lose_nothing)
