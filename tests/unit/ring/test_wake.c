/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* ring/wake.c: a sleeper is woken even if the waker dies. The test replaces the sleep. */
#include <setjmp.h>

#include "base/futex.h"
#include "ring/ring_write.h"
#include "support/support.h"

enum { TICKET = 8, NEXT = 10, WAKING = 1 };

static struct ptx_region region;
static unsigned wakes;
static uint32_t seen; /* the word while its sleepers are woken */
static void (*meanwhile)(void);
static jmp_buf outside;

void __wrap_ptx_futex_wake(_Atomic uint32_t *word);
void __wrap_ptx_futex_wake(_Atomic uint32_t *word)
{
	void (*act)(void) = meanwhile;

	ck_assert_ptr_eq((void *)word, (void *)&region.waiters);
	seen = atomic_load(word);
	wakes++;
	meanwhile = NULL;
	if (act)
		act();
}

static uint32_t waiters(void)
{
	return atomic_load(&region.waiters);
}

/*
 * While the ticket is odd, no thread can fall asleep on it, because the wake-up may have happened
 * already.
 */
START_TEST(a_ticket_is_odd_while_its_sleepers_are_woken_and_then_gone)
{
	atomic_store(&region.waiters, TICKET);
	ptx_ring_wake(&region);
	ck_assert_uint_eq(wakes, 1);
	ck_assert_uint_eq(seen, TICKET | WAKING);
	ck_assert_uint_eq(waiters(), 0);
}
END_TEST

START_TEST(without_a_sleeper_no_thread_is_woken)
{
	ptx_ring_wake(&region);
	ck_assert_uint_eq(wakes, 0);
	ck_assert_uint_eq(waiters(), 0);
}
END_TEST

static void jump_away(void)
{
	longjmp(outside, 1);
}

/* The waker may have been killed at this point. */
START_TEST(the_next_waker_completes_the_work_of_a_dead_one)
{
	atomic_store(&region.waiters, TICKET);
	meanwhile = jump_away;
	if (setjmp(outside) == 0)
		ptx_ring_wake(&region);
	ck_assert_uint_eq(wakes, 1);
	ck_assert_uint_ne(waiters(), 0);
	ptx_ring_wake(&region);
	ck_assert_uint_eq(wakes, 2);
	ck_assert_uint_eq(waiters(), 0);
}
END_TEST

static void go_to_sleep_anew(void)
{
	atomic_store(&region.waiters, NEXT);
}

START_TEST(a_thread_that_fell_asleep_meanwhile_is_not_forgotten)
{
	atomic_store(&region.waiters, TICKET);
	meanwhile = go_to_sleep_anew;
	ptx_ring_wake(&region);
	ck_assert_uint_eq(waiters(), NEXT);
	ptx_ring_wake(&region);
	ck_assert_uint_eq(wakes, 2);
	ck_assert_uint_eq(seen, NEXT | WAKING);
	ck_assert_uint_eq(waiters(), 0);
}
END_TEST

static void wake_from_a_handler(void)
{
	ptx_ring_wake(&region);
}

START_TEST(two_may_wake_at_once)
{
	atomic_store(&region.waiters, TICKET);
	meanwhile = wake_from_a_handler;
	ptx_ring_wake(&region);
	ck_assert_uint_eq(wakes, 2);
	ck_assert_uint_eq(waiters(), 0);
}
END_TEST

SUITE_MAIN("ring: wake-up", a_ticket_is_odd_while_its_sleepers_are_woken_and_then_gone,
	   without_a_sleeper_no_thread_is_woken, the_next_waker_completes_the_work_of_a_dead_one,
	   a_thread_that_fell_asleep_meanwhile_is_not_forgotten, two_may_wake_at_once)
