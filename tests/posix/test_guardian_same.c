/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * If the controller is killed, its log equals the log of a controller that shuts down its stream:
 * for each stream-full policy and each log-full policy, after any calls.
 *
 * The children run the same program each time, and nothing in the program depends on time: a stream
 * with the policy FLUSH is never so full that it flushes by itself. In a LOOP log the number of
 * events may differ, because a guardian begins a new block.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/ledger.h"
#include "support/log.h"

#define LOG_BYTES    8192
#define STREAM_BYTES 65536

enum {
	MANY = 1,    /* more events than the log can have */
	FLUSH = 2,
	STATUS = 4,  /* reads the status, which resets parts of it */
	RESTART = 8, /* and records small events, for which a full log might have room */
	AGAIN = 16,  /* flushes a second time */
	STOP = 32,
	CLEAR = 64,
	OVERRUN = 128 /* more events than the stream can have */
};

static const int deeds_of[] = {
	0,
	MANY,
	FLUSH,
	MANY | STATUS,
	MANY | FLUSH,
	MANY | FLUSH | STATUS,
	MANY | FLUSH | RESTART,
	MANY | FLUSH | STATUS | RESTART | AGAIN,
	MANY | FLUSH | STOP,
	MANY | FLUSH | RESTART | STOP | AGAIN,
	MANY | FLUSH | CLEAR,
	MANY | FLUSH | STATUS | CLEAR | AGAIN,
	OVERRUN,
	MANY | FLUSH | OVERRUN,
	FLUSH | STATUS | OVERRUN,
	MANY | FLUSH | CLEAR | OVERRUN,
};

static const int stream_policy[] = { POSIX_TRACE_LOOP, POSIX_TRACE_UNTIL_FULL, POSIX_TRACE_FLUSH };
static const int log_policy[] = { POSIX_TRACE_LOOP, POSIX_TRACE_UNTIL_FULL, POSIX_TRACE_APPEND };

static void trace_some(trace_event_id_t id, int count, size_t bytes)
{
	static const char data[300];

	for (int i = 0; i < count; i++)
		posix_trace_event(id, data, bytes);
}

static void control(const struct log_wish *wish, int fd, int deeds, bool killed)
{
	struct posix_trace_status_info status;
	trace_event_id_t id;
	trace_id_t trid;

	trid = log_create_started(fd, wish);
	id = type_of("n");
	trace_some(id, deeds & MANY ? 100 : 5, 300);
	if (deeds & FLUSH)
		posix_trace_flush(trid);
	if (deeds & STATUS)
		posix_trace_get_status(trid, &status);
	if (deeds & RESTART) {
		posix_trace_start(trid);
		trace_some(id, 5, 5);
	}
	if (deeds & AGAIN)
		posix_trace_flush(trid);
	if (deeds & STOP)
		posix_trace_stop(trid);
	if (deeds & CLEAR) {
		posix_trace_clear(trid);
		trace_some(id, 5, 5);
	}
	if (deeds & OVERRUN)
		trace_some(id, 2000, 300);
	if (killed)
		kill(getpid(), SIGKILL);
	posix_trace_shutdown(trid);
	_exit(0);
}

/* Returns the status of the log and its events as text. */
static char *tell(int fd, bool loops)
{
	struct posix_trace_status_info status = log_status(fd);
	struct posix_trace_ledger_np ledger;
	trace_id_t trid = log_open(fd);
	char *text = NULL, *events;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);

	OK(posix_trace_get_ledger_np(trid, &ledger));
	log_close(trid);
	fprintf(out, "stream %d full %d overrun %d, flush %d error %d, log overrun %d full %d\n",
		status.posix_stream_status, status.posix_stream_full_status,
		status.posix_stream_overrun_status, status.posix_stream_flush_status,
		status.posix_stream_flush_error, status.posix_log_overrun_status,
		status.posix_log_full_status);
	ck_assert_uint_eq(ledger.called, ledger.reported + ledger_lost(&ledger));
	fprintf(out, "called %llu\n", (unsigned long long)ledger.called);
	for (int i = 0; !loops && i < POSIX_TRACE_LOST_CAUSES_NP; i++)
		fprintf(out, "lost %llu\n", (unsigned long long)ledger.lost[i]);
	if (!loops) {
		events = log_text(fd, true);
		fputs(events, out);
		free(events);
	}
	fclose(out);
	return text;
}

static char *log_of_a_controller(const struct log_wish *wish, int deeds, bool killed)
{
	int fd = log_file();
	pid_t child = fork();
	char *text;

	if (child == 0)
		control(wish, fd, deeds, killed);
	ck_assert_int_eq(waitpid(child, NULL, 0), child);
	text = tell(fd, wish->log_policy == POSIX_TRACE_LOOP);
	assert_log_whole(fd);
	close(fd);
	while (waitpid(-1, NULL, 0) > 0)
		;
	return text;
}

static void compare(int stream, int log)
{
	struct log_wish wish = { .policy = stream, .log_policy = log, .size = STREAM_BYTES,
				 .log_size = LOG_BYTES };

	for (size_t i = 0; i < sizeof deeds_of / sizeof *deeds_of; i++) {
		const int deeds = deeds_of[i];
		char *shut, *killed;

		/* The time of an automatic flush is not fixed. */
		if (stream == POSIX_TRACE_FLUSH && deeds & OVERRUN)
			continue;
		shut = log_of_a_controller(&wish, deeds, false);
		killed = log_of_a_controller(&wish, deeds, true);
		ck_assert_msg(!strcmp(shut, killed),
			      "stream %d log %d deeds %d\n%s\nbut killed\n%s", stream, log, deeds,
			      shut, killed);
		free(shut);
		free(killed);
	}
}

/* EXIT-01, SHUT-07: for each pair of policies */
START_TEST(a_killed_controller_leaves_the_log_of_one_that_shut_down)
{
	ck_assert_int_eq(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
	compare(stream_policy[_i / 3], log_policy[_i % 3]);
}
END_TEST

SUITE_NEEDS("exec guardian");

static Suite *build(void)
{
	TCase *tc;
	Suite *suite = support_suite("guardian: the same log", &tc);

	tcase_add_loop_test(tc, a_killed_controller_leaves_the_log_of_one_that_shut_down, 0, 9);
	return suite;
}

SUITE_MAIN_OF(build)
