/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Composed logs: full ones, large ones, pipes, and files that cannot be written. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "support/composer.h"
#include "support/ledger.h"
#include "support/log.h"

START_TEST(bad_files_and_attributes_are_refused)
{
	int fd = log_file(), reading = open("/dev/null", O_RDONLY);
	composer_t *composer;
	trace_attr_t attr;

	memset(&attr, 0, sizeof(attr));
	FAILS(EINVAL, posix_trace_compose_np(fd, NULL, NULL, NULL));
	FAILS(EINVAL, posix_trace_compose_np(fd, &attr, NULL, &composer));
	FAILS(EBADF, posix_trace_compose_np(reading, NULL, NULL, &composer));
	FAILS(EBADF, posix_trace_compose_np(-1, NULL, NULL, &composer));
	FAILS(EINVAL, posix_trace_compose_finish_np(NULL, NULL));
	posix_trace_compose_abandon_np(NULL);
	close(reading);
	close(fd);
}
END_TEST

static struct posix_trace_event_np some_event(composer_t *composer)
{
	return event_of(name_of(composer, "event"), 0, "some data of an event");
}

/* The log has many blocks and many threads. The caller keeps its descriptor. */
START_TEST(a_large_log_is_in_order)
{
	int fd = log_file();
	composer_t *composer = compose(fd, NULL);
	struct posix_trace_event_np event = some_event(composer);
	trace_id_t trid;

	for (int i = 0; i < 200000; i++) {
		event.time_ns = i % 7;
		event.tid = 100 + i % 1500;
		OK(posix_trace_compose_event_np(composer, &event));
	}
	finish(composer, fd);
	trid = log_open(fd);
	ck_assert_ledger_closes(trid);
	ck_assert_uint_eq(ledger_total(trid).reported, 200000);
	ck_assert_uint_eq(ledger_of_thread(trid, 100).reported, 134);
	log_close(trid);
	close(fd);
}
END_TEST

static composer_t *compose_bounded(int fd, int policy)
{
	composer_t *composer;
	trace_attr_t attr;

	log_wish_attr(&attr, &(struct log_wish){ .log_policy = policy, .log_size = 20000 });
	composer = compose(fd, &attr);
	OK(posix_trace_attr_destroy(&attr));
	return composer;
}

START_TEST(an_until_full_log_is_full_when_it_is)
{
	const int by_call = 0;
	int fd = log_file(), err;
	composer_t *composer = compose_bounded(fd, POSIX_TRACE_UNTIL_FULL);
	struct posix_trace_event_np event = some_event(composer);
	unsigned events = 0;

	while (!(err = posix_trace_compose_event_np(composer, &event)))
		events++;
	ck_assert_int_eq(err, ENOSPC);
	ck_assert_uint_gt(events, 300);
	event = event_of(POSIX_TRACE_STOP, 1, "");
	event.data = &by_call;
	event.data_len = sizeof(by_call);
	OK(posix_trace_compose_event_np(composer, &event));
	finish(composer, fd);
	ck_assert_int_eq(log_status(fd).posix_log_full_status, POSIX_TRACE_FULL);
	ck_assert_uint_eq(events_of(fd), events + 1);
	ck_assert_uint_le(log_info(fd).event_bytes, 20000);
	close(fd);
}
END_TEST

START_TEST(a_loop_log_overwrites_its_oldest_events)
{
	int fd = log_file();
	composer_t *composer = compose_bounded(fd, POSIX_TRACE_LOOP);
	struct posix_trace_event_np event = some_event(composer);
	trace_id_t trid;

	for (int i = 0; i < 5000; i++)
		OK(posix_trace_compose_event_np(composer, &event));
	finish(composer, fd);
	trid = log_open(fd);
	ck_assert_ledger_closes(trid);
	ck_assert_uint_eq(ledger_total(trid).called, 5000);
	ck_assert_uint_gt(ledger_total(trid).lost[POSIX_TRACE_LOST_LOG_OVERWRITTEN_NP], 4000);
	log_close(trid);
	close(fd);
}
END_TEST

START_TEST(a_pipe_gets_a_log_too)
{
	struct siphon *siphon = siphon_start();
	composer_t *composer = compose(siphon_fd(siphon), NULL);
	trace_event_id_t id = name_of(composer, "event");
	int fd;

	siphon_release(siphon);
	for (int i = 0; i < 20000; i++)
		put(composer, id, i, "some data of an event");
	OK(posix_trace_compose_finish_np(composer, NULL));
	close(siphon_fd(siphon));
	fd = siphon_finish(siphon);
	assert_log_whole(fd);
	ck_assert_uint_eq(events_of(fd), 20000);
	close(fd);
}
END_TEST

START_TEST(a_full_disk_is_reported_and_the_descriptor_stays_open)
{
	int fd = open("/dev/full", O_WRONLY);
	composer_t *composer;

	ck_assert_int_ge(fd, 0);
	FAILS(ENOSPC, posix_trace_compose_np(fd, NULL, NULL, &composer));
	ck_assert_int_ge(fcntl(fd, F_GETFD), 0);
	close(fd);
}
END_TEST

START_TEST(a_dropped_log_is_one_whose_writer_was_killed)
{
	int fd = log_file();
	composer_t *composer = compose(fd, NULL);
	trace_id_t trid;

	put(composer, name_of(composer, "event"), 1, "");
	posix_trace_compose_abandon_np(composer);
	/*
	 * This process is the writer and is alive, so posix_trace_open() reports that the log is
	 * being written.
	 */
	FAILS(EINVAL, posix_trace_open(fd, &trid));
	OK(posix_trace_open_np(fd, POSIX_TRACE_OPEN_SALVAGE_NP, &trid));
	log_close(trid);
	close(fd);
}
END_TEST

SUITE_MAIN("posix_trace_compose_np: files",
	   bad_files_and_attributes_are_refused,
	   a_large_log_is_in_order,
	   an_until_full_log_is_full_when_it_is,
	   a_loop_log_overwrites_its_oldest_events,
	   a_pipe_gets_a_log_too,
	   a_full_disk_is_reported_and_the_descriptor_stays_open,
	   a_dropped_log_is_one_whose_writer_was_killed)
