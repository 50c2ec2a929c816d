/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Places for streams in an arena whose creator died: the kernel has freed the creator's locks, a
 * guardian may have them, and the words have any state that a kill leaves.
 */
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "unit/arena/places.h"

static void attach_and_wait(void)
{
	attach();
	tell(to_parent);
	hear(to_child);
}

/* EXIT-03 */
START_TEST(a_place_of_the_living_is_theirs_and_one_of_the_dead_is_free)
{
	pid_t child = other_process(attach_and_wait);
	uint64_t generation;
	unsigned bit;

	hear(to_parent);
	ck_assert(!ptx_attachment_is_orphan(ARENA, 0));
	OK(ptx_attachment_claim(ARENA, &bit, &generation));
	ck_assert_uint_eq(bit, 1);
	ptx_attachment_retract(ARENA, bit, generation);
	tell(to_child);
	wait_well(child);
	ck_assert(ptx_attachment_is_orphan(ARENA, 0));
	ck_assert_uint_eq(streams(), 1);
	OK(ptx_attachment_claim(ARENA, &bit, &generation));
	ck_assert_uint_eq(bit, 0);
	ck_assert_uint_eq(streams(), 0);
	ptx_attachment_retract(ARENA, bit, generation);
}
END_TEST

START_TEST(the_dead_are_buried_once)
{
	pid_t child = other_process(attach);
	uint64_t generation;

	wait_well(child);
	generation = ptx_attachment_generation(atomic_load(&ptx_own_control.attachment[0].word));
	ptx_attachment_bury(ARENA, 0, generation + 1);
	ck_assert_uint_eq(streams(), 1);
	ptx_attachment_bury(ARENA, 0, generation);
	ck_assert_uint_eq(streams(), 0);
	ck_assert_int_eq(state_of(0), PTX_ATTACHMENT_FREE);
	ck_assert_uint_eq(attach_one(), 0);
	ptx_attachment_bury(ARENA, 0, generation);
	ck_assert_uint_eq(streams(), 1);
}
END_TEST

static void guard_one(void)
{
	if (!ptx_attachment_guard(ARENA, 0, 0))
		_exit(1);
	tell(to_parent);
	hear(to_child);
}

/* Makes the state just after the creator has died. */
static void guard_half(void)
{
	struct flock lock = ptx_attachment_lock(0, F_UNLCK);

	if (!ptx_attachment_guard(ARENA, 0, 0) || fcntl(ptx_arena_fd(ARENA), F_SETLK, &lock) != 0)
		_exit(1);
	tell(to_parent);
	hear(to_child);
}

/* A guardian of another log of the stream. */
static void guard_other(void)
{
	struct flock guard = ptx_attachment_guard_lock(0, 1);

	if (fcntl(ptx_arena_fd(ARENA), F_SETLK, &guard) != 0)
		_exit(1);
	tell(to_parent);
	hear(to_child);
}

/* EXIT-02: a stream that changes to another log has two guardians, and each of them is enough. */
START_TEST(the_second_guardian_of_a_place_keeps_it_too)
{
	uint64_t generation;
	pid_t creator, guard;
	unsigned bit;

	creator = other_process(attach_and_wait);
	hear(to_parent);
	tell(to_child);
	wait_well(creator);
	guard = other_process(guard_other);
	hear(to_parent);
	ck_assert(!ptx_attachment_is_orphan(ARENA, 0));
	OK(ptx_attachment_claim(ARENA, &bit, &generation));
	ck_assert_uint_eq(bit, 1);
	ptx_attachment_retract(ARENA, bit, generation);
	/* The lock of the guardian alone shows whether it is worth to yield to it. */
	ck_assert(ptx_attachment_guard(ARENA, 0, 0));
	ck_assert(ptx_attachment_guard_yield(ARENA, 0, 0));
	tell(to_child);
	wait_well(guard);
	ck_assert(!ptx_attachment_guard_yield(ARENA, 0, 0));
}
END_TEST

/*
 * EXIT-02: between the creator's death and the guardian's work, no other process acquires the place
 */
START_TEST(a_place_that_is_guarded_is_not_taken)
{
	struct flock lock = ptx_attachment_lock(0, F_WRLCK);
	pid_t creator, guard;
	uint64_t generation, word;
	unsigned bit;

	creator = other_process(attach_and_wait);
	hear(to_parent);
	tell(to_child);
	wait_well(creator);
	word = atomic_load(&ptx_own_control.attachment[0].word);
	guard = other_process(guard_one);
	hear(to_parent);
	ck_assert_int_eq(fcntl(ptx_arena_fd(ARENA), F_GETLK, &lock), 0);
	ck_assert_int_eq(lock.l_pid, guard); /* the creator's lock, for which the guardian waited */
	/* The guardian has both locks, or only the lock that the creator never had. */
	for (int round = 0; round < 2; round++) {
		ck_assert(!ptx_attachment_is_orphan(ARENA, 0));
		OK(ptx_attachment_claim(ARENA, &bit, &generation));
		ck_assert_uint_eq(bit, 1);
		ptx_attachment_retract(ARENA, bit, generation);
		ck_assert_uint_eq(atomic_load(&ptx_own_control.attachment[0].word), word);
		if (round == 0) {
			tell(to_child);
			wait_well(guard);
			guard = other_process(guard_half);
			hear(to_parent);
		}
	}
	tell(to_child);
	wait_well(guard);
	OK(ptx_attachment_claim(ARENA, &bit, &generation));
	ck_assert_uint_eq(bit, 0);
	ptx_attachment_retract(ARENA, bit, generation);
}
END_TEST

/*
 * EXIT-03: the creator was killed between two stores. Without a correction the count would remain
 * wrong
 */
START_TEST(a_creator_that_is_killed_while_it_counts_leaves_no_wrong_count)
{
	static const int wrong[] = { -1, 1, 3 };

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		pid_t child = other_process(attach);

		wait_well(child);
		atomic_fetch_add(&ptx_own_control.word, (uint64_t)wrong[i]);
		ck_assert_uint_eq(attach_one(), 0);
		ck_assert_uint_eq(streams(), 1);
		ptx_attachment_retract(ARENA, 0, ptx_attachment_generation(
			atomic_load(&ptx_own_control.attachment[0].word)));
		ck_assert_uint_eq(streams(), 0);
	}
}
END_TEST

/*
 * The creator was killed between two stores: the word is free, and the bits are not. No member may
 * inherit a stream because of these bits.
 */
START_TEST(bits_without_an_owner_are_cleared_when_their_place_is_claimed)
{
	uint64_t epoch = atomic_load(&ptx_own_control.word) >> 8, generation;
	unsigned bit;

	atomic_fetch_or(&ptx_own_control.attached, 1);
	atomic_fetch_add(&ptx_own_control.word, 1);
	atomic_store(&ptx_own_control.member[3].bits, 3);
	OK(ptx_attachment_claim(ARENA, &bit, &generation));
	ck_assert_uint_eq(streams(), 0);
	ck_assert_uint_eq(atomic_load(&ptx_own_control.attached), 0);
	ck_assert_uint_eq(atomic_load(&ptx_own_control.member[3].bits), 2);
	ck_assert_uint_gt(atomic_load(&ptx_own_control.word) >> 8, epoch);
	ptx_attachment_retract(ARENA, bit, generation);
}
END_TEST

static struct ptx_geometry geometry;

static bool is_present(uint64_t offset)
{
	return lseek(ptx_arena_fd(ARENA), (off_t)offset, SEEK_DATA) == (off_t)offset;
}

static void make_region(bool publish)
{
	uint64_t offset, generation;
	unsigned bit;
	void *memory;

	OK(ptx_attachment_claim(ARENA, &bit, &generation));
	OK(ptx_region_place(ARENA, &geometry, &offset));
	ptx_attachment_place(ARENA, bit, offset, &geometry, 64);
	OK(ptx_region_create(ARENA, &geometry, &memory, &offset));
	if (publish)
		ptx_attachment_publish(ARENA, bit, generation);
}

static void make_and_publish(void)
{
	make_region(true);
}

static void make_only(void)
{
	make_region(false);
}

/*
 * CREATE-13: the memory is freed, too, if the creator died before or after it attached the stream
 */
START_TEST(the_memory_of_a_dead_creator_is_freed_by_the_next_claim)
{
	void (*const way[])(void) = { make_and_publish, make_only, make_and_publish };

	OK(ptx_ring_plan(8192, 64, PTX_RINGS_FEW, &geometry));
	for (int i = 0; i < 3; i++) {
		uint64_t offset = atomic_load(&ptx_own_control.next_region), generation;
		unsigned bit;

		wait_well(other_process(way[i]));
		ck_assert(is_present(offset));
		if (i == 2)
			ptx_attachment_bury(ARENA, 0, ptx_attachment_generation(
				atomic_load(&ptx_own_control.attachment[0].word)));
		OK(ptx_attachment_claim(ARENA, &bit, &generation));
		ck_assert_uint_eq(bit, 0);
		ck_assert(!is_present(offset));
		ptx_attachment_retract(ARENA, bit, generation);
	}
}
END_TEST

/* SHUT-02: the pages that a trace point has touched after the memory was freed */
START_TEST(pages_of_a_late_writer_are_freed_when_the_place_is_used_again)
{
	uint64_t offset = atomic_load(&ptx_own_control.next_region), generation;
	void *late, *memory;
	unsigned bit;

	OK(ptx_ring_plan(8192, 64, PTX_RINGS_FEW, &geometry));
	OK(ptx_attachment_claim(ARENA, &bit, &generation));
	OK(ptx_region_place(ARENA, &geometry, &offset));
	ptx_attachment_place(ARENA, bit, offset, &geometry, 64);
	OK(ptx_region_create(ARENA, &geometry, &memory, &offset));
	OK(ptx_region_map(ARENA, &geometry, offset, &late));
	ptx_attachment_publish(ARENA, bit, generation);
	ptx_attachment_hide(ARENA, bit, generation);
	ptx_region_destroy(ARENA, &(struct ptx_rings){ .region = memory, .geometry = geometry },
			   offset, false);
	ptx_attachment_retract(ARENA, bit, generation);
	ck_assert(!is_present(offset));
	*(volatile char *)late = 1;
	ck_assert(is_present(offset));
	OK(ptx_attachment_claim(ARENA, &bit, &generation));
	ck_assert(!is_present(offset));
	ptx_attachment_retract(ARENA, bit, generation);
	munmap(late, geometry.bytes);
}
END_TEST

SUITE_NEEDS("populate");

static Suite *build(void)
{
	TCase *tc;
	Suite *suite = support_suite("arena: orphans", &tc);

	tcase_add_checked_fixture(tc, places_begin, places_end);
	tcase_add_test(tc, a_place_of_the_living_is_theirs_and_one_of_the_dead_is_free);
	tcase_add_test(tc, the_dead_are_buried_once);
	tcase_add_test(tc, a_place_that_is_guarded_is_not_taken);
	tcase_add_test(tc, the_second_guardian_of_a_place_keeps_it_too);
	tcase_add_test(tc, a_creator_that_is_killed_while_it_counts_leaves_no_wrong_count);
	tcase_add_test(tc, bits_without_an_owner_are_cleared_when_their_place_is_claimed);
	tcase_add_test(tc, the_memory_of_a_dead_creator_is_freed_by_the_next_claim);
	tcase_add_test(tc, pages_of_a_late_writer_are_freed_when_the_place_is_used_again);
	return suite;
}

SUITE_MAIN_OF(build)
