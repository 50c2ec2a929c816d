/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * evt_cursor.h - reads the parts of a line of the format evt. Each function that returns bool moves
 * the cursor behind the part, or returns false if the line does not have the part at the cursor.
 * After false, the cursor may be anywhere within the part. The line need not end with a NUL.
 */
#ifndef POSIXTRACE_CONVERT_TEXT_EVT_CURSOR_H
#define POSIXTRACE_CONVERT_TEXT_EVT_CURSOR_H

#include <stdbool.h>
#include <stdint.h>

/* The rest of a line. */
struct cursor {
	const char *p, *end;
};

/* cursor_blanks() skips blanks and tabs. cursor_take() accepts exactly this word. */
void cursor_blanks(struct cursor *cursor);
bool cursor_take(struct cursor *cursor, const char *word);

/* Skips blanks. Returns true if nothing follows them. */
bool cursor_at_end(struct cursor *cursor);

/*
 * Reads an unsigned number in base 10 or 16. Returns false also if the number does not fit into 64
 * bits.
 */
bool cursor_digits(struct cursor *cursor, unsigned radix, uint64_t *value);
/* Reads a number in base 16, with or without 0x. Returns false also if it is greater than "max". */
bool cursor_hexadecimal(struct cursor *cursor, uint64_t max, uint64_t *value);
/* Reads seconds with an optional sign and fraction, and stores nanoseconds. */
bool cursor_seconds(struct cursor *cursor, int64_t *ns);

#endif
