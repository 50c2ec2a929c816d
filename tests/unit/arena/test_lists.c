/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Schemas of types and names of objects in shared memory: limits, races, kills, random writes. */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <trace_np.h>

#include "arena/maps.h"
#include "arena/objects.h"
#include "arena/schemas.h"
#include "support/random.h"
#include "support/support.h"

enum { THREADS = 8 };

static struct ptx_schemas *schemas;
static struct ptx_objects *objects;

static void begin(void)
{
	schemas = calloc(1, sizeof *schemas);
	objects = calloc(1, sizeof *objects);
	ck_assert(schemas && objects);
}

static void end(void)
{
	free(schemas);
	free(objects);
}

static void assert_text(const struct ptx_schemas *in, unsigned type, const char *expected)
{
	char text[PTX_SCHEMA_BYTES];

	ck_assert(ptx_schemas_get(in, type, text));
	ck_assert_str_eq(text, expected);
}

START_TEST(the_first_description_stays)
{
	char text[PTX_SCHEMA_BYTES];

	ck_assert(!ptx_schemas_get(schemas, 64, text));
	ck_assert_int_eq(ptx_schemas_put(schemas, 64, "u8 a"), 0);
	ck_assert_int_eq(ptx_schemas_put(schemas, 64, "u8 a"), 0);
	ck_assert_int_eq(ptx_schemas_put(schemas, 64, "u8 b"), EEXIST);
	ck_assert_int_eq(ptx_schemas_put(schemas, 64, "u8 a "), EEXIST);
	assert_text(schemas, 64, "u8 a");
	ck_assert_uint_eq(atomic_load(&schemas->changes), 1);
	ck_assert_uint_eq(atomic_load(&schemas->used), 5);
}
END_TEST

START_TEST(only_named_types_of_the_program_have_one)
{
	static const unsigned types[] = { 0, 1, 8, 62, 63, PTX_TYPE_FIRST_USER + PTX_NAMES,
					  1023, 5000 };
	char text[PTX_SCHEMA_BYTES + 1];

	for (unsigned i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		ck_assert_int_eq(ptx_schemas_put(schemas, types[i], "u8 a"), EINVAL);
		ck_assert(!ptx_schemas_get(schemas, types[i], text));
	}
	memset(text, 'a', PTX_SCHEMA_BYTES);
	text[PTX_SCHEMA_BYTES] = '\0';
	ck_assert_int_eq(ptx_schemas_put(schemas, 64, text), EINVAL);
	text[PTX_SCHEMA_BYTES - 1] = '\0';
	ck_assert_int_eq(ptx_schemas_put(schemas, 64, text), 0);
	assert_text(schemas, 64, text);
}
END_TEST

START_TEST(texts_end_where_their_room_does)
{
	char text[PTX_SCHEMA_BYTES];
	unsigned put = 0;
	int err = 0;

	memset(text, 'a', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	for (unsigned type = PTX_TYPE_FIRST_USER; !err; type++) {
		err = ptx_schemas_put(schemas, type, text);
		put += !err;
	}
	ck_assert_int_eq(err, ENOSPC);
	ck_assert_uint_eq(put, PTX_SCHEMAS_ROOM / PTX_SCHEMA_BYTES);
	assert_text(schemas, PTX_TYPE_FIRST_USER + put - 1, text);
}
END_TEST

static int results[THREADS][PTX_NAMES];

static void *describe_all(void *arg)
{
	unsigned self = (unsigned)(uintptr_t)arg;
	char text[40];

	for (unsigned i = 0; i < PTX_NAMES; i++) {
		unsigned n = self % 2 ? PTX_NAMES - 1 - i : i;

		snprintf(text, sizeof text, "u8 by_%u_or_its_twin", self / 2);
		results[self][n] = ptx_schemas_put(schemas, PTX_TYPE_FIRST_USER + n, text);
	}
	return NULL;
}

START_TEST(one_text_of_racing_threads_wins_and_all_know_it)
{
	pthread_t thread[THREADS];
	char text[PTX_SCHEMA_BYTES], mine[40];

	for (uintptr_t i = 0; i < THREADS; i++)
		ck_assert_int_eq(pthread_create(&thread[i], NULL, describe_all, (void *)i), 0);
	for (unsigned i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	for (unsigned n = 0; n < PTX_NAMES; n++) {
		unsigned winners = 0;

		ck_assert(ptx_schemas_get(schemas, PTX_TYPE_FIRST_USER + n, text));
		for (unsigned i = 0; i < THREADS; i++) {
			snprintf(mine, sizeof mine, "u8 by_%u_or_its_twin", i / 2);
			ck_assert_int_eq(results[i][n], strcmp(mine, text) ? EEXIST : 0);
			winners += !results[i][n];
		}
		ck_assert_uint_eq(winners, 2);
	}
	ck_assert_uint_eq(atomic_load(&schemas->changes), PTX_NAMES);
}
END_TEST

START_TEST(a_child_has_the_texts_and_then_its_own)
{
	struct ptx_schemas *child = calloc(1, sizeof *child);

	ptx_schemas_put(schemas, 64, "u8 a");
	ptx_schemas_put(schemas, 70, "u8 b");
	ptx_schemas_put(child, 70, "u8 other");
	ptx_schemas_copy(child, schemas);
	assert_text(child, 64, "u8 a");
	assert_text(child, 70, "u8 other");
	free(child);
}
END_TEST

static void scribble(void *memory, size_t bytes, uint64_t seed)
{
	uint64_t random = 88172645463325252u + seed;

	for (size_t i = 0; i < bytes / 8; i++) {
		random_word(&random);
		/* Half of the numbers are small, so that they are valid more often. */
		((uint64_t *)memory)[i] = random & 1 ? random :
					  (random >> 40 & 0x3ff) << 32 | (random & 0x7ffff);
	}
}

START_TEST(lists_of_garbage_are_read_within_their_bounds)
{
	struct ptx_schemas *copy = calloc(1, sizeof *copy);
	struct ptx_objects *other = calloc(1, sizeof *other);
	struct ptx_maps *maps = calloc(1, sizeof *maps);
	char text[PTX_SCHEMA_BYTES], path[PTX_MAPPING_PATH_BYTES];
	struct ptx_object object;
	struct ptx_mapping mapping;

	scribble(maps, sizeof *maps, (uint64_t)_i);
	for (unsigned i = 0; i <= PTX_MAPS_NOTES; i++)
		if (ptx_maps_get(maps, i, &mapping, path) && mapping.kind == PTX_MAPPING_FILE) {
			ck_assert_uint_le(mapping.id_bytes, PTX_MAPPING_ID_BYTES);
			ck_assert_uint_lt(strlen(mapping.path), sizeof path);
			ptx_maps_put(maps, &mapping);
		}
	free(maps);
	scribble(schemas, sizeof *schemas, (uint64_t)_i);
	scribble(objects, sizeof *objects, (uint64_t)_i);
	for (unsigned type = 0; type < PTX_TYPE_MAX; type++) {
		if (ptx_schemas_get(schemas, type, text))
			ck_assert_uint_lt(strlen(text), PTX_SCHEMA_BYTES);
		ptx_schemas_put(schemas, type, "u8 a");
	}
	ck_assert_uint_le(ptx_objects_count(objects), PTX_OBJECTS);
	for (unsigned i = 0; i < PTX_OBJECTS; i++)
		if (ptx_objects_get(objects, i, &object)) {
			ck_assert_uint_lt(strlen(object.name), PTX_OBJECT_NAME_BYTES);
			ptx_objects_put(objects, &object);
		}
	ptx_schemas_copy(copy, schemas);
	ptx_objects_copy(other, objects);
	free(copy);
	free(other);
}
END_TEST

static struct ptx_object thing(uint32_t pid, uint64_t pointer, int64_t time_ns, const char *name)
{
	struct ptx_object object = { .kind = POSIX_TRACE_OBJECT_MUTEX_NP, .pid = pid,
				     .pointer = pointer, .time_ns = time_ns };

	strcpy(object.name, name);
	return object;
}

START_TEST(a_name_that_is_valid_already_uses_no_cell)
{
	struct ptx_object a = thing(1, 10, 100, "a"), b = thing(1, 10, 200, "b"), got;

	ck_assert_int_eq(ptx_objects_put(objects, &a), 0);
	ck_assert_int_eq(ptx_objects_put(objects, &a), 0);
	ck_assert_uint_eq(ptx_objects_count(objects), 1);
	ck_assert_int_eq(ptx_objects_put(objects, &b), 0);
	ck_assert_int_eq(ptx_objects_put(objects, &a), 0); /* a different text again */
	ck_assert_uint_eq(ptx_objects_count(objects), 3);
	ck_assert(ptx_objects_get(objects, 1, &got));
	ck_assert_str_eq(got.name, "b");
	ck_assert(!ptx_objects_get(objects, 3, &got));
	ck_assert(!ptx_objects_get(objects, PTX_OBJECTS, &got));
}
END_TEST

START_TEST(things_end_where_their_room_does)
{
	struct ptx_object object;

	for (unsigned i = 0; i < PTX_OBJECTS; i++) {
		object = thing(1, i, 100, "a");
		ck_assert_int_eq(ptx_objects_put(objects, &object), 0);
	}
	object = thing(1, PTX_OBJECTS, 100, "a");
	ck_assert_int_eq(ptx_objects_put(objects, &object), ENOSPC);
	object = thing(1, 5, 100, "a");
	ck_assert_int_eq(ptx_objects_put(objects, &object), 0);
	ck_assert_uint_eq(ptx_objects_count(objects), PTX_OBJECTS);
}
END_TEST

/* The process was killed after it acquired a cell and before it made the cell ready. */
START_TEST(a_cell_that_was_never_filled_is_passed_over)
{
	struct ptx_object a = thing(1, 10, 100, "a"), b = thing(1, 11, 100, "b"), got;

	ptx_objects_put(objects, &a);
	atomic_fetch_add(&objects->claimed, 1);
	objects->cell[1].object = b;
	ptx_objects_put(objects, &b);
	ck_assert_uint_eq(ptx_objects_count(objects), 3);
	ck_assert(!ptx_objects_get(objects, 1, &got));
	ck_assert(ptx_objects_get(objects, 2, &got));
}
END_TEST

static void *name_all(void *arg)
{
	for (unsigned i = 0; i < PTX_OBJECTS / THREADS; i++) {
		struct ptx_object object = thing((uint32_t)(uintptr_t)arg, i, 1, "a");

		if (ptx_objects_put(objects, &object))
			return arg;
	}
	return NULL;
}

START_TEST(threads_fill_the_room_exactly)
{
	pthread_t thread[THREADS];
	struct ptx_object object;
	unsigned seen[THREADS + 1] = { 0 };
	void *failed;

	for (uintptr_t i = 0; i < THREADS; i++)
		ck_assert_int_eq(pthread_create(&thread[i], NULL, name_all, (void *)(i + 1)), 0);
	for (unsigned i = 0; i < THREADS; i++) {
		pthread_join(thread[i], &failed);
		ck_assert_ptr_null(failed);
	}
	for (unsigned i = 0; i < PTX_OBJECTS; i++) {
		ck_assert(ptx_objects_get(objects, i, &object));
		ck_assert_uint_eq(object.pointer, seen[object.pid]++);
	}
}
END_TEST

static const char *name_at(const struct ptx_object *sorted, size_t count, uint32_t pid,
			   uint64_t pointer, int64_t time_ns)
{
	const struct ptx_object *found = ptx_objects_find(sorted, count, pid, pointer, time_ns);

	return found ? found->name : "nothing";
}

START_TEST(a_name_holds_from_its_time_to_the_next)
{
	enum { MS = 1000000 };
	struct ptx_object all[] = {
		thing(1, 10, 500 * MS, ""),        thing(1, 10, 300 * MS, "second"),
		thing(2, 10, 200 * MS, "other's"), thing(1, 10, 100 * MS, "first"),
		thing(1, 11, 100 * MS, "eleven"),
		{ .kind = PTX_OBJECT_CHILD, .pid = 3, .pointer = 1, .time_ns = 200 * MS },
		{ .kind = PTX_OBJECT_CHILD, .pid = 4, .pointer = 3, .time_ns = 400 * MS },
		thing(3, 11, 250 * MS, "eleven of 3"),
		thing(0, 12, 100 * MS, "anybody's"), thing(0, 11, 0, "not eleven"),
		{ .kind = PTX_OBJECT_CHILD, .pid = 5, .pointer = 5, .time_ns = 0 },
	};
	const size_t n = sizeof(all) / sizeof(all[0]);

	ptx_objects_sort(all, n);
	ck_assert_str_eq(name_at(all, n, 1, 10, 98 * MS), "nothing");
	ck_assert_str_eq(name_at(all, n, 1, 10, 99 * MS), "first"); /* clocks may differ a little */
	ck_assert_str_eq(name_at(all, n, 1, 10, 100 * MS), "first");
	ck_assert_str_eq(name_at(all, n, 1, 10, 300 * MS - 1), "first");
	ck_assert_str_eq(name_at(all, n, 1, 10, 300 * MS), "second");
	ck_assert_str_eq(name_at(all, n, 1, 10, 500 * MS), "nothing");
	ck_assert_str_eq(name_at(all, n, 2, 10, 300 * MS), "other's");
	ck_assert_str_eq(name_at(all, n, 1, 13, 300 * MS), "nothing");
	ck_assert_str_eq(name_at(all, n, 1, 12, 300 * MS), "anybody's");
	ck_assert_str_eq(name_at(all, n, 4, 12, 600 * MS), "anybody's");
	/*
	 * A child has the entries that its parent had at that time, until the child adds others.
	 * The same is true of the child of this child.
	 */
	ck_assert_str_eq(name_at(all, n, 3, 10, 400 * MS), "first");
	ck_assert_str_eq(name_at(all, n, 3, 11, 210 * MS), "eleven");
	ck_assert_str_eq(name_at(all, n, 3, 11, 250 * MS), "eleven of 3");
	ck_assert_str_eq(name_at(all, n, 4, 10, 600 * MS), "first");
	ck_assert_str_eq(name_at(all, n, 4, 11, 600 * MS), "eleven of 3");
	/* the process is its own child, an endless chain */
	ck_assert_str_eq(name_at(all, n, 5, 10, 600 * MS), "nothing");
	ck_assert_str_eq(name_at(NULL, 0, 1, 10, 0), "nothing");
	ck_assert_str_eq(name_at(all, n, 1, 10, INT64_MIN), "nothing");
	ck_assert_str_eq(name_at(all, n, 1, 11, INT64_MAX), "eleven");
}
END_TEST

static Suite *suite(void)
{
	TCase *tc;
	Suite *s = support_suite("arena: lists", &tc);

	tcase_add_checked_fixture(tc, begin, end);
	tcase_add_test(tc, the_first_description_stays);
	tcase_add_test(tc, only_named_types_of_the_program_have_one);
	tcase_add_test(tc, texts_end_where_their_room_does);
	tcase_add_test(tc, one_text_of_racing_threads_wins_and_all_know_it);
	tcase_add_test(tc, a_child_has_the_texts_and_then_its_own);
	tcase_add_loop_test(tc, lists_of_garbage_are_read_within_their_bounds, 0, 20);
	tcase_add_test(tc, a_name_that_is_valid_already_uses_no_cell);
	tcase_add_test(tc, things_end_where_their_room_does);
	tcase_add_test(tc, a_cell_that_was_never_filled_is_passed_over);
	tcase_add_test(tc, threads_fill_the_room_exactly);
	tcase_add_test(tc, a_name_holds_from_its_time_to_the_next);
	return s;
}

SUITE_MAIN_OF(suite)
