/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * preload.h - the library that makes trace points of what programs call of the C library.
 */
#ifndef POSIXTRACE_LIVE_PRELOAD_H
#define POSIXTRACE_LIVE_PRELOAD_H

#include <stdbool.h>

/*
 * Its path: that of POSIXTRACE_PRELOAD, or of the build that this program is part of, or the
 * installed one. Null: it cannot be preloaded; that has been said.
 */
const char *preload_find(void);

/* Families of trace points, as --trace has them. False: one is none; that has been said. */
bool preload_families(const char *option, const char *families);

#endif
