/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * library.h - shared libraries that only some commands need, loaded at run time. Each library that
 * the tool is linked to makes every command start later. Used by one thread.
 */
#ifndef POSIXTRACE_BASE_LIBRARY_H
#define POSIXTRACE_BASE_LIBRARY_H

#include <stdbool.h>
#include <stddef.h>

/* Loads the first of these libraries that exists. Returns NULL if there is none. */
void *library_load(const char *const *names, size_t count);

/* Stores the address of a function in *function, a pointer. Returns false if there is none. */
bool library_find(void *library, const char *name, void *function);

#endif
