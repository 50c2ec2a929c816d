/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * report_sink.h - a report, as where a trace of any format flows to: by templates, or as a table.
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
	/* set before */
	const struct templates *templates; /* NULL: a table */
	struct columns columns;            /* by templates */
	struct report_table table;         /* as a table */
	const struct select *select;
	struct wanted *wanted;
	struct out *out;
	bool header;

	/* zero before */
	struct run run;
	struct tail tail;
	struct meter meter;                /* how far it is */
	struct durations durations;
	struct fmt_flow *flow;
	struct report_type **type;         /* by index of the flow's types */
	size_t types;
	struct logfile log;                /* only the names of types and things */
	uint64_t shown;
	int64_t first_ns;                  /* of the trace */
	bool any;                          /* first_ns is known */
	bool has_span;                     /* the trace said when it begins and ends */
	bool big_endian;
	bool done;                         /* the rest of the trace does not matter */
	/* when it was done: the flow takes a stop for a failure */
	int status;
};

/* Its context is the struct report_sink that report_sink_use() names. */
extern const struct format report_format;
void report_sink_use(struct report_sink *sink);

#endif
