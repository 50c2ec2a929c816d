/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* posix_trace_eventset_add() and its page. */
#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <trace.h>

#include "support/support.h"

#define FIRST_USER 64   /* CH-03 */
#define LAST       1023

static const trace_event_id_t system_ids[] = {
	POSIX_TRACE_ERROR, POSIX_TRACE_START, POSIX_TRACE_STOP, POSIX_TRACE_FILTER,
	POSIX_TRACE_OVERFLOW, POSIX_TRACE_RESUME, POSIX_TRACE_FLUSH_START, POSIX_TRACE_FLUSH_STOP,
};
#define SYSTEM_IDS (sizeof(system_ids) / sizeof(system_ids[0]))

/* SET-09 */
static int has(const trace_event_set_t *set, trace_event_id_t id)
{
	int member = 4711;

	OK(posix_trace_eventset_ismember(id, set, &member));
	ck_assert_int_ne(member, 4711);
	return member != 0;
}

/*
 * Counts the members of the set with posix_trace_eventset_ismember() for every id. There are no
 * assertions, because Check writes each assertion to a file. The caller asserts.
 */
static int members(const trace_event_set_t *set)
{
	int count = 0;

	errno = 4711;
	for (trace_event_id_t id = 1; id <= LAST; id++) {
		int member = 4711;

		if (posix_trace_eventset_ismember(id, set, &member) || member == 4711)
			return -1;
		count += member != 0;
	}
	return errno == 4711 ? count : -1;
}

/* SET-01, SET-06, SET-09 */
START_TEST(empty_makes_a_set_without_members)
{
	trace_event_set_t set;

	memset(&set, 0xff, sizeof(set));
	OK(posix_trace_eventset_empty(&set));
	ck_assert_int_eq(members(&set), 0);
}
END_TEST

/*
 * SET-02, SET-03, SET-06: no user event type has a name here, but the ids of all user types are
 * members
 */
START_TEST(all_events_are_every_id_that_exists_or_will)
{
	trace_event_set_t set;

	memset(&set, 0, sizeof(set));
	OK(posix_trace_eventset_fill(&set, POSIX_TRACE_ALL_EVENTS));
	ck_assert_int_eq(members(&set), LAST);
	for (size_t i = 0; i < SYSTEM_IDS; i++)
		ck_assert(has(&set, system_ids[i]));
	ck_assert(has(&set, POSIX_TRACE_UNNAMED_USEREVENT));
}
END_TEST

/* SET-04, SET-06 */
START_TEST(system_events_are_all_system_ids_and_no_user_id)
{
	trace_event_set_t set;

	memset(&set, 0xa5, sizeof(set));
	OK(posix_trace_eventset_fill(&set, POSIX_TRACE_SYSTEM_EVENTS));
	for (size_t i = 0; i < SYSTEM_IDS; i++)
		ck_assert(has(&set, system_ids[i]));
	ck_assert(!has(&set, POSIX_TRACE_UNNAMED_USEREVENT));
	for (trace_event_id_t id = FIRST_USER; id <= LAST; id++)
		ck_assert(!has(&set, id));
}
END_TEST

/* SET-05, SET-06 */
START_TEST(no_event_is_without_a_process)
{
	trace_event_set_t set;

	memset(&set, 0xff, sizeof(set));
	OK(posix_trace_eventset_fill(&set, POSIX_TRACE_WOPID_EVENTS));
	ck_assert_int_eq(members(&set), 0);
}
END_TEST

/* SET-07, SET-08: for every id */
START_TEST(add_and_del_change_one_membership_and_no_other)
{
	trace_event_set_t set;

	OK(posix_trace_eventset_empty(&set));
	for (trace_event_id_t id = 1; id <= LAST; id++) {
		OK(posix_trace_eventset_add(id, &set));
		OK(posix_trace_eventset_add(id, &set));
		ck_assert(has(&set, id));
		ck_assert_int_eq(members(&set), 1);
		OK(posix_trace_eventset_del(id, &set));
		OK(posix_trace_eventset_del(id, &set));
		ck_assert_int_eq(members(&set), 0);
	}
	OK(posix_trace_eventset_fill(&set, POSIX_TRACE_ALL_EVENTS));
	for (trace_event_id_t id = 1; id <= LAST; id++) {
		OK(posix_trace_eventset_del(id, &set));
		ck_assert(!has(&set, id));
		ck_assert_int_eq(members(&set), LAST - 1);
		OK(posix_trace_eventset_add(id, &set));
	}
	ck_assert_int_eq(members(&set), LAST);
}
END_TEST

/* SET-10, GEN-05, GEN-09 */
START_TEST(bad_arguments_are_refused_and_change_nothing)
{
	static const trace_event_id_t bad_ids[] = { 0, 1024, 1025, 65600, UINT32_MAX };
	static const int bad_whats[] = { 0, -1, POSIX_TRACE_START, POSIX_TRACE_ALL_EVENTS + 1 };
	trace_event_set_t set, before;
	int member = 4711;

	OK(posix_trace_eventset_fill(&set, POSIX_TRACE_SYSTEM_EVENTS));
	before = set;
	for (size_t i = 0; i < sizeof(bad_ids) / sizeof(bad_ids[0]); i++) {
		FAILS(EINVAL, posix_trace_eventset_add(bad_ids[i], &set));
		FAILS(EINVAL, posix_trace_eventset_del(bad_ids[i], &set));
		FAILS(EINVAL, posix_trace_eventset_ismember(bad_ids[i], &set, &member));
	}
	for (size_t i = 0; i < sizeof(bad_whats) / sizeof(bad_whats[0]); i++)
		FAILS(EINVAL, posix_trace_eventset_fill(&set, bad_whats[i]));
	FAILS(EINVAL, posix_trace_eventset_ismember(1, &set, NULL));
	FAILS(EINVAL, posix_trace_eventset_ismember(1, NULL, &member));
	FAILS(EINVAL, posix_trace_eventset_add(1, NULL));
	FAILS(EINVAL, posix_trace_eventset_del(1, NULL));
	FAILS(EINVAL, posix_trace_eventset_empty(NULL));
	FAILS(EINVAL, posix_trace_eventset_fill(NULL, POSIX_TRACE_ALL_EVENTS));
	ck_assert_mem_eq(&set, &before, sizeof(set));
	ck_assert_int_eq(member, 4711);
}
END_TEST

/* SET-10 */
START_TEST(a_set_that_was_never_emptied_or_filled_is_refused)
{
	trace_event_set_t set, before;
	int member = 4711;

	memset(&set, 0, sizeof(set));
	for (int i = 0; i < 2; i++) {
		before = set;
		FAILS(EINVAL, posix_trace_eventset_add(1, &set));
		FAILS(EINVAL, posix_trace_eventset_del(1, &set));
		FAILS(EINVAL, posix_trace_eventset_ismember(1, &set, &member));
		ck_assert_mem_eq(&set, &before, sizeof(set));
		memset(&set, 0xff, sizeof(set));
	}
	ck_assert_int_eq(member, 4711);
}
END_TEST

static trace_event_set_t without_start(trace_event_set_t set)
{
	OK(posix_trace_eventset_del(POSIX_TRACE_START, &set));
	return set;
}

/* SET-12, HDR-08 */
START_TEST(a_copy_is_independent)
{
	trace_event_set_t a, b, c;

	OK(posix_trace_eventset_empty(&a));
	OK(posix_trace_eventset_add(POSIX_TRACE_START, &a));
	b = a;
	OK(posix_trace_eventset_add(FIRST_USER, &b));
	ck_assert(!has(&a, FIRST_USER));
	ck_assert(has(&b, POSIX_TRACE_START));
	c = without_start(b);
	ck_assert(has(&b, POSIX_TRACE_START));
	ck_assert(!has(&c, POSIX_TRACE_START));
	ck_assert(has(&c, FIRST_USER));
}
END_TEST

SUITE_MAIN("posix_trace_eventset_add",
	   empty_makes_a_set_without_members,
	   all_events_are_every_id_that_exists_or_will,
	   system_events_are_all_system_ids_and_no_user_id,
	   no_event_is_without_a_process,
	   add_and_del_change_one_membership_and_no_other,
	   bad_arguments_are_refused_and_change_nothing,
	   a_set_that_was_never_emptied_or_filled_is_refused,
	   a_copy_is_independent)
