/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* demangle.h - names of C++ functions as people write them. */
#ifndef POSIXTRACE_SYMBOLS_DEMANGLE_H
#define POSIXTRACE_SYMBOLS_DEMANGLE_H

/*
 * In memory of the caller's to free; NULL: it is no such name, or there is no C++ library to ask.
 */
char *demangle(const char *name);

#endif
