/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * stack_unwind.h - the callers of an event, from the copy of the stack that the preload library put
 * behind its data.
 *
 * The copy comes from a log and is hostile: offsets and lengths are checked, and reads outside of
 * it fail. Files are used only with the build-id that the log has. One thread uses an unwinder.
 */
#ifndef POSIXTRACE_LIVE_STACK_UNWIND_H
#define POSIXTRACE_LIVE_STACK_UNWIND_H

#include <trace_np.h>

#include "live/stack_store.h"

struct stack_unwinder;

/* For the events of an opened log. Returns NULL without memory. */
struct stack_unwinder *stack_unwinder_begin(trace_id_t trid);
void stack_unwinder_end(struct stack_unwinder *unwinder);

/*
 * Returns the number of bytes of the event's data before the copy; the whole length if the event
 * has no copy.
 */
size_t stack_unwind_fields(const struct posix_trace_event_np *event);

/*
 * Stores the return addresses of the event's stack, the innermost first: the event's own address,
 * then those of the functions that called this one. Returns their number, 0 if the event has no
 * copy. Without libdw, and for a copy that cannot be unwound, only the first is known.
 */
size_t stack_unwind(struct stack_unwinder *unwinder, const struct posix_trace_event_np *event,
		    uint64_t chain[STACK_FRAMES]);

#endif
