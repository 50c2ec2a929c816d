/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * log_reading.h - two parts of the source "log": the reading of one log, and the joined facts,
 * notes and ledgers of all logs.
 *
 * Several logs are read as one trace, which has the events of all logs in the order of posixtrace
 * dump --merge. A host, a clock, a traced process or a name of the stream that is equal in all logs
 * is a fact of the trace; otherwise the trace omits it, but for each log a note has the facts of
 * this log. Times and sizes are combined, and counts are sums. Logs in which the same process
 * number occurs on two hosts are refused, because the two processes would look like one process in
 * every format.
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
	const struct fmt_type **type; /* indexed by the type's number in this log */
	size_t ids;
	/* the cause of gaps in the stream, by the stream's full policy */
	int cause;
	bool skipped;                 /* the library has skipped a damaged part */
	struct gaps gaps;
	int64_t last_ns;              /* the greatest time that was read */
	uint64_t events;
};

/* ------------------------------------------------------------------ log_reading.c: one log */

/*
 * log_reading_begin() prepares the reading before the first event and registers the log's types. It
 * returns 0 or an error number. log_reading_fini() may be called after success, after an error, and
 * for a struct of zeros.
 */
int log_reading_begin(struct log_reading *reading, struct fmt_flow *flow, struct logfile *log,
		      unsigned source);
void log_reading_fini(struct log_reading *reading);

/*
 * log_reading_objects() passes the names of objects to the sink, and log_reading_event() passes one
 * event. Both return false if the sink has stopped.
 */
bool log_reading_objects(const struct log_reading *reading);
bool log_reading_event(struct log_reading *reading, const struct posix_trace_event_np *event);
/*
 * Must be called after the last event. If the log ends in a gap, for example because the stream is
 * still full, passes this gap. Returns false if the sink has stopped.
 */
bool log_reading_end(struct log_reading *reading);

/*
 * Returns whether the reading has found damage, or the number of events differs from that in the
 * ledger.
 */
bool log_reading_is_damaged(const struct log_reading *reading);

/*
 * Returns the flow's type for a type number of this log. The result is never NULL, because
 * logfile_type() makes a name for a number without a name.
 */
const struct fmt_type *log_reading_type(struct log_reading *reading, trace_event_id_t id);

/* ------------------------------------------------------------------ log_joined.c: all logs */

/* Fills *facts with the facts of the trace. Returns 0 or an error number. */
int joined_facts(const struct log_reading *reading, size_t count, struct fmt_facts *facts);

/*
 * Checks the processes of the logs. If a process number occurs on two hosts, prints an error and
 * returns false.
 */
bool joined_fits(const struct log_reading *reading, size_t count);

/* Passes a note with the origin of each of several logs. Returns false if the sink has stopped. */
bool joined_notes(const struct log_reading *reading, size_t count);

/* Passes status and ledger of the trace to the sink. Returns 0 or an error number. */
int joined_finish(struct log_reading *reading, size_t count);

#endif
