/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * log.h - the source and the sink of the format "log": logs of libposixtrace, lib/log/FORMAT.
 * format.h describes the functions, and log.c has the table of them.
 */
#ifndef POSIXTRACE_CONVERT_LOG_LOG_H
#define POSIXTRACE_CONVERT_LOG_LOG_H

#include "convert/format.h"

/* The members "detect" and "import" of the format. */
bool log_detect(const struct fmt_head *head);
int log_import(struct fmt_flow *flow, struct fmt_input *input);

/*
 * The functions of struct format for the sink: log_sink_open() is the member open, and so on. One
 * thread calls them.
 */
int log_sink_open(struct fmt_flow *flow, const struct fmt_output *output, void **context);
int log_sink_begin(void *context, const struct fmt_facts *facts);
int log_sink_type(void *context, const struct fmt_type *type);
int log_sink_object(void *context, const struct fmt_object *object);
int log_sink_event(void *context, const struct fmt_event *event);
int log_sink_lost(void *context, const struct fmt_lost *lost);
int log_sink_end(void *context, const struct fmt_end *end);
void log_sink_close(void *context);

#endif
