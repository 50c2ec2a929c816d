/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * parser.h - splits a line of rules into words, and prints messages about wrong words.
 *
 * After the first error of a line the rest of the line is not examined, and no further error is
 * printed.
 */
#ifndef POSIXTRACE_RULES_PARSER_H
#define POSIXTRACE_RULES_PARSER_H

#include "rules/rules.h"

struct parser {
	struct rules *rules;
	const char *line;
	unsigned number;       /* number of the line */
	/* "at" points behind the current word, and "word" to its beginning */
	const char *at, *word;
	size_t len;            /* length of the word in the line; 0: the end of the line */
	bool quoted, failed, no_memory;
	char text[RULES_LINE]; /* the word without quotes */
};

/* Prints what was expected instead of the current word, with the line and a caret. */
void parser_fail(struct parser *parser, const char *expected);

/* Moves to the next word: letters, a quoted text, or signs. */
void parser_next(struct parser *parser);

/*
 * These functions compare the current word with the parameter "word". parser_is() only compares. If
 * both are equal, parser_skip() and parser_expect() move to the next word. If they differ,
 * parser_expect() prints an error.
 */
bool parser_is(const struct parser *parser, const char *word);
bool parser_skip(struct parser *parser, const char *word);
void parser_expect(struct parser *parser, const char *word);

/* Returns true if the current word can be a name or pattern, or is a text in quotes. */
bool parser_is_name(const struct parser *parser);

/*
 * Returns a copy of the word, which the caller frees. If memory is lacking, it returns NULL, and
 * the line counts as wrong.
 */
char *parser_copy(struct parser *parser);

#endif
