/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * perf.h - events of perf_event_open(2), and the memory into which the kernel writes their records.
 *
 * Threads  Only one thread at a time may use the memory of an event. Any thread may call the other
 *          functions.
 * Errors   The functions set errno and print nothing.
 */
#ifndef POSIXTRACE_BASE_PERF_H
#define POSIXTRACE_BASE_PERF_H

#include <linux/perf_event.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Calls perf_event_open(2), for which the C library has no function. Returns a descriptor or -1. */
int perf_open(const struct perf_event_attr *attr, pid_t tid, int cpu);

/* Returns 0 if this process may open the event for a process (0: itself), or the error number. */
int perf_try(const struct perf_event_attr *attr, pid_t pid);

/*
 * Maps the memory of an event: a control page, and pages for records. The number of pages for
 * records must be a power of two. If the kernel refuses the memory, for example because of the
 * limit of locked memory, the function tries half of the pages, and so on. Returns NULL if the
 * kernel refuses even the least number. perf_unmap() removes the memory.
 */
void *perf_map(int fd, size_t pages);
void perf_unmap(void *memory);

/* Returns the end of the records that the kernel has written. */
uint64_t perf_head(void *memory);

/*
 * Passes each record before head to take(), and then permits the kernel to overwrite them. Each
 * record is whole and aligned, and valid until take() returns.
 */
void perf_read(void *memory, uint64_t head,
	       void (*take)(void *arg, const struct perf_event_header *record), void *arg);

#endif
