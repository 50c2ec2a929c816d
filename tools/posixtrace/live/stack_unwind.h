/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * stack_unwind.h - finds the callers of an event, from the copy of the stack that the preload
 * library has put behind the event's data. kernel_copies.h gives copies of the kernel the same
 * form.
 *
 * The copy comes from a log and is hostile. Offsets and lengths are checked, and reads outside of
 * the copy fail. A file is used only if its build-id is the same as in the log. One thread uses an
 * unwinder.
 */
#ifndef POSIXTRACE_LIVE_STACK_UNWIND_H
#define POSIXTRACE_LIVE_STACK_UNWIND_H

#include <trace_np.h>

#include "live/stack_store.h"

struct stack_unwinder;

/*
 * Makes an unwinder for the events of processes with these mappings, which must exist until
 * stack_unwinder_end(). Returns NULL if memory is lacking.
 */
struct stack_unwinder *stack_unwinder_begin(const struct posix_trace_mapping_np *mapping,
					    size_t mappings);
void stack_unwinder_end(struct stack_unwinder *unwinder);

/*
 * Returns the number of bytes of the event's data before the copy. If the event has no copy,
 * returns the length of all its data.
 */
size_t stack_unwind_fields(const struct posix_trace_event_np *event);

/*
 * Stores the return addresses of the event's stack, the innermost first: the event's own address,
 * then the addresses in its callers. Returns their number, which is 0 if the event has no copy. If
 * libdw is lacking, or if the copy cannot be unwound, only the first address is known.
 */
size_t stack_unwind(struct stack_unwinder *unwinder, const struct posix_trace_event_np *event,
		    uint64_t chain[STACK_FRAMES]);

#endif
