/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * field.h - finds fields of a schema by their names. An older or newer version of the recording
 * library may give the type another schema than this version. So a command searches a field by its
 * name and checks the form of its value.
 */
#ifndef POSIXTRACE_LOG_FIELD_H
#define POSIXTRACE_LOG_FIELD_H

#include <stdbool.h>
#include <stdint.h>

#include <trace.h>
#include <trace_np.h>

/* Returns the index of the field with this name; -1 if there is none or schema is NULL. */
int field_index(const struct posix_trace_schema_np *schema, const char *name);

/*
 * Stores the value of the field with this name. If the field is an array, this is its first
 * element. Returns false if schema is NULL or lacks the field, or if the data of the event ends
 * before the field.
 */
bool field_by_name(const struct posix_trace_schema_np *schema, const char *name,
		 const struct posix_trace_event_np *event, struct posix_trace_value_np *value);

/*
 * Returns the value of the integer field with this name. If the event has no such field, or if the
 * field is no integer, the function returns its argument 'otherwise'.
 */
int64_t field_integer(const struct posix_trace_schema_np *schema, const char *name,
		      const struct posix_trace_event_np *event, int64_t otherwise);

#endif
