/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * sysdata.h - the data of system events, whose meaning the standard gives.
 *
 * In a set are the event types that are filtered out.
 */
#ifndef POSIXTRACE_LOG_SYSDATA_H
#define POSIXTRACE_LOG_SYSDATA_H

#include <stdbool.h>

#include "base/out.h"
#include "log/logfile.h"

/* Writes the data and is true; false when it is no system event's, or not of the right size. */
bool sysdata_text(struct out *out, const struct logfile *log,
		  const struct posix_trace_event_np *event);

/* As members of a JSON object, each with a comma before it. */
bool sysdata_json(struct out *out, const struct logfile *log,
		  const struct posix_trace_event_np *event);

/* The filters before and after START, where they are the same, or FILTER. False: it is neither. */
bool sysdata_filter(const struct logfile *log, const struct posix_trace_event_np *event,
		    trace_event_set_t *old, trace_event_set_t *new);

#endif
