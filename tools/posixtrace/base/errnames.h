/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* errnames.h - the error numbers of Linux by name. */
#ifndef POSIXTRACE_BASE_ERRNAMES_H
#define POSIXTRACE_BASE_ERRNAMES_H

#include <stdint.h>

/*
 * Returns the name of an error number, such as "EPERM" for 1, or NULL if Linux has no such error.
 */
const char *errno_name(int64_t number);

#endif
