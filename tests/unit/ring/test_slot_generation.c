/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Threads use a slot one after the other. Records of an earlier thread in a chunk have the slot and
 * its generation. So the losses of the earlier thread are not counted for the present thread.
 */
#include "support/support.h"
#include "unit/ring/pool.h"

enum { ROUNDS = 5 };

static struct pool *pool;
static uint32_t last[PTX_RINGS_FEW]; /* for each slot, the counts of its last owner */

static uint64_t lost(uint32_t index)
{
	return atomic_load(&pool->rings.slot[index].lost[PTX_WRITER_OVERWRITTEN]);
}

/* Uses all slots, each in one thread, which then ends. */
static void use_all(void)
{
	pool = pool_make(2, false);
	for (uint32_t i = 1; i < PTX_RINGS_FEW; i++) {
		last[i] = ptx_slot_claim(&pool->rings, 5, i, i);
		ck_assert_uint_eq(last[i] & 0xffff, i);
	}
	for (uint32_t i = 1; i < PTX_RINGS_FEW; i++)
		ptx_slot_release(&pool->rings, last[i]);
}

/* LEDGER: also in the second and third life of a slot */
START_TEST(each_owner_of_a_slot_has_another_generation_than_those_before)
{
	uint32_t reused = 0;

	use_all();
	for (uint32_t i = 0; i < ROUNDS * PTX_RINGS_FEW; i++) {
		uint32_t slot = ptx_slot_claim(&pool->rings, 6, i, i), index = slot & 0xffff;
		uint64_t before;

		if (index == 0)
			continue; /* no slot was found, so slot 0 has the loss */
		ck_assert_uint_eq(slot >> 16, ((last[index] >> 16) + 1) & 0xffff);
		before = lost(index);
		ptx_ring_count_loss(&pool->rings, PTX_WRITER_OVERWRITTEN, 70, last[index], 1);
		ck_assert_uint_eq(lost(index), before);
		ptx_ring_count_loss(&pool->rings, PTX_WRITER_OVERWRITTEN, 70, slot, 1);
		ck_assert_uint_eq(lost(index), before + 1);
		ptx_slot_release(&pool->rings, slot);
		/* A thread that has ended still owns the slot. */
		ptx_ring_count_loss(&pool->rings, PTX_WRITER_OVERWRITTEN, 70, slot, 1);
		ck_assert_uint_eq(lost(index), before + 2);
		last[index] = slot;
		reused++;
	}
	ck_assert_uint_ge(reused, PTX_RINGS_FEW);
	ck_assert_uint_eq(pool_lost(pool, PTX_WRITER_OVERWRITTEN),
			  pool_lost_by_slots(pool, PTX_WRITER_OVERWRITTEN));
}
END_TEST

/* The process of the thread has died, and another thread acquires the slot. */
static bool is_dead(uint32_t pid)
{
	return pid == 5;
}

START_TEST(a_slot_that_is_taken_from_a_dead_process_keeps_its_generation)
{
	use_all();
	for (uint32_t round = 0; round < 2; round++) {
		uint32_t slot = ptx_slot_claim(&pool->rings, 5, 1, 1), index = slot & 0xffff;

		ck_assert_uint_ne(index, 0);
		ck_assert_uint_eq(slot >> 16, (last[index] >> 16) + 1);
		ptx_ring_reap(&pool->rings, 6, is_dead);
		ptx_ring_count_loss(&pool->rings, PTX_WRITER_OVERWRITTEN, 70, slot, 1);
		ck_assert_uint_eq(lost(index), 1);
		last[index] = slot;
	}
}
END_TEST

SUITE_MAIN("ring: generations of slots",
	   each_owner_of_a_slot_has_another_generation_than_those_before,
	   a_slot_that_is_taken_from_a_dead_process_keeps_its_generation)
