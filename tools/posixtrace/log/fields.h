/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* fields.h - prints the data of an event field by field, if its type has a schema. */
#ifndef POSIXTRACE_LOG_FIELDS_H
#define POSIXTRACE_LOG_FIELDS_H

#include <stdbool.h>

#include "base/json.h"
#include "base/out.h"
#include "base/when.h"
#include "log/logfile.h"

/*
 * Returns whether events of the type have a message. An event may have a message even if it has no
 * data.
 */
bool fields_has_message(const struct log_type *type);

/*
 * Makes the plan by which fields_text() writes the events of a type. Returns NULL if memory is
 * lacking. Returns NULL also if the type has a format, if its events are calls (call_text.h), or if
 * not all of its fields are integers. The caller frees the plan by free().
 */
struct fieldplan *fields_plan(const struct posix_trace_schema_np *schema);

/*
 * Makes the plan by which fields_json() writes the member "fields" of events of a type. Returns
 * NULL if memory is lacking, or if not all fields are integers. The caller frees the plan.
 */
struct fieldplan *fields_json_plan(const struct posix_trace_schema_np *schema);

#define MESSAGE_BYTES 8192 /* a longer message loses its end */

/*
 * If the type has a format, writes a blank and the message in quotes. Otherwise writes the call if
 * the event is one (call_text.h), or else " name=value" for each field. Behind a call or fields, it
 * writes " +" and hexadecimal digits for bytes that no field describes. Returns false and writes
 * nothing if the type has no valid schema.
 */
bool fields_text(struct out *out, const struct logfile *log, const struct log_type *type,
		 const struct posix_trace_event_np *event, enum when_form form);

/*
 * Writes all fields, and the message if the type has a format, each as "name=value" behind a
 * newline. No value has a newline. Omits the field with the index 'omitted'; -1: omits no field.
 * Returns false and writes nothing if the type has no valid schema.
 */
bool fields_lines(struct out *out, const struct logfile *log, const struct log_type *type,
		  const struct posix_trace_event_np *event, enum when_form form, int omitted);

/*
 * Writes members of the open JSON object: "message", if the type has a format; "labels", if values
 * have labels; "fields" with all values; and "rest" with the bytes that no field describes. Numbers
 * that a double may not hold exactly are strings. Returns false and writes nothing if the type has
 * no valid schema.
 */
bool fields_json(struct json *json, const struct logfile *log, const struct log_type *type,
		 const struct posix_trace_event_np *event);

/*
 * Writes only the object with the labels, {"NAME":"LABEL",...}. Returns false and writes nothing if
 * no value has a label.
 */
bool fields_labels(struct json *json, const struct logfile *log, const struct log_type *type,
		   const struct posix_trace_event_np *event);

#endif
