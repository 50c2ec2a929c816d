/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * value.h - one value of a payload as people and as programs read it.
 */
#ifndef POSIXTRACE_LOG_VALUE_H
#define POSIXTRACE_LOG_VALUE_H

#include <stdbool.h>

#include "base/out.h"
#include "base/when.h"
#include "log/logfile.h"

void value_text(struct out *out, const struct logfile *log,
		const struct posix_trace_event_np *event, const struct posix_trace_value_np *value,
		enum when_form form);
void value_json(struct out *out, const struct posix_trace_value_np *value);

/*
 * What the value is called: its name, those of its bits or of its error number, or of what it
 * points to; as a member of a JSON object, behind the text before. False and nothing if it has no
 * name.
 */
bool value_label(struct out *out, const struct logfile *log,
		 const struct posix_trace_event_np *event, const struct posix_trace_value_np *value,
		 const char *before);

#endif
