/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * point/: after an event, on any path, its nesting level is free again, and its window was open. If
 * a level remained marked, no event would be lost, because the next trace points detect this. But
 * each of them would take the slow path. At its end, a process gives its ring back.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "point/thread.h"
#include "support/stream.h"

static void assert_outside(void)
{
	const struct ptx_thread *thread = atomic_load(&ptx_thread_self);

	ck_assert_ptr_ne(thread, &ptx_thread_nobody);
	for (int level = 0; level < PTX_LEVELS; level++)
		ck_assert_ptr_null(atomic_load(&thread->frame[level]));
}

/* The first event of a thread, the second, and later events. EVENT-01 */
START_TEST(the_level_is_free_after_every_event)
{
	static const size_t bytes[] = { 8, 0, 8, 33, 200, 300, 1, 2000, 8 };
	trace_event_id_t u = type_of("u");
	char data[2000] = ""; /* more than a stream records */
	trace_id_t trid[5];

	for (int streams = 0; streams < 5; streams++) {
		trid[streams] = STARTED(.size = 1 << 16, .policy = POSIX_TRACE_LOOP);
		for (int i = 0; i < 2000; i++) { /* uses many chunks */
			posix_trace_event(u, data, bytes[i % 9]);
			assert_outside();
		}
	}
	for (int streams = 0; streams < 5; streams++)
		shut(trid[streams]);
}
END_TEST

/*
 * (K) of ring.h: each path stores the window before it reads the clock. Otherwise a reader would
 * not wait for the event, and would deliver the event late. The window keeps the value of the head
 * before the record.
 */
START_TEST(the_window_was_open_before_every_record)
{
	static const size_t bytes[] = { 8, 0, 33, 8, 300, 12 };
	trace_event_id_t u = type_of("u");
	char data[300] = "";
	trace_id_t trid[5];
	unsigned compared = 0;

	for (unsigned streams = 0; streams < 5; streams++) {
		trid[streams] = STARTED(.size = 1 << 16, .policy = POSIX_TRACE_LOOP);
		posix_trace_event(u, data, 8);
		for (int i = 0; i < 200; i++) {
			const struct ptx_thread *thread = atomic_load(&ptx_thread_self);
			struct ptx_chunk *chunk[PTX_STREAMS];
			uint64_t head[PTX_STREAMS];
			unsigned rings = 0;

			for (unsigned bit = 0; bit < PTX_STREAMS; bit++) {
				chunk[bit] = thread->cell[bit][0].serial ?
						     thread->cell[bit][0].chunk :
						     NULL;
				if (!chunk[bit])
					continue;
				rings++;
				head[bit] = atomic_load(&chunk[bit]->head) & PTX_HEAD_MASK;
			}
			ck_assert_uint_eq(rings, streams + 1);
			posix_trace_event(u, data, bytes[i % 6]);
			for (unsigned bit = 0; bit < PTX_STREAMS; bit++) {
				if (!chunk[bit] || thread->cell[bit][0].chunk != chunk[bit])
					continue; /* no stream, or the record is in a new chunk */
				ck_assert_uint_gt(atomic_load(&chunk[bit]->head), head[bit]);
				ck_assert_uint_eq(atomic_load(&chunk[bit]->window), head[bit]);
				compared++;
			}
		}
	}
	ck_assert_uint_gt(compared, 2000);
	for (int streams = 0; streams < 5; streams++)
		shut(trid[streams]);
}
END_TEST

START_TEST(the_level_is_free_where_nothing_is_recorded)
{
	trace_event_id_t u = type_of("u");
	trace_id_t full = STARTED(.size = 4000, .policy = POSIX_TRACE_UNTIL_FULL);
	trace_id_t trid;

	for (int i = 0; i < 1000; i++) {
		trace_number(u, i);
		assert_outside();
	}
	shut(full);
	trid = STARTED();
	trace_number(u, 1);
	stop(trid);
	for (int i = 0; i < 3; i++) {
		trace_number(u, i);
		assert_outside();
	}
	shut(trid);
}
END_TEST

static trace_event_id_t from_handler;

static void trace_here(int signal)
{
	trace_number(from_handler, signal);
}

START_TEST(the_level_of_a_handler_is_free_after_it)
{
	trace_id_t trid = STARTED();

	from_handler = type_of("from a handler");
	ck_assert_ptr_ne(signal(SIGUSR1, trace_here), SIG_ERR);
	for (int i = 0; i < 3; i++) {
		raise(SIGUSR1);
		assert_outside();
	}
	shut(trid);
}
END_TEST

static char *late;       /* data that can be read only after late_data() has run */
static bool forks;
static volatile pid_t child;

/* Runs while a trace point copies its data, so after the claim of the level. */
static void late_data(int signal)
{
	(void)signal;
	if (mprotect(late, 4096, PROT_READ) != 0)
		_exit(1);
	if (!forks)
		posix_trace_confine_np(POSIX_TRACE_CONFINE_THREAD_NP);
	else
		child = fork();
}

static void assert_nobody_is_claimed(void)
{
	ck_assert_ptr_eq(atomic_load(&ptx_thread_nobody.frame[0]), &ptx_thread_nobody);
}

/*
 * One stream has room for the event, and the trace point copies the data. Then it finds that the
 * other stream takes only a part of the data, and hands the event to record.c. In between a handler
 * has changed the thread's object.
 */
START_TEST(a_handler_that_hides_the_object_leaves_nobody_claimed)
{
	static const size_t sizes[] = { 200, 20, 200 };
	trace_event_id_t u = type_of("u");
	trace_id_t trid[3];
	int status;

	late = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ck_assert_ptr_ne(late, MAP_FAILED);
	ck_assert_ptr_ne(signal(SIGSEGV, late_data), SIG_ERR);
	for (int i = 0; i < 3; i++)
		trid[i] = STARTED(.max_data = sizes[i]);
	for (int i = 0; i < 4; i++) {
		forks = i >= 2;
		trace_number(u, i);
		assert_outside();
		ck_assert_int_eq(mprotect(late, 4096, PROT_NONE), 0);
		posix_trace_event(u, late, 100);
		assert_nobody_is_claimed();
		if (!forks) {
			OK(posix_trace_confine_np(POSIX_TRACE_CONFINE_NOT_NP));
			assert_outside();
			continue;
		}
		if (child == 0)
			_exit(7);
		assert_outside();
		ck_assert_int_eq(waitpid(child, &status, 0), child);
		ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 7);
	}
	for (int i = 0; i < 3; i++)
		shut(trid[i]);
}
END_TEST

static uint32_t rings_of_the_stream(void)
{
	for (unsigned bit = 0; bit < PTX_STREAMS; bit++)
		if (ptx_private.view[bit])
			return atomic_load(&ptx_private.view[bit]->rings.region->rings);
	ck_abort_msg("no view");
}

/* A process that calls exit() leaves its ring to the next process. A new ring costs memory. */
START_TEST(processes_that_end_one_after_the_other_share_a_ring)
{
	trace_event_id_t u = type_of("u");
	trace_id_t trid = STARTED(.inheritance = POSIX_TRACE_INHERITED);
	uint32_t before;
	int status;

	trace_number(u, 0);
	before = rings_of_the_stream();
	for (int i = 1; i <= 10; i++) {
		fflush(NULL);
		child = fork();
		if (child == 0) {
			trace_number(u, i);
			exit(0);
		}
		ck_assert_int_eq(waitpid(child, &status, 0), child);
		ck_assert_int_eq(status, 0);
	}
	ck_assert_uint_eq(rings_of_the_stream(), before + 1);
	shut(trid);
}
END_TEST

SUITE_MAIN("point: the level is given back", the_level_is_free_after_every_event,
	   the_window_was_open_before_every_record,
	   the_level_is_free_where_nothing_is_recorded, the_level_of_a_handler_is_free_after_it,
	   a_handler_that_hides_the_object_leaves_nobody_claimed,
	   processes_that_end_one_after_the_other_share_a_ring)
