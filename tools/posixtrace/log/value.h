/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* value.h - prints one value of an event's data, for people and for programs. */
#ifndef POSIXTRACE_LOG_VALUE_H
#define POSIXTRACE_LOG_VALUE_H

#include <stdbool.h>

#include "base/json.h"
#include "base/out.h"
#include "base/when.h"
#include "log/logfile.h"

/*
 * value_text() writes the value for people: with the names of values, bits and errors instead of
 * numbers, with the names of objects and descriptors beside their numbers, and with times in the
 * given form. value_json() writes the value as a member of the open JSON object or array, without
 * such names.
 */
void value_text(struct out *out, const struct logfile *log,
		const struct posix_trace_event_np *event, const struct posix_trace_value_np *value,
		enum when_form form);
void value_json(struct json *json, const char *name, const struct posix_trace_value_np *value);

/*
 * Returns the name of the function or variable at an address of a process, from the symbols of the
 * traced files; NULL: there is none. The text is valid until the next call.
 */
typedef const char *value_symbol_call(const struct logfile *log, pid_t pid, uint64_t address,
				      int64_t time_ns);

/*
 * If this pointer is not NULL, a pointer to which the program gave no name gets the name of the
 * symbol. A command that shows symbols sets it to data_symbol() (symbols/data.h).
 */
extern value_symbol_call *value_symbol;

/*
 * Returns whether the values are pointers of eight or four bytes, to which the log may give names.
 */
static inline bool value_is_pointer(const struct posix_trace_field_np *field)
{
	return field->type == POSIX_TRACE_TYPE_PTR_NP || field->type == POSIX_TRACE_TYPE_PTR32_NP;
}

/*
 * Returns the kind of objects with a name of posix_trace_object_kind_name_np(), or
 * POSIX_TRACE_OBJECT_OTHER_NP if no kind has this name.
 */
int value_object_kind(const char *name);

#define VALUE_LABEL_BYTES (POSIX_TRACE_LABEL_MAX_NP + POSIX_TRACE_OBJECT_NAME_MAX_NP + 32)

/*
 * Stores the label of a value with a NUL at its end: the name of the value, of its bits, of its
 * error number or signal, of its file descriptor, or of the object, function or variable that it
 * points to, or the meaning of a wait status. A longer label loses its end. Returns false if the
 * value has no label; "text" is then undefined.
 */
bool value_label(const struct logfile *log, const struct posix_trace_event_np *event,
		 const struct posix_trace_value_np *value, char text[VALUE_LABEL_BYTES]);

#endif
