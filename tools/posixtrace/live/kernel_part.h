/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * kernel_part.h - functions that the two ways of recording in kernel.h share. One thread at a time
 * calls them.
 */
#ifndef POSIXTRACE_LIVE_KERNEL_PART_H
#define POSIXTRACE_LIVE_KERNEL_PART_H

#include <errno.h>
#include <stddef.h>

#include "live/kernel.h"

/*
 * Keeps a record. "ticks" is its time, on the same clock as kernel.now.ticks. If there is no room
 * for it, the record is counted as lost.
 */
void kernel_add(struct kernel *kernel, struct kernel_record record, uint64_t ticks);
/* Keeps a record with a time of CLOCK_MONOTONIC, even if kernel.now.ticks is of another clock. */
void kernel_add_monotonic(struct kernel *kernel, struct kernel_record record, uint64_t ns);

/* Converts a stamp of CLOCK_MONOTONIC to the time of the log. */
int64_t kernel_monotonic_time(const struct kernel *kernel, uint64_t ns);

/* Keeps an event with a copy of its data. */
void kernel_add_event(struct kernel *kernel, struct kernel_record record, uint64_t ticks,
		      struct kernel_event event, const void *data);

/*
 * Makes sure that a thread has a task, and looks up its process and its name when the thread is
 * first mentioned. "name" may be NULL; otherwise it has KERNEL_NAME bytes and is newer than the
 * known one.
 */
void kernel_note_task(struct kernel *kernel, pid_t tid, const char *name);

/* Returns whether the thread with this number is recorded, as far as the records show up to now. */
bool kernel_is_recorded(const struct kernel *kernel, pid_t tid);

/*
 * These functions open, read and close the kernel's records by perf_event_open(2). "switches" is
 * true if records of the scheduler's switches are wanted, too. kernel_perf_begin() returns 0 or an
 * error number.
 */
int kernel_perf_begin(struct kernel *kernel, bool switches, pid_t pid, bool starts);
/*
 * Notes up to which record kernel_perf_look() will read. If kernel_trace_look() is called between
 * these two, it reads the start of each thread before kernel_perf_look() takes samples of that
 * thread.
 */
void kernel_perf_mark(struct kernel *kernel);
void kernel_perf_look(struct kernel *kernel);
/*
 * Returns the number of records that were lost so far; 0 if the kernel reports losses only in its
 * records.
 */
uint64_t kernel_perf_lost(const struct kernel *kernel);
void kernel_perf_stop(struct kernel *kernel);
void kernel_perf_fini(struct kernel *kernel);

/*
 * The corresponding functions for system calls. kernel_calls_begin() returns TOOL_OK, or
 * TOOL_FAILURE after it printed the error.
 */
int kernel_calls_begin(struct kernel *kernel);
void kernel_calls_look(struct kernel *kernel);
void kernel_calls_stop(struct kernel *kernel);
void kernel_calls_fini(struct kernel *kernel);

/*
 * The same functions for calls of functions, which uprobes record. The uprobes are a part of the
 * recording of system calls, so their records have the form of syscalls/syscalls.h.
 */
struct syscalls_record;
int kernel_traps_begin(struct kernel *kernel);
void kernel_traps_take(struct kernel *kernel, const struct syscalls_record *record,
		       const unsigned char *piece, size_t bytes);
void kernel_traps_stop(struct kernel *kernel);
/* Must be called after the last look. Reports the calls that have not ended. */
void kernel_traps_complete(struct kernel *kernel);
void kernel_traps_fini(struct kernel *kernel);

/*
 * The corresponding functions for tracefs. kernel_trace_begin() returns 0, or an error number with
 * the reason in *why. After an error nothing remains in the system. EINVAL means that the value of
 * --kernel is wrong, and that the error was printed.
 */
#ifdef HAVE_TRACEFS
int kernel_trace_begin(struct kernel *kernel, const char **why);
void kernel_trace_look(struct kernel *kernel);
/* Returns the number of records that the kernel could not keep so far. */
uint64_t kernel_trace_lost(const struct kernel *kernel);
/* Returns whether the kernel's memory has room for the records of a long time. */
bool kernel_trace_is_large(const struct kernel *kernel);
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
static inline uint64_t kernel_trace_lost(const struct kernel *kernel)
{
	(void)kernel;
	return 0;
}
static inline bool kernel_trace_is_large(const struct kernel *kernel)
{
	(void)kernel;
	return false;
}
static inline void kernel_trace_stop(struct kernel *kernel) { (void)kernel; }
static inline void kernel_trace_fini(struct kernel *kernel) { (void)kernel; }
#endif

#endif
