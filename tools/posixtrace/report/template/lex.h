/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * lex.h - reads the pieces of a logical line of a template file.
 *
 * The line is not copied: a backslash with the line end behind it counts as a blank. A function
 * that finds a fault keeps it in struct lex and returns false. Only the first fault of a line is
 * kept, and the caller reports it at the end of the line.
 */
#ifndef POSIXTRACE_REPORT_TEMPLATE_LEX_H
#define POSIXTRACE_REPORT_TEMPLATE_LEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "report/template/program.h"

#define LEX_LINE_BYTES   65535 /* greatest number of bytes of a logical line */
#define LEX_STRING_BYTES 1023

struct lex {
	const char *base;   /* the beginning of the file */
	uint32_t file;
	const char *p, *end; /* the rest of the logical line */

	bool failed;
	struct diag_place failed_at;
	const char *failed_code, *failed_text;
};

struct word {
	const char *at;
	size_t len;
};

/* Returns the position of a byte of the file, for messages. */
struct diag_place lex_place(const struct lex *lex, const char *at);

/* Keeps the fault and its position if it is the first fault of the line. Always returns false. */
bool lex_fail(struct lex *lex, const char *at, const char *code, const char *text);

/* Keeps the fault E14: a token of the kind "what" was expected here. Otherwise like lex_fail(). */
bool lex_expected(struct lex *lex, const char *what);

/* Skips blanks, tabs, and each backslash that only a line end or blanks and a line end follow. */
void lex_blanks(struct lex *lex);

/* Returns whether the line ends here, after blanks. */
bool lex_at_end(struct lex *lex);

/*
 * lex_is() skips blanks and returns whether c follows. lex_take() and lex_take_two() also skip the
 * c or cc that follows.
 */
bool lex_is(struct lex *lex, char c);
bool lex_take(struct lex *lex, char c);
bool lex_take_two(struct lex *lex, char c); /* c twice, as in {{ */

/* Returns the letters, digits and _ that follow directly, as one word; its length may be 0. */
struct word lex_peek_word(const struct lex *lex);
bool word_is(struct word word, const char *text);

/*
 * Reads a string in quotes and decodes its escapes. Returns false if no valid string begins here,
 * after blanks. If for_print is true, each byte that is not printable ASCII becomes a dot. Escapes
 * still result in any byte.
 */
bool lex_string(struct lex *lex, struct program *program, bool for_print, struct text_ref *ref);

/*
 * Reads a number without a sign: digits in this radix, 0x and hexadecimal digits, or o and octal
 * digits. Returns false if no valid number begins here, after blanks.
 */
bool lex_number(struct lex *lex, unsigned radix, uint64_t *number);

#endif
