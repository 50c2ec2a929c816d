/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The event type names of a process: limit, races, and a table with random writes. */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arena/names.h"
#include "support/random.h"
#include "support/support.h"

enum { THREADS = 8 };

static struct ptx_names *names;

static void begin(void)
{
	free(names);
	names = calloc(1, sizeof *names);
	ck_assert_ptr_nonnull(names);
}

static unsigned open_number(unsigned n)
{
	char name[PTX_TYPE_NAME_BYTES];

	snprintf(name, sizeof name, "name %u", n);
	return ptx_names_open(names, name);
}

static void assert_name(unsigned type, const char *expected)
{
	char name[PTX_TYPE_NAME_BYTES];

	ck_assert(ptx_names_get(names, type, name));
	ck_assert_str_eq(name, expected);
}

static unsigned cells_taken(void)
{
	unsigned n = 0;

	for (int i = 0; i < PTX_NAME_CELLS; i++)
		n += atomic_load(&names->cell[i].claimed) != 0;
	return n;
}

START_TEST(a_name_has_one_id_and_an_id_its_name)
{
	begin();
	for (unsigned i = 0; i < 20; i++)
		ck_assert_uint_eq(open_number(i), PTX_TYPE_FIRST_USER + i);
	for (unsigned i = 0; i < 20; i++)
		ck_assert_uint_eq(open_number(i), PTX_TYPE_FIRST_USER + i);
	assert_name(PTX_TYPE_FIRST_USER + 7, "name 7");
	ck_assert_uint_eq(cells_taken(), 20);
}
END_TEST

START_TEST(predefined_names_have_their_ids_and_take_no_place)
{
	begin();
	ck_assert_uint_eq(ptx_names_open(names, "posix_trace_error"), 1);
	ck_assert_uint_eq(ptx_names_open(names, "posix_trace_flush_stop"), 8);
	ck_assert_uint_eq(ptx_names_open(names, "posix_trace_unnamed_userevent"),
			  PTX_TYPE_UNNAMED);
	assert_name(2, "posix_trace_start");
	assert_name(PTX_TYPE_UNNAMED, "posix_trace_unnamed_userevent");
	ck_assert_uint_eq(cells_taken(), 0);
}
END_TEST

START_TEST(names_of_every_length_and_of_equal_hash_are_distinguished)
{
	/* FNV-1a has the same hash for both names of a pair. */
	static const char *const pairs[] = { "costarring", "liquid", "declinate", "macallums",
					     "altarage", "zinke" };
	char name[PTX_TYPE_NAME_BYTES];
	unsigned type;

	begin();
	for (unsigned i = 0; i < 6; i++)
		ck_assert_uint_eq(ptx_names_open(names, pairs[i]), PTX_TYPE_FIRST_USER + i);
	for (unsigned i = 0; i < 6; i++)
		ck_assert_uint_eq(ptx_names_open(names, pairs[i]), PTX_TYPE_FIRST_USER + i);
	for (unsigned i = 0; i < 6; i += 2)
		ck_assert_uint_eq(atomic_load(&names->entry[i]) >> 32,
				  atomic_load(&names->entry[i + 1]) >> 32);
	for (size_t len = 0; len < PTX_TYPE_NAME_BYTES; len++) {
		memset(name, 'n', len);
		name[len] = '\0';
		type = ptx_names_open(names, name);
		ck_assert_uint_eq(type, PTX_TYPE_FIRST_USER + 6 + len);
		assert_name(type, name);
	}
}
END_TEST

/* EVID-08, TRID-04 */
START_TEST(beyond_the_limit_every_new_name_is_the_unnamed_types)
{
	begin();
	for (unsigned i = 0; i < PTX_NAMES; i++)
		ck_assert_uint_eq(open_number(i), PTX_TYPE_FIRST_USER + i);
	for (unsigned i = PTX_NAMES; i < PTX_NAMES + 1000; i++)
		ck_assert_uint_eq(open_number(i), PTX_TYPE_UNNAMED);
	ck_assert_uint_eq(open_number(0), PTX_TYPE_FIRST_USER);
	ck_assert_uint_eq(open_number(PTX_NAMES - 1), PTX_TYPE_FIRST_USER + PTX_NAMES - 1);
	/* A thread that lost the race for a name has freed its cell. */
	ck_assert_uint_eq(cells_taken(), PTX_NAMES);
}
END_TEST

START_TEST(the_list_of_all_is_the_predefined_ones_and_then_by_age)
{
	static const unsigned expected[] = { 1, 2, 3, 4, 5, 6, 7, 8, PTX_TYPE_UNNAMED,
					     PTX_TYPE_FIRST_USER, PTX_TYPE_FIRST_USER + 1, 0 };
	unsigned type = 0;

	begin();
	open_number(0);
	open_number(1);
	for (unsigned i = 0; i < sizeof expected / sizeof expected[0]; i++) {
		type = ptx_names_next(names, type);
		ck_assert_uint_eq(type, expected[i]);
	}
	ck_assert_uint_eq(ptx_names_next(names, PTX_TYPE_FIRST_USER + PTX_NAMES - 1), 0);
	ck_assert_uint_eq(ptx_names_next(names, 2000), 0);
}
END_TEST

START_TEST(an_invalid_type_has_no_name)
{
	static const unsigned types[] = { 0, 9, 62, PTX_TYPE_FIRST_USER + 1,
					  PTX_TYPE_FIRST_USER + PTX_NAMES, 1023, 1024, UINT32_MAX };
	char name[PTX_TYPE_NAME_BYTES] = "untouched";

	begin();
	open_number(0);
	for (unsigned i = 0; i < sizeof types / sizeof types[0]; i++)
		ck_assert(!ptx_names_get(names, types[i], name));
	ck_assert_str_eq(name, "untouched");
}
END_TEST

static pthread_barrier_t together;
static unsigned got[THREADS][PTX_NAMES + 100];

/* Each thread opens the same names, in an order of its own. */
static void *open_all(void *number)
{
	unsigned t = *(unsigned *)number;

	pthread_barrier_wait(&together);
	for (unsigned i = 0; i < PTX_NAMES; i++) {
		unsigned n = (i * 17 + t * 61) % PTX_NAMES;

		got[t][n] = open_number(n);
	}
	return NULL;
}

static void run_threads(void *(*what)(void *))
{
	pthread_t threads[THREADS];
	unsigned numbers[THREADS];

	pthread_barrier_init(&together, NULL, THREADS);
	for (unsigned i = 0; i < THREADS; i++) {
		numbers[i] = i;
		ck_assert_int_eq(pthread_create(&threads[i], NULL, what, &numbers[i]), 0);
	}
	for (unsigned i = 0; i < THREADS; i++)
		ck_assert_int_eq(pthread_join(threads[i], NULL), 0);
	pthread_barrier_destroy(&together);
}

START_TEST(threads_that_bring_the_same_names_agree_on_their_ids)
{
	char expected[PTX_TYPE_NAME_BYTES];

	begin();
	run_threads(open_all);
	for (unsigned n = 0; n < PTX_NAMES; n++) {
		for (unsigned t = 1; t < THREADS; t++)
			ck_assert_uint_eq(got[t][n], got[0][n]);
		snprintf(expected, sizeof expected, "name %u", n);
		assert_name(got[0][n], expected);
	}
	ck_assert_uint_eq(cells_taken(), PTX_NAMES);
}
END_TEST

/* Each thread opens names of its own. Together they are more than the names that fit. */
static void *open_own(void *number)
{
	unsigned t = *(unsigned *)number;

	pthread_barrier_wait(&together);
	for (unsigned i = 0; i < 100; i++)
		got[t][i] = open_number(t * 1000 + i);
	return NULL;
}

START_TEST(threads_that_race_to_the_limit_fill_it_exactly)
{
	unsigned named = 0;
	char expected[PTX_TYPE_NAME_BYTES];

	begin();
	run_threads(open_own);
	for (unsigned t = 0; t < THREADS; t++)
		for (unsigned i = 0; i < 100; i++) {
			if (got[t][i] == PTX_TYPE_UNNAMED)
				continue;
			named++;
			snprintf(expected, sizeof expected, "name %u", t * 1000 + i);
			assert_name(got[t][i], expected);
		}
	ck_assert_uint_eq(named, PTX_NAMES);
	ck_assert_uint_eq(cells_taken(), PTX_NAMES);
}
END_TEST

/* FORK-09 */
START_TEST(a_child_has_its_parents_names_and_then_its_own)
{
	struct ptx_names *parent;

	begin();
	parent = names;
	for (unsigned i = 0; i < 10; i++)
		open_number(i);
	names = calloc(1, sizeof *names);
	ptx_names_copy(names, parent);
	for (unsigned i = 0; i < 10; i++)
		ck_assert_uint_eq(open_number(i), PTX_TYPE_FIRST_USER + i);
	ck_assert_uint_eq(open_number(99), PTX_TYPE_FIRST_USER + 10);
	ck_assert_uint_eq(atomic_load(&parent->entry[10]), 0);
	free(parent);
}
END_TEST

static uint32_t cell_number(unsigned entry)
{
	return (uint32_t)atomic_load(&names->entry[entry]) - 1;
}

START_TEST(invalid_cells_and_unterminated_names_do_no_harm)
{
	static const uint32_t numbers[] = { 0, PTX_NAME_CELLS + 1, 100000, UINT32_MAX };
	char name[PTX_TYPE_NAME_BYTES];
	struct ptx_names *copy;

	begin();
	for (unsigned i = 0; i < 10; i++)
		open_number(i);
	memset(names->cell[cell_number(3)].name, 'x', PTX_TYPE_NAME_BYTES);
	ck_assert(ptx_names_get(names, PTX_TYPE_FIRST_USER + 3, name));
	ck_assert_uint_eq(strlen(name), PTX_TYPE_NAME_BYTES - 1);
	for (unsigned i = 0; i < 4; i++) {
		uint64_t entry = atomic_load(&names->entry[i]);

		atomic_store(&names->entry[i], entry >> 32 << 32 | numbers[i]);
		ck_assert(!ptx_names_get(names, PTX_TYPE_FIRST_USER + i, name));
	}
	ck_assert_uint_eq(open_number(9), PTX_TYPE_FIRST_USER + 9);
	ck_assert_uint_ne(open_number(0), PTX_TYPE_FIRST_USER); /* the type has lost its name */
	copy = calloc(1, sizeof *copy);
	ptx_names_copy(copy, names);
	free(copy);
}
END_TEST

START_TEST(a_table_of_garbage_is_read_within_its_bounds)
{
	uint64_t random = 88172645463325252u + (uint64_t)_i;
	char name[PTX_TYPE_NAME_BYTES];
	struct ptx_names *copy;

	begin();
	for (size_t i = 0; i < sizeof *names / 8; i++) {
		random_word(&random);
		/* half of the numbers are small, so that they are numbers of cells */
		((uint64_t *)(void *)names)[i] =
			random & 1 ? random : random >> 32 << 32 | (random & 0x3ff);
	}
	for (unsigned type = 0; type < PTX_TYPE_MAX + 10; type++) {
		if (ptx_names_get(names, type, name))
			ck_assert_uint_lt(strlen(name), PTX_TYPE_NAME_BYTES);
		ck_assert_uint_lt(ptx_names_next(names, type), PTX_TYPE_MAX);
	}
	for (unsigned i = 0; i < 100; i++)
		ck_assert_uint_lt(open_number(i), PTX_TYPE_MAX);
	copy = calloc(1, sizeof *copy);
	ptx_names_copy(copy, names);
	free(copy);
}
END_TEST

static unsigned guess_of(const char *name)
{
	return ptx_names_guess(names, name, strlen(name));
}

START_TEST(the_name_behind_the_last_one_is_guessed_and_no_other)
{
	char longest[PTX_TYPE_NAME_BYTES + 1];

	begin();
	for (unsigned i = 0; i < 20; i++)
		open_number(i);
	open_number(4);
	ck_assert_uint_eq(guess_of("name 5"), PTX_TYPE_FIRST_USER + 5);
	ck_assert_uint_eq(guess_of("name 6"), PTX_TYPE_FIRST_USER + 6);
	ck_assert_uint_eq(guess_of("name 6"), 0);
	ck_assert_uint_eq(guess_of("name"), 0);
	ck_assert_uint_eq(guess_of("name 77"), 0);
	ck_assert_uint_eq(guess_of("name 7"), PTX_TYPE_FIRST_USER + 7);
	/* Another process may write any text and any number. */
	memset(longest, 'x', sizeof longest);
	longest[sizeof longest - 1] = '\0';
	memset(names->cell[8].name, 'x', PTX_TYPE_NAME_BYTES);
	ck_assert_uint_eq(guess_of(longest), 0);
	atomic_store(&names->entry[8], UINT64_MAX);
	ck_assert_uint_eq(guess_of("name 8"), 0);
	open_number(19);
	ck_assert_uint_eq(guess_of("name 20"), 0);
}
END_TEST

static Suite *suite(void)
{
	TCase *tc;
	Suite *s = support_suite("arena: names", &tc);

	tcase_add_test(tc, a_name_has_one_id_and_an_id_its_name);
	tcase_add_test(tc, the_name_behind_the_last_one_is_guessed_and_no_other);
	tcase_add_test(tc, predefined_names_have_their_ids_and_take_no_place);
	tcase_add_test(tc, names_of_every_length_and_of_equal_hash_are_distinguished);
	tcase_add_test(tc, beyond_the_limit_every_new_name_is_the_unnamed_types);
	tcase_add_test(tc, the_list_of_all_is_the_predefined_ones_and_then_by_age);
	tcase_add_test(tc, an_invalid_type_has_no_name);
	tcase_add_test(tc, threads_that_bring_the_same_names_agree_on_their_ids);
	tcase_add_test(tc, threads_that_race_to_the_limit_fill_it_exactly);
	tcase_add_test(tc, a_child_has_its_parents_names_and_then_its_own);
	tcase_add_test(tc, invalid_cells_and_unterminated_names_do_no_harm);
	tcase_add_loop_test(tc, a_table_of_garbage_is_read_within_its_bounds, 0, 20);
	return s;
}

SUITE_MAIN_OF(suite)
