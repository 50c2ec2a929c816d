/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * base/memory.c - reads the limits of memory from /proc/meminfo and from the control groups.
 *
 * A group's memory includes the pages of files that its processes have read, and caches of the
 * kernel. The kernel frees these pages and caches before it kills a process, so they count as
 * available here. In version 1 of control groups only the pages of files count, because memory.stat
 * does not show the caches. The limit of a group of version 2 thus refuses no stream that fits, but
 * may permit a stream for which there is too little memory. MemAvailable of /proc/meminfo counts
 * only a part of such pages, so the limit of the machine may refuse a stream that fits.
 */
#include "base/memory.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/io.h"

#define PATH_ROOM   1024
#define GROUPS_ROOM 4096
#define STAT_ROOM   4096

#define ROWS 3

/* A version of control groups: names of files and of rows of memory.stat. */
struct version {
	const char *limit, *usage, *reclaimable[ROWS];
};

static const struct version versions[2] = {
	{ "memory.limit_in_bytes", "memory.usage_in_bytes",
	  { "\ntotal_inactive_file ", "\ntotal_active_file " } },
	{ "memory.max", "memory.current",
	  { "\ninactive_file ", "\nactive_file ", "\nslab_reclaimable " } },
};

uint64_t ptx_memory_of_machine(void)
{
	char text[2048];
	const char *at;

	/* MemAvailable is the third row of the file, so the array is large enough. */
	if (!ptx_io_read_text("/proc/meminfo", text, sizeof text))
		return UINT64_MAX;
	at = strstr(text, "MemAvailable:");
	return at ? strtoull(at + strlen("MemAvailable:"), NULL, 10) * 1024 : UINT64_MAX;
}

/* Reads a number. Returns false if there is no such file, or if the file has the word "max". */
static bool read_number(const char *folder, const char *name, uint64_t *number)
{
	char path[PATH_ROOM + 32], text[32];

	snprintf(path, sizeof path, "%s/%s", folder, name);
	if (!ptx_io_read_text(path, text, sizeof text) || text[0] < '0' || text[0] > '9')
		return false;
	*number = strtoull(text, NULL, 10);
	return true;
}

static uint64_t reclaimable_bytes(const char *folder, const struct version *version)
{
	char path[PATH_ROOM + 32], text[STAT_ROOM];
	uint64_t bytes = 0;

	snprintf(path, sizeof path, "%s/memory.stat", folder);
	if (!ptx_io_read_text(path, text, sizeof text))
		return 0;
	for (unsigned i = 0; i < ROWS && version->reclaimable[i]; i++) {
		const char *at = strstr(text, version->reclaimable[i]);

		if (at)
			bytes += strtoull(at + strlen(version->reclaimable[i]), NULL, 10);
	}
	return bytes;
}

/* Returns the memory that one group leaves to its processes; UINT64_MAX: no limit is known. */
static uint64_t group_room(const char *folder, const struct version *version)
{
	uint64_t limit, usage;

	if (!read_number(folder, version->limit, &limit) ||
	    !read_number(folder, version->usage, &usage))
		return UINT64_MAX;
	/* Without a limit, version 1 has a number near INT64_MAX. */
	if (limit >= INT64_MAX / 2)
		return UINT64_MAX;
	return (usage < limit ? limit - usage : 0) + reclaimable_bytes(folder, version);
}

/* Returns whether "memory" is one of the controllers from `names` to `end`. */
static bool has_memory(const char *names, const char *end)
{
	while (names < end) {
		size_t len = strcspn(names, ",:");

		if (len == strlen("memory") && !memcmp(names, "memory", len))
			return true;
		names += len + 1;
	}
	return false;
}

/*
 * Finds the path of the process's group in a row of `groups`, "ID:CONTROLLERS:PATH". In the row of
 * version 2, CONTROLLERS is empty. Returns the length of the path, or 0 if there is no such row.
 */
static size_t find_group(const char *groups, bool is_second, const char **path)
{
	for (const char *row = groups; row && *row; row = strchr(row, '\n')) {
		const char *names, *end;

		row += *row == '\n';
		names = strchr(row, ':');
		end = names ? strchr(names + 1, ':') : NULL;
		if (!end)
			break;
		*path = end + 1;
		names++;
		if (is_second ? names == end : has_memory(names, end))
			return strcspn(*path, "\n");
	}
	return 0;
}

/*
 * Returns the least memory that the group and the groups above it leave. `path` may belong to
 * another view of the file system: in a container, `mount` often is the folder of the container's
 * group itself. A folder that does not exist below `mount` counts as a group without a limit. The
 * last folder that is examined is `mount`.
 */
static uint64_t groups_room(const char *mount, const char *path, size_t len,
			    const struct version *version)
{
	const size_t root = strlen(mount);
	char folder[PATH_ROOM];
	uint64_t least = UINT64_MAX;

	if (root + len + 1 > sizeof folder)
		len = 0;
	memcpy(folder, mount, root);
	memcpy(folder + root, path, len);
	for (;;) {
		uint64_t room;

		folder[root + len] = '\0';
		room = group_room(folder, version);
		if (room < least)
			least = room;
		if (!len)
			return least;
		do
			len--;
		while (len && folder[root + len] != '/');
	}
}

uint64_t ptx_memory_of_groups_in(const char *groups, const char *mount)
{
	uint64_t least = UINT64_MAX;

	for (int second = 0; second < 2; second++) {
		char folder[PATH_ROOM / 2];
		const char *path = "";
		size_t len = find_group(groups, second, &path);
		uint64_t room;

		if (!len)
			continue;
		snprintf(folder, sizeof folder, "%s%s", mount, second ? "" : "/memory");
		room = groups_room(folder, path, len, &versions[second]);
		if (room < least)
			least = room;
	}
	return least;
}

uint64_t ptx_memory_of_groups(void)
{
	char groups[GROUPS_ROOM];

	if (!ptx_io_read_text("/proc/self/cgroup", groups, sizeof groups))
		return UINT64_MAX;
	return ptx_memory_of_groups_in(groups, "/sys/fs/cgroup");
}
