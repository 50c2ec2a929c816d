/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The loss ledger of streams with log, and the ledger in a log. The reported events are those of
 * the log. Every other event is lost, with a cause.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "support/ledger.h"
#include "support/log.h"

enum {
	STREAM_FULL = POSIX_TRACE_LOST_STREAM_FULL_NP,
	LOG_FULL = POSIX_TRACE_LOST_LOG_FULL_NP,
	LOG_OVERWRITTEN = POSIX_TRACE_LOST_LOG_OVERWRITTEN_NP,
	FLUSH_ERROR = POSIX_TRACE_LOST_FLUSH_ERROR_NP
};

#define LOG_BYTES 20000
#define WORKERS   5

struct worker {
	trace_event_id_t type[2];
	int n;
	pid_t tid;
	pthread_t self;
};

static void *work(void *arg)
{
	struct worker *worker = arg;

	worker->tid = thread_id();
	worker->self = pthread_self();
	for (int i = 0; i < worker->n; i++)
		trace_number(worker->type[i % 3 == 0], i);
	return NULL;
}

/* The threads' own counts; n[1] has the type of every third event. */
struct counts {
	struct worker worker[WORKERS];
	uint64_t n[2];
};

static struct counts run_workers(trace_event_id_t often, trace_event_id_t rarely)
{
	struct counts counts = { .n = { 0, 0 } };
	pthread_t handle[WORKERS];

	for (int i = 0; i < WORKERS; i++) {
		int n = 700 + 300 * i;

		counts.worker[i] = (struct worker){ { often, rarely }, n, 0, 0 };
		counts.n[1] += (uint64_t)(n + 2) / 3;
		counts.n[0] += (uint64_t)(n - (n + 2) / 3);
	}
	for (int i = 0; i < WORKERS; i++)
		handle[i] = spawn(work, &counts.worker[i]);
	for (int i = 0; i < WORKERS; i++)
		join(handle[i]);
	return counts;
}

/*
 * Compares the ledger of the opened log with the threads' own counts and with the events in the
 * log. By type and by thread, every missing event is lost with this cause.
 */
static void compare(int fd, const struct counts *counts, const trace_event_id_t type[2], int cause)
{
	trace_id_t trid = log_open(fd);
	struct history *history = read_log(trid);
	struct posix_trace_ledger_np line;

	ck_assert_ledger_closes(trid);
	ck_assert_uint_eq(ledger_total(trid).reported, history->n);
	ck_assert_uint_eq(ledger_total(trid).unread, 0);
	for (int t = 0; t < 2; t++) {
		size_t kept = history_count(history, type[t]);

		line = ledger_of_type(trid, type[t]);
		ck_assert_ledger_line(line, kept, 0, cause, counts->n[t] - kept);
	}
	for (int w = 0; w < WORKERS; w++) {
		size_t kept = 0;

		for (size_t i = 0; i < history->n; i++)
			kept += history->event[i].info.posix_event_id >=
					POSIX_TRACE_UNNAMED_USEREVENT &&
				pthread_equal(history->event[i].info.posix_thread_id,
					      counts->worker[w].self);
		line = ledger_of_thread(trid, counts->worker[w].tid);
		ck_assert_ledger_line(line, kept, 0, cause,
				      (uint64_t)counts->worker[w].n - kept);
	}
	history_free(history);
	log_close(trid);
	assert_log_whole(fd);
}

/* LOG-01, LOG-10 */
START_TEST(a_log_that_lost_nothing_says_so)
{
	int fd = log_file();
	trace_event_id_t type[2] = { type_of("often"), type_of("rarely") };
	trace_id_t trid = LOGGED_STARTED(fd, .policy = POSIX_TRACE_UNTIL_FULL,
					 .log_policy = POSIX_TRACE_APPEND, .size = 4 << 20);
	struct counts counts = run_workers(type[0], type[1]);
	struct posix_trace_ledger_np line;

	line = ledger_of_type(trid, type[0]);
	ck_assert_ledger_line(line, 0, counts.n[0], 0, 0);
	OK(posix_trace_flush(trid));
	line = ledger_of_type(trid, type[0]);
	ck_assert_ledger_line(line, counts.n[0], 0, 0, 0);
	ck_assert_ledger_closes(trid);
	shut(trid);
	compare(fd, &counts, type, LOG_OVERWRITTEN);
	close(fd);
}
END_TEST

/* LOG-02, LOG-03, STATUS-13 */
START_TEST(losses_of_a_loop_log_are_counted_exactly)
{
	static const size_t log_bytes[] = { 5000, LOG_BYTES, 100000 };

	for (int i = 0; i < 3; i++) {
		int fd = log_file();
		trace_event_id_t type[2] = { type_of("often"), type_of("rarely") };
		trace_id_t trid = LOGGED_STARTED(fd, .policy = POSIX_TRACE_UNTIL_FULL,
						 .log_policy = POSIX_TRACE_LOOP, .size = 4 << 20,
						 .log_size = log_bytes[i]);
		struct counts counts = run_workers(type[0], type[1]);
		struct posix_trace_ledger_np line;

		OK(posix_trace_flush(trid));
		line = ledger_total(trid);
		ck_assert_uint_eq(line.unread, 0);
		ck_assert_uint_gt(line.lost[LOG_OVERWRITTEN], 0);
		ck_assert_ledger_closes(trid);
		line = ledger_of_type(trid, type[0]);
		ck_assert_uint_eq(line.reported + line.lost[LOG_OVERWRITTEN], counts.n[0]);
		shut(trid);
		compare(fd, &counts, type, LOG_OVERWRITTEN);
		close(fd);
	}
}
END_TEST

/* LOG-02, LOG-03: many small flushes, each of which writes the last block again with more events */
START_TEST(a_loop_log_of_many_flushes_keeps_its_account)
{
	const int n = 3000;
	int fd = log_file();
	trace_event_id_t id = type_of("n");
	trace_id_t trid = LOGGED_STARTED(fd, .policy = POSIX_TRACE_UNTIL_FULL,
					 .log_policy = POSIX_TRACE_LOOP, .log_size = LOG_BYTES);
	struct posix_trace_ledger_np line;
	struct history *history;
	trace_id_t opened;

	for (int i = 0; i < n; i++) {
		trace_number(id, i);
		if (i % 7 == 0)
			OK(posix_trace_flush(trid));
	}
	ck_assert_ledger_closes(trid);
	shut(trid);
	opened = log_open(fd);
	history = read_log(opened);
	line = ledger_of_type(opened, id);
	ck_assert_ledger_line(line, history_count(history, id), 0, LOG_OVERWRITTEN,
			      n - history_count(history, id));
	line = ledger_of_type(opened, POSIX_TRACE_FLUSH_START);
	ck_assert_uint_eq(line.called, (n + 6) / 7 + 1);
	ck_assert_ledger_closes(opened);
	history_free(history);
	log_close(opened);
	assert_log_whole(fd);
	close(fd);
}
END_TEST

struct flushing {
	trace_id_t trid;
	trace_event_id_t type;
	_Atomic bool ended;
};

/* Fills the LOOP log repeatedly: each flush overwrites blocks. */
static void *fill_loop_log(void *arg)
{
	struct flushing *flushing = arg;

	for (int i = 0; i < 400; i++) {
		for (int k = 0; k < 50; k++)
			trace_number(flushing->type, k);
		OK(posix_trace_flush(flushing->trid));
	}
	flushing->ended = true;
	return NULL;
}

/*
 * LOG-03: a flush overwrites blocks of the log and does not hold the stream's lock. The ledgers of
 * a type, of a thread and of the total have the same losses at any time.
 */
START_TEST(a_ledger_beside_a_loop_log_that_is_written_closes)
{
	int fd = log_file();
	struct flushing flushing = { .type = type_of("filled") };
	uint64_t overwritten = 0;
	pthread_t filler;

	flushing.trid = LOGGED_STARTED(fd, .policy = POSIX_TRACE_FLUSH,
				       .log_policy = POSIX_TRACE_LOOP, .log_size = LOG_BYTES);
	filler = spawn(fill_loop_log, &flushing);
	while (!flushing.ended) {
		struct posix_trace_ledger_np type = ledger_of_type(flushing.trid, flushing.type);
		struct posix_trace_ledger_np total = ledger_total(flushing.trid);

		/* The total was read after the other lines. */
		ck_assert_uint_ge(total.lost[LOG_OVERWRITTEN], type.lost[LOG_OVERWRITTEN]);
		ck_assert_uint_ge(type.lost[LOG_OVERWRITTEN], overwritten);
		overwritten = type.lost[LOG_OVERWRITTEN];
	}
	join(filler);
	ck_assert_uint_gt(ledger_total(flushing.trid).lost[LOG_OVERWRITTEN], 0);
	ck_assert_ledger_closes(flushing.trid);
	shut(flushing.trid);
	close(fd);
}
END_TEST

/* LOG-04, LOG-07, LOG-08 */
START_TEST(discards_of_a_full_log_are_counted_exactly)
{
	int fd = log_file();
	trace_event_id_t type[2] = { type_of("often"), type_of("rarely") };
	trace_id_t trid = LOGGED_STARTED(fd, .policy = POSIX_TRACE_UNTIL_FULL,
					 .log_policy = POSIX_TRACE_UNTIL_FULL, .size = 4 << 20,
					 .log_size = LOG_BYTES);
	struct counts counts = run_workers(type[0], type[1]);

	OK(posix_trace_flush(trid));
	ck_assert_uint_gt(ledger_total(trid).lost[LOG_FULL], 0);
	ck_assert_ledger_closes(trid);
	shut(trid);
	compare(fd, &counts, type, LOG_FULL);
	close(fd);
}
END_TEST

/* SFLUSH-05, SFLUSH-06: the flush waits for the pipe until the stream is full */
START_TEST(losses_of_a_flush_stream_are_counted_exactly)
{
	enum { ROUNDS = 100 };
	static struct counts counts[ROUNDS];
	struct siphon *siphon = siphon_start();
	trace_event_id_t type[2] = { type_of("often"), type_of("rarely") };
	trace_id_t trid = LOGGED_STARTED(siphon_fd(siphon), .policy = POSIX_TRACE_FLUSH,
					 .log_policy = POSIX_TRACE_APPEND, .size = 32 << 10);
	uint64_t n[2] = { 0, 0 };
	int fd, rounds = 0;

	close(siphon_fd(siphon));
	while (ledger_total(trid).lost[STREAM_FULL] < 10000) {
		ck_assert_int_lt(rounds, ROUNDS);
		counts[rounds] = run_workers(type[0], type[1]);
		for (int t = 0; t < 2; t++)
			n[t] += counts[rounds].n[t];
		rounds++;
	}
	siphon_release(siphon);
	OK(posix_trace_flush(trid));
	ck_assert_ledger_closes(trid);
	shut(trid);
	fd = siphon_finish(siphon);
	/* Threads of different rounds may have the same handles, but have different ids. */
	trid = log_open(fd);
	ck_assert_ledger_closes(trid);
	for (int t = 0; t < 2; t++) {
		struct posix_trace_ledger_np line = ledger_of_type(trid, type[t]);

		ck_assert_uint_eq(line.called, n[t]);
		ck_assert_uint_eq(line.lost[STREAM_FULL], ledger_lost(&line));
	}
	for (int round = 0; round < rounds; round++)
		for (int w = 0; w < WORKERS; w++)
			ck_assert_uint_eq(
				ledger_of_thread(trid, counts[round].worker[w].tid).called,
				counts[round].worker[w].n);
	log_close(trid);
	assert_log_whole(fd);
	close(fd);
}
END_TEST

/* LOG-19, SHUT-06 */
START_TEST(losses_of_a_failed_flush_are_counted_exactly)
{
	int fd = log_file();
	trace_event_id_t type[2] = { type_of("often"), type_of("rarely") };
	trace_id_t trid = LOGGED_STARTED(fd, .policy = POSIX_TRACE_UNTIL_FULL,
					 .log_policy = POSIX_TRACE_APPEND, .size = 4 << 20);
	struct counts counts = run_workers(type[0], type[1]);
	struct posix_trace_ledger_np line;
	struct history *history;
	struct rlimit limit;

	ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &limit), 0);
	limit.rlim_cur = 40 << 10; /* room for some of the events, even if the log packs them */
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
	FAILS(EFBIG, posix_trace_flush(trid));
	ck_assert_ledger_closes(trid);
	FAILS(EFBIG, posix_trace_shutdown(trid));
	limit.rlim_cur = limit.rlim_max; /* Check writes to a file, too */
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
	trid = log_open(fd);
	history = read_log(trid);
	line = ledger_total(trid);
	ck_assert_ledger_line(line, history->n, 0, FLUSH_ERROR, line.called - history->n);
	ck_assert_uint_ge(line.called, counts.n[0] + counts.n[1]);
	history_free(history);
	log_close(trid);
	close(fd);
}
END_TEST

/* CLEAR-07 */
START_TEST(clear_moves_the_log_of_before_to_the_cleared)
{
	int fd = log_file();
	trace_event_id_t id = type_of("n");
	trace_id_t trid = LOGGED_STARTED(fd, .policy = POSIX_TRACE_UNTIL_FULL,
					 .log_policy = POSIX_TRACE_APPEND);
	struct posix_trace_ledger_np line;

	for (int i = 0; i < 10; i++)
		trace_number(id, i);
	OK(posix_trace_flush(trid));
	for (int i = 0; i < 5; i++)
		trace_number(id, i);
	OK(posix_trace_clear(trid));
	ck_assert_ledger_closes(trid);
	for (int i = 0; i < 3; i++)
		trace_number(id, i);
	shut(trid);
	trid = log_open(fd);
	ck_assert_ledger_closes(trid);
	line = ledger_of_type(trid, id);
	ck_assert_uint_eq(line.reported, 3);
	log_close(trid);
	assert_log_whole(fd);
	close(fd);
}
END_TEST

SUITE_MAIN("the ledger of logs", a_log_that_lost_nothing_says_so,
	   losses_of_a_loop_log_are_counted_exactly,
	   a_loop_log_of_many_flushes_keeps_its_account,
	   a_ledger_beside_a_loop_log_that_is_written_closes,
	   discards_of_a_full_log_are_counted_exactly,
	   losses_of_a_flush_stream_are_counted_exactly,
	   losses_of_a_failed_flush_are_counted_exactly,
	   clear_moves_the_log_of_before_to_the_cleared)
