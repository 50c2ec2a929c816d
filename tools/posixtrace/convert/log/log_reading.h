/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * log_reading.h - the parts of the source "log": each log that is read, and what several logs say
 * together.
 *
 * Several logs are one trace: the events of all, in the order of posixtrace dump --merge. What all
 * logs say alike (the host, the clock, the traced process, the name of the stream) is said of the
 * trace; what they do not say alike is left out, and a note for each log keeps it. Counts are sums.
 * Processes of two hosts that have one number would be one process in every format: such logs are
 * refused.
 */
#ifndef POSIXTRACE_CONVERT_LOG_LOG_READING_H
#define POSIXTRACE_CONVERT_LOG_LOG_READING_H

#include "convert/flow.h"
#include "log/gaps.h"
#include "log/logfile.h"

struct log_reading {
	struct fmt_flow *flow;
	struct logfile *log;
	unsigned source;
	const struct fmt_type **type; /* by id */
	size_t ids;
	int cause;                    /* of a gap in the stream, as its policy says */
	bool skipped;                 /* a damaged part */
	struct gaps gaps;
	int64_t last_ns;              /* the greatest time so far */
	uint64_t events;
};

/* ------------------------------------------------------------------ log_reading.c: one log */

/* Before the first event: its types. 0 or an error number. */
int log_reading_begin(struct log_reading *reading, struct fmt_flow *flow, struct logfile *log,
		      unsigned source);
void log_reading_fini(struct log_reading *reading);

/* Each false: the sink stops. */
bool log_reading_objects(const struct log_reading *reading);
bool log_reading_event(struct log_reading *reading, const struct posix_trace_event_np *event);
/* A stream that stays full loses events up to the end. */
bool log_reading_end(struct log_reading *reading);

/* Whether reading ran into damage, or the counts say that it passed some. */
bool log_reading_is_damaged(const struct log_reading *reading);

const struct fmt_type *log_reading_type(struct log_reading *reading, trace_event_id_t id);

/* ------------------------------------------------------------------ log_joined.c: all of them */

/* 0 or an error number. */
int joined_facts(const struct log_reading *reading, size_t count, struct fmt_facts *facts);

/* False: it has been said which process is on two hosts. */
bool joined_fits(const struct log_reading *reading, size_t count);

/* What each of several logs says of its origin. False: the sink stops. */
bool joined_notes(const struct log_reading *reading, size_t count);

/* The status and the ledger, to the sink. 0 or an error number. */
int joined_finish(struct log_reading *reading, size_t count);

#endif
