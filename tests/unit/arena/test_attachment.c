/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Places for streams in an arena: claimed, published, freed, and claimed by two processes at the
 * same time. The test wraps fcntl() to interrupt it at its locks.
 */
#include <fcntl.h>
#include <stdarg.h>
#include <unistd.h>

#include "unit/arena/places.h"

int __real_fcntl(int fd, int command, ...);
int __wrap_fcntl(int fd, int command, ...);

static void (*before_lock)(void);
static bool refuses_locks;

int __wrap_fcntl(int fd, int command, ...)
{
	void (*hook)(void) = before_lock;
	va_list list;
	void *arg;

	va_start(list, command);
	arg = va_arg(list, void *);
	va_end(list);
	if (hook && command == F_SETLK && ((struct flock *)arg)->l_type == F_WRLCK) {
		before_lock = NULL;
		hook();
	}
	if (refuses_locks && command == F_SETLK) {
		errno = ENOLCK;
		return -1;
	}
	return __real_fcntl(fd, command, arg);
}

START_TEST(a_place_is_claimed_published_and_given_back)
{
	uint64_t generation, again;
	unsigned bit, other;

	OK(ptx_attachment_claim(ARENA, &bit, &generation));
	ck_assert_int_eq(state_of(bit), PTX_ATTACHMENT_CLAIMED);
	ck_assert_uint_eq(streams(), 0);
	ptx_attachment_publish(ARENA, bit, generation);
	ck_assert_uint_eq(streams(), 1);
	ck_assert_uint_eq(atomic_load(&ptx_own_control.attached), UINT64_C(1) << bit);
	ptx_attachment_hide(ARENA, bit, generation);
	ck_assert_uint_eq(streams(), 0);
	ck_assert_int_eq(state_of(bit), PTX_ATTACHMENT_CLAIMED);
	ptx_attachment_retract(ARENA, bit, generation);
	ck_assert_int_eq(state_of(bit), PTX_ATTACHMENT_FREE);
	OK(ptx_attachment_claim(ARENA, &other, &again));
	ck_assert_uint_eq(other, bit);
	ck_assert_uint_gt(again, generation);
	ptx_attachment_retract(ARENA, other, again);
}
END_TEST

START_TEST(there_are_as_many_as_a_word_has_bits)
{
	uint64_t generation[PTX_STREAMS], more;
	unsigned bit[PTX_STREAMS], none;

	for (unsigned i = 0; i < PTX_STREAMS; i++) {
		OK(ptx_attachment_claim(ARENA, &bit[i], &generation[i]));
		ptx_attachment_publish(ARENA, bit[i], generation[i]);
	}
	ck_assert_uint_eq(streams(), PTX_STREAMS);
	FAILS(EAGAIN, ptx_attachment_claim(ARENA, &none, &more));
	ptx_attachment_retract(ARENA, bit[7], generation[7]);
	OK(ptx_attachment_claim(ARENA, &none, &more));
	ck_assert_uint_eq(none, bit[7]);
	ck_assert_uint_eq(streams(), PTX_STREAMS - 1);
}
END_TEST

/* The other process waits for the lock of a place when this one requests it. */
static void pause_there(void)
{
	tell(to_parent);
	hear(to_child);
}

static void claim_slowly(void)
{
	before_lock = pause_there;
	ck_assert_uint_eq(attach_one(), 1);
	tell(to_parent);
	hear(to_child);
}

static void let_the_other_come(void)
{
	tell(to_child);
	hear(to_parent);
}

static void claim_when_told(void)
{
	hear(to_child);
	claim_slowly();
}

/* CREATE-11 */
START_TEST(two_processes_that_claim_at_once_get_two_places)
{
	pid_t child = other_process(claim_when_told);

	before_lock = let_the_other_come;
	ck_assert_uint_eq(attach_one(), 0);
	tell(to_child);
	hear(to_parent);
	ck_assert_uint_eq(streams(), 2);
	ck_assert_uint_eq(atomic_load(&ptx_own_control.attached), 3);
	tell(to_child);
	wait_well(child);
}
END_TEST

static unsigned bit_between;

static void claim_between(void)
{
	bit_between = attach_one();
}

/* CREATE-11: a thread acts between two steps of another thread */
START_TEST(two_threads_that_claim_at_once_get_two_places)
{
	before_lock = claim_between;
	ck_assert_uint_ne(attach_one(), bit_between);
	ck_assert_uint_eq(streams(), 2);
}
END_TEST

static void attach_and_stay(void)
{
	ck_assert_uint_eq(attach_one(), 0);
	tell(to_parent);
	hear(to_child);
}

/*
 * A process that has closed the descriptor of its arena cannot see which places are locked. It
 * claims FREE places only.
 */
START_TEST(a_process_without_its_descriptor_takes_no_place_of_another)
{
	pid_t child = other_process(attach_and_stay);

	hear(to_parent);
	ck_assert_int_eq(close(ARENA->fd), 0);
	ck_assert_uint_eq(attach_one(), 1);
	ck_assert_uint_eq(streams(), 2);
	ck_assert_int_ne(atomic_load(&ptx_own_control.attachment[1].unlocked), 0);
	tell(to_child);
	wait_well(child);
}
END_TEST

/* The same, if the system refuses locks. */
START_TEST(a_process_without_locks_takes_no_place_of_another)
{
	pid_t child = other_process(attach_and_stay);

	hear(to_parent);
	refuses_locks = true;
	ck_assert_uint_eq(attach_one(), 1);
	ck_assert_uint_eq(streams(), 2);
	refuses_locks = false;
	tell(to_child);
	wait_well(child);
}
END_TEST

/* PRIV-03 */
START_TEST(facts_that_cannot_be_true_are_not_followed)
{
	static const struct {
		uint64_t offset, stream_size, max_data_size;
		uint32_t rings;
	} fact[] = {
		{ 0, 8192, 64 },
		{ PTX_NAMES_AT, 8192, 64 },
		{ PTX_REGIONS_AT + 8, 8192, 64 },
		{ UINT64_MAX & ~UINT64_C(4095), 8192, 64 },
		{ PTX_ARENA_BYTES, 8192, 64 },
		{ PTX_ARENA_BYTES - 4096, 8192, 64 },
		{ PTX_REGIONS_AT, UINT64_MAX, 64 },
		{ PTX_REGIONS_AT, 8192, UINT64_MAX },
		{ PTX_REGIONS_AT, 8192, 64, UINT32_MAX },
	};
	struct ptx_geometry geometry = { .asked = 8192, .rings = PTX_RINGS };
	struct ptx_attachment_plan plan;

	ptx_attachment_place(ARENA, 0, PTX_REGIONS_AT, &geometry, 64);
	ck_assert(ptx_attachment_plan(ARENA, 0, &plan));
	for (size_t i = 0; i < sizeof(fact) / sizeof(fact[0]); i++) {
		geometry.asked = fact[i].stream_size;
		geometry.rings = fact[i].rings ? fact[i].rings : PTX_RINGS;
		ptx_attachment_place(ARENA, 0, fact[i].offset, &geometry, fact[i].max_data_size);
		ck_assert_msg(!ptx_attachment_plan(ARENA, 0, &plan), "fact %zu", i);
	}
}
END_TEST

static Suite *build(void)
{
	TCase *tc;
	Suite *suite = support_suite("arena: attachments", &tc);

	tcase_add_checked_fixture(tc, places_begin, places_end);
	tcase_add_test(tc, a_place_is_claimed_published_and_given_back);
	tcase_add_test(tc, there_are_as_many_as_a_word_has_bits);
	tcase_add_test(tc, two_processes_that_claim_at_once_get_two_places);
	tcase_add_test(tc, two_threads_that_claim_at_once_get_two_places);
	tcase_add_test(tc, a_process_without_its_descriptor_takes_no_place_of_another);
	tcase_add_test(tc, a_process_without_locks_takes_no_place_of_another);
	tcase_add_test(tc, facts_that_cannot_be_true_are_not_followed);
	return suite;
}

SUITE_MAIN_OF(build)
