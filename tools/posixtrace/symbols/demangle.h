/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* demangle.h - converts the names of C++ functions to the form of the source. */
#ifndef POSIXTRACE_SYMBOLS_DEMANGLE_H
#define POSIXTRACE_SYMBOLS_DEMANGLE_H

/*
 * Returns the demangled name in memory that the caller frees. Returns NULL if the name is not
 * mangled, or if there is no C++ library.
 */
char *demangle(const char *name);

#endif
