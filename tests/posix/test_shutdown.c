/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* posix_trace_shutdown() of streams without log. */
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/stream.h"

/* SHUT-01, SHUT-09, LEGAL-08: the stream runs, is stopped or is full, and has unread events */
START_TEST(a_stream_in_any_state_ends)
{
	trace_event_id_t u = type_of("u");
	trace_id_t witness = STARTED(.size = 1 << 24);
	int traced = 0;

	for (int state = 0; state < 5; state++) {
		trace_id_t trid = STREAM(.size = 4000, .policy = state == 4 ? POSIX_TRACE_LOOP
								: POSIX_TRACE_UNTIL_FULL);

		if (state > 0)
			start(trid);
		if (state == 1)
			trace_number(u, traced++);
		if (state == 2)
			stop(trid);
		if (state == 3)
			traced += fill(trid, u, 64, traced);
		if (state == 4)
			traced += overrun(trid, u, 64, traced);
		shut(trid);
		FAILS(EINVAL, posix_trace_start(trid));
		trace_number(u, traced++); /* the program continues undisturbed */
	}
	{
		struct history *history = read_all(witness);

		ck_assert_uint_eq(history->n, traced + 1);
		history_free(history);
	}
	shut(witness);
}
END_TEST

#if defined __SANITIZE_ADDRESS__
/* AddressSanitizer would keep freed memory mapped, and the process would grow. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
	return "quarantine_size_mb=0";
}
#endif

/* Returns the size of this process's memory, as the kernel reports it. */
static long mapped_bytes(void)
{
	FILE *file = fopen("/proc/self/statm", "r");
	long pages = 0;

	ck_assert_ptr_nonnull(file);
	ck_assert_int_eq(fscanf(file, "%ld", &pages), 1);
	fclose(file);
	return pages * 4096;
}

/* SHUT-02: after the call, descriptors, threads and memory are the same as before */
START_TEST(a_stream_leaves_nothing_behind)
{
	trace_event_id_t u = type_of("u");
	int threads = count_threads();
	long before = 0;

	for (int round = 0; round < 200; round++) {
		trace_id_t trid = STARTED(.size = 1 << 20);

		trace_number(u, round);
		shut(trid);
		ck_assert_int_eq(count_threads(), threads);
		if (round == 20)
			before = mapped_bytes();
	}
	/* 180 megabytes were mapped and unmapped; less than ten of them may remain mapped. */
	ck_assert_int_lt(mapped_bytes() - before, 10 << 20);
}
END_TEST

static trace_id_t stream;
static _Atomic int over;
static pthread_barrier_t together;

static void *shut_it(void *unused)
{
	int err;

	(void)unused;
	pthread_barrier_wait(&together);
	err = posix_trace_shutdown(stream);
	return (void *)(intptr_t)err;
}

/* SHUT-08 */
START_TEST(one_of_several_shutdowns_succeeds)
{
	enum { THREADS = 5 };

	pthread_barrier_init(&together, NULL, THREADS);
	for (int round = 0; round < 100; round++) {
		pthread_t thread[THREADS];
		int succeeded = 0;

		stream = STARTED();
		for (int i = 0; i < THREADS; i++)
			thread[i] = spawn(shut_it, NULL);
		for (int i = 0; i < THREADS; i++) {
			int err = (int)(intptr_t)join(thread[i]);

			ck_assert(err == 0 || err == EINVAL);
			succeeded += !err;
		}
		ck_assert_int_eq(succeeded, 1);
	}
}
END_TEST

static trace_event_id_t type;

static void *trace_on(void *unused)
{
	(void)unused;
	for (int n = 0; !over; n++)
		trace_number(type, n);
	return NULL;
}

/* Makes every call with the identifier, until a call returns that there is no such stream. */
static void *use_until_it_ends(void *unused)
{
	struct posix_trace_status_info status;
	struct posix_trace_event_info info;
	trace_event_set_t none;
	trace_event_id_t id;
	trace_attr_t attr;
	int unavailable, err = 0;
	size_t len;

	(void)unused;
	posix_trace_eventset_empty(&none);
	for (int n = 0; !err; n++) {
		switch (n % 9) {
		case 0: err = posix_trace_get_status(stream, &status); break;
		case 1: err = posix_trace_stop(stream); break;
		case 2: err = posix_trace_start(stream); break;
		case 3: err = posix_trace_get_attr(stream, &attr); break;
		case 4:
			err = posix_trace_set_filter(stream, &none, POSIX_TRACE_ADD_EVENTSET);
			break;
		case 5:
			err = posix_trace_eventtypelist_getnext_id(stream, &id, &unavailable);
			break;
		case 6: err = posix_trace_clear(stream); break;
		case 7: err = posix_trace_trid_eventid_open(stream, "name", &id); break;
		case 8: err = posix_trace_trygetnext_event(stream, &info, NULL, 0, &len,
							   &unavailable); break;
		}
	}
	return (void *)(intptr_t)err;
}

static void *wait_until_it_ends(void *unused)
{
	struct posix_trace_event_info info;
	int unavailable, err;
	size_t len;

	(void)unused;
	do
		err = posix_trace_getnext_event(stream, &info, NULL, 0, &len, &unavailable);
	while (!err);
	return (void *)(intptr_t)err;
}

/*
 * SHUT-04, SHUT-09, GEN-07, LEGAL-03: the stream ends while other threads trace, control, read and
 * wait
 */
START_TEST(a_stream_ends_under_the_hands_of_other_threads)
{
	pthread_t tracer[2];

	type = type_of("u");
	tracer[0] = spawn(trace_on, NULL);
	tracer[1] = spawn(trace_on, NULL);
	for (int round = 0; round < 100; round++) {
		pthread_t user[4];

		stream = STARTED();
		user[0] = spawn(use_until_it_ends, NULL);
		user[1] = spawn(use_until_it_ends, NULL);
		user[2] = spawn(wait_until_it_ends, NULL);
		user[3] = spawn(wait_until_it_ends, NULL);
		for (int i = 0; i < round % 10; i++)
			sched_yield();
		shut(stream);
		for (int i = 0; i < 4; i++)
			ck_assert_int_eq((intptr_t)join(user[i]), EINVAL);
	}
	over = 1;
	join(tracer[0]);
	join(tracer[1]);
}
END_TEST

/* SHUT-05 */
START_TEST(only_an_active_stream_is_shut_down)
{
	trace_id_t trid = STREAM();

	FAILS(EINVAL, posix_trace_shutdown(0));
	FAILS(EINVAL, posix_trace_shutdown(trid ^ 1ul << 33));
	shut(trid);
	FAILS(EINVAL, posix_trace_shutdown(trid));
}
END_TEST

SUITE_NEEDS("memory");

SUITE_MAIN("posix_trace_shutdown",
	   a_stream_in_any_state_ends,
	   a_stream_leaves_nothing_behind,
	   one_of_several_shutdowns_succeeds,
	   a_stream_ends_under_the_hands_of_other_threads,
	   only_an_active_stream_is_shut_down)
