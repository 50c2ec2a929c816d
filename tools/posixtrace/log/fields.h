/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* fields.h - prints the data of an event field by field, if its type has a schema. */
#ifndef POSIXTRACE_LOG_FIELDS_H
#define POSIXTRACE_LOG_FIELDS_H

#include <stdbool.h>

#include "base/json.h"
#include "base/out.h"
#include "base/when.h"
#include "log/logfile.h"

/* Returns whether events of the type have a message, which may need no data. */
bool fields_has_message(const struct log_type *type);

#define MESSAGE_BYTES 8192 /* longer messages are cut */

/*
 * Writes a blank and the message in quotes if the type has a format. Otherwise writes " name=value"
 * for each field, then "+" and hexadecimal digits for bytes that no field
 * describes. Returns false and writes nothing if the type has no usable schema.
 */
bool fields_text(struct out *out, const struct logfile *log, const struct log_type *type,
		 const struct posix_trace_event_np *event, enum when_form form);

/*
 * Writes members of the open JSON object: "message" if the type has a format; "fields" by name;
 * "labels" for values that have a name; "rest" for bytes that no field describes. Numbers that a
 * double cannot hold are strings. Returns false as above.
 */
bool fields_json(struct json *json, const struct logfile *log, const struct log_type *type,
		 const struct posix_trace_event_np *event);

/*
 * Writes the object of the labels alone, {"NAME":"LABEL",...}. Returns false and writes nothing if
 * no value has a label.
 */
bool fields_labels(struct json *json, const struct logfile *log, const struct log_type *type,
		   const struct posix_trace_event_np *event);

#endif
