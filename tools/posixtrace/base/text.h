/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * text.h - bytes from a log as text that no terminal and no JSON reader can be hurt by.
 *
 * Safe are printable ASCII and, where the locale is UTF-8, well-formed UTF-8 without control
 * characters (C1 among them, which some terminals obey) and without the marks that reorder or
 * hide text. Everything else becomes a backslash escape.
 */
#ifndef POSIXTRACE_BASE_TEXT_H
#define POSIXTRACE_BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct out;

/* Learns from the locale whether the terminal reads UTF-8. */
void text_init(void);

/* Bytes of the UTF-8 character that text begins with; 0: those are none. len is not 0. */
size_t text_character(const void *text, size_t len, uint32_t *character);

/* A control character, or one that reorders or hides text. */
bool text_is_unsafe(uint32_t character);

/*
 * The data is text: safe characters, tabs and line ends, and NULs at its end only; not what is
 * rather a number in memory. json asks by JSON's rule, for which the locale does not matter.
 */
bool text_is_text(const void *data, size_t len, bool json);

/*
 * Whether a spreadsheet can take the text for a formula, which may call programs: it begins with =
 * + - @, a tab or the end of a line, also in their wide forms, and is no number. A CSV cell gets an
 * apostrophe before it.
 */
bool text_is_formula(const void *text, size_t len);

/* Messages: unsafe bytes escaped. Event names: backslashes too, and the empty name is "". */
void text_safe(struct out *out, const void *text, size_t len);
void text_name(struct out *out, const void *text, size_t len);

/* Data in double quotes; NULs at the end are left out. */
void text_quoted(struct out *out, const void *data, size_t len);

/*
 * A JSON string. Characters that reorder or hide text are escaped, as control characters are. Bytes
 * that are no UTF-8 become \\xNN, two characters of backslash and x: JSON has no bytes. All UTF-8
 * comes through exactly.
 */
void text_json(struct out *out, const void *data, size_t len);

#endif
