/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The no-loss guarantee of posix_trace_attr_setstreamsize(): events whose greatest sizes sum to
 * stream-min-size or less are all recorded, in any order and from any threads.
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <trace.h>

#include "support/log.h"
#include "support/stream.h"

/*
 * A collection of events: each thread records this number of events, of up to `len` bytes. The last
 * collections are large compared with any reserve of a stream, so that a stream that is a fifth too
 * small would fail.
 */
static const struct collection {
	int threads;
	int events;
	size_t len;
	size_t max_data;
	int mixed; /* lengths from 0 to len, in turn */
} collections[] = {
	{ 1, 1, 0, 0, 0 },        { 1, 1, 1024, 1024, 0 },  { 1, 100, 0, 1024, 0 },
	{ 1, 1000, 8, 8, 0 },     { 1, 333, 100, 1024, 0 }, { 1, 64, 1024, 1024, 0 },
	{ 1, 500, 1024, 1024, 1 }, { 4, 1, 8, 1024, 0 },    { 4, 250, 32, 32, 0 },
	{ 4, 50, 1024, 1024, 1 }, { 16, 1, 1024, 1024, 0 }, { 16, 40, 24, 24, 1 },
	{ 100, 3, 40, 40, 0 },    { 8, 25, 5000, 1024, 0 }, /* data longer than max-data-size */
	{ 1, 9000, 1000, 1000, 0 }, { 1, 100000, 0, 0, 0 }, { 1, 60000, 120, 120, 1 },
	{ 8, 1200, 1024, 1024, 1 }, { 8, 12000, 8, 8, 0 },
};
#define COLLECTIONS ((int)(sizeof(collections) / sizeof(collections[0])))

static const int policies[] = { POSIX_TRACE_LOOP, POSIX_TRACE_UNTIL_FULL, POSIX_TRACE_FLUSH };

static trace_event_id_t type;

static size_t len_of(const struct collection *c, int event)
{
	return c->mixed ? (size_t)event * 37 % (c->len + 1) : c->len;
}

static size_t size_of(const struct collection *c, const trace_attr_t *attr)
{
	size_t sum = 0;

	for (int event = 0; event < c->events; event++)
		sum += user_event_size(attr, len_of(c, event));
	return sum * (size_t)c->threads;
}

static void *record(void *arg)
{
	static const unsigned char data[5000];
	const struct collection *c = arg;

	for (int event = 0; event < c->events; event++)
		posix_trace_event(type, data, len_of(c, event));
	return NULL;
}

/* All threads run at the same time. */
static void record_all(const struct collection *c)
{
	pthread_t thread[100];

	if (c->threads == 1) {
		record((void *)c);
		return;
	}
	for (int i = 0; i < c->threads; i++)
		thread[i] = spawn(record, (void *)c);
	for (int i = 0; i < c->threads; i++)
		join(thread[i]);
}

static void attr_for(trace_attr_t *attr, int policy, const struct collection *c, int system_events)
{
	OK(posix_trace_attr_init(attr));
	OK(posix_trace_attr_setstreamfullpolicy(attr, policy));
	OK(posix_trace_attr_setmaxdatasize(attr, c->max_data));
	OK(posix_trace_attr_setstreamsize(attr, size_of(c, attr) + (size_t)system_events *
							system_event_size(attr)));
}

static void ck_assert_nothing_lost(trace_id_t trid)
{
	struct posix_trace_status_info status = status_of(trid);

	ck_assert_int_eq(status.posix_stream_overrun_status, POSIX_TRACE_NO_OVERRUN);
	ck_assert_int_eq(status.posix_stream_status, POSIX_TRACE_RUNNING);
}

static void ck_assert_read(trace_id_t trid, size_t system_events, size_t user_events)
{
	struct history *history = read_all(trid);

	ck_assert_uint_eq(history_count(history, type), user_events);
	ck_assert_uint_eq(history->n, system_events + user_events);
	history_free(history);
}

/* SIZE-10, SIZE-11, SIZE-03, UFULL-05: START and the collection fill the stream's size exactly */
START_TEST(a_collection_that_fits_exactly_is_recorded_without_loss)
{
	const struct collection *c = &collections[_i % COLLECTIONS];
	int policy = policies[_i / COLLECTIONS];
	trace_attr_t attr;
	trace_id_t trid;

	type = type_of("event");
	attr_for(&attr, policy, c, 1);
	OK(posix_trace_create(0, &attr, &trid));
	start(trid);
	record_all(c);
	ck_assert_nothing_lost(trid);
	ck_assert_read(trid, 1, (size_t)(c->threads * c->events));
	shut(trid);
}
END_TEST

/* SIZE-10 with policy FLUSH: the stream has the same capacity, and its log has all events */
START_TEST(a_collection_that_fits_exactly_reaches_the_log)
{
	const struct collection *c = &collections[_i];
	trace_attr_t attr;
	trace_id_t trid;
	struct history *history;
	int fd = log_file();

	type = type_of("event");
	attr_for(&attr, POSIX_TRACE_FLUSH, c, 1);
	OK(posix_trace_attr_setlogfullpolicy(&attr, POSIX_TRACE_APPEND));
	OK(posix_trace_create_withlog(0, &attr, fd, &trid));
	start(trid);
	record_all(c);
	ck_assert_nothing_lost(trid);
	shut(trid);
	history = log_history(fd);
	ck_assert_uint_eq(history_count(history, type), (size_t)(c->threads * c->events));
	history_free(history);
	close(fd);
}
END_TEST

/* SIZE-10, SIZE-12: the stream is filled exactly and read empty repeatedly, at any position */
START_TEST(the_capacity_is_the_same_after_any_number_of_rounds)
{
	const struct collection *c = &collections[_i % COLLECTIONS];
	int policy = policies[_i / COLLECTIONS];
	size_t n = (size_t)(c->threads * c->events);
	int rounds = n < 5000 ? 20 : 4;
	trace_attr_t attr;
	trace_id_t trid;

	type = type_of("event");
	attr_for(&attr, policy, c, 1);
	OK(posix_trace_create(0, &attr, &trid));
	start(trid);
	for (int round = 0; round < rounds; round++) {
		record_all(c);
		ck_assert_nothing_lost(trid);
		ck_assert_read(trid, round == 0, n);
		/* Adds a few events, so that the next round begins at another position. */
		for (int i = 0; i < round % 3 && n > 3; i++) {
			posix_trace_event(type, "x", 1);
			ck_assert_read(trid, 0, 1);
		}
	}
	shut(trid);
}
END_TEST

/* SIZE-12, GETNEXT-03: one read makes room for one event, at every offset */
START_TEST(a_full_stream_takes_an_event_for_each_that_is_read)
{
	enum { EVENTS = 100 };
	static const struct collection c = { 1, EVENTS, 48, 48, 0 };
	trace_attr_t attr;
	trace_id_t trid;
	struct seen seen;

	type = type_of("event");
	attr_for(&attr, policies[_i], &c, 1);
	OK(posix_trace_create(0, &attr, &trid));
	start(trid);
	record_all(&c);
	for (int i = 0; i < 10 * EVENTS; i++) {
		ck_assert(read_one(trid, &seen)); /* START, which needs more space */
		free(seen.data);
		posix_trace_event(type, (char[48]){ 0 }, 48);
	}
	ck_assert_nothing_lost(trid);
	ck_assert_read(trid, 0, EVENTS + 1); /* START was read, so an event has its space */
	shut(trid);
}
END_TEST

/* SIZE-10, SIZE-11: events that the program causes belong to the collection */
START_TEST(starts_stops_and_filters_that_fit_are_recorded_without_loss)
{
	enum { ROUNDS = 50 };
	static const struct collection c = { 1, ROUNDS, 0, 0, 0 };
	trace_attr_t attr;
	trace_id_t trid;
	trace_event_set_t none;
	struct history *history;

	type = type_of("event");
	OK(posix_trace_eventset_empty(&none));
	attr_for(&attr, policies[_i], &c, 3 * ROUNDS);
	OK(posix_trace_create(0, &attr, &trid));
	for (int i = 0; i < ROUNDS; i++) {
		start(trid);
		OK(posix_trace_set_filter(trid, &none, POSIX_TRACE_SET_EVENTSET));
		posix_trace_event(type, NULL, 0);
		stop(trid);
	}
	ck_assert_int_eq(status_of(trid).posix_stream_overrun_status, POSIX_TRACE_NO_OVERRUN);
	history = read_all(trid);
	ck_assert_uint_eq(history->n, 4 * ROUNDS);
	ck_assert_uint_eq(history_count(history, type), ROUNDS);
	ck_assert_uint_eq(history_count(history, POSIX_TRACE_START), ROUNDS);
	ck_assert_uint_eq(history_count(history, POSIX_TRACE_FILTER), ROUNDS);
	ck_assert_uint_eq(history_count(history, POSIX_TRACE_STOP), ROUNDS);
	history_free(history);
	shut(trid);
}
END_TEST

/* SIZE-10: threads that start and end leave only their events behind */
START_TEST(short_lived_threads_use_no_more_than_their_events)
{
	enum { THREADS = 2000 };
	static const struct collection all = { 1, THREADS, 16, 16, 0 };
	static const struct collection one = { 1, 1, 16, 16, 0 };
	trace_attr_t attr;
	trace_id_t trid;

	type = type_of("event");
	attr_for(&attr, policies[_i], &all, 1);
	OK(posix_trace_create(0, &attr, &trid));
	start(trid);
	for (int i = 0; i < THREADS; i++)
		join(spawn(record, (void *)&one));
	ck_assert_nothing_lost(trid);
	ck_assert_read(trid, 1, THREADS);
	shut(trid);
}
END_TEST

/* SIZE-03, SIZE-04: the name and the names of event types need no part of the size */
START_TEST(names_are_not_counted)
{
	static const struct collection c = { 1, 20, 64, 64, 0 };
	char name[TRACE_EVENT_NAME_MAX + 1];
	trace_attr_t attr;
	trace_id_t trid;

	attr_for(&attr, POSIX_TRACE_UNTIL_FULL, &c, 1);
	memset(name, 'n', TRACE_NAME_MAX);
	name[TRACE_NAME_MAX] = '\0';
	OK(posix_trace_attr_setname(&attr, name));
	OK(posix_trace_create(0, &attr, &trid));
	ck_assert_uint_ge(stream_size(trid), size_of(&c, &attr) + system_event_size(&attr));
	for (int i = 0; i < 400; i++) {
		memset(name, 'a' + i % 26, TRACE_EVENT_NAME_MAX);
		name[0] = (char)('a' + i / 26);
		name[TRACE_EVENT_NAME_MAX] = '\0';
		type = type_of(name);
	}
	start(trid);
	record_all(&c);
	ck_assert_nothing_lost(trid);
	ck_assert_read(trid, 1, 20);
	shut(trid);
}
END_TEST

static Suite *capacity_suite(void)
{
	TCase *tc;
	Suite *suite = support_suite("stream-min-size", &tc);

	/* A stream without a log has no policy FLUSH, so only the first two policies are tested. */
	tcase_add_loop_test(tc, a_collection_that_fits_exactly_is_recorded_without_loss, 0,
			    2 * COLLECTIONS);
	tcase_add_loop_test(tc, a_collection_that_fits_exactly_reaches_the_log, 0, COLLECTIONS);
	tcase_add_loop_test(tc, the_capacity_is_the_same_after_any_number_of_rounds, 0,
			    2 * COLLECTIONS);
	tcase_add_loop_test(tc, a_full_stream_takes_an_event_for_each_that_is_read, 0, 2);
	tcase_add_loop_test(tc, starts_stops_and_filters_that_fit_are_recorded_without_loss, 0, 2);
	tcase_add_loop_test(tc, short_lived_threads_use_no_more_than_their_events, 0, 2);
	tcase_add_test(tc, names_are_not_counted);
	return suite;
}

SUITE_MAIN_OF(capacity_suite)
