/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* attach.h - traces a running process into a log: the call and its result. */
#ifndef POSIXTRACE_LIVE_ATTACH_H
#define POSIXTRACE_LIVE_ATTACH_H

#include <stdbool.h>

#include "base/outfile.h"
#include "live/capture.h"
#include "live/kernel.h"
#include "live/patch.h"
#include "live/process.h"
#include "live/processes.h"

enum attach_end {
	ATTACH_SIGNAL,
	ATTACH_DURATION,
	ATTACH_TARGET_ENDED,
	ATTACH_FLUSH_ERROR, /* the log cannot be written any longer */
	ATTACH_ERROR        /* another error, which was printed */
};

struct attach_result {
	char program[PROCESS_NAME_BYTES];
	enum attach_end end;
	struct capture_result capture;
	struct processes processes; /* the caller frees it by processes_fini() */
};

/*
 * Runs the whole trace, and returns an exit status when the log is complete. The function prints
 * all errors. *result is filled in any case.
 */
int attach_trace(const struct capture_plan *plan, struct patches *functions,
		 const struct kernel_plan *kernel, enum outfile_mode mode,
		 struct attach_result *result);

#endif
