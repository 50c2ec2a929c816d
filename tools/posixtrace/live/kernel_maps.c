/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* kernel_maps.c - reads the kernel's records of mappings, of execve(2) and of fork(2). */
#include "live/kernel_maps.h"

#include <stdlib.h>
#include <string.h>

#include "base/pidset.h"
#include "base/vec.h"
#include "inject/memory.h"
#include "live/kernel_states.h"

#define MAPS_MAX ((size_t)1 << 18) /* limits the memory for notes of a long recording */

/* The fields of the records, which the header precedes. */
struct fork_fields {
	uint32_t pid, parent, tid, parent_tid;
	uint64_t time;
};

struct file_fields {
	uint32_t pid, tid;
	uint64_t start, bytes, offset;
	uint32_t device_major, device_minor;
	uint64_t inode, generation;
	uint32_t protection, flags;
	char path[];
};

void kernel_maps_request(struct perf_event_attr *attr)
{
	attr->mmap = attr->mmap2 = 1;
	attr->comm = attr->comm_exec = 1;
	attr->task = 1;
}

pid_t kernel_maps_process(const struct perf_event_header *header, size_t bytes)
{
	uint32_t pid;

	switch (header->type) {
	case PERF_RECORD_FORK:
		if (bytes < sizeof(struct fork_fields))
			return 0;
		break;
	case PERF_RECORD_COMM:
		/* A thread that changes its name does not execute a program. */
		if (!(header->misc & PERF_RECORD_MISC_COMM_EXEC) || bytes < sizeof(pid))
			return 0;
		break;
	case PERF_RECORD_MMAP2:
		if (bytes <= sizeof(struct file_fields) ||
		    header->misc & PERF_RECORD_MISC_MMAP_BUILD_ID)
			return 0;
		break;
	default:
		return 0;
	}
	/* All these records begin with the number of the process. */
	memcpy(&pid, header + 1, sizeof(pid));
	return pid <= INT32_MAX ? (pid_t)pid : 0;
}

/*
 * Returns whether a mapping has code with names: a file, or the vdso. Memory that is no file has a
 * path such as "//anon", "[heap]" or "".
 */
static bool has_names(const char *path)
{
	return (path[0] == '/' && path[1] != '/') || strcmp(path, "[vdso]") == 0;
}

/* Fills a note from a record. Returns false if the record is not needed or memory is lacking. */
static bool fill_note(struct kernel_map *map, const struct perf_event_header *header, size_t bytes)
{
	const unsigned char *data = (const unsigned char *)(header + 1);
	const char *path = (const char *)data + sizeof(struct file_fields);
	struct fork_fields fork;
	struct file_fields file;

	switch (header->type) {
	case PERF_RECORD_FORK:
		memcpy(&fork, data, sizeof(fork));
		map->kind = KERNEL_MAP_FORK;
		map->parent = (pid_t)fork.parent;
		return fork.parent != fork.pid; /* not the begin of a thread */
	case PERF_RECORD_COMM:
		map->kind = KERNEL_MAP_EXEC;
		return true;
	}
	memcpy(&file, data, sizeof(file));
	map->kind = KERNEL_MAP_FILE;
	map->start = file.start;
	map->offset = file.offset;
	map->inode = file.inode;
	if (__builtin_add_overflow(file.start, file.bytes, &map->end) || !file.bytes)
		return false;
	map->path = strndup(path, bytes - sizeof(file));
	if (map->path && has_names(map->path))
		return true;
	free(map->path);
	return false;
}

void kernel_maps_take(struct kernel_maps *maps, const struct perf_event_header *header,
		      size_t bytes, int64_t time_ns)
{
	struct kernel_map map = {
		.time_ns = time_ns, .pid = kernel_maps_process(header, bytes),
	};

	if (!map.pid || maps->maps == MAPS_MAX || !vec_grow(&maps->map, maps->maps, 1) ||
	    !fill_note(&map, header, bytes))
		return;
	maps->map[maps->maps++] = map;
}

void kernel_maps_read(struct kernel_maps *maps, pid_t pid, int64_t time_ns)
{
	struct mappings mappings;

	mappings_read(&mappings, pid);
	for (size_t i = 0; i < mappings.count; i++) {
		const struct mapping *from = &mappings.mapping[i];
		struct kernel_map map = {
			.time_ns = time_ns, .pid = pid, .kind = KERNEL_MAP_FILE,
			.start = from->begin, .end = from->end, .offset = from->offset,
			.inode = from->inode,
		};

		if (maps->maps == MAPS_MAX || !from->is_executable || !has_names(from->path) ||
		    from->end <= from->begin || !vec_grow(&maps->map, maps->maps, 1) ||
		    !(map.path = strdup(from->path)))
			continue;
		maps->map[maps->maps++] = map;
	}
	mappings_fini(&mappings);
}

static int in_order(const void *a, const void *b)
{
	const struct kernel_map *x = a, *y = b;

	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	if (x->time_ns != y->time_ns)
		return x->time_ns < y->time_ns ? -1 : 1;
	return (x->kind > y->kind) - (x->kind < y->kind);
}

/* The kernel has a memory for each CPU, so the notes arrive in another order than their times. */
void kernel_maps_sort(struct kernel_maps *maps)
{
	if (maps->maps)
		qsort(maps->map, maps->maps, sizeof(*maps->map), in_order);
}

/*
 * Adds the processes that kernel_absences() has seen lately, then their ancestors. The notes of an
 * ancestor may be before or behind those of its descendants, so the loop is repeated until it adds
 * no process.
 */
static void find_kept(struct kernel_maps *maps, struct pidset *kept)
{
	size_t count;

	for (size_t i = 0; i < maps->maps; i++) {
		struct kernel_map *map = &maps->map[i];

		map->absences = kernel_absences(map->pid, map->absences);
		if (map->absences < KERNEL_ABSENCES)
			pidset_index(kept, map->pid);
	}
	do {
		count = kept->count;
		for (size_t i = 0; i < maps->maps; i++)
			if (maps->map[i].kind == KERNEL_MAP_FORK &&
			    pidset_find(kept, maps->map[i].pid) != TABLE_NONE)
				pidset_index(kept, maps->map[i].parent);
	} while (kept->count > count);
}

void kernel_maps_clean(struct kernel_maps *maps)
{
	struct pidset kept = { .count = 0 };
	size_t count = 0;

	find_kept(maps, &kept);
	for (size_t i = 0; i < maps->maps; i++)
		if (pidset_find(&kept, maps->map[i].pid) != TABLE_NONE)
			maps->map[count++] = maps->map[i];
		else
			free(maps->map[i].path);
	maps->maps = count;
	pidset_fini(&kept);
}

void kernel_maps_fini(struct kernel_maps *maps)
{
	for (size_t i = 0; i < maps->maps; i++)
		free(maps->map[i].path);
	free(maps->map);
	*maps = (struct kernel_maps){ .maps = 0 };
}
