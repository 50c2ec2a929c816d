/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tracex_sink.h - declarations for the files of both the source and the sink of TraceX's format. */
#ifndef POSIXTRACE_CONVERT_TRACEX_TRACEX_SINK_H
#define POSIXTRACE_CONVERT_TRACEX_TRACEX_SINK_H

#include "convert/format.h"

/*
 * The types of events with the header and the objects of a file. The sink uses these events to
 * write the file again.
 */
#define TRACEX_HEADER_EVENT "tracex_header"
#define TRACEX_OBJECT_EVENT "tracex_object"
/* The name of the slot with the length of a tick. */
#define TRACEX_CLOCK_NAME "posixtrace tick %llu ns"

/* The member "import" of the format. Returns a status of the tool after it printed an error. */
int tracex_import(struct fmt_flow *flow, struct fmt_input *input);

/*
 * The functions of struct format for the sink: tracex_sink_open() is the member open, and so on.
 * One thread calls them.
 */
int tracex_sink_open(struct fmt_flow *flow, const struct fmt_output *output, void **context);
int tracex_sink_object(void *context, const struct fmt_object *object);
int tracex_sink_event(void *context, const struct fmt_event *event);
int tracex_sink_end(void *context, const struct fmt_end *end);
void tracex_sink_close(void *context);

#endif
