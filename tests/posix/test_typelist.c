/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* posix_trace_eventtypelist_getnext_id() and posix_trace_eventtypelist_rewind(). */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/stream.h"

#define IDS 4096
#define UNTOUCHED ((trace_event_id_t)0x5a5a5a5a)

/* Returns the next id, or 0 at the end. */
static trace_event_id_t next(trace_id_t trid)
{
	trace_event_id_t id = UNTOUCHED;
	int unavailable = 77;

	OK(posix_trace_eventtypelist_getnext_id(trid, &id, &unavailable));
	if (unavailable) {
		ck_assert_uint_eq(id, UNTOUCHED);
		return 0;
	}
	ck_assert_uint_ne(id, 0);
	ck_assert_uint_lt(id, IDS);
	return id;
}

/* Counts how often each id appears before the end; returns the number of ids. */
static int count(trace_id_t trid, unsigned char times[IDS])
{
	int n = 0;

	memset(times, 0, IDS);
	for (trace_event_id_t id; (id = next(trid)); n++)
		times[id]++;
	return n;
}

/* LIST-01, LIST-02, LIST-04 */
START_TEST(the_list_has_every_type_once)
{
	trace_event_id_t u = type_of("u"), v;
	unsigned char times[IDS];
	trace_id_t trid = STREAM();

	v = type_of("v");
	OK(posix_trace_trid_eventid_open(trid, "given", &(trace_event_id_t){ 0 }));
	ck_assert_int_eq(count(trid, times), 8 + 1 + 3);
	for (trace_event_id_t id = POSIX_TRACE_ERROR; id <= POSIX_TRACE_FLUSH_STOP; id++)
		ck_assert_uint_eq(times[id], 1);
	ck_assert_uint_eq(times[POSIX_TRACE_UNNAMED_USEREVENT], 1);
	ck_assert_uint_eq(times[u], 1);
	ck_assert_uint_eq(times[v], 1);
	ck_assert_uint_eq(times[type_of("given")], 1);
	for (int i = 0; i < 3; i++)
		ck_assert_uint_eq(next(trid), 0); /* the position remains at the end */
	shut(trid);
}
END_TEST

/* LIST-03 */
START_TEST(rewind_starts_again_with_the_first)
{
	trace_event_id_t first, second;
	unsigned char once[IDS], again[IDS];
	trace_id_t trid = STREAM();

	type_of("u");
	first = next(trid);
	second = next(trid);
	ck_assert_uint_ne(first, second);
	OK(posix_trace_eventtypelist_rewind(trid));
	ck_assert_uint_eq(next(trid), first);
	ck_assert_uint_eq(next(trid), second);
	OK(posix_trace_eventtypelist_rewind(trid));
	OK(posix_trace_eventtypelist_rewind(trid));
	count(trid, once);
	OK(posix_trace_eventtypelist_rewind(trid));
	count(trid, again);
	ck_assert_mem_eq(once, again, IDS);
	shut(trid);
}
END_TEST

/* LIST-05 */
START_TEST(a_type_opened_late_is_delivered_even_after_the_end)
{
	unsigned char times[IDS];
	trace_id_t trid = STREAM();
	trace_event_id_t late;

	next(trid);
	late = type_of("while iterating");
	count(trid, times);
	ck_assert_uint_eq(times[late], 1);
	ck_assert_uint_eq(next(trid), 0);
	late = type_of("after the end");
	ck_assert_uint_eq(next(trid), late);
	ck_assert_uint_eq(next(trid), 0);
	shut(trid);
}
END_TEST

/* LIST-08: each identifier has a position of its own */
START_TEST(two_streams_have_two_positions)
{
	trace_id_t a = STREAM(), b = STREAM();
	unsigned char times[IDS];
	trace_event_id_t first;

	type_of("u");
	first = next(a);
	count(a, times);
	ck_assert_uint_eq(next(b), first);
	shut(a);
	shut(b);
}
END_TEST

static trace_id_t shared;
static atomic_int times_seen[IDS];

static void *take_some(void *unused)
{
	trace_event_id_t id;
	int end;

	(void)unused;
	for (;;) {
		if (posix_trace_eventtypelist_getnext_id(shared, &id, &end))
			ck_abort_msg("the list failed");
		if (end)
			return NULL;
		if (id >= IDS)
			ck_abort_msg("id %u", id);
		atomic_fetch_add(&times_seen[id], 1);
	}
}

/* LIST-08: threads that use the same identifier share its position */
START_TEST(each_type_goes_to_one_of_the_threads)
{
	pthread_t thread[4];
	char name[32];
	int n = 0;

	shared = STREAM();
	for (int i = 0; i < 400; i++) {
		snprintf(name, sizeof(name), "type %d", i);
		type_of(name);
	}
	for (int round = 0; round < 20; round++) {
		memset(times_seen, 0, sizeof(times_seen));
		OK(posix_trace_eventtypelist_rewind(shared));
		for (int i = 0; i < 4; i++)
			thread[i] = spawn(take_some, NULL);
		for (int i = 0; i < 4; i++)
			join(thread[i]);
		n = 0;
		for (int i = 0; i < IDS; i++) {
			ck_assert_int_le(times_seen[i], 1);
			n += times_seen[i];
		}
		ck_assert_int_eq(n, 9 + 400);
	}
	shut(shared);
}
END_TEST

/* LIST-09: if events are lost, no types, name or attributes are lost */
START_TEST(overrun_removes_no_type)
{
	trace_event_id_t rare = type_of("rare"), often = type_of("often");
	char stream_name[TRACE_NAME_MAX + 1];
	char name[TRACE_EVENT_NAME_MAX + 1];
	unsigned char before[IDS], after[IDS];
	trace_id_t trid = STARTED(.policy = POSIX_TRACE_LOOP, .size = 4000, .name = "looping");
	trace_attr_t attr;

	trace_number(rare, 1);
	count(trid, before);
	for (int i = 0; i < 5; i++)
		overrun(trid, often, 64, 0);
	OK(posix_trace_eventtypelist_rewind(trid));
	count(trid, after);
	ck_assert_mem_eq(before, after, IDS);
	OK(posix_trace_eventid_get_name(trid, rare, name));
	ck_assert_str_eq(name, "rare");
	OK(posix_trace_get_attr(trid, &attr));
	OK(posix_trace_attr_getname(&attr, stream_name));
	ck_assert_str_eq(stream_name, "looping");
	shut(trid);
}
END_TEST

/* LIST-06, GEN-09 */
START_TEST(no_identifier_no_list)
{
	trace_event_id_t id = UNTOUCHED;
	trace_id_t trid = STREAM();
	int unavailable = 77;

	shut(trid);
	FAILS(EINVAL, posix_trace_eventtypelist_getnext_id(trid, &id, &unavailable));
	ck_assert_uint_eq(id, UNTOUCHED);
	FAILS(EINVAL, posix_trace_eventtypelist_rewind(trid));
}
END_TEST

SUITE_MAIN("posix_trace_eventtypelist",
	   the_list_has_every_type_once,
	   rewind_starts_again_with_the_first,
	   a_type_opened_late_is_delivered_even_after_the_end,
	   two_streams_have_two_positions,
	   each_type_goes_to_one_of_the_threads,
	   overrun_removes_no_type,
	   no_identifier_no_list)
