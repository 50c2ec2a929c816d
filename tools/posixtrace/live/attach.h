/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * attach.h - tracing a running process into a log: what is wanted, and what came of it.
 */
#ifndef POSIXTRACE_LIVE_ATTACH_H
#define POSIXTRACE_LIVE_ATTACH_H

#include <stdbool.h>

#include "base/outfile.h"
#include "live/capture.h"
#include "live/process.h"

enum attach_end {
	ATTACH_SIGNAL,
	ATTACH_DURATION,
	ATTACH_TARGET_ENDED,
	ATTACH_FLUSH_ERROR, /* the log cannot be written any more */
	ATTACH_ERROR        /* has been said */
};

struct attach_result {
	char program[PROCESS_NAME_BYTES];
	enum attach_end end;
	struct capture_result capture;
};

/* From the first to the last: returns when the log is complete. TOOL_*, everything said. */
int attach_trace(const struct capture_plan *plan, enum outfile_mode mode,
		 struct attach_result *result);

#endif
