/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * kernel_maps.h - the files that processes map executable, from records of perf_event_open(2).
 *
 * The library knows the mappings of a process only while the process has the library. These records
 * show the mappings of all other programs. The kernel does not report the end of a mapping. Only
 * one thread uses a struct kernel_maps.
 */
#ifndef POSIXTRACE_LIVE_KERNEL_MAPS_H
#define POSIXTRACE_LIVE_KERNEL_MAPS_H

#include <linux/perf_event.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Notes of one process with the same time apply in this order. */
enum kernel_map_kind {
	KERNEL_MAP_FORK, /* the process begins, with the mappings of its parent */
	KERNEL_MAP_EXEC, /* the process executes a program: its former mappings are gone */
	KERNEL_MAP_FILE,
};

struct kernel_map {
	int64_t time_ns;
	uint64_t start, end, offset, inode; /* FILE */
	char *path;                         /* FILE; otherwise NULL */
	pid_t pid, parent;                  /* parent: FORK */
	uint8_t absences;                   /* of kernel_absences() */
	enum kernel_map_kind kind;
};

/* Notes in the order of their arrival. All zeros: no notes. */
struct kernel_maps {
	struct kernel_map *map;
	size_t maps;
};

/* Sets the attributes of an event, so that the kernel adds the records. */
void kernel_maps_request(struct perf_event_attr *attr);

/*
 * Returns the process of a record, or 0 if the record is of another kind or has another form than
 * those that kernel_maps_request() requests. bytes is the size without the fields of sample_id_all.
 */
pid_t kernel_maps_process(const struct perf_event_header *header, size_t bytes);

/* Notes such a record. If memory or room is lacking, the record is ignored. */
void kernel_maps_take(struct kernel_maps *maps, const struct perf_event_header *header,
		      size_t bytes, int64_t time_ns);

/*
 * Notes the files that a running process has mapped, from /proc, since the kernel reports only
 * later mappings. If the files cannot be read, nothing is noted.
 */
void kernel_maps_read(struct kernel_maps *maps, pid_t pid, int64_t time_ns);

/*
 * Removes the notes of each process that has ended, unless a process that exists has inherited
 * mappings from it.
 */
void kernel_maps_clean(struct kernel_maps *maps);

/* Sorts the notes by process and time. */
void kernel_maps_sort(struct kernel_maps *maps);
void kernel_maps_fini(struct kernel_maps *maps);

#endif
