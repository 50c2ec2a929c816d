/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* record/: the file at an address, found by the notes of scans. */
#include <elf.h>
#include <stdint.h>
#include <string.h>

#include "record/mapping.h"
#include "support/support.h"

#define MS INT64_C(1000000)

static struct ptx_mappings list;

static void file(uint32_t pid, uint64_t start, uint64_t end, int64_t from_ms, const char *path)
{
	struct ptx_mapping note = { .kind = PTX_MAPPING_FILE, .pid = pid, .start = start,
				    .end = end, .from_ns = from_ms * MS, .path = path };

	ck_assert_int_eq(ptx_mappings_add(&list, &note), 0);
}

static void gone(uint32_t pid, uint64_t start, uint64_t end, int64_t from_ms)
{
	struct ptx_mapping note = { .kind = PTX_MAPPING_GONE, .pid = pid, .start = start,
				    .end = end, .from_ns = from_ms * MS };

	ck_assert_int_eq(ptx_mappings_add(&list, &note), 0);
}

static void child(uint32_t pid, uint32_t parent, int64_t from_ms)
{
	struct ptx_mapping note = { .kind = PTX_MAPPING_CHILD, .pid = pid, .parent = parent,
				    .from_ns = from_ms * MS };

	ck_assert_int_eq(ptx_mappings_add(&list, &note), 0);
}

/* Returns the file at this address and time, or "-" if no file is known. */
static const char *at(uint32_t pid, uint64_t address, int64_t when_ms)
{
	const struct ptx_mapping *found = ptx_mappings_find(&list, pid, address, when_ms * MS);

	return found ? found->path : "-";
}

START_TEST(a_file_is_at_its_addresses_from_its_time_on)
{
	file(1, 0x1000, 0x2000, 100, "first");
	file(1, 0x2000, 0x3000, 200, "second");
	ptx_mappings_settle(&list);
	ck_assert_str_eq(at(1, 0x1000, 100), "first");
	ck_assert_str_eq(at(1, 0x1fff, 1 << 20), "first");
	ck_assert_str_eq(at(1, 0x0fff, 150), "-");
	ck_assert_str_eq(at(1, 0x2000, 200), "second");
	ck_assert_str_eq(at(1, 0x2000, 199), "-");
	ck_assert_str_eq(at(1, 0x3000, 300), "-");
	ck_assert_str_eq(at(2, 0x1000, 150), "-");
	/*
	 * Two clocks may differ a little. But no file was known before the first scan, so this time
	 * belongs to it.
	 */
	ck_assert_str_eq(at(1, 0x1000, 99), "first");
	ck_assert_str_eq(at(1, 0x1000, 98), "-");
	ptx_mappings_fini(&list);
}
END_TEST

START_TEST(a_range_that_is_used_again_has_the_file_of_the_time)
{
	file(1, 0x1000, 0x3000, 100, "old");
	gone(1, 0x1000, 0x3000, 200);
	file(1, 0x2000, 0x4000, 300, "new");
	file(1, 0x2000, 0x2800, 400, "newest"); /* no report says that the file below it was
						 * unmapped */
	ptx_mappings_settle(&list);
	ck_assert_uint_eq(list.count, 3);
	ck_assert_str_eq(at(1, 0x2000, 199), "old");
	ck_assert_str_eq(at(1, 0x2000, 200), "-");
	ck_assert_str_eq(at(1, 0x2000, 299), "-");
	ck_assert_str_eq(at(1, 0x2000, 300), "new");
	ck_assert_str_eq(at(1, 0x1000, 300), "-");
	ck_assert_str_eq(at(1, 0x2000, 400), "newest");
	ck_assert_str_eq(at(1, 0x3000, 400), "-");
	ptx_mappings_fini(&list);
}
END_TEST

START_TEST(a_child_has_what_its_parent_had_until_it_executes)
{
	file(1, 0x1000, 0x2000, 100, "parent");
	file(1, 0x5000, 0x6000, 100, "plugin");
	child(2, 1, 200);
	gone(1, 0x5000, 0x6000, 250);
	child(3, 2, 260);
	gone(2, 0, UINT64_MAX, 300);
	file(2, 0x1000, 0x2000, 300, "executed");
	ptx_mappings_settle(&list);
	ck_assert_str_eq(at(2, 0x1000, 200), "parent");
	ck_assert_str_eq(at(2, 0x5000, 299), "plugin");
	ck_assert_str_eq(at(1, 0x5000, 250), "-");
	ck_assert_str_eq(at(2, 0x1000, 300), "executed");
	ck_assert_str_eq(at(2, 0x5000, 300), "-");
	ck_assert_str_eq(at(3, 0x5000, 1000), "plugin");
	ck_assert_str_eq(at(2, 0x1000, 100), "-");
	ptx_mappings_fini(&list);
}
END_TEST

START_TEST(a_child_that_was_seen_with_something_else_may_have_had_it_before)
{
	file(1, 0x1000, 0x2000, 100, "parent");
	file(1, 0x5000, 0x6000, 100, "plugin");
	child(2, 1, 200);
	file(2, 0x1000, 0x2000, 300, "parent");
	file(2, 0x5000, 0x6000, 300, "other");
	ptx_mappings_settle(&list);
	ck_assert_str_eq(at(2, 0x1000, 250), "parent");
	ck_assert_str_eq(at(2, 0x5000, 250), "-");
	ck_assert_str_eq(at(2, 0x5000, 300), "other");
	ptx_mappings_fini(&list);
}
END_TEST

/*
 * A process notes the last byte of a segment. An observer notes the end of the segment's last page.
 */
START_TEST(a_child_that_was_seen_with_another_end_of_the_same_part_had_it_before)
{
	file(1, 0x1000, 0x3000, 100, "parent");
	child(2, 1, 200);
	file(2, 0x1000, 0x2ff8, 300, "parent");
	ptx_mappings_settle(&list);
	ck_assert_str_eq(at(2, 0x1000, 250), "parent");
	ptx_mappings_fini(&list);
}
END_TEST

START_TEST(after_a_lost_report_no_mapping_is_known)
{
	file(1, 0x1000, 0x2000, 100, "first");
	file(2, 0x1000, 0x2000, 300, "late");
	gone(0, 0, UINT64_MAX, 200);
	ptx_mappings_settle(&list);
	ck_assert_str_eq(at(1, 0x1000, 199), "first");
	ck_assert_str_eq(at(1, 0x1000, 200), "-");
	ck_assert_str_eq(at(2, 0x1000, 300), "-");
	ptx_mappings_fini(&list);
}
END_TEST

START_TEST(descent_without_an_end_ends)
{
	child(1, 2, 100);
	child(2, 1, 100);
	ptx_mappings_settle(&list);
	ck_assert_str_eq(at(1, 0x1000, 200), "-");
	ptx_mappings_fini(&list);
}
END_TEST

static size_t note(uint8_t *to, uint32_t name_bytes, uint32_t bytes, uint32_t type,
		   const char *name)
{
	Elf64_Nhdr head = { name_bytes, bytes, type };

	memcpy(to, &head, sizeof head);
	memset(to + sizeof head, 'n', 4);
	memcpy(to + sizeof head, name, strlen(name) + 1);
	memset(to + sizeof head + 4, 0xab, 64);
	return sizeof head + 4 + ((bytes + 3u) & ~3u);
}

START_TEST(a_build_id_is_found_among_notes_and_only_a_whole_one)
{
	uint8_t notes[512], id[PTX_MAPPING_ID_BYTES];
	size_t len = note(notes, 4, 16, NT_GNU_ABI_TAG, "GNU");
	size_t all = len + note(notes + len, 4, 20, NT_GNU_BUILD_ID, "GNU");

	ck_assert_uint_eq(ptx_mapping_build_id(notes, all, id), 20);
	ck_assert_uint_eq(id[19], 0xab);
	for (size_t cut = 0; cut < all; cut++)
		ck_assert_uint_eq(ptx_mapping_build_id(notes, cut, id), 0);
	note(notes, 4, 33, NT_GNU_BUILD_ID, "GNU");
	ck_assert_uint_eq(ptx_mapping_build_id(notes, sizeof notes, id), 0);
	note(notes, 4, 0, NT_GNU_BUILD_ID, "GNU");
	ck_assert_uint_eq(ptx_mapping_build_id(notes, 80, id), 0);
	note(notes, 4, 20, NT_GNU_BUILD_ID, "GNx");
	ck_assert_uint_eq(ptx_mapping_build_id(notes, 36, id), 0);
	note(notes, UINT32_MAX, UINT32_MAX, NT_GNU_BUILD_ID, "GNU");
	ck_assert_uint_eq(ptx_mapping_build_id(notes, sizeof notes, id), 0);
}
END_TEST

SUITE_MAIN("record mapping", a_file_is_at_its_addresses_from_its_time_on,
	   a_range_that_is_used_again_has_the_file_of_the_time,
	   a_child_has_what_its_parent_had_until_it_executes,
	   a_child_that_was_seen_with_something_else_may_have_had_it_before,
	   a_child_that_was_seen_with_another_end_of_the_same_part_had_it_before,
	   after_a_lost_report_no_mapping_is_known, descent_without_an_end_ends,
	   a_build_id_is_found_among_notes_and_only_a_whole_one)
