/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * stat.h - the contents of the report that the command stat prints for a log, and the functions
 * that print it in two forms.
 */
#ifndef POSIXTRACE_STAT_STAT_H
#define POSIXTRACE_STAT_STAT_H

#include <stddef.h>

#include "base/when.h"
#include "log/shimloss.h"
#include "log/tally.h"

struct out;

/* Strings end with a NUL; numbers that the stream lacks are 0. */
struct stat_attributes {
	char name[TRACE_NAME_MAX + 1];
	char generation[TRACE_NAME_MAX + 1];
	int inheritance, stream_policy, log_policy;
	size_t stream_size, log_size, max_data_size;
	struct timespec created, resolution;
};

struct stat_report {
	const struct logfile *log;
	struct stat_attributes attr;
	struct posix_trace_status_info status;
	struct tally tally;
	struct shimloss shim;
};

/* Both print the whole report. form is the form of times; JSON has UTC and nanoseconds. */
void stat_text(struct out *out, const struct stat_report *report, enum when_form form);
void stat_json(struct out *out, const struct stat_report *report);

/* Returns the events per second of the log's time, 0 if all its events have the same time. */
double stat_rate(const struct tally *tally, const struct tally_count *count);

/*
 * Returns the name that the log gives to the address of a thread at the time of its last event, or
 * NULL. The text is valid until the next call.
 */
const char *stat_thread_name(const struct stat_report *report, const struct tally_thread *thread);

/* Returns the time from the first to the last event in nanoseconds. */
int64_t stat_span(const struct tally_count *count);

#endif
