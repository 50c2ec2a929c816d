/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * text.h - prints bytes from a log so that they cannot harm a terminal. For JSON, json.h has
 * functions that escape such bytes.
 *
 * Safe characters are printable ASCII and, in a UTF-8 locale, well-formed UTF-8. But control
 * characters and characters that reorder or hide text are never safe. Control characters include C1
 * (U+0080 to U+009F), because some terminals obey them. All other bytes are written as backslash
 * escapes.
 */
#ifndef POSIXTRACE_BASE_TEXT_H
#define POSIXTRACE_BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct out;

/*
 * Finds out from the locale whether the terminal reads UTF-8. main() calls it once, after
 * setlocale().
 */
void text_init(void);

/*
 * Stores the UTF-8 character at the beginning of text and returns its length in bytes, or 0 if the
 * bytes are not well-formed. len must not be 0.
 */
size_t text_character(const void *text, size_t len, uint32_t *character);

/* Returns whether all bytes are well-formed UTF-8. */
bool text_is_utf8(const void *text, size_t len);

/*
 * Returns how many bytes at the beginning of text are printable ASCII other than the quote and the
 * backslash. Most text consists of such bytes. They need no escape in any output of the tool. Any
 * thread may call this function.
 */
size_t text_plain_len(const void *text, size_t len);

/* Returns true for control characters and for characters that reorder or hide text. */
bool text_is_unsafe(uint32_t character);

/*
 * Returns true if the data is text: safe characters, tabs and line ends, with NULs only at the end.
 * Short data that looks like an integer in memory is not text. If "json" is true, the function
 * ignores the locale, because JSON is always UTF-8.
 */
bool text_is_text(const void *data, size_t len, bool json);

/*
 * Returns true if a spreadsheet could treat the text as a formula, which may start programs. Such a
 * text begins with = + - @, their wide forms, a tab or a line end, and is not a number. The CSV
 * writer puts an apostrophe before it.
 */
bool text_is_formula(const void *text, size_t len);

/*
 * text_safe() is for messages: it escapes unsafe bytes. text_name() is for event names: it also
 * escapes backslashes and writes the empty name as "".
 */
void text_safe(struct out *out, const void *text, size_t len);
void text_name(struct out *out, const void *text, size_t len);

/*
 * Returns how many columns of a terminal the output of text_safe() for this text takes. If the text
 * has been escaped before, nothing in it is escaped again, and the result is the number of columns
 * of the text itself.
 */
size_t text_columns(const void *text, size_t len);

/*
 * Writes data in double quotes, without the NULs at its end. Escapes unsafe bytes, quotes and
 * backslashes.
 */
void text_quoted(struct out *out, const void *data, size_t len);

/* Returns whether a text ends with another one. Any thread may call this function. */
static inline bool text_ends_with(const char *text, const char *end)
{
	const size_t len = strlen(text), end_len = strlen(end);

	return len >= end_len && !strcmp(text + len - end_len, end);
}

/*
 * Returns the value of a hexadecimal digit. Returns 16 for any other character, so that the result
 * is too great for every radix.
 */
static inline unsigned text_digit(int c)
{
	return c >= '0' && c <= '9' ? (unsigned)(c - '0') :
	       c >= 'a' && c <= 'f' ? (unsigned)(c - 'a') + 10 :
	       c >= 'A' && c <= 'F' ? (unsigned)(c - 'A') + 10 : 16;
}

/*
 * Returns the text that a message shows for an option's value: the value itself, or '' if it is
 * empty.
 */
static inline const char *text_given(const char *value)
{
	return *value ? value : "''";
}

/* Returns the ending of a counted noun: "" for "1 event", "s" for "2 events". */
static inline const char *text_plural(uint64_t count)
{
	return count == 1 ? "" : "s";
}

#endif
