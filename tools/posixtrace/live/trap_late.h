/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * trap_late.h - the options --function and --probe for files that a process maps after the kernel
 * has begun to record its functions by uprobes.
 *
 * The breakpoints of a file are effective in each process that maps the file, also later. So only
 * files that were not found before are treated here. Their breakpoints are placed when this process
 * notices the mapping, and the calls before that moment are missed. The process is not stopped.
 */
#ifndef POSIXTRACE_LIVE_TRAP_LATE_H
#define POSIXTRACE_LIVE_TRAP_LATE_H

#include "functions/patches.h"
#include "live/capture.h"
#include "live/kernel.h"
#include "uprobes/mapped.h"

/* The event type of such a file. "missed" is the time from the mapping to the breakpoints. */
#define TRAP_LATE_EVENT  "func.late"
#define TRAP_LATE_SCHEMA "s32 pid; ns missed; u32 functions; u32 probes; str file"

struct trap_late_file;

struct trap_late {
	struct patches *plan; /* NULL: inactive */
	struct kernel *kernel;
	struct capture *capture;
	bool quiet;
	struct mapped mapped;
	int64_t looked_ns;           /* time of the previous look */
	struct trap_late_file *file; /* the files that are planned */
	size_t files;
};

/*
 * Begins to notice mappings of the processes that the kernel records. "plan" is the plan of the
 * recording, and receives the further places. An error is printed; later files are then not traced.
 * The descriptor late->mapped.wake is readable when a look is useful.
 */
void trap_late_begin(struct trap_late *late, struct patches *plan, struct kernel *kernel,
		     struct capture *capture, bool quiet);

/* Records the functions and probes of the files that were mapped since the last call. */
void trap_late_look(struct trap_late *late);
void trap_late_end(struct trap_late *late);

#endif
