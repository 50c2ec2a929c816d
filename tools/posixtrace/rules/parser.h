/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * parser.h - the words of a line of rules, and messages about wrong ones.
 *
 * After the first error of a line no further error is printed, and the rest of the line is not
 * examined. text is the word without its quotes.
 */
#ifndef POSIXTRACE_RULES_PARSER_H
#define POSIXTRACE_RULES_PARSER_H

#include "rules/rules.h"

struct parser {
	struct rules *rules;
	const char *line;
	unsigned number;       /* of the line */
	const char *at, *word; /* pointers behind the current word, and to its beginning */
	size_t len;            /* of the word in the line; 0: the end of the line */
	bool quoted, failed, no_memory;
	char text[RULES_LINE]; /* the word without quotes */
};

/* Prints that something else was expected at the current word, with the line and a caret. */
void parser_fail(struct parser *parser, const char *expected);

/* Moves to the next word: letters, a quoted text, or signs. */
void parser_next(struct parser *parser);

/*
 * parser_is() compares the current word. parser_skip() also moves on if it is the same.
 * parser_want() prints an error if it is not.
 */
bool parser_is(const struct parser *parser, const char *word);
bool parser_skip(struct parser *parser, const char *word);
void parser_want(struct parser *parser, const char *word);

/* Returns true for a word of letters or in quotes. */
bool parser_is_name(const struct parser *parser);

/*
 * Returns a copy of the word that the caller frees, or NULL without memory, which counts as an
 * error.
 */
char *parser_copy(struct parser *parser);

#endif
