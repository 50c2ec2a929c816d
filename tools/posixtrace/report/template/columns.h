/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * columns.h - the lines of a report: columns, and the text of an event moved by its level.
 */
#ifndef POSIXTRACE_REPORT_TEMPLATE_COLUMNS_H
#define POSIXTRACE_REPORT_TEMPLATE_COLUMNS_H

#include "base/out.h"
#include "report/template/event.h"
#include "report/template/load.h"

struct columns {
	bool ids, exec, pid, tid;
	unsigned timestamp;    /* 0: elapsed and ms; 1: elapsed only; 2: elapsed and us; 3: none */
	int64_t first_ns;      /* elapsed time counts from this time of the log */
	int64_t previous_ns;   /* time of the event that was printed last */
	bool any;              /* an event was printed */
};

/*
 * columns_init() selects the columns that trcrpt shows by default. columns_header() writes the
 * titles of the selected columns as a line.
 */
void columns_init(struct columns *columns);
void columns_header(struct out *out, const struct columns *columns);

/* Writes the columns and the text of an event. The lines of "text" end with \n, except the last. */
void columns_event(struct out *out, struct columns *columns, const struct template_event *event,
		   enum level level, const char *text, size_t len);

#endif
