/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * codes.h - the format codes: X4, A8.16, G9.5 and the like.
 */
#ifndef POSIXTRACE_REPORT_TEMPLATE_CODES_H
#define POSIXTRACE_REPORT_TEMPLATE_CODES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CODE_DATA_BYTES 'H' /* HB */
#define CODE_HOOK_TYPE  'h' /* HT */

struct code {
	char letter;
	uint16_t m;  /* the number behind the letter; 8 for the length W. For B: all its bits */
	uint16_t n;  /* the number behind the dot; 0 if there is none. No width is 0 */
	bool has_n;
};

enum code_answer {
	CODE_NONE, /* the word does not have the form of a code */
	CODE_BAD,  /* a code whose length or width is invalid */
	CODE_OK
};

/*
 * Reads a code. "word" consists of letters, digits and _. If a dot follows the word directly, "n"
 * is the text behind the dot; otherwise "n" is NULL. The function examines "n" only if the word has
 * the form of a code with a length. HB and HT have no length.
 */
enum code_answer code_read(const char *word, size_t len, const char *n, size_t n_len,
			   struct code *code);

/* Reads the text behind the % of a macro as code_read() reads a code. */
enum code_answer code_read_format(const char *word, size_t len, const char *n, size_t n_len,
				  struct code *code);

/* Returns whether the code is G, O, R or W. These codes move the pointer and print nothing. */
bool code_is_move(const struct code *code);

/*
 * code_is_integer() returns whether the code reads a number, and code_is_text() whether it reads a
 * text. A switch can compare only numbers and texts.
 */
bool code_is_integer(const struct code *code);
bool code_is_text(const struct code *code);

/* Returns the radix of the numbers that a switch compares with the value of the code. */
unsigned code_radix(const struct code *code);

#endif
