/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * preload/text.h - strings of the program in an event's data: bounded, each with its NUL.
 *
 * What is too long loses its beginning, since the end of a path tells most; "..." stands for it.
 * Signals   everything here is async-signal-safe.
 */
#ifndef PTX_PRELOAD_TEXT_H
#define PTX_PRELOAD_TEXT_H

#include <stdbool.h>
#include <stddef.h>

#define SHIM_TEXT 512 /* bytes for all strings of an event */

/* Each writes at to, where there is room for bytes, and returns how many it wrote, NUL included. */

/* text may be NULL. */
size_t shim_text(char *to, size_t bytes, const char *text);

/*
 * A string that a call was given which failed with error, 0: it did not. Where the call may not
 * have looked at it, neither do we, and the string is empty.
 */
size_t shim_text_after(char *to, size_t bytes, const char *text, int error);

/* The same before the call: memory that is not there reads as an empty string. */
size_t shim_text_before(char *to, size_t bytes, const char *text);

/* Memory that lies on one page: false and to unchanged if it is not there. */
bool shim_copy(void *to, const void *from, size_t bytes);

/* Whether what begins at from, and does not reach the next page, is there to be read. */
bool shim_is_there(const void *from);

/* An argument vector, with blanks between; the end is left out where it is too long. */
size_t shim_text_arguments(char *to, size_t bytes, char *const argv[]);

#endif
