/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * open_calls.h - functions that had not returned when their process, or the trace, ended.
 *
 * The event of a call is recorded when the function returns. The shim also notes active calls in a
 * memory file of this process. struct shim_open_head in patch_plan.h describes the file. Each call
 * that is in the file at the end, and has no event in the log, becomes an event func.open. The file
 * is hostile, because traced processes can write to it.
 */
#ifndef POSIXTRACE_LIVE_OPEN_CALLS_H
#define POSIXTRACE_LIVE_OPEN_CALLS_H

#include "live/kernel.h"
#include "live/rotation.h"

struct open_calls {
	struct open_call *call;
	size_t calls;
	int64_t read_ns; /* CLOCK_REALTIME: the moment at which the calls were active */
};

/*
 * Returns the descriptor of a new memory file. If it cannot be made, returns -1, and active calls
 * are not noted.
 */
int open_calls_make(void);

/* Reads the active calls. The function must be called before the stream ends. fd may be -1. */
void open_calls_read(struct open_calls *calls, int fd);

/*
 * Adds the calls that have no event in the logs to the events of the kernel, so that kernel_weave()
 * writes them into the last log, too. The last log must be complete.
 */
void open_calls_pass(struct open_calls *calls, struct kernel *kernel,
		     const struct rotation *logs);
void open_calls_fini(struct open_calls *calls);

#endif
