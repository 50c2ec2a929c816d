/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The memory that control groups leave to a process. The groups are files that the test makes; they
 * look like those of the kernel.
 */
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "support/support.h"

#define FIRST  "12:pids:/a\n11:cpu,memory,hugetlb:/a/b\n0::/x\n"
#define SECOND "0::/a/b\n"

/* The tests work in a folder of their own, which is the mount point of the groups. */
static char mount_at[] = "/tmp/test_memory.XXXXXX";

static void begin(void)
{
	ck_assert_ptr_nonnull(mkdtemp(mount_at));
	ck_assert_int_eq(chdir(mount_at), 0);
	for (int i = 0; i < 2; i++) {
		ck_assert_int_eq(i && (mkdir("memory", 0700) || chdir("memory")), 0);
		ck_assert_int_eq(mkdir("a", 0700) || mkdir("a/b", 0700), 0);
	}
	ck_assert_int_eq(chdir(mount_at), 0);
}

static void end(void)
{
	char command[100];

	snprintf(command, sizeof command, "rm -r '%s'", mount_at);
	ck_assert_int_eq(system(command), 0);
}

static void put(const char *folder, const char *name, const char *text)
{
	char path[200];
	FILE *file;

	snprintf(path, sizeof path, "%s/%s", folder, name);
	file = fopen(path, "w");
	ck_assert_ptr_nonnull(file);
	fprintf(file, "%s\n", text);
	ck_assert_int_eq(fclose(file), 0);
}

static void group(int version, const char *folder, const char *limit, const char *usage)
{
	put(folder, version == 1 ? "memory.limit_in_bytes" : "memory.max", limit);
	put(folder, version == 1 ? "memory.usage_in_bytes" : "memory.current", usage);
}

static uint64_t room(const char *groups)
{
	return ptx_memory_of_groups_in(groups, mount_at);
}

START_TEST(the_least_room_of_all_groups_counts)
{
	begin();
	ck_assert_uint_eq(room(SECOND), UINT64_MAX);
	group(2, "a/b", "max", "77");
	ck_assert_uint_eq(room(SECOND), UINT64_MAX);
	group(2, "a/b", "1000", "300");
	ck_assert_uint_eq(room(SECOND), 700);
	group(2, "a", "800", "300");
	ck_assert_uint_eq(room(SECOND), 500);
	ck_assert_uint_eq(room("0::/a\n"), 500);
	/* A group can use more than a limit that was set later. */
	group(2, "a", "200", "300");
	ck_assert_uint_eq(room(SECOND), 0);
	/* Pages of files make room. */
	put("a", "memory.stat", "anon 5\nworkingset_inactive_file 9\ninactive_file 40\nslab 3");
	ck_assert_uint_eq(room(SECOND), 40);
	put("a", "memory.stat",
	    "anon 5\ninactive_file 40\nactive_file 30\nslab_reclaimable 7\nslab 9\n");
	ck_assert_uint_eq(room(SECOND), 77);
	end();
}
END_TEST

START_TEST(groups_of_version_1_count_too)
{
	begin();
	group(1, "memory/a/b", "9223372036854771712", "300");
	ck_assert_uint_eq(room(FIRST), UINT64_MAX);
	group(1, "memory/a", "5000", "1000");
	ck_assert_uint_eq(room(FIRST), 4000);
	put("memory/a", "memory.stat", "cache 1\ninactive_file 7\ntotal_inactive_file 100\n");
	ck_assert_uint_eq(room(FIRST), 4100);
	put("memory/a", "memory.stat",
	    "active_file 7\ntotal_active_file 50\ntotal_inactive_file 1\n");
	ck_assert_uint_eq(room(FIRST), 4051);
	ck_assert_uint_eq(room("3:memoryless:/a\n"), UINT64_MAX);
	end();
}
END_TEST

/* In a container the mount point can be the process's own group. */
START_TEST(a_group_that_is_not_visible_is_looked_for_at_the_mount_point)
{
	begin();
	group(2, ".", "600", "100");
	ck_assert_uint_eq(room("0::/docker/1234\n"), 500);
	ck_assert_uint_eq(room("0::/\n"), 500);
	ck_assert_uint_eq(room("0::/../elsewhere\n"), 500);
	end();
}
END_TEST

START_TEST(other_texts_are_no_limit)
{
	char *groups = malloc(5001);

	begin();
	ck_assert_uint_eq(room(""), UINT64_MAX);
	ck_assert_uint_eq(room("\n"), UINT64_MAX);
	ck_assert_uint_eq(room("0:"), UINT64_MAX);
	ck_assert_uint_eq(room("0::"), UINT64_MAX);
	memset(groups, 'x', 5000);
	memcpy(groups, "0::/", 4);
	groups[5000] = '\0';
	ck_assert_uint_eq(room(groups), UINT64_MAX);
	group(2, ".", "60", "10");
	ck_assert_uint_eq(room(groups), 50);
	group(2, ".", "junk", "10");
	ck_assert_uint_eq(room(groups), UINT64_MAX);
	free(groups);
	end();
}
END_TEST

START_TEST(this_machine_has_memory)
{
	ck_assert_uint_gt(ptx_memory_of_machine(), 1 << 20);
	ck_assert_uint_gt(ptx_memory_of_groups(), 0);
}
END_TEST

SUITE_MAIN("base: memory", the_least_room_of_all_groups_counts, groups_of_version_1_count_too,
	   a_group_that_is_not_visible_is_looked_for_at_the_mount_point,
	   other_texts_are_no_limit, this_machine_has_memory)
