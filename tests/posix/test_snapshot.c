/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* posix_trace_snapshot_np(): a log of the events that a stream holds. */
#include <fcntl.h>
#include <unistd.h>

#include "support/numbers.h"

START_TEST(unread_events_are_in_the_log)
{
	trace_event_id_t n = type_of("n");
	trace_id_t trid = STARTED(.policy = POSIX_TRACE_UNTIL_FULL);
	int fd;

	for (int i = 0; i < 3; i++)
		trace_number(n, i);
	fd = snapshot_of(0);
	ck_assert_log_all(fd, "START n=0 n=1 n=2");
	assert_log_whole(fd);
	close(fd);
	ck_assert_events(trid, "START n=0 n=1 n=2");
	shut(trid);
}
END_TEST

START_TEST(read_events_are_not_in_it)
{
	trace_event_id_t n = type_of("n");
	trace_id_t trid = STARTED(.policy = POSIX_TRACE_UNTIL_FULL);
	struct posix_trace_ledger_np ledger;
	int fd;

	trace_number(n, 0);
	ck_assert_events(trid, "START n=0");
	trace_number(n, 1);
	trace_number(n, 2);
	fd = snapshot_of(0);
	ck_assert_log_all(fd, "n=1 n=2");
	ledger = numbers_read(fd).ledger;
	ck_assert_uint_eq(ledger.called, 2);
	close(fd);
	ck_assert_events(trid, "n=1 n=2");
	shut(trid);
}
END_TEST

START_TEST(it_reports_the_status_of_the_stream)
{
	trace_id_t trid = STARTED(.policy = POSIX_TRACE_LOOP, .size = 30000, .max_data = 77,
				  .name = "a name"), log;
	struct timespec created, same;
	char name[TRACE_NAME_MAX + 1];
	trace_attr_t attr;
	size_t bytes;
	int fd, policy;

	trace_number(type_of("n"), 0);
	OK(posix_trace_get_attr(trid, &attr));
	OK(posix_trace_attr_getcreatetime(&attr, &created));
	fd = snapshot_of(0);
	log = log_open(fd);
	OK(posix_trace_get_attr(log, &attr));
	OK(posix_trace_attr_getname(&attr, name));
	ck_assert_str_eq(name, "a name");
	OK(posix_trace_attr_getcreatetime(&attr, &same));
	ck_assert_int_eq(nanoseconds(&same), nanoseconds(&created));
	OK(posix_trace_attr_getstreamfullpolicy(&attr, &policy));
	ck_assert_int_eq(policy, POSIX_TRACE_LOOP);
	OK(posix_trace_attr_getmaxdatasize(&attr, &bytes));
	ck_assert_uint_eq(bytes, 77);
	ck_assert_status(log, RUNNING, NOT_FULL);
	log_close(log);
	ck_assert_int_eq(log_info(fd).pid, getpid());
	ck_assert_int_eq(log_info(fd).complete, 1);
	close(fd);
	shut(trid);
}
END_TEST

/* The time scales differ only by one point: the snapshot has one more. */
START_TEST(times_are_those_that_a_reader_gets)
{
	trace_event_id_t n = type_of("n");
	trace_id_t trid = STARTED(.policy = POSIX_TRACE_UNTIL_FULL);
	struct history *log, *live;
	int fd;

	for (int i = 0; i < 10; i++)
		trace_number(n, i);
	fd = snapshot_of(0);
	log = log_history(fd);
	live = read_all(trid);
	ck_assert_uint_eq(log->n, live->n);
	for (size_t i = 0; i < log->n; i++) {
		int64_t apart = nanoseconds(&log->event[i].info.posix_timestamp) -
				nanoseconds(&live->event[i].info.posix_timestamp);

		ck_assert_int_lt(apart < 0 ? -apart : apart, 1000000);
		ck_assert_ptr_eq(log->event[i].info.posix_prog_address,
				 live->event[i].info.posix_prog_address);
	}
	history_free(log);
	history_free(live);
	close(fd);
	shut(trid);
}
END_TEST

static void *write_many(void *arg)
{
	numbers_write(*(trace_event_id_t *)arg, 0, 0, 99999);
	return NULL;
}

START_TEST(the_youngest_part_of_an_overwritten_stream_is_in_it)
{
	trace_event_id_t n = type_of("n");
	trace_id_t trid = STARTED(.policy = POSIX_TRACE_LOOP, .size = 8192);
	struct numbered numbered;
	struct history *history;
	int fd;

	join(spawn(write_many, &n));
	fd = snapshot_of(0);
	numbered = numbers_read(fd);
	ck_assert_int_eq(numbered.last[0], 99999);
	numbers_account(fd, &numbered);
	ck_assert_uint_gt(numbered.events, 8192 / 40);
	/* START was overwritten too; OVERFLOW and RESUME report it. */
	ck_assert_uint_eq(numbered.ledger.called, 100000 + 3);
	ck_assert_uint_eq(numbered.ledger.reported, numbered.events + 2);
	history = log_history(fd);
	ck_assert_int_eq(history->event[0].info.posix_event_id, POSIX_TRACE_OVERFLOW);
	ck_assert_int_eq(history->event[1].info.posix_event_id, POSIX_TRACE_RESUME);
	history_free(history);
	ck_assert_status(trid, RUNNING, FULL);
	close(fd);
	shut(trid);
}
END_TEST

START_TEST(a_full_stream_says_so)
{
	trace_event_id_t n = type_of("n");
	trace_id_t trid = STARTED(.policy = POSIX_TRACE_UNTIL_FULL, .size = 8192);
	struct posix_trace_ledger_np ledger, live;
	int fd, events = fill(trid, n, 4, 0);

	for (int i = 0; i < 50; i++)
		trace_number(n, i);
	OK(posix_trace_get_ledger_np(trid, &live));
	fd = snapshot_of(0);
	ledger = numbers_read(fd).ledger;
	ck_assert_uint_eq(ledger.lost[POSIX_TRACE_LOST_STREAM_FULL_NP],
			  live.lost[POSIX_TRACE_LOST_STREAM_FULL_NP]);
	ck_assert_uint_ge(ledger.lost[POSIX_TRACE_LOST_STREAM_FULL_NP], 50);
	ck_assert_uint_eq(ledger.reported, live.unread + 1); /* the STOP that was not read yet */
	ck_assert_uint_ge(ledger.called, (uint64_t)events);
	ck_assert_int_eq(log_status(fd).posix_stream_status, POSIX_TRACE_SUSPENDED);
	ck_assert_int_eq(log_status(fd).posix_stream_full_status, POSIX_TRACE_FULL);
	close(fd);
	ck_assert_status(trid, SUSPENDED, FULL);
	shut(trid);
}
END_TEST

START_TEST(starts_and_stops_are_in_it)
{
	trace_event_id_t n = type_of("n");
	trace_id_t trid = STARTED(.policy = POSIX_TRACE_UNTIL_FULL);
	int fd;

	trace_number(n, 0);
	stop(trid);
	trace_number(n, 1);
	start(trid);
	trace_number(n, 2);
	stop(trid);
	fd = snapshot_of(0);
	ck_assert_log_all(fd, "START n=0 STOP(0) START n=2 STOP(0)");
	assert_log_whole(fd);
	ck_assert_int_eq(log_status(fd).posix_stream_status, POSIX_TRACE_SUSPENDED);
	close(fd);
	shut(trid);
}
END_TEST

START_TEST(an_empty_stream_makes_an_empty_log)
{
	trace_id_t trid = STREAM();
	int fd = snapshot_of(0);

	ck_assert_log_all(fd, "");
	assert_log_whole(fd);
	close(fd);
	shut(trid);
}
END_TEST

/* Events that are already in the stream's own log are no longer in the stream. */
START_TEST(the_unflushed_events_of_a_stream_with_log_are_in_it)
{
	trace_event_id_t n = type_of("n");
	int own = log_file(), fd;
	trace_id_t trid = LOGGED_STARTED(own, .policy = POSIX_TRACE_UNTIL_FULL,
					 .log_policy = POSIX_TRACE_APPEND);

	trace_number(n, 0);
	OK(posix_trace_flush(trid));
	trace_number(n, 1);
	trace_number(n, 2);
	fd = snapshot_of(0);
	ck_assert_log_all(fd, "n=1 n=2");
	assert_log_whole(fd);
	close(fd);
	shut(trid);
	ck_assert_log(own, "START n=0 n=1 n=2 STOP(0)");
	close(own);
}
END_TEST

static void refuse(void *arg, const struct posix_trace_stream_np *stream)
{
	int fd = log_file(), read_only = log_file_again(fd, O_RDONLY);
	trace_id_t *trid = arg;

	FAILS(EINVAL, posix_trace_snapshot_np(NULL, fd));
	FAILS(EINVAL, posix_trace_snapshot_since_np(NULL, fd, 0, NULL));
	FAILS(EINVAL, posix_trace_snapshot_np(&(struct posix_trace_stream_np){ .pid = 1 }, fd));
	FAILS(EBADF, posix_trace_snapshot_np(stream, -1));
	FAILS(EBADF, posix_trace_snapshot_np(stream, read_only));
	shut(*trid);
	FAILS(ESRCH, posix_trace_snapshot_np(stream, fd));
	/* A later stream at the same place is another stream. */
	*trid = STREAM();
	FAILS(ESRCH, posix_trace_snapshot_np(stream, fd));
	close(read_only);
	close(fd);
}

START_TEST(streams_that_cannot_be_copied_are_refused)
{
	trace_id_t trid = STREAM();

	OK(posix_trace_observe_np(0, refuse, &trid));
	shut(trid);
}
END_TEST

/* The arguments of snapshot_since(). */
struct since {
	int64_t since_ns;
	uint64_t older;
	int fd;
};

static void snapshot_since(void *arg, const struct posix_trace_stream_np *stream)
{
	struct since *since = arg;

	ck_assert_int_lt(since->fd, 0);
	since->fd = log_file();
	OK(posix_trace_snapshot_since_np(stream, since->fd, since->since_ns, &since->older));
}

static struct since since_of(int64_t since_ns)
{
	struct since since = { .since_ns = since_ns, .older = 77, .fd = -1 };

	OK(posix_trace_observe_np(0, snapshot_since, &since));
	return since;
}

/* A moment that is surely between the events before and after the call. */
static int64_t moment_between(void)
{
	const struct timespec pause = { .tv_nsec = 20000000 };
	struct timespec now;

	nanosleep(&pause, NULL);
	clock_gettime(CLOCK_REALTIME, &now);
	nanosleep(&pause, NULL);
	return nanoseconds(&now);
}

START_TEST(older_events_are_left_out_and_are_not_lost)
{
	trace_event_id_t n = type_of("n");
	trace_id_t trid = STARTED(.policy = POSIX_TRACE_UNTIL_FULL);
	struct posix_trace_ledger_np ledger;
	struct since since;
	int64_t between;

	for (int i = 0; i < 3; i++)
		trace_number(n, i);
	between = moment_between();
	for (int i = 3; i < 6; i++)
		trace_number(n, i);
	since = since_of(between);
	ck_assert_log_all(since.fd, "n=3 n=4 n=5");
	assert_log_whole(since.fd);
	ck_assert_uint_eq(since.older, 4);
	ledger = numbers_read(since.fd).ledger;
	ck_assert_uint_eq(ledger.called, 3);
	ck_assert_uint_eq(ledger.reported, 3);
	close(since.fd);
	/* One moment is before all events, and one is after all events. */
	since = since_of(INT64_MIN);
	ck_assert_log_all(since.fd, "START n=0 n=1 n=2 n=3 n=4 n=5");
	ck_assert_uint_eq(since.older, 0);
	close(since.fd);
	since = since_of(moment_between());
	ck_assert_log_all(since.fd, "");
	ck_assert_uint_eq(since.older, 7);
	ck_assert_uint_eq(numbers_read(since.fd).ledger.called, 0);
	close(since.fd);
	ck_assert_events(trid, "START n=0 n=1 n=2 n=3 n=4 n=5");
	shut(trid);
}
END_TEST

/* The overwritten events are older, too. They are lost, so the ledger has them. */
START_TEST(the_account_with_older_and_overwritten_events_is_exact)
{
	trace_event_id_t n = type_of("n");
	trace_id_t trid = STARTED(.policy = POSIX_TRACE_LOOP, .size = 8192);
	struct posix_trace_ledger_np ledger;
	struct since since, whole;
	int64_t between;

	for (int i = 0; i < 10000; i++)
		trace_number(n, i);
	between = moment_between();
	for (int i = 10000; i < 10003; i++)
		trace_number(n, i);
	whole = since_of(INT64_MIN);
	since = since_of(between);
	ck_assert_log_all(since.fd, "n=10000 n=10001 n=10002");
	assert_log_whole(since.fd);
	ledger = numbers_read(whole.fd).ledger;
	ck_assert_uint_eq(since.older, ledger.reported - 3);
	ck_assert_uint_eq(numbers_read(since.fd).ledger.lost[POSIX_TRACE_LOST_OVERWRITTEN_NP],
			  ledger.lost[POSIX_TRACE_LOST_OVERWRITTEN_NP]);
	ck_assert_uint_gt(ledger.lost[POSIX_TRACE_LOST_OVERWRITTEN_NP], 0);
	ck_assert_uint_eq(numbers_read(since.fd).ledger.called, ledger.called - since.older);
	/* The stream has overwritten events, so it is full, even if the snapshot omits events. */
	ck_assert_int_eq(log_status(whole.fd).posix_stream_full_status, POSIX_TRACE_FULL);
	ck_assert_int_eq(log_status(since.fd).posix_stream_full_status, POSIX_TRACE_FULL);
	close(since.fd);
	close(whole.fd);
	/* A gap that ends after the given moment is reported. */
	between = moment_between();
	for (int i = 10003; i < 20000; i++)
		trace_number(n, i);
	since = since_of(between);
	ck_assert_uint_eq(since.older, 0);
	ledger = numbers_read(since.fd).ledger;
	ck_assert_uint_eq(ledger.called, ledger.reported +
			  ledger.lost[POSIX_TRACE_LOST_OVERWRITTEN_NP]);
	close(since.fd);
	shut(trid);
}
END_TEST

SUITE_MAIN("posix_trace_snapshot_np",
	   unread_events_are_in_the_log,
	   read_events_are_not_in_it,
	   it_reports_the_status_of_the_stream,
	   times_are_those_that_a_reader_gets,
	   the_youngest_part_of_an_overwritten_stream_is_in_it,
	   a_full_stream_says_so,
	   starts_and_stops_are_in_it,
	   an_empty_stream_makes_an_empty_log,
	   the_unflushed_events_of_a_stream_with_log_are_in_it,
	   streams_that_cannot_be_copied_are_refused,
	   older_events_are_left_out_and_are_not_lost,
	   the_account_with_older_and_overwritten_events_is_exact)
