/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * streams.h - the active streams of processes, as they were when they were looked at, and their
 * JSON.
 */
#ifndef POSIXTRACE_LIVE_STREAMS_H
#define POSIXTRACE_LIVE_STREAMS_H

#include <stdbool.h>
#include <trace_np.h>

#include "base/out.h"
#include "live/process.h"

/* A copy of all that the visitor was told; is.member points into it, is.event_name is null. */
struct streams_one {
	struct posix_trace_stream_np is;
	pid_t *member;
	char program[PROCESS_NAME_BYTES];         /* of the traced process */
	char creator_program[PROCESS_NAME_BYTES];
	char (*filtered)[TRACE_EVENT_NAME_MAX + 1]; /* names of what is filtered out */
	size_t filtered_count;
	size_t names;                             /* of event types, all together */
};

struct streams {
	struct streams_one *one; /* by process, then as they were created */
	size_t count;
	bool no_memory;
};

/* Of one process or POSIX_TRACE_EVERY_PROCESS_NP. 0 or an error number. */
int streams_look(struct streams *streams, pid_t pid);
void streams_fini(struct streams *streams);

uint64_t streams_lost(const struct streams_one *one);
unsigned streams_fill_percent(const struct streams_one *one);

/* "running", "suspended", "full"; "waiting" for the process to use the library. */
const char *streams_status(const struct streams_one *one);

/* What the command exits with when all went well. */
int streams_exit(const struct streams *streams, bool fail_on_loss);

/* One line. */
void streams_json(struct out *out, const struct streams_one *one);

#endif
