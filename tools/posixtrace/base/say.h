/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * say.h - messages on standard error, one line for each call, with unsafe characters escaped.
 *
 * The functions flush standard output first, so that a terminal shows output and messages in order.
 */
#ifndef POSIXTRACE_BASE_SAY_H
#define POSIXTRACE_BASE_SAY_H

#include <stdbool.h>
#include <stddef.h>

/*
 * quiet suppresses all messages until it is reset: for a caller that tries something without
 * messages first, and may repeat it with messages.
 */
void say_nothing(bool quiet);

/*
 * Stores the messages in text, with a NUL at the end, instead of printing them; what has no room is
 * dropped. text exists until the next call. NULL: messages are printed again.
 */
void say_keep(char *text, size_t bytes);

/* Registers a function that say() calls first, to remove the progress line. NULL: none. */
void say_after(void (*clear)(void));

/* Prints "posixtrace: " and the text. */
void say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Prints "WARNING: " and the text. Used where events are missing. */
void say_warning(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
