/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * attach.h - tracing a running process into a log: what is wanted, and what came of it.
 */
#ifndef POSIXTRACE_ATTACH_H
#define POSIXTRACE_ATTACH_H

#include <stdbool.h>
#include <stdint.h>
#include <trace_np.h>

#include "choose.h"
#include "outfile.h"
#include "process.h"

struct attach {
	pid_t pid;
	const char *path;
	bool force;
	int64_t duration_ns; /* 0: no end */
	struct choose choose;
	bool inherit;
	int stream_policy, log_policy;
	size_t stream_size;
	size_t log_size;     /* 0: what the library takes */
};

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
	struct posix_trace_ledger_np ledger; /* of the log */
	uint64_t bytes;
};

/* From the first to the last: returns when the log is complete. TOOL_*, everything said. */
int attach_trace(const struct attach *attach, struct attach_result *result);

#endif
