/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The legality of each call on each kind of identifier: every function with a stream argument, on
 * an active stream without log (A), with log (L), on an opened log (P) and on any other value (X).
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/memory_file.h"
#include "support/random.h"
#include "support/stream.h"

/*
 * Memory for the results of all calls, so that one comparison shows whether a call has written any.
 */
static struct results {
	trace_attr_t attr;
	struct posix_trace_status_info status;
	trace_event_set_t set;
	trace_event_id_t id;
	int flag;
	char name[TRACE_EVENT_NAME_MAX + 1];
	struct posix_trace_event_info info;
	char data[1024];
	size_t len;
} out;
static int unavailable;

static int call_get_attr(trace_id_t trid) { return posix_trace_get_attr(trid, &out.attr); }
static int call_get_status(trace_id_t trid) { return posix_trace_get_status(trid, &out.status); }
static int call_get_filter(trace_id_t trid) { return posix_trace_get_filter(trid, &out.set); }

static int call_set_filter(trace_id_t trid)
{
	trace_event_set_t none;

	posix_trace_eventset_empty(&none);
	return posix_trace_set_filter(trid, &none, POSIX_TRACE_SET_EVENTSET);
}

static int call_trid_eventid_open(trace_id_t trid)
{
	return posix_trace_trid_eventid_open(trid, "a legal name", &out.id);
}

static int call_get_name(trace_id_t trid)
{
	return posix_trace_eventid_get_name(trid, POSIX_TRACE_START, out.name);
}

/* This function returns no error. The test counts "equal" as 0 and "not equal" as EINVAL. */
static int call_equal(trace_id_t trid)
{
	return posix_trace_eventid_equal(trid, POSIX_TRACE_START, POSIX_TRACE_START) ? 0 : EINVAL;
}

static int call_list(trace_id_t trid)
{
	return posix_trace_eventtypelist_getnext_id(trid, &out.id, &out.flag);
}

static int call_getnext(trace_id_t trid)
{
	return posix_trace_getnext_event(trid, &out.info, out.data, sizeof(out.data), &out.len,
					 &unavailable);
}

static int call_timed(trace_id_t trid)
{
	struct timespec past = { 0, 0 };

	return posix_trace_timedgetnext_event(trid, &out.info, out.data, sizeof(out.data),
					      &out.len, &unavailable, &past);
}

static int call_try(trace_id_t trid)
{
	return posix_trace_trygetnext_event(trid, &out.info, out.data, sizeof(out.data), &out.len,
					    &unavailable);
}

static const struct row {
	const char *name;
	int (*call)(trace_id_t trid);
	char legal_on[4]; /* of "ALP"; X is never legal */
	int reads;        /* has an *unavailable */
} rows[] = {
	{ "start", posix_trace_start, "AL", 0 },
	{ "stop", posix_trace_stop, "AL", 0 },
	{ "clear", posix_trace_clear, "AL", 0 },
	{ "shutdown", posix_trace_shutdown, "AL", 0 },
	{ "flush", posix_trace_flush, "L", 0 },
	{ "get_attr", call_get_attr, "ALP", 0 },
	{ "get_status", call_get_status, "ALP", 0 },
	{ "get_filter", call_get_filter, "AL", 0 },
	{ "set_filter", call_set_filter, "AL", 0 },
	{ "trid_eventid_open", call_trid_eventid_open, "AL", 0 },
	{ "eventid_get_name", call_get_name, "ALP", 0 },
	{ "eventid_equal", call_equal, "ALP", 0 },
	{ "eventtypelist_getnext_id", call_list, "ALP", 0 },
	{ "eventtypelist_rewind", posix_trace_eventtypelist_rewind, "ALP", 0 },
	{ "getnext_event", call_getnext, "AP", 1 },
	{ "timedgetnext_event", call_timed, "A", 1 },
	{ "trygetnext_event", call_try, "A", 1 },
	{ "rewind", posix_trace_rewind, "P", 0 },
	{ "close", posix_trace_close, "P", 0 },
};
#define ROWS ((int)(sizeof(rows) / sizeof(rows[0])))

/*
 * Checks one cell of the table: the call returns 0 if it is legal on that kind of identifier.
 * Otherwise it returns EINVAL and stores no result.
 */
static void try_cell(const struct row *row, char kind, trace_id_t trid)
{
	int expected = strchr(row->legal_on, kind) ? 0 : EINVAL;
	int err;

	memset(&out, 0x5a, sizeof(out));
	unavailable = 0;
	err = KEEPS_ERRNO(row->call(trid));
	if (err != expected)
		ck_abort_msg("%s on %c %#lx: %d, expected %d", row->name, kind, trid, err,
			     expected);
	if (!err)
		return;
	for (size_t i = 0; i < sizeof(out); i++)
		if (((unsigned char *)&out)[i] != 0x5a)
			ck_abort_msg("%s on %c failed and wrote results", row->name, kind);
	if (row->reads && !unavailable)
		ck_abort_msg("%s on %c failed and says that there is an event", row->name, kind);
}

static trace_id_t active(void)
{
	trace_id_t trid = STARTED();

	posix_trace_event(type_of("u"), NULL, 0);
	return trid;
}

static trace_id_t with_log(int *fd)
{
	trace_attr_t attr;
	trace_id_t trid;

	/* The policy UNTIL_FULL flushes only on request, so the log has no other marks. */
	wish_attr(&attr, &(struct wish){ .policy = POSIX_TRACE_UNTIL_FULL });
	*fd = memory_file("log", MFD_CLOEXEC);
	ck_assert_int_ge(*fd, 0);
	OK(posix_trace_create_withlog(0, &attr, *fd, &trid));
	start(trid);
	posix_trace_event(type_of("u"), NULL, 0);
	return trid;
}

/*
 * The log that a shut-down stream left in fd must have these events, without the marks of flushes.
 */
static void assert_log(int fd)
{
	struct history *history;
	trace_id_t trid;
	char *text;

	OK(posix_trace_open(fd, &trid));
	history = read_log(trid);
	text = history_text(trid, history);
	ck_assert_msg(!strncmp(text, "START u STOP(0)", 15) ||
		      !strncmp(text, "START u FLUSH_START", 19), "the log has '%s'", text);
	ck_assert_uint_eq(history_count(history, POSIX_TRACE_STOP), 1);
	free(text);
	history_free(history);
	OK(posix_trace_close(trid));
}

static trace_id_t prerecorded(int *fd)
{
	trace_id_t trid = with_log(fd);

	shut(trid);
	OK(posix_trace_open(*fd, &trid));
	return trid;
}

/* LEGAL-01, LEGAL-02, LEGAL-07, LEGAL-08, GEN-01, GEN-02, GEN-04, GEN-09, REWIND-02, CLOSE-02 */
START_TEST(a_stream_without_log_accepts_its_calls_and_nothing_else_touches_it)
{
	for (int i = 0; i < ROWS; i++) {
		trace_id_t trid = active();

		try_cell(&rows[i], 'A', trid);
		if (!strchr(rows[i].legal_on, 'A'))
			ck_assert_events(trid, "START u");
		if (rows[i].call != posix_trace_shutdown)
			shut(trid);
	}
}
END_TEST

/* LEGAL-01, LEGAL-02, GEN-01, GEN-02, GEN-04, GEN-09, FLUSHF-06, REWIND-02, CLOSE-02 */
START_TEST(a_stream_with_log_accepts_its_calls_and_nothing_else_touches_it)
{
	for (int i = 0; i < ROWS; i++) {
		int fd;
		trace_id_t trid = with_log(&fd);

		try_cell(&rows[i], 'L', trid);
		if (rows[i].call != posix_trace_shutdown)
			shut(trid);
		if (!strchr(rows[i].legal_on, 'L'))
			assert_log(fd);
		close(fd);
	}
}
END_TEST

/*
 * LEGAL-01, LEGAL-02, GEN-01, GEN-02, GEN-04, GEN-09, START-06, STOP-06, FLUSHF-06, TRID-06,
 * TIMED-09, TRY-02, CLEAR-10, SHUT-05, FILTER-13
 */
START_TEST(an_opened_log_accepts_its_calls_and_nothing_else_touches_it)
{
	for (int i = 0; i < ROWS; i++) {
		int fd;
		trace_id_t trid = prerecorded(&fd);

		try_cell(&rows[i], 'P', trid);
		if (!strchr(rows[i].legal_on, 'P')) {
			struct history *history = read_log(trid);
			char *text = history_text(trid, history);

			ck_assert_msg(!strncmp(text, "START u ", 8), "%s left '%s'",
				      rows[i].name, text);
			ck_assert_uint_eq(history_count(history, POSIX_TRACE_STOP), 1);
			free(text);
			history_free(history);
		}
		if (rows[i].call != posix_trace_close)
			OK(posix_trace_close(trid));
		close(fd);
	}
}
END_TEST

/*
 * LEGAL-06, GEN-01, GEN-02, GEN-09, START-06, STOP-06, TRID-05, NAMEOF-04, EQUAL-02, LIST-06,
 * FILTER-13, STATUS-17, FLUSHF-06, SHUT-05, GETNEXT-05, GETNEXT-07, TRY-02, CLEAR-10, REWIND-02,
 * CLOSE-02: also values that differ from a living identifier in one bit
 */
START_TEST(garbage_is_no_identifier)
{
	trace_id_t living = active();

	for (int i = 0; i < ROWS; i++) {
		uint64_t state = 1;

		try_cell(&rows[i], 'X', 0);
		try_cell(&rows[i], 'X', (trace_id_t)-1);
		for (int bit = 0; bit < 64; bit++)
			try_cell(&rows[i], 'X', living ^ 1ul << bit);
		for (trace_id_t small = 1; small < 100; small++)
			if (small != living)
				try_cell(&rows[i], 'X', small);
		for (int n = 0; n < 100; n++) {
			trace_id_t any = (trace_id_t)random_next(&state) << 32;

			any |= random_next(&state);
			try_cell(&rows[i], 'X', any);
		}
	}
	ck_assert_events(living, "START u");
	shut(living);
}
END_TEST

/* LEGAL-03, LEGAL-05, GEN-01, GEN-02, GEN-09, STATUS-17 */
START_TEST(an_identifier_ends_with_shutdown_and_close)
{
	int log_fd, recorded_fd;
	trace_id_t ended[3] = { active(), with_log(&log_fd), prerecorded(&recorded_fd) };

	shut(ended[0]);
	shut(ended[1]);
	OK(posix_trace_close(ended[2]));
	for (int i = 0; i < ROWS; i++)
		for (int k = 0; k < 3; k++)
			try_cell(&rows[i], 'X', ended[k]);
	close(log_fd);
	close(recorded_fd);
}
END_TEST

/* LEGAL-04 */
START_TEST(an_identifier_is_not_used_again)
{
	trace_id_t seen[300];

	for (int i = 0; i < 300; i++) {
		seen[i] = STREAM();
		for (int k = 0; k < i; k++)
			if (seen[k] == seen[i])
				ck_abort_msg("identifier %#lx came again", seen[i]);
		for (int k = i > 20 ? i - 20 : 0; k < i; k++)
			try_cell(&rows[i % ROWS], 'X', seen[k]);
		shut(seen[i]);
	}
}
END_TEST

/* FORK-07, CREATE-21, OPEN-07, FORK-08, GEN-09 */
START_TEST(a_child_has_none_of_its_parents_identifiers)
{
	int log_fd, recorded_fd, status;
	trace_id_t plain = active(), logged = with_log(&log_fd), opened = prerecorded(&recorded_fd);
	struct history *history;
	pid_t child = fork();

	if (!child) {
		for (int i = 0; i < ROWS; i++) {
			try_cell(&rows[i], 'X', plain);
			try_cell(&rows[i], 'X', logged);
			try_cell(&rows[i], 'X', opened);
		}
		_exit(0);
	}
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert_msg(WIFEXITED(status) && !WEXITSTATUS(status), "the child failed");

	/*
	 * The parent's streams are unchanged; plain also has the events of the other two streams.
	 */
	history = read_all(plain);
	ck_assert_uint_eq(history_count(history, POSIX_TRACE_START), 1);
	ck_assert_uint_eq(history_count(history, type_of("u")), 3);
	ck_assert_uint_eq(history->n, 4);
	history_free(history);
	history = read_log(opened);
	ck_assert_uint_eq(history_count(history, type_of("u")), 1);
	history_free(history);
	shut(plain);
	shut(logged);
	OK(posix_trace_close(opened));
	close(log_fd);
	close(recorded_fd);
}
END_TEST

SUITE_MAIN("identifiers",
	   a_stream_without_log_accepts_its_calls_and_nothing_else_touches_it,
	   a_stream_with_log_accepts_its_calls_and_nothing_else_touches_it,
	   an_opened_log_accepts_its_calls_and_nothing_else_touches_it,
	   garbage_is_no_identifier,
	   an_identifier_ends_with_shutdown_and_close,
	   an_identifier_is_not_used_again,
	   a_child_has_none_of_its_parents_identifiers)
