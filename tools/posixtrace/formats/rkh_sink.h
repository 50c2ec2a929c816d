/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* rkh_sink.h - the sink of RKH's byte stream. */
#ifndef POSIXTRACE_FORMATS_RKH_SINK_H
#define POSIXTRACE_FORMATS_RKH_SINK_H

#include "formats/format.h"

int rkh_sink_open(struct fmt_flow *flow, const struct fmt_output *output, void **context);
int rkh_sink_begin(void *context, const struct fmt_facts *facts);
int rkh_sink_event(void *context, const struct fmt_event *event);
int rkh_sink_idle(void *context);
int rkh_sink_end(void *context, const struct fmt_end *end);
void rkh_sink_close(void *context);

#endif
