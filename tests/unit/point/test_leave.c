/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * point/: after an event, on any path, its nesting level is free again. A level that remains marked
 * loses no event, because the next trace points detect it, but each of them then takes the slow
 * path.
 */
#include <signal.h>

#include "point/thread.h"
#include "support/stream.h"

static void assert_outside(void)
{
	const struct ptx_thread *thread = atomic_load(&ptx_thread_self);

	ck_assert_ptr_ne(thread, &ptx_thread_nobody);
	for (int level = 0; level < PTX_LEVELS; level++)
		ck_assert_ptr_null(atomic_load(&thread->frame[level]));
}

/* The first event of a thread, its second, and the following ones. EVENT-01 */
START_TEST(the_level_is_free_after_every_event)
{
	static const size_t bytes[] = { 8, 0, 8, 33, 200, 8 };
	trace_event_id_t u = type_of("u");
	char data[200] = "";
	trace_id_t trid[3];

	for (int streams = 0; streams < 3; streams++) {
		trid[streams] = STARTED(.size = 1 << 16, .policy = POSIX_TRACE_LOOP);
		for (int i = 0; i < 2000; i++) { /* through many chunks */
			posix_trace_event(u, data, bytes[i % 6]);
			assert_outside();
		}
	}
	for (int streams = 0; streams < 3; streams++)
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

SUITE_MAIN("point: the level is given back", the_level_is_free_after_every_event,
	   the_level_is_free_where_nothing_is_recorded, the_level_of_a_handler_is_free_after_it)
