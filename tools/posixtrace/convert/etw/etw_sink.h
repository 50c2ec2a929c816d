/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * etw_sink.h - the functions of the source and the sink for etw_format.c. format.h describes them.
 */
#ifndef POSIXTRACE_CONVERT_ETW_ETW_SINK_H
#define POSIXTRACE_CONVERT_ETW_ETW_SINK_H

#include "convert/format.h"

/* The name of the event type that has the header of an imported log as its data. */
#define ETW_HEADER_EVENT "etw_header"

/* The member "import" of the format. Returns a status of the tool after it printed an error. */
int etw_import(struct fmt_flow *flow, struct fmt_input *input);

/*
 * The functions of struct format for the sink: etw_sink_open() is the member open, and so on. One
 * thread calls them.
 */
int etw_sink_open(struct fmt_flow *flow, const struct fmt_output *output, void **context);
int etw_sink_begin(void *context, const struct fmt_facts *facts);
int etw_sink_event(void *context, const struct fmt_event *event);
int etw_sink_lost(void *context, const struct fmt_lost *lost);
int etw_sink_end(void *context, const struct fmt_end *end);
void etw_sink_close(void *context);

#endif
