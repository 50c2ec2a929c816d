/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * jit.h - functions that a program compiled while it ran, by a just-in-time compiler. No file has
 * their code. A log has such a function as a mapping whose path is JIT_PREFIX and the name of the
 * function. The name has the form of the compiler that made the function; symbols/jit_name.h splits
 * it.
 */
#ifndef POSIXTRACE_LOG_JIT_H
#define POSIXTRACE_LOG_JIT_H

#include <stdbool.h>
#include <string.h>

#define JIT_PREFIX "[jit] "

/* Returns whether the path of a mapping names such a function. */
static inline bool jit_is_path(const char *path)
{
	return path && !strncmp(path, JIT_PREFIX, sizeof(JIT_PREFIX) - 1);
}

/* Returns the name of the function. The path must name such a function. */
static inline const char *jit_name_of(const char *path)
{
	return path + sizeof(JIT_PREFIX) - 1;
}

#endif
