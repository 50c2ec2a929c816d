/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* preload.h - the library that records calls of the C library in unchanged programs. */
#ifndef POSIXTRACE_LIVE_PRELOAD_H
#define POSIXTRACE_LIVE_PRELOAD_H

#include <stdbool.h>

/*
 * Returns the library's path: that in POSIXTRACE_PRELOAD, that of the build which this program
 * belongs to, or the installed one. Returns NULL after it printed why the library cannot be
 * preloaded.
 */
const char *preload_find(void);

/*
 * Checks a value of --trace, a list of families. Returns false after it printed that one does not
 * exist.
 */
bool preload_families(const char *option, const char *families);

#endif
