/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * lex.h - reads the pieces of a logical line of a template file.
 *
 * The line is not copied: a backslash with the line end behind it counts as a blank. Only the first
 * fault of a line is kept and reported. So the functions only return false after a fault.
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

/* Skips blanks, tabs, and backslashes at ends of lines with the line end behind them. */
void lex_blanks(struct lex *lex);

/* Returns whether the line ends here, after blanks. */
bool lex_at_end(struct lex *lex);

/* Returns whether c follows, after blanks. */
bool lex_is(struct lex *lex, char c);
bool lex_take(struct lex *lex, char c);
bool lex_take_two(struct lex *lex, char c); /* c twice, as in {{ */

/* Returns the letters, digits and _ that follow directly, as one word; its length may be 0. */
struct word lex_peek_word(const struct lex *lex);
bool word_is(struct word word, const char *text);

/*
 * Reads a string in quotes. Returns false if no valid string begins here, after blanks. If
 * for_print is true, bytes that cannot be printed become dots; otherwise the text is unchanged.
 */
bool lex_string(struct lex *lex, struct program *program, bool for_print, struct text_ref *ref);

/*
 * Reads a number without its sign: a word of digits in this radix, or a word of digits with 0x or o
 * in front.
 */
bool lex_number(struct lex *lex, unsigned radix, uint64_t *number);

#endif
