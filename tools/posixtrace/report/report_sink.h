/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * report_sink.h - the sink of a flow that prints a report of a trace of any format, by templates or
 * as a table.
 */
#ifndef POSIXTRACE_REPORT_REPORT_SINK_H
#define POSIXTRACE_REPORT_REPORT_SINK_H

#include "base/meter.h"
#include "base/tail.h"
#include "choose/wanted.h"
#include "convert/flow.h"
#include "report/report_table.h"
#include "report/template/columns.h"
#include "report/template/run.h"
#include "report/template/select.h"

struct report_sink {
	/* members that the caller sets */
	const struct templates *templates; /* NULL: a table */
	struct columns columns;            /* columns of a report by templates */
	struct report_table table;         /* table of a report as a table */
	const struct select *select;
	struct wanted *wanted;
	struct out *out;
	bool header;

	/* members that begin as zero */
	struct run run;
	struct tail tail;
	struct meter meter;                /* progress of the report */
	struct durations durations;
	struct fmt_flow *flow;
	/* one element for each type of the flow, at the type's index */
	struct report_type **type;
	size_t types;
	struct logfile log;                /* only to look up names of types and objects */
	uint64_t shown;
	int64_t first_ns;                  /* elapsed time counts from this time */
	bool any;                          /* first_ns is known and final */
	bool has_span;                     /* the trace has given its first and last time */
	bool big_endian;
	bool done;                         /* the rest of the trace does not matter */
	/*
	 * if "done" is true: the result of the report, because the flow treats the early end as a
	 * failure
	 */
	int status;
};

/*
 * The sink as a format, to which a flow can write. Its context is the struct report_sink passed to
 * report_sink_use().
 */
extern const struct format report_format;
void report_sink_use(struct report_sink *sink);

#endif
