/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * template/sink.h - a report by templates, as where a trace of any format flows to.
 */
#ifndef POSIXTRACE_TEMPLATE_SINK_H
#define POSIXTRACE_TEMPLATE_SINK_H

#include "formats/format.h"
#include "template/columns.h"
#include "template/run.h"
#include "template/select.h"

struct template_sink {
	struct columns columns;
	const struct select *select;
	const struct templates *templates;
	struct out *out;
	bool header;
	struct run run;
	bool done;              /* the rest of the trace does not matter */
	int status;             /* when it was done: the flow takes the stop for a failure */

	const struct fmt_flow *flow;
	struct sink_type *type; /* by index of the flow's types */
	size_t types;
	bool any;               /* an event came */
	bool big_endian;
};

/* Its context is the struct template_sink that template_sink_use() names. */
extern const struct format template_format;
void template_sink_use(struct template_sink *sink);

#endif
