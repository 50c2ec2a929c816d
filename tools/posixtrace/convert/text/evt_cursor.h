/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * evt_cursor.h - the pieces of a line of an event list. Each function moves the cursor behind what
 * it took, and is false when that is not there.
 */
#ifndef POSIXTRACE_CONVERT_TEXT_EVT_CURSOR_H
#define POSIXTRACE_CONVERT_TEXT_EVT_CURSOR_H

#include <stdbool.h>
#include <stdint.h>

/* The rest of a line. */
struct cursor {
	const char *p, *end;
};

void cursor_blanks(struct cursor *cursor);
bool cursor_take(struct cursor *cursor, const char *word);

/* Behind blanks nothing is left. */
bool cursor_at_end(struct cursor *cursor);

bool cursor_digits(struct cursor *cursor, unsigned radix, uint64_t *value);
bool cursor_hexadecimal(struct cursor *cursor, uint64_t max, uint64_t *value);
bool cursor_seconds(struct cursor *cursor, int64_t *ns);

/* 16: no hexadecimal digit. */
unsigned cursor_digit_value(char c);

#endif
