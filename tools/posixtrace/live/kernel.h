/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * kernel.h - the kernel's records of traced threads: the times at which each had a CPU, and samples
 * of its function. The kernel records it by perf_event_open(2), without a privilege for the user's
 * own processes, if perf_event_paranoid is not above 2.
 *
 * The records stay in this process until the end, as KERNEL_RECORDS at most. kernel_weave() then
 * writes the log again, with these events at their places. Events that the kernel or this process
 * had no room for are in the ledger.
 *
 * The kernel stamps its records by CLOCK_MONOTONIC. The difference to CLOCK_REALTIME is measured
 * with each look; half of the time that this takes is the error, which the event sched.clock has.
 */
#ifndef POSIXTRACE_LIVE_KERNEL_H
#define POSIXTRACE_LIVE_KERNEL_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/table.h"

#define KERNEL_RECORDS (UINT32_C(1) << 25)
#define KERNEL_FRAMES  64 /* of a stack; deeper ones are cut */
#define KERNEL_STACKS  65536

enum kernel_kind { KERNEL_IN, KERNEL_OUT, KERNEL_PREEMPTED, KERNEL_EXIT, KERNEL_SAMPLE };

struct kernel_record {
	int64_t time_ns;   /* CLOCK_REALTIME */
	pid_t pid, tid;
	uint32_t stack;    /* of a sample: number of its stack */
	uint16_t cpu;
	uint8_t kind;
};

struct kernel_stack {
	uint32_t first, count; /* its frames in kernel.frame, the innermost first */
};

struct kernel_plan {
	bool sched;
	unsigned sample_hz; /* 0: no samples */
};

struct kernel {
	struct kernel_plan plan;
	struct kernel_cpu {
		int cpu, fd;
		void *memory;
	} *cpu;
	size_t cpus;
	int *more;              /* further descriptors, which share the memory */
	size_t mores;
	struct kernel_record *record;
	size_t records;
	struct kernel_stack *stack;
	size_t stacks;
	uint64_t *frame;
	size_t frames;
	struct table of_stack;
	uint64_t lost_full;     /* the kernel's memory was full */
	uint64_t lost_memory;   /* this process had no room */
	int64_t offset_ns;      /* CLOCK_REALTIME less CLOCK_MONOTONIC, at the last look */
	int64_t error_ns;       /* the greatest error of that so far */
	uint32_t anchors;
};

/*
 * Begins to record a process and everything that it starts. starts: the process waits to execute a
 * program, and is recorded from then on. Returns TOOL_OK, or TOOL_FAILURE after it printed the
 * error; the caller calls kernel_fini() in both cases.
 */
int kernel_begin(struct kernel *kernel, const struct kernel_plan *plan, pid_t pid, bool starts);

/* Collects what the kernel has. To be called often: the kernel's memory is small. */
void kernel_look(struct kernel *kernel);

/* Ends the recording. kernel_look() is called a last time. */
void kernel_stop(struct kernel *kernel);
void kernel_fini(struct kernel *kernel);

/*
 * Writes the events of a completed log and those of the kernel into a new log, which replaces it:
 * *file is then the new one. Returns TOOL_OK; otherwise the log is unchanged, and the error was
 * printed.
 */
struct outfile;
int kernel_weave(struct kernel *kernel, struct outfile *file);

#endif
