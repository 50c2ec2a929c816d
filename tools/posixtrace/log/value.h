/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* value.h - prints one value of a payload, for people and for programs. */
#ifndef POSIXTRACE_LOG_VALUE_H
#define POSIXTRACE_LOG_VALUE_H

#include <stdbool.h>

#include "base/out.h"
#include "base/when.h"
#include "log/logfile.h"

/*
 * value_text() writes the value as a person reads it: names of values, bits, errors and objects
 * instead of numbers, times in the given form. value_json() writes a JSON value, with numbers as
 * numbers.
 */
void value_text(struct out *out, const struct logfile *log,
		const struct posix_trace_event_np *event, const struct posix_trace_value_np *value,
		enum when_form form);
void value_json(struct out *out, const struct posix_trace_value_np *value);

/*
 * Writes the label of a value as a member of a JSON object, behind the text before. The label is
 * the name of the value, of its bits, of its error number, or of the object that it points to.
 * Returns false and writes nothing if it has no label.
 */
bool value_label(struct out *out, const struct logfile *log,
		 const struct posix_trace_event_np *event, const struct posix_trace_value_np *value,
		 const char *before);

#endif
