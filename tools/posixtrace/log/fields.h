/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * fields.h - the data of events whose type was described, field by field.
 */
#ifndef POSIXTRACE_LOG_FIELDS_H
#define POSIXTRACE_LOG_FIELDS_H

#include <stdbool.h>

#include "base/out.h"
#include "base/when.h"
#include "log/logfile.h"

/*
 * Writes " name=value" for each field, and what no field explains as + and bytes. False and
 * nothing: the type has no schema that is one.
 */
bool fields_text(struct out *out, const struct logfile *log, const struct log_type *type,
		 const struct posix_trace_event_np *event, enum when_form form);

/*
 * As members of a JSON object, each with a comma before it: "fields" by name; "labels", what values
 * are called; "rest", what no field explains. Numbers that a double may not hold are strings.
 */
bool fields_json(struct out *out, const struct logfile *log, const struct log_type *type,
		 const struct posix_trace_event_np *event);

#endif
