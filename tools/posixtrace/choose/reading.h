/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * reading.h - the events of a log one after the other, with what the options of wanted.h choose.
 *
 * What is not wanted is handed out, too, and marked: losses concern every type. An event's ordinal
 * is the same whenever the log is read with the same options.
 */
#ifndef POSIXTRACE_CHOOSE_READING_H
#define POSIXTRACE_CHOOSE_READING_H

#include "base/meter.h"
#include "choose/wanted.h"
#include "log/logfile.h"

struct reading {
	struct logfile *log;
	struct wanted *wanted;
	struct posix_trace_event_np event;
	const struct log_type *type;
	bool is_wanted;
	uint64_t ordinal;      /* of this event, from 1 on */
	uint64_t taken;        /* events that were wanted */
	int64_t first_ns, last_ns; /* of those */
	bool skipped;          /* a damaged part was seen */
	struct durations durations;
	struct meter meter;
};

/* Opens the log for these options. TOOL_OK, or it has said why not; then nothing is open. */
int reading_open(struct logfile *log, const char *path, struct wanted *wanted);

/* At the log's first event, or at the first that can be wanted. 0 or an error number. */
int reading_begin(struct reading *reading, struct logfile *log, struct wanted *wanted);

/* The next event. False: there is none; *err is 0 or an error number. */
bool reading_next(struct reading *reading, int *err);

/* After the last event that is asked for. */
void reading_end(struct reading *reading);

/* What a command that has read the log exits with: TOOL_OK or TOOL_DAMAGED, which it has said. */
int reading_status(const struct reading *reading);

#endif
