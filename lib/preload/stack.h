/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * preload/stack.h - events with a copy of the thread's stack, for the types that the user chose by
 * --stack.
 *
 * Such a type has its id in shim_stack_id, and 0 in shim_id. So the check costs time only for
 * events without an id in shim_id.
 *
 * Threads   everything here may be called by any thread at any time.
 * Signals   async-signal-safe. An event of a chosen type needs as many more bytes of the stack as
 *           the copy has. A stack whose end is not known is not copied.
 * Errors    errno is preserved. No system call is made.
 */
#ifndef PTX_PRELOAD_STACK_H
#define PTX_PRELOAD_STACK_H

#include "preload/shim.h"

/*
 * Chooses by the list of families which types have a stack. NULL: none. The caller stores the ids
 * of the types after that.
 */
void shim_stack_choose(const char *list);

/* Returns whether events of the type have a stack. */
bool shim_stack_is_chosen(enum shim_type type);

/* Records an event of a type with a stack. */
void shim_stack_put(enum shim_type type, const void *data, size_t len, const void *caller);

#endif
