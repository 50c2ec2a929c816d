/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * preload/slots.h - the relocation slots through which modules call functions of other modules.
 *
 * A slot is a word in the writable part of a module: its relocation is JUMP_SLOT for calls through
 * the procedure linkage table, and GLOB_DAT for other calls. The dynamic linker stores the
 * function's address in the slot, at the start or at the first call. A call reads the slot each
 * time, so an atomic store of another address redirects all later calls, and no thread needs to
 * stop.
 *
 * Threads   the caller makes sure that only one thread at a time calls these functions.
 * Signals   not async-signal-safe: the functions acquire locks of the dynamic linker.
 * Errors    errno may change. A slot in memory that cannot become writable stays as it is. If
 *           memory that was made writable cannot get back its protection, no other memory becomes
 *           writable until a later walk has protected it.
 */
#ifndef PTX_PRELOAD_SLOTS_H
#define PTX_PRELOAD_SLOTS_H

#include <stdbool.h>
#include <stddef.h>

#include "preload/patch_plan.h"

/*
 * A function and its wrapper. `real` is NULL if calls must not be redirected. A program that is not
 * position-independent may use an address inside the program as the function's address; `canonical`
 * is this address, or NULL.
 */
struct shim_wrapper {
	const char *name;
	void *wrapper, *real, *canonical;
};

/* Returns the entry of a function, or NULL if the shim does not wrap it. */
typedef const struct shim_wrapper *shim_wrapper_find(const char *name);

/*
 * The data for a walk over all modules. `program` is the dlopen() handle of the program, for names
 * with versions.
 */
struct shim_slots {
	shim_wrapper_find *find;
	void *program;
};

/*
 * Maps the memory that walks need. Returns false if that is impossible. Called before anything
 * changes, so that no walk fails for lack of memory: the slots can be restored even if the process
 * has used up its memory by then. shim_slots_restore() releases the memory.
 */
bool shim_slots_reserve(void);

/*
 * Redirects the slots of every module to the wrappers, or restores them. If is_new is true, modules
 * that were processed before are skipped. A slot is redirected only if it has the address of the
 * function that the wrapper calls, or if the dynamic linker has not bound it yet and would bind it
 * to that function. Both functions return the result of the walk, SHIM_SLOTS_... in patch_plan.h.
 */
long shim_slots_redirect(const struct shim_slots *slots, bool is_new);
long shim_slots_restore(const struct shim_slots *slots);

#endif
