/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* kernel_part.h - what the two ways of kernel.h share. One thread at a time uses it. */
#ifndef POSIXTRACE_LIVE_KERNEL_PART_H
#define POSIXTRACE_LIVE_KERNEL_PART_H

#include <errno.h>
#include <stddef.h>

#include "live/kernel.h"

/*
 * Keeps a record, with its time in ticks of kernel.now. Past KERNEL_RECORDS, and without memory, it
 * is counted as lost.
 */
void kernel_add(struct kernel *kernel, struct kernel_record record, uint64_t ticks);
/* Keeps a record whose time is of CLOCK_MONOTONIC, while the ticks may be of another clock. */
void kernel_add_monotonic(struct kernel *kernel, struct kernel_record record, uint64_t ns);

/* Keeps an event with a copy of its data. */
void kernel_add_event(struct kernel *kernel, struct kernel_record record, uint64_t ticks,
		      struct kernel_event event, const void *data);

/*
 * Makes sure that a thread has a task, and looks up its process and its name at its first mention.
 * name may be NULL; otherwise it has KERNEL_NAME bytes and is newer than the known one.
 */
void kernel_note_task(struct kernel *kernel, pid_t tid, const char *name);

/*
 * Opens, reads and closes the records by perf_event_open(2). switches: also those of the scheduler.
 * Returns 0 or an error number.
 */
int kernel_perf_begin(struct kernel *kernel, bool switches, pid_t pid, bool starts);
/*
 * Notes up to where kernel_perf_look() takes records. If kernel_trace_look() is called in between,
 * it has the start of each thread that the taken samples are of.
 */
void kernel_perf_mark(struct kernel *kernel);
void kernel_perf_look(struct kernel *kernel);
void kernel_perf_stop(struct kernel *kernel);
void kernel_perf_fini(struct kernel *kernel);

/*
 * The same by tracefs. kernel_trace_begin() returns 0, or an error number with the reason in *why;
 * then nothing remains in the system. EINVAL: --kernel is wrong, and the error was printed.
 */
#ifdef HAVE_TRACEFS
int kernel_trace_begin(struct kernel *kernel, const char **why);
void kernel_trace_look(struct kernel *kernel);
void kernel_trace_stop(struct kernel *kernel);
void kernel_trace_fini(struct kernel *kernel);
#else
static inline int kernel_trace_begin(struct kernel *kernel, const char **why)
{
	(void)kernel;
	*why = "this build lacks libtracefs";
	return ENOSYS;
}
static inline void kernel_trace_look(struct kernel *kernel) { (void)kernel; }
static inline void kernel_trace_stop(struct kernel *kernel) { (void)kernel; }
static inline void kernel_trace_fini(struct kernel *kernel) { (void)kernel; }
#endif

#endif
