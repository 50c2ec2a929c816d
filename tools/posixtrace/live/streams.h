/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* streams.h - a copy of the active streams of processes at one moment, and its JSON form. */
#ifndef POSIXTRACE_LIVE_STREAMS_H
#define POSIXTRACE_LIVE_STREAMS_H

#include <stdbool.h>
#include <trace_np.h>

#include "base/json.h"
#include "base/out.h"
#include "live/process.h"

/*
 * A copy of all that the visitor got. "is.member" points to the copied array "member", and
 * "is.event_name" is NULL.
 */
struct streams_one {
	struct posix_trace_stream_np is;
	pid_t *member;
	char program[PROCESS_NAME_BYTES];         /* of the traced process */
	char creator_program[PROCESS_NAME_BYTES];
	char (*filtered)[TRACE_EVENT_NAME_MAX + 1]; /* names of filtered types */
	size_t filtered_count;
	size_t names;                             /* number of all event types */
};

struct streams {
	struct streams_one *one; /* sorted by process and time of creation */
	size_t count;
	bool no_memory;
};

/*
 * Copies the streams of a process, or of POSIX_TRACE_EVERY_PROCESS_NP. Returns 0 or an error
 * number. After an error there is nothing to free.
 */
int streams_look(struct streams *streams, pid_t pid);
void streams_fini(struct streams *streams);

/*
 * streams_lost() returns the number of lost events without those that the program cleared.
 * streams_fill_percent() returns the part of the stream's chunks that are in use, from 0 to 100.
 */
uint64_t streams_lost(const struct streams_one *one);
unsigned streams_fill_percent(const struct streams_one *one);

/*
 * Returns "running", "suspended", "full", or "waiting" if the process does not use the library yet.
 */
const char *streams_status(const struct streams_one *one);

/* Returns the exit status of a command that printed the streams. */
int streams_exit(const struct streams *streams, bool fail_on_loss);

/* Writes a stream as a JSON object in a line. */
void streams_json(struct out *out, const struct streams_one *one);

/* Writes the member "ended" of a stream: null if it is not known whether the process has ended. */
void streams_json_ended(struct json *json, const struct posix_trace_stream_np *stream);

#endif
