/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * library.h - shared libraries that only some commands need, loaded at run time. The tool is not
 * linked to them, because each linked library makes every command start later. Only one thread
 * calls these functions.
 */
#ifndef POSIXTRACE_BASE_LIBRARY_H
#define POSIXTRACE_BASE_LIBRARY_H

#include <stdbool.h>
#include <stddef.h>

/* Loads the first of these libraries that exists. Returns NULL if none of them exists. */
void *library_load(const char *const *names, size_t count);

/*
 * Finds the function with this name. "function" is the address of a pointer to a function, which
 * receives the function's address. Returns false if the library has no such function.
 */
bool library_find(void *library, const char *name, void *function);

#endif
