/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * ring/reap.c: rings and slots of dead processes become free, and those of living processes do not.
 */
#include "ring/ring_write.h"
#include "support/support.h"
#include "unit/ring/pool.h"

enum { CHUNKS = 12, SELF = 7, DEAD = 8, LIVING = 9, DEAD_TOO = 10 };

static struct pool *pool;
static struct reader reader;
static unsigned asked;

static bool is_dead(uint32_t pid)
{
	asked++;
	return pid == DEAD || pid == DEAD_TOO;
}

static bool nobody_is_dead(uint32_t pid)
{
	(void)pid;
	return false;
}

/*
 * Begins a writer as a thread of another process. The writers of pool.h belong to this process,
 * SELF.
 */
static void begin_of(struct writer *writer, uint32_t pid, uint32_t tid)
{
	struct ptx_rings *rings = &pool->rings;

	writer_begin(writer, pool, tid);
	writer->ident.pid = pid;
	atomic_store(&rings->slot[writer->ident.slot & 0xffff].pid, pid);
	atomic_store(&rings->ring[writer->ring].holder, ptx_ring_held_by(pid));
	ck_assert(ptx_ring_identify(rings, &writer->chunk, &writer->ident, &pool_loss));
}

static uint32_t holder(const struct writer *writer)
{
	/* the holder without its claims */
	return (uint32_t)atomic_load(&pool->rings.ring[writer->ring].holder);
}

static uint32_t slot_state(const struct writer *writer)
{
	return atomic_load(&pool->rings.slot[writer->ident.slot & 0xffff].word) & 0xffff;
}

static struct writer control, self, dead, living, dead_too;

/* The first ring belongs to the controller, whatever its holder is. */
static void begin(void)
{
	pool = pool_make(CHUNKS, false);
	reader_init(&reader, pool);
	asked = 0;
	begin_of(&control, DEAD, 1);
	writer_begin(&self, pool, 2);
	begin_of(&dead, DEAD, 3);
	begin_of(&living, LIVING, 4);
	begin_of(&dead_too, DEAD_TOO, 5);
	ck_assert_uint_eq(control.ring, 0);
}

START_TEST(rings_and_slots_of_the_dead_are_let_go_and_no_others)
{
	begin();
	ck_assert(ptx_ring_reap(&pool->rings, SELF, is_dead));
	ck_assert_uint_eq(holder(&dead), PTX_RING_IDLE);
	ck_assert_uint_eq(holder(&dead_too), PTX_RING_IDLE);
	ck_assert_uint_eq(holder(&self), ptx_ring_held_by(SELF));
	ck_assert_uint_eq(holder(&living), ptx_ring_held_by(LIVING));
	ck_assert_uint_eq(holder(&control), ptx_ring_held_by(DEAD));
	ck_assert_uint_eq(slot_state(&dead), PTX_SLOT_ENDED);
	ck_assert_uint_eq(slot_state(&dead_too), PTX_SLOT_ENDED);
	ck_assert_uint_eq(slot_state(&self), PTX_SLOT_LIVE);
	ck_assert_uint_eq(slot_state(&living), PTX_SLOT_LIVE);
	ck_assert(!ptx_ring_reap(&pool->rings, SELF, is_dead));
}
END_TEST

START_TEST(without_a_dead_process_nothing_changes)
{
	begin();
	ck_assert(!ptx_ring_reap(&pool->rings, SELF, nobody_is_dead));
	ck_assert_uint_eq(holder(&dead), ptx_ring_held_by(DEAD));
	ck_assert_uint_eq(slot_state(&dead), PTX_SLOT_LIVE);
}
END_TEST

/* The reaper checks neither its own process nor the controller. */
START_TEST(this_process_is_never_dead)
{
	begin();
	ck_assert(ptx_ring_reap(&pool->rings, DEAD, is_dead));
	ck_assert_uint_eq(holder(&dead), ptx_ring_held_by(DEAD));
	ck_assert_uint_eq(slot_state(&dead), PTX_SLOT_LIVE);
	ck_assert_uint_eq(holder(&dead_too), PTX_RING_IDLE);
}
END_TEST

START_TEST(idle_rings_have_no_owner)
{
	begin();
	ptx_ring_release(&pool->rings, dead.ring);
	ptx_slot_release(&pool->rings, dead.ident.slot);
	ptx_ring_release(&pool->rings, dead_too.ring);
	ptx_slot_release(&pool->rings, dead_too.ident.slot);
	ck_assert(!ptx_ring_reap(&pool->rings, SELF, is_dead));
	ck_assert_uint_eq(slot_state(&dead), PTX_SLOT_ENDED);
}
END_TEST

/*
 * The successor writes behind the records of the dead thread. A reader gets these records as
 * records of the dead thread.
 */
START_TEST(records_of_a_dead_thread_stay_and_others_write_behind_them)
{
	struct writer heir;

	begin();
	writer_put_many(&dead, 1, 2 * POOL_RECORDS);
	writer_put_many(&living, 1, 2);
	ck_assert(ptx_ring_reap(&pool->rings, SELF, is_dead));
	writer_begin(&heir, pool, 6);
	ck_assert(heir.ring == dead.ring || heir.ring == dead_too.ring);
	writer_put_many(&heir, 1, 2 * POOL_RECORDS);
	writer_begin(&heir, pool, 7);
	ck_assert(heir.ring == dead.ring || heir.ring == dead_too.ring);
	writer_put_many(&heir, 1, 2 * POOL_RECORDS);
	writer_put_many(&living, 3, 2);
	reader_read(&reader);
	assert_seen(&reader, 3, 1, 2 * POOL_RECORDS);
	assert_seen(&reader, 4, 1, 4);
	assert_seen(&reader, 6, 1, 2 * POOL_RECORDS);
	assert_seen(&reader, 7, 1, 2 * POOL_RECORDS);
}
END_TEST

/*
 * The thread died after it acquired its next chunk and before this chunk was its current one. The
 * chunk is freed.
 */
START_TEST(the_next_holder_completes_the_step_of_a_dead_thread)
{
	struct ptx_rings *rings;
	unsigned is_free;
	uint32_t number, generation;

	begin();
	rings = &pool->rings;
	writer_put_many(&dead, 1, 2);
	is_free = pool_chunks_in(pool, PTX_CHUNK_FREE);
	ck_assert(ptx_ring_hinted(rings, PTX_HINT_FREE, &number, &generation));
	generation = ptx_word_generation(atomic_load(&rings->word[number]));
	atomic_store(&rings->word[number],
		     ptx_chunk_word(generation + 1, dead.ring, PTX_CHUNK_OPENING));
	atomic_fetch_sub(&rings->region->free_chunks, 1);
	ck_assert(!ptx_ring_reap(rings, SELF, nobody_is_dead));
	ck_assert_uint_eq(pool_chunks_in(pool, PTX_CHUNK_FREE), is_free - 1);
	ck_assert(ptx_ring_reap(rings, SELF, is_dead));
	ck_assert_uint_eq(pool_chunks_in(pool, PTX_CHUNK_FREE), is_free);
	ck_assert_uint_eq(pool_chunks_in(pool, PTX_CHUNK_OPENING), 0);
	reader_read(&reader);
	assert_seen(&reader, 3, 1, 2);
}
END_TEST

static struct writer heir;

/*
 * While the reaper checks the holder of the ring, another process acquires the ring, and a thread
 * of this process continues in it.
 */
static bool others_are_quicker(uint32_t pid)
{
	if (pid == DEAD && slot_state(&dead) == PTX_SLOT_ENDED && !heir.pool) {
		ptx_ring_reap(&pool->rings, LIVING, is_dead);
		begin_of(&heir, LIVING, 6);
	}
	return is_dead(pid);
}

START_TEST(rings_that_another_acquired_meanwhile_stay_its_own)
{
	begin();
	ck_assert(!ptx_ring_reap(&pool->rings, SELF, others_are_quicker));
	ck_assert_uint_eq(heir.ring, dead.ring);
	ck_assert_uint_eq(holder(&heir), ptx_ring_held_by(LIVING));
	ck_assert_uint_eq(holder(&dead_too), PTX_RING_IDLE);
}
END_TEST

/* The same with the slot of the holder: it was released, and a living thread has it. */
static bool the_slot_is_anothers(uint32_t pid)
{
	struct ptx_slot *slot = &pool->rings.slot[dead.ident.slot & 0xffff];

	if (pid == DEAD && slot_state(&control) == PTX_SLOT_ENDED &&
	    atomic_load(&slot->word) == PTX_SLOT_LIVE) {
		atomic_store(&slot->pid, LIVING);
		atomic_store(&slot->word, 1u << 16 | PTX_SLOT_LIVE);
	}
	return is_dead(pid);
}

START_TEST(a_slot_that_is_anothers_meanwhile_stays_with_it)
{
	begin();
	ck_assert(ptx_ring_reap(&pool->rings, SELF, the_slot_is_anothers));
	ck_assert_uint_eq(slot_state(&control), PTX_SLOT_ENDED);
	ck_assert_uint_eq(atomic_load(&pool->rings.slot[dead.ident.slot & 0xffff].word),
			  1u << 16 | PTX_SLOT_LIVE);
}
END_TEST

/* One check is enough for the rings of one process. */
START_TEST(all_rings_of_a_dead_process_are_released)
{
	static struct writer many[40];

	pool = pool_make_planned(65536, 8, false);
	pool->young = true;
	asked = 0;
	writer_begin(&control, pool, 1);
	for (uint32_t i = 0; i < 40; i++)
		begin_of(&many[i], i % 2 ? DEAD : LIVING, 2 + i);
	ck_assert(ptx_ring_reap(&pool->rings, SELF, is_dead));
	for (uint32_t i = 0; i < 40; i++) {
		ck_assert_uint_eq(holder(&many[i]),
				  i % 2 ? PTX_RING_IDLE : ptx_ring_held_by(LIVING));
		ck_assert_uint_eq(slot_state(&many[i]), i % 2 ? PTX_SLOT_ENDED : PTX_SLOT_LIVE);
	}
	ck_assert_uint_gt(asked, 0);
}
END_TEST

/* The process has more rings than one walk over the chunks mends. */
START_TEST(a_living_process_is_asked_for_once_however_many_threads_it_has)
{
	enum { MANY = 300 };
	static struct writer many[MANY];

	pool = pool_make_planned(65536, 8, false);
	pool->young = true;
	writer_begin(&control, pool, 1);
	for (uint32_t i = 0; i < MANY; i++)
		begin_of(&many[i], LIVING, 2 + i);
	asked = 0;
	ck_assert(!ptx_ring_reap(&pool->rings, SELF, is_dead));
	ck_assert_uint_eq(asked, 1);
	for (uint32_t i = 0; i < MANY; i++)
		atomic_store(&pool->rings.ring[many[i].ring].holder, ptx_ring_held_by(DEAD));
	ck_assert(ptx_ring_reap(&pool->rings, SELF, is_dead));
	for (uint32_t i = 0; i < MANY; i++)
		ck_assert_uint_eq(holder(&many[i]), PTX_RING_IDLE);
}
END_TEST

/*
 * A process has executed another program. No thread of this program has a ring as long as the bit
 * is set.
 */
START_TEST(rings_of_a_former_program_are_released_and_no_others)
{
	_Atomic uint64_t fresh = 2;
	uint64_t word;

	begin();
	atomic_store(&pool->rings.ring[control.ring].holder, ptx_ring_held_by(SELF));
	word = atomic_load(&pool->rings.ring[self.ring].holder);
	ck_assert(ptx_ring_has_former(&pool->rings, SELF));
	ck_assert(!ptx_ring_has_former(&pool->rings, 99));
	ptx_ring_reap_former(&pool->rings, SELF, &fresh, 1); /* another stream is fresh */
	ck_assert_uint_eq(atomic_load(&pool->rings.ring[self.ring].holder), word);
	ck_assert_uint_eq(slot_state(&self), PTX_SLOT_LIVE);
	ptx_ring_reap_former(&pool->rings, SELF, &fresh, 2);
	ck_assert_uint_eq(holder(&self), PTX_RING_IDLE);
	ck_assert_uint_eq(slot_state(&self), PTX_SLOT_ENDED);
	/* The claim counts, so that a thread that had the ring notices that it lost the ring. */
	ck_assert_uint_eq(atomic_load(&pool->rings.ring[self.ring].holder) >> 32, (word >> 32) + 1);
	ck_assert_uint_eq(holder(&dead), ptx_ring_held_by(DEAD));
	ck_assert_uint_eq(holder(&living), ptx_ring_held_by(LIVING));
	ck_assert_uint_eq(holder(&control), ptx_ring_held_by(SELF));
	ck_assert_uint_eq(slot_state(&dead), PTX_SLOT_LIVE);
}
END_TEST

SUITE_MAIN("ring: the dead make room", rings_and_slots_of_the_dead_are_let_go_and_no_others,
	   without_a_dead_process_nothing_changes, this_process_is_never_dead,
	   idle_rings_have_no_owner, records_of_a_dead_thread_stay_and_others_write_behind_them,
	   the_next_holder_completes_the_step_of_a_dead_thread,
	   rings_that_another_acquired_meanwhile_stay_its_own,
	   a_slot_that_is_anothers_meanwhile_stays_with_it,
	   all_rings_of_a_dead_process_are_released,
	   rings_of_a_former_program_are_released_and_no_others,
	   a_living_process_is_asked_for_once_however_many_threads_it_has)
