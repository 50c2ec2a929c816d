/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * say.h - what goes to standard error, one line a call, made safe for a terminal.
 *
 * Standard output is flushed first, so that on a terminal a message stands where it belongs.
 */
#ifndef POSIXTRACE_BASE_SAY_H
#define POSIXTRACE_BASE_SAY_H

#include <stdbool.h>

/* Whether the functions below say nothing: what they would say is said another time. */
void say_nothing(bool quiet);

/* What is called before anything is said, to take away what stands in the line; NULL: nothing. */
void say_after(void (*clear)(void));

/* "posixtrace: " and the text. */
void say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* "WARNING: " and the text: events are missing. */
void say_warning(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
