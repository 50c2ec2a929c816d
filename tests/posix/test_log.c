/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The content of a log, its possible readers and times of reading, and its state after shutdown. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/log.h"

#define LOG_BYTES 20000 /* bytes of event records, for tests that fill a log */

static struct posix_trace_ledger_np ledger_of(trace_id_t trid)
{
	struct posix_trace_ledger_np ledger;

	OK(posix_trace_get_ledger_np(trid, &ledger));
	return ledger;
}

/*
 * A process that existed before the stream and has only the file: it opens the log and writes the
 * events to a pipe.
 */
struct outsider {
	pid_t pid;
	int go, answer;
};

static void tell(int answer, int fd)
{
	char name[TRACE_EVENT_NAME_MAX + 1], stream_name[TRACE_NAME_MAX + 1];
	struct posix_trace_status_info status;
	struct timespec created;
	trace_attr_t attr;
	trace_event_id_t id;
	trace_id_t trid;
	FILE *out = fdopen(answer, "w");
	char *text = log_text(fd, true);
	int end = 0;

	trid = log_open(fd);
	OK(posix_trace_get_attr(trid, &attr));
	OK(posix_trace_attr_getname(&attr, stream_name));
	OK(posix_trace_attr_getcreatetime(&attr, &created));
	status = status_of(trid);
	fprintf(out, "%s | %s %lld %d |", text, stream_name, (long long)nanoseconds(&created),
		status.posix_stream_status);
	for (;;) {
		OK(posix_trace_eventtypelist_getnext_id(trid, &id, &end));
		if (end)
			break;
		OK(posix_trace_eventid_get_name(trid, id, name));
		fprintf(out, " %s", name);
	}
	log_close(trid);
	free(text);
	fclose(out);
}

static struct outsider outsider_start(int fd)
{
	struct outsider outsider;
	int go[2], answer[2];
	char byte;

	ck_assert_int_eq(pipe2(go, O_CLOEXEC), 0);
	ck_assert_int_eq(pipe2(answer, O_CLOEXEC), 0);
	outsider.pid = fork();
	if (!outsider.pid) {
		close(go[1]);
		if (read(go[0], &byte, 1) == 1)
			tell(answer[1], fd);
		_exit(0);
	}
	close(go[0]);
	close(answer[1]);
	outsider.go = go[1];
	outsider.answer = answer[0];
	return outsider;
}

static void outsider_tell(struct outsider *outsider, char *text, size_t size)
{
	size_t len = 0;
	ssize_t n;

	ck_assert_int_eq(write(outsider->go, "", 1), 1);
	close(outsider->go);
	while ((n = read(outsider->answer, text + len, size - 1 - len)) > 0)
		len += (size_t)n;
	text[len] = '\0';
	close(outsider->answer);
	wait_well(outsider->pid);
}

/* LOG-10, LOG-12, LIST-04, LIST-07, NAMEOF-03, ATTR-16, STATUS-16, STATUS-18 */
START_TEST(another_process_reads_events_types_attributes_and_status)
{
	static const int policies[] = { POSIX_TRACE_LOOP, POSIX_TRACE_UNTIL_FULL,
					POSIX_TRACE_APPEND };

	for (int i = 0; i < 3; i++) {
		int fd = log_file();
		struct outsider outsider = outsider_start(fd);
		struct timespec created;
		char text[4000], expected[4000];
		trace_attr_t attr;
		trace_id_t trid;

		trid = LOGGED_STARTED(fd, .policy = POSIX_TRACE_UNTIL_FULL,
				      .log_policy = policies[i], .name = "for others");
		OK(posix_trace_get_attr(trid, &attr));
		OK(posix_trace_attr_getcreatetime(&attr, &created));
		trace_number(type_of("used"), 1);
		type_of("never used");
		stop(trid);
		shut(trid);
		outsider_tell(&outsider, text, sizeof(text));
		snprintf(expected, sizeof(expected),
			 "START used=1 STOP(0)%s | for others %lld %d | posix_trace_error "
			 "posix_trace_start posix_trace_stop posix_trace_filter "
			 "posix_trace_overflow posix_trace_resume posix_trace_flush_start "
			 "posix_trace_flush_stop posix_trace_unnamed_userevent used never used",
			 policies[i] == POSIX_TRACE_UNTIL_FULL ? "" : " FLUSH_START FLUSH_STOP",
			 (long long)nanoseconds(&created), POSIX_TRACE_SUSPENDED);
		ck_assert_str_eq(text, expected);
		close(fd);
	}
}
END_TEST

/* LOG-17 */
START_TEST(a_log_that_is_still_being_written_is_not_opened)
{
	static const int policies[] = { POSIX_TRACE_LOOP, POSIX_TRACE_UNTIL_FULL,
					POSIX_TRACE_APPEND };

	for (int i = 0; i < 3; i++) {
		int fd = log_file();
		trace_id_t trid = LOGGED_STARTED(fd, .log_policy = policies[i]), opened;
		int status;
		pid_t child;

		FAILS(EINVAL, posix_trace_open(fd, &opened));
		trace_number(type_of("n"), 1);
		OK(posix_trace_flush(trid));
		FAILS(EINVAL, posix_trace_open(fd, &opened));
		child = fork();
		if (!child)
			_exit(posix_trace_open(fd, &opened));
		ck_assert_int_eq(waitpid(child, &status, 0), child);
		ck_assert_int_eq(WEXITSTATUS(status), EINVAL);
		shut(trid);
		OK(posix_trace_open(fd, &opened));
		log_close(opened);
		close(fd);
	}
}
END_TEST

/* LOG-18, TRUNC-01, EVENT-03 */
START_TEST(truncation_when_recorded_is_kept_in_the_log)
{
	int fd = log_file();
	trace_id_t trid = LOGGED_STARTED(fd, .max_data = 5);
	trace_event_id_t id = type_of("text");
	struct history *history;

	posix_trace_event(id, "12345", 5);
	posix_trace_event(id, "123456", 6);
	shut(trid);
	history = log_history(fd);
	ck_assert_uint_eq(history->event[1].len, 5);
	ck_assert_int_eq(history->event[1].info.posix_truncation_status,
			 POSIX_TRACE_NOT_TRUNCATED);
	ck_assert_uint_eq(history->event[2].len, 5);
	ck_assert_mem_eq(history->event[2].data, "12345", 5);
	ck_assert_int_eq(history->event[2].info.posix_truncation_status,
			 POSIX_TRACE_TRUNCATED_RECORD);
	history_free(history);
	close(fd);
}
END_TEST

/* LOG-19, STATUS-12, STATUS-13, SHUT-05, SHUT-06 */
START_TEST(losses_of_a_failing_shutdown_are_counted_in_its_log)
{
	const int n = 10000;
	int fd = log_file();
	trace_id_t trid = LOGGED_STARTED(fd, .policy = POSIX_TRACE_UNTIL_FULL,
					 .log_policy = POSIX_TRACE_APPEND, .size = 1 << 20);
	struct posix_trace_status_info status;
	struct posix_trace_ledger_np ledger;
	trace_event_id_t id = type_of("n");
	struct history *history;
	struct rlimit limit;
	trace_id_t opened;
	size_t kept;

	for (int i = 0; i < n; i++)
		trace_number(id, i);
	ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &limit), 0);
	limit.rlim_cur = 40 << 10; /* room for some of the events, even if the log packs them */
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
	FAILS(EFBIG, posix_trace_shutdown(trid));
	FAILS(EINVAL, posix_trace_shutdown(trid));
	limit.rlim_cur = limit.rlim_max; /* Check writes to a file, too */
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);

	opened = log_open(fd);
	status = status_of(opened);
	ck_assert_int_eq(status.posix_stream_flush_error, EFBIG);
	ck_assert_int_eq(status.posix_log_overrun_status, POSIX_TRACE_OVERRUN);
	history = read_log(opened);
	kept = history_count(history, id);
	assert_numbers_from(history, id, 0, kept);
	ck_assert_uint_gt(kept, 0);
	ledger = ledger_of(opened);
	ck_assert_uint_eq(ledger.reported, history->n);
	ck_assert_uint_ge(ledger.lost[POSIX_TRACE_LOST_FLUSH_ERROR_NP], n - kept);
	ck_assert_uint_eq(ledger.called,
			  ledger.reported + ledger.lost[POSIX_TRACE_LOST_FLUSH_ERROR_NP]);
	history_free(history);
	log_close(opened);
	close(fd);
}
END_TEST

/* SHUT-01, SHUT-03, SHUT-07, SHUT-10, STATUS-16, STATUS-20 */
START_TEST(shutdown_stops_flushes_and_leaves_the_last_status_in_the_log)
{
	int fd = log_file();
	trace_id_t trid = LOGGED_STARTED(fd, .policy = POSIX_TRACE_UNTIL_FULL,
					 .log_policy = POSIX_TRACE_APPEND);
	struct posix_trace_status_info status;
	trace_event_id_t id = type_of("n");
	trace_id_t opened;

	fill(trid, id, 100, 0);
	status_of(trid); /* the controller has read this overrun */
	ck_assert_int_eq(status_of(trid).posix_stream_overrun_status, POSIX_TRACE_NO_OVERRUN);
	shut(trid);
	opened = log_open(fd);
	for (int i = 0; i < 2; i++) {
		status = status_of(opened);
		ck_assert_int_eq(status.posix_stream_status, POSIX_TRACE_SUSPENDED);
		ck_assert_int_eq(status.posix_stream_overrun_status, POSIX_TRACE_NO_OVERRUN);
		ck_assert_int_eq(status.posix_stream_flush_status, POSIX_TRACE_NOT_FLUSHING);
		ck_assert_int_eq(status.posix_stream_flush_error, 0);
	}
	log_close(opened);

	trid = LOGGED_STARTED(fd, .policy = POSIX_TRACE_UNTIL_FULL,
			      .log_policy = POSIX_TRACE_APPEND);
	fill(trid, id, 100, 0);
	trace_number(id, 0); /* no reader gets this event before the shutdown */
	shut(trid);
	opened = log_open(fd);
	for (int i = 0; i < 2; i++)
		ck_assert_int_eq(status_of(opened).posix_stream_overrun_status,
				 POSIX_TRACE_OVERRUN);
	log_close(opened);
	ck_assert_int_eq(fcntl(fd, F_GETFD), FD_CLOEXEC);
	close(fd);
}
END_TEST

/* LIST-09, LOG-10 */
START_TEST(a_wrapped_log_keeps_every_type_and_attribute)
{
	int fd = log_file(), end, names = 0;
	trace_id_t trid = LOGGED_STARTED(fd, .policy = POSIX_TRACE_UNTIL_FULL,
					 .log_policy = POSIX_TRACE_LOOP, .log_size = LOG_BYTES,
					 .name = "wrapped");
	char name[TRACE_NAME_MAX + 1];
	trace_event_id_t id;
	trace_attr_t attr;

	for (int i = 0; i < 200; i++) {
		snprintf(name, sizeof(name), "type %d", i);
		for (int k = 0; k < 20; k++)
			trace_number(type_of(name), k);
		OK(posix_trace_flush(trid));
	}
	shut(trid);
	trid = log_open(fd);
	for (;;) {
		OK(posix_trace_eventtypelist_getnext_id(trid, &id, &end));
		if (end)
			break;
		names++;
	}
	ck_assert_int_eq(names, 9 + 200);
	OK(posix_trace_eventid_get_name(trid, type_of("type 0"), name));
	ck_assert_str_eq(name, "type 0");
	OK(posix_trace_get_attr(trid, &attr));
	OK(posix_trace_attr_getname(&attr, name));
	ck_assert_str_eq(name, "wrapped");
	log_close(trid);
	close(fd);
}
END_TEST

/* One event of the type with the empty name. The type is listed once and has its line. */
static void assert_empty_name(int fd, trace_event_id_t empty)
{
	char name[TRACE_EVENT_NAME_MAX + 1] = "?";
	struct posix_trace_ledger_np ledger;
	trace_id_t trid = log_open(fd);
	int listed = 0, end = 0;
	trace_event_id_t id;

	OK(posix_trace_eventid_get_name(trid, empty, name));
	ck_assert_str_eq(name, "");
	OK(posix_trace_get_ledger_type_np(trid, empty, &ledger));
	ck_assert_uint_eq(ledger.reported, 1);
	while (!end) {
		OK(posix_trace_eventtypelist_getnext_id(trid, &id, &end));
		listed += !end && id == empty;
	}
	ck_assert_int_eq(listed, 1);
	log_close(trid);
}

/* EVID-14, LOG-10, LIST-07, NAMEOF-03: in a completed log, and in a log that was cut off */
START_TEST(the_empty_name_is_a_name_in_a_log_too)
{
	static const int policies[] = { POSIX_TRACE_LOOP, POSIX_TRACE_UNTIL_FULL,
					POSIX_TRACE_APPEND };

	for (int i = 0; i < 3; i++) {
		trace_event_id_t empty = type_of("");
		int fd = log_file(), cut;
		trace_id_t trid = LOGGED_STARTED(fd, .log_policy = policies[i]);
		unsigned char *bytes;
		size_t len;

		trace_number(empty, 1);
		trace_number(type_of("x"), 2);
		shut(trid);
		assert_log_whole(fd);
		assert_empty_name(fd, empty);
		bytes = log_bytes(fd, &len);
		cut = log_file_of(bytes, len - 8);
		assert_empty_name(cut, empty);
		free(bytes);
		close(cut);
		close(fd);
	}
}
END_TEST

SUITE_NEEDS("stat");

SUITE_MAIN("trace logs",
	   another_process_reads_events_types_attributes_and_status,
	   a_log_that_is_still_being_written_is_not_opened,
	   truncation_when_recorded_is_kept_in_the_log,
	   losses_of_a_failing_shutdown_are_counted_in_its_log,
	   shutdown_stops_flushes_and_leaves_the_last_status_in_the_log,
	   a_wrapped_log_keeps_every_type_and_attribute,
	   the_empty_name_is_a_name_in_a_log_too)
