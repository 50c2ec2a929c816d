/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Queues of hints: laps, holes, and pushers that are suspended or dead. */
#include <errno.h>

#include "ring/ring.h"
#include "support/random.h"
#include "support/support.h"

enum { MASK = 15, SIZE = MASK + 1 };

static struct ptx_hints hints;
static _Atomic uint64_t queue[SIZE];
static bool grows;

static void begin(uint64_t ticket)
{
	grows = true;
	atomic_store(&hints.head, ticket);
	atomic_store(&hints.tail, ticket);
	for (int i = 0; i < SIZE; i++)
		atomic_store(&queue[i], 0);
}

static void push(uint32_t number, uint32_t generation)
{
	ptx_hint_push(&hints, queue, MASK, number, generation);
}

/* Acquires the ticket of a pusher and does not write the entry. */
static uint64_t push_half(void)
{
	return atomic_fetch_add(&hints.tail, 1);
}

static bool pop(uint32_t *number, uint32_t *generation)
{
	return ptx_hint_pop(&hints, queue, MASK, grows, number, generation);
}

static void assert_next(uint32_t number)
{
	uint32_t got, generation;

	ck_assert(pop(&got, &generation));
	ck_assert_uint_eq(got, number);
}

static void assert_none(void)
{
	uint32_t number, generation;

	ck_assert(!pop(&number, &generation));
}

START_TEST(hints_come_out_in_the_order_in_which_they_went_in)
{
	uint32_t number, generation;

	begin(0);
	assert_none();
	for (uint32_t i = 0; i < SIZE; i++)
		push(10 + i, 0x12340000u + i);
	for (uint32_t i = 0; i < SIZE; i++) {
		ck_assert(pop(&number, &generation));
		ck_assert_uint_eq(number, 10 + i);
		ck_assert_uint_eq(generation, i); /* the low 16 bits of the generation */
	}
	assert_none();
}
END_TEST

/* Tickets wrap, and so do the laps in the entries, which have fewer bits. */
START_TEST(tickets_and_laps_go_over_their_ends)
{
	static const uint64_t ends[] = { UINT64_MAX - 10, (UINT64_C(0xfffe) * SIZE) - 10,
					 (UINT64_C(0xffff) * SIZE) - 10,
					 (UINT64_C(0x10000) * SIZE) - 10 };

	begin(ends[_i]);
	for (uint32_t i = 0; i < 40; i++) {
		push(i, 0);
		push(1000 + i, 0);
		assert_next(i);
		assert_next(1000 + i);
		assert_none();
	}
}
END_TEST

START_TEST(a_popper_that_meets_a_hole_reports_empty_until_it_is_filled)
{
	uint64_t ticket;

	begin(3 * SIZE);
	push(1, 0);
	ticket = push_half();
	push(3, 0);
	assert_next(1);
	assert_none();
	assert_none();
	/* the pusher continues */
	atomic_store(&queue[ticket & MASK], (ticket / SIZE + 1) << 48 | 2);
	assert_next(2);
	assert_next(3);
	assert_none();
}
END_TEST

/* There are more rings by now, so no pusher uses this queue any more. */
START_TEST(a_hole_in_a_queue_that_does_not_grow_is_passed_over_at_once)
{
	begin(5 * SIZE);
	push_half();
	push(2, 0);
	push_half();
	assert_none();
	grows = false;
	assert_next(2);
	assert_none();
}
END_TEST

/* The pusher of this entry has been killed. */
START_TEST(a_hole_is_passed_over_when_a_quarter_of_the_queue_waits_behind_it)
{
	begin(5 * SIZE);
	push_half();
	push(2, 0);
	push(3, 0);
	assert_none();
	push(4, 0);
	for (uint32_t i = 2; i <= 4; i++)
		assert_next(i);
	assert_none();
}
END_TEST

/* An entry of the previous lap is no entry of the present lap. */
START_TEST(an_entry_of_the_previous_lap_is_no_hint)
{
	begin(0);
	for (uint32_t i = 0; i < SIZE; i++)
		push(50 + i, 0);
	for (uint32_t i = 0; i < SIZE; i++)
		assert_next(50 + i);
	push_half();
	assert_none();
}
END_TEST

/*
 * A pusher that was suspended for a lap overwrites a younger entry. One hint is lost, and nothing
 * else.
 */
START_TEST(an_entry_written_a_lap_late_costs_a_hint)
{
	uint64_t ticket;

	begin(0);
	ticket = push_half();
	for (uint32_t i = 1; i < SIZE; i++)
		push(i, 0);
	for (uint32_t i = 1; i < SIZE; i++)
		assert_next(i);
	push(100, 0); /* in the entry of the suspended ticket */
	push(101, 0);
	push(102, 0);
	push(103, 0);
	atomic_store(&queue[ticket & MASK], (ticket / SIZE + 1) << 48 | 99);
	assert_next(101);
	assert_next(102);
	assert_next(103);
	assert_none();
}
END_TEST

/*
 * More hints were pushed than the queue has room for. The older hints are lost, and the youngest
 * remain.
 */
START_TEST(a_queue_that_ran_over_gives_its_youngest_hints)
{
	uint32_t number, generation;

	begin(_i ? UINT64_MAX - 100 : 0);
	for (uint32_t i = 0; i < 20 * SIZE; i++)
		push(i, 0);
	ck_assert(pop(&number, &generation)); /* the first pop finds one, however many are lost */
	ck_assert_uint_eq(number, 19 * SIZE);
	for (uint32_t i = 1; i < SIZE; i++)
		assert_next(19 * SIZE + i);
	assert_none();
}
END_TEST

/*
 * The queue has a state that a process killed between two steps could leave, or a hostile process.
 */
START_TEST(a_queue_of_garbage_is_left_in_bounded_time)
{
	uint64_t random = 88172645463325252u + (uint64_t)_i;
	uint32_t number, generation;

	begin(0);
	for (int i = 0; i < SIZE; i++)
		atomic_store(&queue[i], random_word(&random));
	atomic_store(&hints.head, random);
	atomic_store(&hints.tail, _i % 2 ? random + (random >> 2) : random - 5);
	for (int i = 0; i < 100; i++)
		(void)pop(&number, &generation);
	push(7, 0);
}
END_TEST

static Suite *suite(void)
{
	TCase *tc;
	Suite *s = support_suite("ring: hints", &tc);

	tcase_add_test(tc, hints_come_out_in_the_order_in_which_they_went_in);
	tcase_add_loop_test(tc, tickets_and_laps_go_over_their_ends, 0, 4);
	tcase_add_test(tc, a_popper_that_meets_a_hole_reports_empty_until_it_is_filled);
	tcase_add_test(tc, a_hole_in_a_queue_that_does_not_grow_is_passed_over_at_once);
	tcase_add_test(tc, a_hole_is_passed_over_when_a_quarter_of_the_queue_waits_behind_it);
	tcase_add_test(tc, an_entry_of_the_previous_lap_is_no_hint);
	tcase_add_test(tc, an_entry_written_a_lap_late_costs_a_hint);
	tcase_add_loop_test(tc, a_queue_that_ran_over_gives_its_youngest_hints, 0, 2);
	tcase_add_loop_test(tc, a_queue_of_garbage_is_left_in_bounded_time, 0, 50);
	return s;
}

SUITE_MAIN_OF(suite)
