/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * report_table.h - events in columns: time, delta, process, thread, event type, and the data by the
 * type's schema.
 */
#ifndef POSIXTRACE_REPORT_REPORT_TABLE_H
#define POSIXTRACE_REPORT_REPORT_TABLE_H

#include "base/out.h"
#include "base/when.h"
#include "log/logfile.h"
#include "show/line.h"
#include "show/pick.h"

struct report_table {
	enum when_form when;
	struct pick *pick;   /* the chosen columns; NULL: all */
	const char *log_name; /* log of the next event; NULL: only one log, and no column of logs */
	size_t log_width;    /* width of the column of logs */
	bool any;            /* an event was shown before */
	int64_t previous_ns;
};

/* Writes the titles of the columns as a line. */
void report_table_header(struct out *out, const struct report_table *table);

/*
 * Writes an event as a line. "log" and "type" need only the members that fields_text() and
 * sysdata_text() read.
 */
void report_table_event(struct out *out, struct report_table *table, const struct logfile *log,
			const struct log_type *type, const struct posix_trace_event_np *event);

#endif
