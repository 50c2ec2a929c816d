/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * stat.h - the report that the command stat prints about a log, and the two functions that print it
 * as text and as JSON.
 */
#ifndef POSIXTRACE_STAT_STAT_H
#define POSIXTRACE_STAT_STAT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/when.h"
#include "log/shimloss.h"
#include "log/tally.h"

struct out;

/* The attributes of the stream. Strings end with a NUL. A number that the stream lacks is 0. */
struct stat_attributes {
	char name[TRACE_NAME_MAX + 1];
	char generation[TRACE_NAME_MAX + 1];
	int inheritance, stream_policy, log_policy;
	size_t stream_size, log_size, max_data_size;
	struct timespec created, resolution;
};

/*
 * The report of one log, or of all logs of one recording. In the second case 'log' is a copy of the
 * struct of the last of these logs, in which the members 'info' and 'whole' describe all of them.
 */
struct stat_report {
	const struct logfile *log;
	struct stat_attributes attr;
	struct posix_trace_status_info status;
	struct tally tally;
	struct shimloss shim;
	/* the lost events whose type is not known */
	struct posix_trace_ledger_np unknown;
	/* a log is damaged, or was never completed */
	bool is_damaged;
	/* the logs of the recording, in the order of time; of a single log: its path */
	const char *const *path;
	size_t paths;
};

/*
 * Both functions print the whole report. 'form' is the form of times in the text. JSON has each
 * time in UTC and in nanoseconds.
 */
void stat_text(struct out *out, const struct stat_report *report, enum when_form form);
void stat_json(struct out *out, const struct stat_report *report);

#define STAT_REASON_BYTES 512

/* The texts of the last event of the agent. They end with a NUL and may have unsafe characters. */
struct stat_reason {
	char what[STAT_REASON_BYTES], trigger[STAT_REASON_BYTES], text[STAT_REASON_BYTES];
};

/*
 * Finds the reason why the agent has written the log. Returns false if the log is not from the
 * agent. Changes the reading position of the log.
 */
bool stat_find_reason(const struct stat_report *report, struct stat_reason *reason);

/*
 * Returns the number of events in 'count' per second of the log's time. Returns 0 if all events of
 * the log have the same time.
 */
double stat_rate(const struct tally *tally, const struct tally_count *count);

/*
 * Returns the name that the log has for a thread at the time of its end or last event, or NULL if
 * there is none. The text is valid until the next call.
 */
const char *stat_thread_name(const struct stat_report *report, const struct tally_thread *thread);

/* Returns the time from the first to the last event in nanoseconds. */
int64_t stat_span(const struct tally_count *count);

#endif
