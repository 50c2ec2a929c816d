/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The promise of stream-min-size for random collections of events: random stream sizes, threads and
 * lengths, and every policy. A stream has many rounds; between two rounds it is read empty or in
 * part.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "support/payload.h"
#include "support/random.h"
#include "support/stream.h"

enum { MAX_THREADS = 40, MAX_DATA = 500, MAX_EVENTS = 20000 };

/* The events that one thread traces in one round. */
struct plan {
	size_t n;
	uint16_t len[MAX_EVENTS];
};

/* One stream under test, and its facts. */
struct trial {
	trace_id_t trid;
	trace_attr_t attr;
	size_t size;
	size_t unread;                   /* the sum of the maximum sizes of the unread events */
	uint64_t made[MAX_THREADS];      /* events of each thread, in all rounds */
	uint64_t seen[MAX_THREADS];
};

static struct plan plan[MAX_THREADS];
static struct trial trial;
static trace_event_id_t type;
static pthread_barrier_t begin, end;
static int over;

static void carry_out(uint32_t who)
{
	unsigned char data[MAX_DATA];

	for (size_t i = 0; i < plan[who].n; i++) {
		payload_make(data, plan[who].len[i], who, trial.made[who]++);
		posix_trace_event(type, data, plan[who].len[i]);
	}
}

static void *one_round(void *who)
{
	carry_out((uint32_t)(uintptr_t)who);
	return NULL;
}

static void *many_rounds(void *who)
{
	for (;;) {
		pthread_barrier_wait(&begin);
		if (over)
			return NULL;
		carry_out((uint32_t)(uintptr_t)who);
		pthread_barrier_wait(&end);
	}
}

/*
 * Distributes events up to the last event that fits. Either one thread gets all events, or each
 * thread gets a share. Each thread has its own range of lengths.
 */
static void make_plan(uint64_t *state, int threads)
{
	size_t low[MAX_THREADS], high[MAX_THREADS];
	int favourite = random_next(state) % 2 ? (int)random_between(state, 0, threads - 1) : -1;

	for (int i = 0; i < threads; i++) {
		plan[i].n = 0;
		low[i] = random_between(state, PAYLOAD_MIN, MAX_DATA);
		high[i] = random_between(state, low[i], MAX_DATA);
	}
	for (int missed = 0; missed < 20;) {
		int who = (int)random_between(state, 0, threads - 1);
		size_t len, cost;

		if (favourite >= 0 && random_next(state) % 16)
			who = favourite;
		len = random_between(state, low[who], high[who]);
		cost = user_event_size(&trial.attr, len);
		if (trial.unread + cost > trial.size || plan[who].n == MAX_EVENTS) {
			missed++;
			continue;
		}
		trial.unread += cost;
		plan[who].len[plan[who].n++] = (uint16_t)len;
	}
}

/* Reads up to this many events. The events of each thread must be complete and without a gap. */
static size_t read_some(size_t most)
{
	struct posix_trace_event_info info;
	unsigned char data[MAX_DATA];
	int unavailable;
	size_t len, n;

	for (n = 0; n < most; n++) {
		uint64_t sequence;
		uint32_t who;

		if (posix_trace_trygetnext_event(trial.trid, &info, data, sizeof(data), &len,
						 &unavailable))
			ck_abort_msg("reading failed");
		if (unavailable)
			break;
		if (info.posix_event_id != type)
			ck_abort_msg("an event of type %u", info.posix_event_id);
		if (!payload_read(data, len, &who, &sequence) || who >= MAX_THREADS)
			ck_abort_msg("a torn event");
		if (sequence != trial.seen[who]++)
			ck_abort_msg("event %llu of thread %u is in the place of %llu",
				     (unsigned long long)sequence, who,
				     (unsigned long long)trial.seen[who] - 1);
		trial.unread -= user_event_size(&trial.attr, len);
	}
	return n;
}

static void assert_nothing_lost(int number, int round)
{
	struct posix_trace_status_info status = status_of(trial.trid);

	if (status.posix_stream_status != POSIX_TRACE_RUNNING ||
	    status.posix_stream_overrun_status != POSIX_TRACE_NO_OVERRUN)
		ck_abort_msg("trial %d, round %d: events of %zu bytes at most did not fit in %zu",
			     number, round, trial.unread, trial.size);
}

static void assert_all_seen(void)
{
	for (int i = 0; i < MAX_THREADS; i++)
		ck_assert_uint_eq(trial.seen[i], trial.made[i]);
}

/*
 * Tries one stream, with this many rounds of this many threads. The threads continue in the next
 * round, or new threads replace them.
 */
static void try_stream(uint64_t *state, int number, int policy, int threads, int live_on)
{
	pthread_t thread[MAX_THREADS];
	int rounds = (int)random_between(state, 3, 12);
	struct seen start_event;

	memset(&trial, 0, sizeof(trial));
	wish_attr(&trial.attr, &(struct wish){ .policy = policy, .max_data = MAX_DATA });
	/* Between a few events and some thousand. */
	trial.size = random_between(state, 1200, 1200 << random_between(state, 0, 10));
	OK(posix_trace_attr_setstreamsize(&trial.attr, trial.size));
	OK(posix_trace_create(0, &trial.attr, &trial.trid));
	start(trial.trid);
	ck_assert_int_eq(read_one(trial.trid, &start_event), 1);
	free(start_event.data);

	pthread_barrier_init(&begin, NULL, threads + 1);
	pthread_barrier_init(&end, NULL, threads + 1);
	over = 0;
	for (uintptr_t i = 0; live_on && i < (uintptr_t)threads; i++)
		thread[i] = spawn(many_rounds, (void *)i);
	for (int round = 0; round < rounds; round++) {
		make_plan(state, threads);
		if (live_on) {
			pthread_barrier_wait(&begin);
			pthread_barrier_wait(&end);
		} else {
			for (uintptr_t i = 0; i < (uintptr_t)threads; i++)
				thread[i] = spawn(one_round, (void *)i);
			for (int i = 0; i < threads; i++)
				join(thread[i]);
		}
		assert_nothing_lost(number, round);
		/* Reads all events, or only some: the other events count in the next round. */
		read_some(round % 3 == 0 ? random_between(state, 0, 2000) : SIZE_MAX);
		if (round % 3)
			assert_all_seen();
	}
	read_some(SIZE_MAX);
	assert_all_seen();
	if (live_on) {
		over = 1;
		pthread_barrier_wait(&begin);
		for (int i = 0; i < threads; i++)
			join(thread[i]);
	}
	pthread_barrier_destroy(&begin);
	pthread_barrier_destroy(&end);
	shut(trial.trid);
}

/* SIZE-10, SIZE-12: random collections of threads that continue in the next round */
START_TEST(random_collections_from_threads_that_live_on)
{
	uint64_t state = 1;

	type = type_of("u");
	for (int number = 0; number < 60; number++)
		try_stream(&state, number,
			   number % 2 ? POSIX_TRACE_LOOP : POSIX_TRACE_UNTIL_FULL,
			   (int)random_between(&state, 1, number % 3 ? 6 : MAX_THREADS), 1);
}
END_TEST

/* SIZE-10, SIZE-12, EVENT-18 */
START_TEST(random_collections_from_threads_that_come_and_go)
{
	uint64_t state = 2;

	type = type_of("u");
	for (int number = 0; number < 60; number++)
		try_stream(&state, number,
			   number % 2 ? POSIX_TRACE_LOOP : POSIX_TRACE_UNTIL_FULL,
			   (int)random_between(&state, 1, number % 3 ? 6 : MAX_THREADS), 0);
}
END_TEST

/* SIZE-10: a thousand threads one after the other, each with one small event */
START_TEST(many_short_threads_with_an_event_each_fit)
{
	enum { N = 1000 };

	type = type_of("u");
	for (int p = 0; p < 2; p++) {
		memset(&trial, 0, sizeof(trial));
		wish_attr(&trial.attr,
			  &(struct wish){ .policy = p ? POSIX_TRACE_LOOP : POSIX_TRACE_UNTIL_FULL,
					  .max_data = MAX_DATA });
		trial.size = system_event_size(&trial.attr) +
			     N * user_event_size(&trial.attr, PAYLOAD_MIN);
		OK(posix_trace_attr_setstreamsize(&trial.attr, trial.size));
		OK(posix_trace_create(0, &trial.attr, &trial.trid));
		start(trial.trid);
		plan[0].n = 1;
		plan[0].len[0] = PAYLOAD_MIN;
		for (int i = 0; i < N; i++)
			join(spawn(one_round, (void *)0));
		assert_nothing_lost(p, 0);
		{
			struct history *history = read_all(trial.trid);

			ck_assert_uint_eq(history->n, N + 1);
			history_free(history);
		}
		shut(trial.trid);
	}
}
END_TEST

enum { CROWD = 300, EACH = 3 };

static void *stay_in_the_crowd(void *who)
{
	unsigned char data[PAYLOAD_MIN];

	pthread_barrier_wait(&begin);
	for (int i = 0; i < EACH; i++) {
		payload_make(data, sizeof(data), (uint32_t)(uintptr_t)who, i);
		posix_trace_event(type, data, sizeof(data));
	}
	pthread_barrier_wait(&end);
	pthread_barrier_wait(&begin);
	return NULL;
}

/* SIZE-10: three hundred threads that all run at the same time, with a few events each */
START_TEST(many_threads_at_once_with_a_few_events_each_fit)
{
	pthread_t thread[CROWD];

	type = type_of("u");
	pthread_barrier_init(&begin, NULL, CROWD + 1);
	pthread_barrier_init(&end, NULL, CROWD + 1);
	for (int p = 0; p < 2; p++) {
		struct history *history;

		memset(&trial, 0, sizeof(trial));
		wish_attr(&trial.attr,
			  &(struct wish){ .policy = p ? POSIX_TRACE_LOOP : POSIX_TRACE_UNTIL_FULL,
					  .max_data = MAX_DATA });
		trial.size = system_event_size(&trial.attr) +
			     CROWD * EACH * user_event_size(&trial.attr, PAYLOAD_MIN);
		OK(posix_trace_attr_setstreamsize(&trial.attr, trial.size));
		OK(posix_trace_create(0, &trial.attr, &trial.trid));
		start(trial.trid);
		for (uintptr_t i = 0; i < CROWD; i++)
			thread[i] = spawn(stay_in_the_crowd, (void *)i);
		pthread_barrier_wait(&begin);
		pthread_barrier_wait(&end);
		assert_nothing_lost(p, 0);
		history = read_all(trial.trid);
		ck_assert_uint_eq(history_count(history, type), CROWD * EACH);
		ck_assert_uint_eq(history->n, CROWD * EACH + 1);
		history_free(history);
		pthread_barrier_wait(&begin);
		for (int i = 0; i < CROWD; i++)
			join(thread[i]);
		shut(trial.trid);
	}
}
END_TEST

SUITE_MAIN("stream-min-size: threads",
	   random_collections_from_threads_that_live_on,
	   random_collections_from_threads_that_come_and_go,
	   many_short_threads_with_an_event_each_fit,
	   many_threads_at_once_with_a_few_events_each_fit)
