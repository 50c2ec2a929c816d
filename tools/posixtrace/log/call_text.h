/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* call_text.h - prints a call of a function with its arguments as it is written in C. */
#ifndef POSIXTRACE_LOG_CALL_TEXT_H
#define POSIXTRACE_LOG_CALL_TEXT_H

#include "base/out.h"
#include "base/when.h"
#include "log/logfile.h"

/*
 * Returns whether events with this schema are calls with arguments or a result: func.call:NAME of
 * posixtrace-preload(7). schema may be NULL.
 */
bool call_text_is(const struct posix_trace_schema_np *schema);

/*
 * Writes the values as time=1us depth=0 parse_line(line="abc", n=3) = 0. A call without a result,
 * or one that was left by an exception, has no equals sign.
 */
void call_text_put(struct out *out, const struct logfile *log, const struct log_type *type,
		   const struct posix_trace_event_np *event, struct posix_trace_values_np *values,
		   enum when_form form);

#endif
