/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * preload/scope.h - finds functions in the objects from the shim to the C library.
 *
 * dlsym(RTLD_NEXT) acquires the dynamic linker's lock, so a wrapper must not call it in a signal
 * handler. Calling it at the start for every wrapper would make each program start later. The
 * functions below read the same tables as dlsym(), without a lock, at the first call of each
 * wrapper.
 *
 * The dynamic linker searches the objects of the start of the program in the order in which it
 * loaded them. Objects that are loaded later come behind them. The C library was loaded
 * at the start, so all objects in front of it were, too. These objects are never unloaded.
 *
 * Threads   any. Two threads may begin at the same time.
 * Signals   shim_scope_is_known() and shim_scope_find() are async-signal-safe.
 * Errors    errno is unchanged.
 */
#ifndef PTX_PRELOAD_SCOPE_H
#define PTX_PRELOAD_SCOPE_H

#include <stdbool.h>

/*
 * Notes the objects. The shim calls this function once, at its start. No object is noted if one of
 * the objects has tables of another form or defines dlsym() itself. The same is true if there are
 * too many objects, or if the shim was loaded later than the program.
 */
void shim_scope_begin(void);

/* Returns whether the objects are noted. */
bool shim_scope_is_known(void);

/*
 * Returns the function that dlsym(RTLD_NEXT) would return to the shim. NULL: these objects do not
 * have the function, or only the dynamic linker can find it. If is_old is true, the function is
 * also found if glibc has it only for old programs and in one version; dlsym() does not find such a
 * function.
 */
void *shim_scope_find(const char *name, bool is_old);

/*
 * Finds the function if exactly one object defines it, not counting the shim. The object need not
 * be in the shim's scope. NULL: no object defines the function. If several objects define it, or if
 * only dlsym() can find it, the result is NULL and *is_unsure is true. The message for dlerror()
 * stays. This function acquires a lock of the dynamic linker. The object may be unloaded later.
 */
void *shim_scope_find_only(const char *name, bool *is_unsure);

#endif
