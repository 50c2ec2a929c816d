/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Threads trace at full speed into a FLUSH stream with a log of every policy. For each thread and
 * each type, the events in the log and the losses in the ledger together equal the threads' own
 * counts. No event is torn or mixed, and the order of each thread is kept.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/ledger.h"
#include "support/log.h"
#include "support/payload.h"
#include "support/random.h"

enum { THREADS = 6, TYPES = 4, EVENTS = 20000, DATA_MAX = 200 };

struct producer {
	uint32_t who;
	const trace_event_id_t *type;
	uint64_t n[TYPES];
	pid_t tid;
	pthread_t self;
};

static void *produce(void *arg)
{
	struct producer *producer = arg;
	uint64_t state = 1000 + producer->who;
	unsigned char data[DATA_MAX];

	producer->tid = thread_id();
	producer->self = pthread_self();
	for (uint64_t i = 0; i < EVENTS; i++) {
		size_t len = random_between(&state, PAYLOAD_MIN, DATA_MAX);
		size_t type = random_between(&state, 0, TYPES - 1);

		payload_make(data, len, producer->who, i);
		producer->n[type]++;
		posix_trace_event(producer->type[type], data, len);
	}
	return NULL;
}

/* The events in the log. Each event is checked before it is counted. */
struct holdings {
	uint64_t thread[THREADS];
	uint64_t type[TYPES];
	uint64_t all;
};

static void count_log(trace_id_t trid, const struct producer *producer,
		      const trace_event_id_t *type, struct holdings *holds)
{
	int64_t next[THREADS] = { 0 };
	struct posix_trace_event_info info;
	unsigned char data[sizeof(trace_event_set_t) * 2 + DATA_MAX];
	uint64_t number;
	int unavailable;
	uint32_t who;
	size_t len;

	memset(holds, 0, sizeof(*holds));
	for (;;) {
		OK(posix_trace_getnext_event(trid, &info, data, sizeof(data), &len,
					     &unavailable));
		if (unavailable)
			return;
		holds->all++;
		if (info.posix_event_id < POSIX_TRACE_UNNAMED_USEREVENT)
			continue;
		ck_assert_int_eq(info.posix_truncation_status, POSIX_TRACE_NOT_TRUNCATED);
		if (!payload_read(data, len, &who, &number) || who >= THREADS)
			ck_abort_msg("event %" PRIu64 " of the log is torn", holds->all);
		ck_assert(pthread_equal(info.posix_thread_id, producer[who].self));
		ck_assert_int_eq(info.posix_pid, getpid());
		if ((int64_t)number < next[who])
			ck_abort_msg("thread %" PRIu32 ": %" PRIu64 " is in the place of %" PRIi64
				     " or a later one",
				     who, number, next[who]);
		next[who] = (int64_t)number + 1;
		holds->thread[who]++;
		for (int t = 0; t < TYPES; t++)
			holds->type[t] += info.posix_event_id == type[t];
	}
}

/*
 * Asserts that `called` equals the thread's own count. If the stream may have been suspended,
 * `called` may be less.
 */
static void compare(const struct posix_trace_ledger_np *line, uint64_t counted, uint64_t held,
		    bool suspended)
{
	ck_assert_uint_eq(line->reported, held);
	ck_assert_uint_eq(line->unread, 0);
	ck_assert_uint_eq(line->called, held + ledger_lost(line));
	if (suspended)
		ck_assert_uint_le(line->called, counted);
	else
		ck_assert_uint_eq(line->called, counted);
}

static void conserve(int log_policy, size_t stream_bytes, size_t log_bytes)
{
	static const char *const names[TYPES] = { "north", "east", "south", "west" };
	int fd = log_file();
	bool suspended = log_policy == POSIX_TRACE_UNTIL_FULL;
	struct producer producer[THREADS];
	struct posix_trace_ledger_np line;
	trace_event_id_t type[TYPES];
	struct holdings holds;
	pthread_t thread[THREADS];
	trace_id_t trid;

	for (int t = 0; t < TYPES; t++)
		type[t] = type_of(names[t]);
	trid = LOGGED_STARTED(fd, .policy = POSIX_TRACE_FLUSH, .log_policy = log_policy,
			      .size = stream_bytes, .log_size = log_bytes,
			      .max_data = DATA_MAX);
	for (uint32_t i = 0; i < THREADS; i++) {
		producer[i] = (struct producer){ .who = i, .type = type };
		thread[i] = spawn(produce, &producer[i]);
	}
	for (int i = 0; i < THREADS; i++)
		join(thread[i]);
	shut(trid);
	assert_log_whole(fd);

	trid = log_open(fd);
	count_log(trid, producer, type, &holds);
	ck_assert_ledger_closes(trid);
	ck_assert_uint_eq(ledger_total(trid).reported, holds.all);
	for (int i = 0; i < THREADS; i++) {
		line = ledger_of_thread(trid, producer[i].tid);
		compare(&line, EVENTS, holds.thread[i], suspended);
	}
	for (int t = 0; t < TYPES; t++) {
		uint64_t counted = 0;

		for (int i = 0; i < THREADS; i++)
			counted += producer[i].n[t];
		line = ledger_of_type(trid, type[t]);
		compare(&line, counted, holds.type[t], suspended);
	}
	log_close(trid);
	close(fd);
}

/* LOG-01, LOG-13, EVENT-18, EVENT-19, SFLUSH-01, SFLUSH-05 */
START_TEST(an_append_log_and_its_losses_are_all_that_was_traced)
{
	conserve(POSIX_TRACE_APPEND, 16 << 20, 0); /* hardly any losses */
	conserve(POSIX_TRACE_APPEND, 1, 0);        /* the smallest possible log: nearly all events
						    * are lost */
	conserve(POSIX_TRACE_APPEND, 256 << 10, 0);
}
END_TEST

/* LOG-02, LOG-13, EVENT-18, EVENT-19 */
START_TEST(a_loop_log_and_its_losses_are_all_that_was_traced)
{
	conserve(POSIX_TRACE_LOOP, 16 << 20, 1 << 20);
	conserve(POSIX_TRACE_LOOP, 1, 4 << 10);
	conserve(POSIX_TRACE_LOOP, 256 << 10, 64 << 10);
}
END_TEST

/* LOG-04, LOG-05, LOG-07, LOG-13, EVENT-18, EVENT-19 */
START_TEST(an_until_full_log_and_its_losses_are_all_that_was_traced_until_its_stop)
{
	conserve(POSIX_TRACE_UNTIL_FULL, 16 << 20, 1 << 20);
	conserve(POSIX_TRACE_UNTIL_FULL, 1, 4 << 10);
	conserve(POSIX_TRACE_UNTIL_FULL, 256 << 10, 256 << 10);
}
END_TEST

SUITE_MAIN("conservation in logs", an_append_log_and_its_losses_are_all_that_was_traced,
	   a_loop_log_and_its_losses_are_all_that_was_traced,
	   an_until_full_log_and_its_losses_are_all_that_was_traced_until_its_stop)
