/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * preload/inject.h - the shim in a process that was running when posixtrace loaded the shim.
 *
 * Such a shim is not in the global scope of the dynamic linker, so no call reaches it by itself.
 * While a tracer is attached, the relocation slots of the program and its libraries point to the
 * wrappers (slots.h). Nothing else of the program is changed, and no code.
 */
#ifndef PTX_PRELOAD_INJECT_H
#define PTX_PRELOAD_INJECT_H

#include <stdbool.h>

/*
 * Returns whether the shim was loaded later than the program. It is if the dynamic linker does
 * not find functions of the C library in the shim first. Needs the ranges of start.c.
 */
bool shim_is_injected(void);

/* Finds the functions behind the wrappers, in place of shim_find_begin(). From the constructor. */
void shim_inject_begin(void);

/*
 * Called by the wrapper of dlopen(). The first returns whether a tracer is attached, so that new
 * modules are of interest. The second redirects the slots of modules that were loaded since. The
 * third is for a call that does not return to the shim: the next call of dlsym() redirects.
 */
bool shim_inject_is_attached(void);
void shim_inject_loaded(void);
void shim_inject_may_load(void);

/* In a child of fork(): the thread that redirected slots does not exist there. */
void shim_inject_in_child(void);

/*
 * Chooses the event types of these families, as POSIXTRACE_TRACE does, and opens them; NULL: no
 * type is chosen any more. adds: those that were chosen before remain so. In start.c.
 */
void shim_choose_again(const char *families, bool adds);

#endif
