/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * preload.h - finds the preload library, which records calls of the C library in unchanged
 * programs, and checks its options.
 */
#ifndef POSIXTRACE_LIVE_PRELOAD_H
#define POSIXTRACE_LIVE_PRELOAD_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* The words that --trace accepts, for option_row.choices. */
#define PRELOAD_FAMILIES \
	"alloc lock lock-hold io file stdio net thread process signal time ipc dl func all " \
	"default none"

/*
 * Returns the path of the library: that in POSIXTRACE_PRELOAD, or that of the library of the build
 * to which this program belongs, or that of the installed library. If the installed library cannot
 * be read, the function looks for the library by moved_find(). Returns NULL after it printed why
 * the library cannot be preloaded.
 */
const char *preload_find(void);

/* Returns the absolute path of the library, or NULL after it printed an error. */
const char *preload_path(void);

/*
 * Returns whether a program is built with POSIX_TRACE_WEAK_NP: it looks for the library by dlsym(),
 * and is not linked with the library. If the file cannot be read, the function returns false.
 */
bool preload_is_sought(const char *program);

/*
 * Checks a value of --trace, a list of families. Returns false after it printed that there is no
 * such family.
 */
bool preload_families(const char *option, const char *families);

/*
 * Adds a value of --trace to *joined, which is NULL at first. Several values form one list, because
 * a later name may change an earlier one. *joined is allocated, and a later call frees it. Returns
 * false after it printed an error.
 */
bool preload_take_families(const char **joined, const char *families);

/*
 * Processes --data: stores the number of bytes of each call that are recorded. preload_add_data()
 * adds this number to the list of preload_take_families(), which is NULL for the default families.
 * Both return false after they printed an error.
 */
bool preload_take_data(uint64_t *bytes, const char *text);
bool preload_add_data(const char **joined, uint64_t bytes);

#define PRELOAD_DATA_HELP \
	"record also the first bytes that read, write, send, recv and similar calls moved, at " \
	"most 4K; they may contain passwords"

/*
 * Loads the library into a running process, unless the process uses libposixtrace or families is
 * "none". If families is NULL, the default families are traced. If "follows" is true, the library
 * passes itself on to the programs that children of the process execute. Returns an exit status.
 * The function prints all errors.
 */
struct inject;
int preload_inject(struct inject *inject, pid_t pid, const char *families, bool follows);

#endif
