/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* frames.h - prints the call stack of an event, with a function for each frame. */
#ifndef POSIXTRACE_SHOW_FRAMES_H
#define POSIXTRACE_SHOW_FRAMES_H

#include "base/json.h"
#include "base/out.h"
#include "log/stacks.h"

/*
 * Writes a line for each frame, the innermost frame first. A line has the number of the frame, the
 * function, and the source line or the module.
 */
void frames_text(struct out *out, const struct logfile *log,
		 const struct posix_trace_event_np *event, const struct stacks_found *stack);

/*
 * Writes the member "stack", an array with an object for each frame. The object has the address,
 * and the symbol, the module and the source line if they are known.
 */
void frames_json(struct json *json, const struct logfile *log,
		 const struct posix_trace_event_np *event, const struct stacks_found *stack);

#endif
