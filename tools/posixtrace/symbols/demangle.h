/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* demangle.h - names of C++ functions in source form. */
#ifndef POSIXTRACE_SYMBOLS_DEMANGLE_H
#define POSIXTRACE_SYMBOLS_DEMANGLE_H

/*
 * Returns the demangled name in memory that the caller frees. Returns NULL if the name is not
 * mangled, or without a C++ library.
 */
char *demangle(const char *name);

#endif
