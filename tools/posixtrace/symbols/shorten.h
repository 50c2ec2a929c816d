/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* shorten.h - shortens the names of C++ functions. */
#ifndef POSIXTRACE_SYMBOLS_SHORTEN_H
#define POSIXTRACE_SYMBOLS_SHORTEN_H

#include <stdbool.h>

/*
 * Shortens the demangled name of a function to its qualified name: the type of the result, the
 * arguments of templates and the parameters are removed. For example, "long
 * shop::item::total<int>(int) const" becomes "shop::item::total". If the form of the name is not
 * known, the function returns false and does not change the name.
 */
bool shorten(char *name);

#endif
