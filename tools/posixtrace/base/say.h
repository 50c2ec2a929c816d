/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * say.h - messages on standard error, one line for each call, with unsafe characters escaped. So
 * the text of a file or of another process cannot add a line that looks like a message, or make a
 * terminal do something. Messages that say_keep() stores are escaped, too.
 *
 * The functions flush standard output first, so that a terminal shows output and messages in order.
 */
#ifndef POSIXTRACE_BASE_SAY_H
#define POSIXTRACE_BASE_SAY_H

#include <stdbool.h>
#include <stddef.h>

/*
 * With quiet true, no message is printed until the next call with false. Callers use this if they
 * first try an operation without messages, and repeat it with messages if it fails.
 */
void say_nothing(bool quiet);

/*
 * From now on messages are stored in "text", with a NUL at the end, and not printed. A message that
 * does not fit into the bytes of "text" loses its end. "text" must exist until the next call. If
 * "text" is NULL, messages are printed again.
 */
void say_keep(char *text, size_t bytes);

/*
 * Registers a function that removes the progress line. say() calls it before each message. NULL
 * registers no function.
 */
void say_after(void (*clear)(void));

/* Prints "posixtrace: " and the text. */
void say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/*
 * Returns the text of strerror(3). If this process or the system has too few descriptors, the text
 * also names the limit. The result is valid until the next call of strerror(3).
 */
const char *say_strerror(int err);

/* Prints "WARNING: " and the text. It is used to report that events are missing. */
void say_warning(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
