/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * sysdata.h - prints the data of system events, which the standard defines. A filter is the set of
 * event types that the stream does not record.
 */
#ifndef POSIXTRACE_LOG_SYSDATA_H
#define POSIXTRACE_LOG_SYSDATA_H

#include <stdbool.h>

#include "base/json.h"
#include "base/out.h"
#include "log/logfile.h"

/*
 * Writes the data. Returns false and writes nothing if the event is not a system event with data,
 * or its data is invalid.
 */
bool sysdata_text(struct out *out, const struct logfile *log,
		  const struct posix_trace_event_np *event);

/* Does the same as sysdata_text(), but writes the data as members of the open JSON object. */
bool sysdata_json(struct json *json, const struct logfile *log,
		  const struct posix_trace_event_np *event);

/*
 * Stores the filters before and after a FILTER event. A START event has one filter, which is stored
 * in both. Returns false for other events and invalid data.
 */
bool sysdata_filter(const struct logfile *log, const struct posix_trace_event_np *event,
		    trace_event_set_t *old, trace_event_set_t *new);

/*
 * Returns true if the event only reports work of the recorder, which started or stopped the stream,
 * changed its filter or flushed it. The recorder is the shim or a process other than the traced
 * process. The function returns false for events of a program that traces itself. It also returns
 * false for events that report an error or a loss, such as the stop of a full stream.
 */
bool sysdata_is_recorders(const struct logfile *log, const struct posix_trace_event_np *event);

/* Returns true if commands print the event only on request: with -e or --system. */
static inline bool sysdata_is_hidden(const struct logfile *log, const struct log_type *type,
				     const struct posix_trace_event_np *event)
{
	return type->is_hidden || (event->info.posix_event_id <= POSIX_TRACE_FLUSH_STOP &&
				   sysdata_is_recorders(log, event));
}

#endif
