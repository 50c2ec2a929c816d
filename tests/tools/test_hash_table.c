/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Tests the hash table of the tool, base/table.h, against a list of its elements, and the set of
 * names that uses it.
 */
#include <stdlib.h>

#include "base/nameset.c" /* no library of the tests has it */
#include "base/table.h"
#include "support/random.h"
#include "support/support.h"

#define KEYS 300

/* The linker replaces table_add() by this function (--wrap). */
bool __real_table_add(struct table *table, uint64_t hash, uint32_t index);
bool __wrap_table_add(struct table *table, uint64_t hash, uint32_t index);
static bool lacks_memory;

bool __wrap_table_add(struct table *table, uint64_t hash, uint32_t index)
{
	return !lacks_memory && __real_table_add(table, hash, index);
}

static uint64_t few_hashes(uint64_t key)
{
	return key % 5;
}

/* The searches begin at the last places of the table and continue at the first. */
static uint64_t last_places(uint64_t key)
{
	return UINT32_MAX - key % 3;
}

static uint64_t good_hashes(uint64_t key)
{
	return hash_number(HASH_BEGIN, key);
}

static uint64_t (*const hashes[])(uint64_t) = { few_hashes, last_places, good_hashes };

static bool is_key(const void *array, uint32_t index, const void *key)
{
	return ((const uint64_t *)array)[index] == *(const uint64_t *)key;
}

/* Elements are added and removed at random; after each step each of them is found or not found. */
START_TEST(exactly_the_elements_that_are_not_removed_are_found)
{
	struct table table = { 0 };
	bool is_in[KEYS] = { false };
	uint64_t key[KEYS], random = 7;
	size_t used = 0;

	for (uint64_t i = 0; i < KEYS; i++)
		key[i] = i * 3;
	for (int step = 0; step < 3000; step++) {
		/* For half of the steps few keys are used, so the table is often empty. */
		size_t some = random_between(&random, 0, step < 1500 ? 8 : KEYS - 1);

		if (is_in[some])
			table_remove(&table, hashes[_i](key[some]), (uint32_t)some);
		else
			ck_assert(table_add(&table, hashes[_i](key[some]), (uint32_t)some));
		is_in[some] = !is_in[some];
		used += is_in[some] ? 1 : -1;
		ck_assert_uint_eq(table.used, used);
		for (uint32_t i = 0; i < KEYS; i++)
			if (table_find(&table, hashes[_i](key[i]), is_key, key, &key[i]) !=
			    (is_in[i] ? i : TABLE_NONE))
				ck_abort_msg("step %d, element %u", step, (unsigned)i);
	}
	table_fini(&table);
}
END_TEST

START_TEST(a_table_whose_elements_are_removed_does_not_grow)
{
	struct table table = { 0 };
	size_t places;

	ck_assert(table_add(&table, 1, 0));
	places = table.places;
	for (uint32_t i = 1; i < 100000; i++) {
		ck_assert(table_add(&table, good_hashes(i), i));
		table_remove(&table, good_hashes(i), i);
	}
	ck_assert_uint_eq(table.places, places);
	ck_assert_uint_eq(table.used, 1);
	table_fini(&table);
}
END_TEST

START_TEST(a_name_that_could_not_be_added_is_added_by_the_next_call)
{
	struct nameset set = { 0 };

	ck_assert_uint_eq(nameset_index(&set, "a"), 0);
	lacks_memory = true;
	ck_assert_uint_eq(nameset_index(&set, "b"), TABLE_NONE);
	ck_assert_uint_eq(nameset_index(&set, "b"), TABLE_NONE);
	lacks_memory = false;
	ck_assert_uint_eq(set.count, 1);
	ck_assert_uint_eq(nameset_index(&set, "c"), 1);
	ck_assert_uint_eq(nameset_index(&set, "b"), 2);
	ck_assert_uint_eq(nameset_find(&set, "a"), 0);
	ck_assert_uint_eq(nameset_find(&set, "b"), 2);
	nameset_fini(&set);
}
END_TEST

static Suite *build(void)
{
	TCase *tc;
	Suite *suite = support_suite("hash table", &tc);

	tcase_add_loop_test(tc, exactly_the_elements_that_are_not_removed_are_found, 0, 3);
	tcase_add_test(tc, a_table_whose_elements_are_removed_does_not_grow);
	tcase_add_test(tc, a_name_that_could_not_be_added_is_added_by_the_next_call);
	return suite;
}

SUITE_MAIN_OF(build)
