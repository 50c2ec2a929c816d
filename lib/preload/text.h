/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * preload/text.h - strings of the program in an event's data. Their length is limited, and each has
 * its NUL.
 *
 * If a string is too long, "..." replaces its beginning, because the end of a path identifies the
 * file. shim_text_before() and shim_text_arguments() omit the end instead. A quiet process cannot
 * check memory that is not known (known.h). In such a process, shim_text_before(),
 * shim_text_arguments(), shim_copy() and shim_is_readable() assume that the memory is readable.
 *
 * Threads   all functions may be called by any thread.
 * Signals   everything here is async-signal-safe.
 * Errors    errno is preserved.
 */
#ifndef PTX_PRELOAD_TEXT_H
#define PTX_PRELOAD_TEXT_H

#include <stdbool.h>
#include <stddef.h>

#define SHIM_TEXT 512 /* bytes for all strings of an event */

/*
 * Each function whose name begins with shim_text writes a text at `to`, which has room for `bytes`
 * bytes. It returns the number of bytes that it has written, with the NUL.
 */

/* `text` may be NULL. It must be readable. */
size_t shim_text(char *to, size_t bytes, const char *text);

/*
 * Writes a path that is the only path of a call. `error` is the call's error number, or 0 if the
 * call succeeded. If the call may not have read the path, this function does the same as
 * shim_text_unsure().
 */
size_t shim_text_after(char *to, size_t bytes, const char *text, int error);

/*
 * Writes a string before its call, or after a call that failed, perhaps before the string was read.
 * `text` may be any pointer. A string that is not readable up to its NUL is written as an empty
 * string. The same is true if a quiet process cannot determine whether the string is readable,
 * because it makes no system call.
 */
size_t shim_text_unsure(char *to, size_t bytes, const char *text);

/*
 * Called after a call before which shim_text_unsure() has written `len` bytes at `to`. In a quiet
 * process the string may be empty because nothing showed that it was readable. The function then
 * does the same as shim_text_after(). Otherwise it returns `len`.
 */
size_t shim_text_finish(char *to, size_t bytes, const char *text, size_t len, int error);

/* Writes a string before its call, up to its NUL or up to memory that is not readable. */
size_t shim_text_before(char *to, size_t bytes, const char *text);

/*
 * Copies memory that is within one page. If it is not readable, returns false and leaves *to
 * unchanged. No other thread may unmap the memory meanwhile.
 */
bool shim_copy(void *to, const void *from, size_t bytes);

/*
 * Copies memory that another thread may unmap at the same time, such as the memory of a value that
 * a call has returned. `bytes` is not 0. Returns false if the whole memory cannot be copied safely;
 * *to is then undefined.
 */
bool shim_copy_shared(void *to, const void *from, size_t bytes);

/*
 * Copies an argument of a call before the call. `from` may be any pointer. Returns false if the
 * memory is not readable, or if a quiet process cannot determine that; *to is then unchanged.
 */
bool shim_copy_input(void *to, const void *from, size_t bytes);

/* Returns whether memory that begins at `from` and does not reach the next page is readable. */
bool shim_is_readable(const void *from);

/*
 * Returns whether all bytes of a struct are readable, before a call or after a call that failed.
 * The result is also false if a quiet process cannot determine whether the bytes are readable.
 */
bool shim_can_read(const void *from, size_t bytes);

/*
 * Writes an argument vector, with blanks between the arguments. If the vector cannot be read, the
 * text is empty.
 */
size_t shim_text_arguments(char *to, size_t bytes, char *const argv[]);

#endif
