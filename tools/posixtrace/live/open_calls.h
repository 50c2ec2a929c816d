/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * open_calls.h - functions that had not returned when their process, or the trace, ended.
 *
 * The event of a call is recorded when the function returns. The shim also notes active calls in a
 * memory file of this process, struct shim_open_head in patch_plan.h. Each call in the file at the
 * end becomes an event func.open in the log. The file is hostile: traced processes can write it.
 */
#ifndef POSIXTRACE_LIVE_OPEN_CALLS_H
#define POSIXTRACE_LIVE_OPEN_CALLS_H

#include "live/kernel.h"

struct open_calls {
	struct open_call *call;
	size_t calls;
	int64_t read_ns; /* CLOCK_REALTIME, when they were active */
};

/* Returns the descriptor of a new memory file. -1: there is none, and calls are not noted. */
int open_calls_make(void);

/* Reads the active calls. To be called before the stream ends. fd may be -1. */
void open_calls_read(struct open_calls *calls, int fd);

/*
 * Passes the calls that have no event in the log to the kernel's events, with which they are
 * written. log is the complete log.
 */
void open_calls_pass(struct open_calls *calls, struct kernel *kernel, int log);
void open_calls_fini(struct open_calls *calls);

#endif
