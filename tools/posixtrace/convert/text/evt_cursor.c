/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* evt_cursor.c - reads numbers, times and words from a line of hostile text. */
#include "convert/text/evt_cursor.h"

#include <string.h>

#include "base/text.h"

void cursor_blanks(struct cursor *cursor)
{
	while (cursor->p < cursor->end && (*cursor->p == ' ' || *cursor->p == '\t'))
		cursor->p++;
}

bool cursor_take(struct cursor *cursor, const char *word)
{
	size_t len = strlen(word);

	if ((size_t)(cursor->end - cursor->p) < len || memcmp(cursor->p, word, len) != 0)
		return false;
	cursor->p += len;
	return true;
}

bool cursor_at_end(struct cursor *cursor)
{
	cursor_blanks(cursor);
	return cursor->p == cursor->end;
}

/*
 * A number has at least one digit. The first byte that is not a digit of the base ends the number.
 */
bool cursor_digits(struct cursor *cursor, unsigned radix, uint64_t *value)
{
	const char *begin = cursor->p;

	for (*value = 0; cursor->p < cursor->end && text_digit(*cursor->p) < radix;
	     cursor->p++)
		if (__builtin_mul_overflow(*value, radix, value) ||
		    __builtin_add_overflow(*value, text_digit(*cursor->p), value))
			return false;
	return cursor->p > begin;
}

/* The prefix may be 0x or 0X, or may be missing. */
bool cursor_hexadecimal(struct cursor *cursor, uint64_t max, uint64_t *value)
{
	if (!cursor_take(cursor, "0x"))
		cursor_take(cursor, "0X");
	return cursor_digits(cursor, 16, value) && *value <= max;
}

/*
 * Reads seconds as nanoseconds. Digits after the ninth digit of the fraction are read but have no
 * effect, because their unit is 0.
 */
bool cursor_seconds(struct cursor *cursor, int64_t *ns)
{
	bool negative = cursor_take(cursor, "-");
	uint64_t whole, fraction = 0, unit = 100000000;
	const char *point;

	/* A time after the year 2262 would overflow, so it is a fault of the line. */
	if (!cursor_digits(cursor, 10, &whole) ||
	    __builtin_mul_overflow(whole, 1000000000u, &whole))
		return false;
	if (cursor_take(cursor, ".")) {
		point = cursor->p;
		for (; cursor->p < cursor->end && text_digit(*cursor->p) < 10;
		     cursor->p++) {
			fraction += unit * text_digit(*cursor->p);
			unit /= 10;
		}
		/* A digit is required after the point. */
		if (cursor->p == point)
			return false;
	}
	if (__builtin_add_overflow(whole, fraction, &whole) || whole > INT64_MAX)
		return false;
	*ns = negative ? -(int64_t)whole : (int64_t)whole;
	return true;
}
