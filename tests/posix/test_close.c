/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* posix_trace_rewind() and posix_trace_close(), and reads with identifiers that may be closed. */
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#include "support/log.h"

static uint64_t sum_of(const struct history *history)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < history->n; i++)
		sum = 31 * sum +
		      (uint64_t)nanoseconds(&history->event[i].info.posix_timestamp) +
		      history->event[i].info.posix_event_id +
		      (uintptr_t)history->event[i].info.posix_prog_address +
		      (history->event[i].len ? history->event[i].data[0] : 0);
	return sum;
}

/* REWIND-01, GETNEXT-15, LOG-13 */
START_TEST(rewind_repeats_the_whole_sequence_identically)
{
	int fd = log_of(5000);
	trace_id_t trid = log_open(fd);
	struct history *history = read_log(trid);
	size_t n = history->n;
	uint64_t sum = sum_of(history);

	history_free(history);
	ck_assert_uint_ge(n, 5002);
	for (int i = 0; i < 3; i++) {
		OK(posix_trace_rewind(trid));
		for (int k = 0; i == 1 && k < 1234; k++)
			log_next_number(trid);
		OK(posix_trace_rewind(trid));
		history = read_log(trid);
		ck_assert_uint_eq(history->n, n);
		ck_assert_uint_eq(sum_of(history), sum);
		history_free(history);
	}
	log_close(trid);
	close(fd);
}
END_TEST

/* REWIND-03, LIST-01 */
START_TEST(rewind_leaves_the_type_lists_cursor_alone)
{
	int fd = log_of(10), end, types = 0;
	trace_id_t trid = log_open(fd);
	trace_event_id_t id;

	for (;;) {
		OK(posix_trace_eventtypelist_getnext_id(trid, &id, &end));
		if (end)
			break;
		types++;
		OK(posix_trace_rewind(trid));
	}
	ck_assert_int_eq(types, 10); /* the predefined types and "n" */
	ck_assert_int_eq(log_next_number(trid), 0);
	log_close(trid);
	close(fd);
}
END_TEST

/* REWIND-02, CLOSE-02, LEGAL-02 */
START_TEST(active_streams_are_neither_rewound_nor_closed)
{
	int fd = log_file();
	trace_id_t active = STARTED(0), logged = LOGGED_STARTED(fd);

	FAILS(EINVAL, posix_trace_rewind(active));
	FAILS(EINVAL, posix_trace_rewind(logged));
	FAILS(EINVAL, posix_trace_close(active));
	FAILS(EINVAL, posix_trace_close(logged));
	FAILS(EINVAL, posix_trace_rewind(0));
	FAILS(EINVAL, posix_trace_close(0));
	ck_assert_status(active, RUNNING, NOT_FULL);
	ck_assert_status(logged, RUNNING, NOT_FULL);
	shut(active);
	shut(logged);
	close(fd);
}
END_TEST

/* LEGAL-04, LEGAL-05, CLOSE-01 */
START_TEST(a_closed_identifier_stays_invalid_although_others_are_opened)
{
	int fd = log_of(10);
	trace_id_t stale = log_open(fd), other[20];
	struct posix_trace_status_info status;

	log_close(stale);
	FAILS(EINVAL, posix_trace_close(stale));
	for (int i = 0; i < 20; i++) {
		other[i] = log_open(fd);
		ck_assert_uint_ne(other[i], stale);
		FAILS(EINVAL, posix_trace_rewind(stale));
		FAILS(EINVAL, posix_trace_get_status(stale, &status));
	}
	for (int i = 0; i < 20; i++)
		log_close(other[i]);
	close(fd);
}
END_TEST

/* TIMED-09, TRY-02, LEGAL-01, LEGAL-02, GETNEXT-05 */
START_TEST(the_other_two_readers_refuse_an_opened_log)
{
	int fd = log_of(10), unavailable = 0;
	trace_id_t trid = log_open(fd);
	struct posix_trace_event_info info;
	struct timespec soon;
	char data[100];
	size_t len;

	clock_gettime(CLOCK_REALTIME, &soon);
	FAILS(EINVAL, posix_trace_timedgetnext_event(trid, &info, data, sizeof(data), &len,
						     &unavailable, &soon));
	ck_assert_int_ne(unavailable, 0);
	unavailable = 0;
	FAILS(EINVAL, posix_trace_trygetnext_event(trid, &info, data, sizeof(data), &len,
						   &unavailable));
	ck_assert_int_ne(unavailable, 0);
	ck_assert_int_eq(log_next_number(trid), 0);
	log_close(trid);
	close(fd);
}
END_TEST

/* GETNEXT-07, GEN-05, GETNEXT-05: null pointers on an opened log */
START_TEST(null_pointers_are_refused_and_consume_nothing)
{
	int fd = log_of(10), unavailable = 0;
	trace_id_t trid = log_open(fd);
	struct posix_trace_event_info info;
	char data[1000];
	size_t len;

	FAILS(EINVAL, posix_trace_getnext_event(trid, NULL, data, sizeof(data), &len,
						&unavailable));
	ck_assert_int_ne(unavailable, 0);
	FAILS(EINVAL, posix_trace_getnext_event(trid, &info, NULL, 1, &len, &unavailable));
	FAILS(EINVAL, posix_trace_getnext_event(trid, &info, data, sizeof(data), NULL,
						&unavailable));
	FAILS(EINVAL, posix_trace_getnext_event(trid, &info, data, sizeof(data), &len, NULL));
	OK(posix_trace_getnext_event(trid, &info, data, sizeof(data), &len, &unavailable));
	ck_assert_uint_eq(info.posix_event_id, POSIX_TRACE_START);
	log_close(trid);
	close(fd);
}
END_TEST

struct sharer {
	int fd;
	atomic_ulong trid; /* the opened log, which the readers read and the main thread closes */
	atomic_bool stop;
};

static void *read_what_may_be_closed(void *arg)
{
	struct sharer *sharer = arg;
	struct posix_trace_event_info info;
	int unavailable;
	char data[100];
	size_t len;

	while (!atomic_load(&sharer->stop)) {
		trace_id_t trid = atomic_load(&sharer->trid);
		int err = posix_trace_getnext_event(trid, &info, data, sizeof(data), &len,
						    &unavailable);

		if (err && err != EINVAL)
			return arg;
		if (!err && unavailable)
			posix_trace_rewind(trid);
	}
	return NULL;
}

/* CLOSE-03, GEN-07 */
START_TEST(closing_while_others_read_ends_their_calls_cleanly)
{
	struct sharer sharer = { .fd = log_of(1000) };
	pthread_t reader[3];

	atomic_store(&sharer.trid, log_open(sharer.fd));
	for (int i = 0; i < 3; i++)
		reader[i] = spawn(read_what_may_be_closed, &sharer);
	for (int i = 0; i < 1000; i++) {
		trace_id_t old = atomic_load(&sharer.trid);

		log_close(old);
		atomic_store(&sharer.trid, log_open(sharer.fd));
	}
	atomic_store(&sharer.stop, true);
	for (int i = 0; i < 3; i++)
		ck_assert_ptr_null(join(reader[i]));
	log_close(atomic_load(&sharer.trid));
	close(sharer.fd);
}
END_TEST

SUITE_MAIN("posix_trace_close", rewind_repeats_the_whole_sequence_identically,
	   rewind_leaves_the_type_lists_cursor_alone,
	   active_streams_are_neither_rewound_nor_closed,
	   a_closed_identifier_stays_invalid_although_others_are_opened,
	   the_other_two_readers_refuse_an_opened_log,
	   null_pointers_are_refused_and_consume_nothing,
	   closing_while_others_read_ends_their_calls_cleanly)
