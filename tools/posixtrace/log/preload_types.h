/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* preload_types.h - the event types of libposixtrace-preload.so by name. */
#ifndef POSIXTRACE_LOG_PRELOAD_TYPES_H
#define POSIXTRACE_LOG_PRELOAD_TYPES_H

#include <stdbool.h>

/* A null pointer follows the last name. */
extern const char *const preload_types[];

/* Returns whether the array has this name. */
bool preload_types_has(const char *name);

#endif
