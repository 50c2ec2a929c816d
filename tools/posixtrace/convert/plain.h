/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * plain.h - any bytes as UTF-8 that is safe to show, for formats whose text must be that.
 *
 * Control characters, those that reorder text, and bytes that are no UTF-8 become \xNN.
 */
#ifndef POSIXTRACE_CONVERT_PLAIN_H
#define POSIXTRACE_CONVERT_PLAIN_H

#include <stdbool.h>
#include <stddef.h>

#define PLAIN_FACTOR 4 /* so many times longer it gets at most */

/* Into PLAIN_FACTOR * len + 1 bytes, with a NUL. *exact: nothing had to be changed; may be NULL. */
size_t plain_text(char *to, const void *bytes, size_t len, bool *exact);

/* Into memory of its own; NULL without. */
char *plain_copy(const void *bytes, size_t len);

#endif
