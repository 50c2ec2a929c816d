/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * preload/inject.h - the shim in a process that was running when posixtrace loaded the shim.
 *
 * Such a shim is not in the global scope of the dynamic linker, so no call of the program reaches a
 * wrapper by itself. While a tracer is attached, the relocation slots of the program and its
 * libraries point to the wrappers (slots.h). The code of the program does not change.
 *
 * Threads   any thread, except shim_inject_begin() and shim_choose_again(). The shim's start calls
 *           these two, and later one thread at a time calls shim_choose_again().
 */
#ifndef PTX_PRELOAD_INJECT_H
#define PTX_PRELOAD_INJECT_H

#include <stdbool.h>

/*
 * Returns whether the shim was loaded later than the program. That is so if the dynamic linker
 * finds another definition of a wrapped function before the shim's definition. This function needs
 * shim_own, which start.c fills.
 */
bool shim_is_injected(void);

/*
 * Finds the functions behind the wrappers; the constructor calls it in place of shim_find_begin().
 */
void shim_inject_begin(void);

/*
 * Called by the wrapper of dlopen(). shim_inject_is_attached() returns whether a tracer is
 * attached; new modules are of interest only while a tracer is attached. shim_inject_loaded()
 * redirects the slots of modules that were loaded since its last call. shim_inject_may_load() is
 * for a call that does not return to the shim: the next call of dlsym() or dlvsym() then redirects
 * the slots.
 */
bool shim_inject_is_attached(void);
void shim_inject_loaded(void);
void shim_inject_may_load(void);

/*
 * A program that the process executes has the shim only if its environment names the shim. The two
 * functions below show whether the wrappers of execve() and similar functions add the shim to the
 * environment. shim_is_late() returns whether the shim was injected: a preloaded shim is never
 * added. shim_inject_passes() returns whether the next program belongs to the recording.
 * `by_child`: a child executes the program, so it belongs to the recording only if the tracer
 * records children. shim_inject_list is the value of POSIXTRACE_TRACE for the program.
 */
#define SHIM_INJECT_LIST 1024
extern char shim_inject_list[SHIM_INJECT_LIST];
bool shim_is_late(void);
bool shim_inject_passes(bool by_child);

/*
 * Called in a child of fork(). If a thread of the parent was redirecting slots at the fork, this
 * thread does not exist in the child, so the function lets another thread redirect slots.
 */
void shim_inject_in_child(void);

/*
 * Chooses the event types of these families, as POSIXTRACE_TRACE does, and opens the types. If
 * `families` is NULL, no type is chosen any more. If `adds` is true, the types that were chosen
 * before remain chosen. Defined in start.c.
 */
void shim_choose_again(const char *families, bool adds);

#endif
