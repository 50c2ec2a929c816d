/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Mapped files in shared memory: reports, valid and invalid ones, and the limit of their space. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "arena/maps.h"
#include "support/support.h"

static struct ptx_mapping mapping_of(uint32_t pid, uint64_t start, const char *path)
{
	struct ptx_mapping mapping = { .kind = PTX_MAPPING_FILE, .pid = pid, .start = start,
				       .end = start + 4096, .offset = 1, .base = 2, .from_ns = 3,
				       .id_bytes = 20, .path = path };

	memset(mapping.id, 7, mapping.id_bytes);
	return mapping;
}

START_TEST(mappings_are_read_as_reported)
{
	struct ptx_maps *maps = calloc(1, sizeof *maps);
	struct ptx_mapping said = mapping_of(5, 8192, "/lib/a"), got;
	struct ptx_mapping gone = {
		.kind = PTX_MAPPING_GONE, .pid = 5, .end = UINT64_MAX, .from_ns = 3
	};
	char path[PTX_MAPPING_PATH_BYTES];
	uint32_t used;

	ck_assert(!ptx_maps_get(maps, 0, &got, path));
	ck_assert_int_eq(ptx_maps_put(maps, &said), 0);
	used = atomic_load(&maps->used);
	said.pid = 6;
	ck_assert_int_eq(ptx_maps_put(maps, &said), 0);
	ck_assert_uint_eq(atomic_load(&maps->used), used); /* a report of the same file */
	said.id_bytes = 0;
	ck_assert_int_eq(ptx_maps_put(maps, &said), 0);
	ck_assert_uint_gt(atomic_load(&maps->used), used);
	ck_assert_int_eq(ptx_maps_put(maps, &gone), 0);
	ck_assert_uint_eq(ptx_maps_count(maps), 4);
	ck_assert(ptx_maps_get(maps, 1, &got, path));
	said = mapping_of(6, 8192, "/lib/a");
	ck_assert_uint_eq(got.pid, 6);
	ck_assert_uint_eq(got.start, said.start);
	ck_assert_uint_eq(got.end, said.end);
	ck_assert_uint_eq(got.offset, said.offset);
	ck_assert_uint_eq(got.base, said.base);
	ck_assert_int_eq(got.from_ns, said.from_ns);
	ck_assert_uint_eq(got.id_bytes, said.id_bytes);
	ck_assert_mem_eq(got.id, said.id, said.id_bytes);
	ck_assert_str_eq(got.path, "/lib/a");
	ck_assert(ptx_maps_get(maps, 2, &got, path));
	ck_assert_uint_eq(got.id_bytes, 0);
	ck_assert(ptx_maps_get(maps, 3, &got, path));
	ck_assert_uint_eq(got.kind, PTX_MAPPING_GONE);
	ck_assert(!ptx_maps_get(maps, 4, &got, path));
	ck_assert(!ptx_maps_get(maps, PTX_MAPS_NOTES, &got, path));
	free(maps);
}
END_TEST

/*
 * Another process of the family may write any value into the list. A time after the last possible
 * one would overflow.
 */
START_TEST(impossible_processes_and_times_are_not_read)
{
	static const int64_t times[] = { INT64_MIN, -1, 0, INT64_MAX };
	struct ptx_maps *maps = calloc(1, sizeof *maps);
	struct ptx_mapping said = mapping_of(0, 8192, "/lib/a"), got;
	char path[PTX_MAPPING_PATH_BYTES];
	unsigned notes = 0;

	ck_assert_int_eq(ptx_maps_put(maps, &said), 0);
	ck_assert(!ptx_maps_get(maps, notes++, &got, path));
	said.pid = 5;
	for (unsigned i = 0; i < sizeof times / sizeof times[0]; i++) {
		said.from_ns = times[i];
		ck_assert_int_eq(ptx_maps_put(maps, &said), 0);
		ck_assert(!ptx_maps_get(maps, notes++, &got, path));
	}
	said.from_ns = INT64_MAX - 1;
	ck_assert_int_eq(ptx_maps_put(maps, &said), 0);
	ck_assert(ptx_maps_get(maps, notes, &got, path));
	free(maps);
}
END_TEST

START_TEST(mappings_end_at_the_limit_of_their_list)
{
	struct ptx_maps *maps = calloc(1, sizeof *maps);
	struct ptx_mapping said = mapping_of(1, 4096, NULL), got;
	char path[PTX_MAPPING_PATH_BYTES], text[PTX_MAPPING_PATH_BYTES];
	unsigned files = 0, notes;

	memset(text, 'x', sizeof text - 1);
	text[sizeof text - 1] = '\0';
	said.path = text;
	for (;; files++) {
		text[0] = (char)('a' + files % 26);
		if (ptx_maps_put(maps, &said))
			break;
	}
	ck_assert_uint_eq(files, PTX_MAPS_ROOM / (PTX_MAPPING_PATH_BYTES + 21));
	ck_assert_int_eq(ptx_maps_ended(maps), 3);
	text[0] = 'a'; /* it is in the list, but a later report may be wrong without the lost one */
	ck_assert_int_eq(ptx_maps_put(maps, &said), ENOSPC);
	atomic_store(&maps->ended_ns, 0);
	for (notes = files; !ptx_maps_put(maps, &said); notes++)
		;
	ck_assert_uint_eq(notes, PTX_MAPS_NOTES);
	said.from_ns = 2;
	ck_assert_int_eq(ptx_maps_put(maps, &said), ENOSPC);
	ck_assert_int_eq(ptx_maps_ended(maps), 2);
	for (unsigned i = 0; i < notes; i++)
		ck_assert(ptx_maps_get(maps, i, &got, path) && strlen(path) == sizeof text - 1);
	text[0] = '!';
	ck_assert_int_eq(ptx_maps_put(maps, &said), ENOSPC);
	free(maps);
}
END_TEST

static bool finds(const struct ptx_maps *maps, unsigned char id, const char *name, char *path)
{
	uint8_t bytes[20];

	memset(bytes, id, sizeof bytes);
	return ptx_maps_find(maps, bytes, sizeof bytes, name, path);
}

START_TEST(a_file_is_found_by_its_build_id_and_its_name)
{
	struct ptx_maps *maps = calloc(1, sizeof *maps);
	struct ptx_mapping said = mapping_of(5, 8192, "/bin/a");
	char path[PTX_MAPPING_PATH_BYTES];

	ck_assert(!finds(maps, 7, "a", path));
	ck_assert_int_eq(ptx_maps_put(maps, &said), 0);
	said.path = "/lib/b";
	ck_assert_int_eq(ptx_maps_put(maps, &said), 0);
	said.path = "[vdso]";
	ck_assert_int_eq(ptx_maps_put(maps, &said), 0);
	ck_assert(finds(maps, 7, "a", path));
	ck_assert_str_eq(path, "/bin/a");
	ck_assert(finds(maps, 7, "b", path));
	ck_assert(!finds(maps, 8, "a", path));
	ck_assert(!finds(maps, 7, "bin/a", path));
	ck_assert(!finds(maps, 7, "[vdso]", path));
	said.path = "/usr/bin/a"; /* the newest */
	ck_assert_int_eq(ptx_maps_put(maps, &said), 0);
	ck_assert(finds(maps, 7, "a", path));
	ck_assert_str_eq(path, "/usr/bin/a");
	/* Another process may write any value into the list. */
	maps->note[3].file = UINT32_MAX;
	maps->note[0].file = PTX_MAPS_ROOM;
	ck_assert(!finds(maps, 7, "a", path));
	maps->text[PTX_MAPS_ROOM - 1] = 20;
	ck_assert(!finds(maps, 7, "a", path));
	atomic_store(&maps->note[1].ready, 0);
	ck_assert(!finds(maps, 7, "b", path));
	free(maps);
}
END_TEST

SUITE_MAIN("arena: maps",
	   a_file_is_found_by_its_build_id_and_its_name,
	   mappings_are_read_as_reported,
	   impossible_processes_and_times_are_not_read,
	   mappings_end_at_the_limit_of_their_list)
