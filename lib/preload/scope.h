/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * preload/scope.h - finds functions in the objects from the shim to the C library.
 *
 * dlsym(RTLD_NEXT) takes the dynamic linker's lock, so a wrapper must not call it in a signal
 * handler. To call it at the start for every wrapper makes each program start later. These
 * functions read the same tables without a lock, at the first call of each wrapper.
 *
 * The dynamic linker searches the objects of the start in the order in which it loaded them, and
 * those that are loaded later come behind them. The C library is one of the start, so all objects
 * in front of it are, too. They are never unloaded.
 *
 * Threads   any. Two threads may begin at once.
 * Signals   shim_scope_is_known() and shim_scope_find() are async-signal-safe.
 * Errors    errno stays.
 */
#ifndef PTX_PRELOAD_SCOPE_H
#define PTX_PRELOAD_SCOPE_H

#include <stdbool.h>

/*
 * Notes the objects, once. Nothing is found if one of them has tables of another form or defines
 * dlsym() itself, if there are too many, or if the shim was loaded later than the program.
 */
void shim_scope_begin(void);

/* Returns whether the objects are noted. */
bool shim_scope_is_known(void);

/*
 * Returns the function that dlsym(RTLD_NEXT) returns to the shim. NULL: these objects do not have
 * it, or only the dynamic linker can find it. is_old: also a function that glibc has only for
 * programs of the past, with one version, which dlsym() does not find.
 */
void *shim_scope_find(const char *name, bool is_old);

/*
 * Returns the function of that name in the only object but the shim that defines it, whether the
 * shim's scope has this object or not. NULL: no object defines it, or it cannot be found without
 * dlsym(), as *is_unsure says. The message for dlerror() stays. It takes a lock of the dynamic
 * linker. The object may be unloaded later.
 */
void *shim_scope_find_only(const char *name, bool *is_unsure);

#endif
