/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * parser.h - the words of a line of rules, and what is said of a wrong one.
 *
 * After a failure nothing more is said of the line, and whoever reads it gives up; text is what the
 * word is without quotes.
 */
#ifndef POSIXTRACE_RULES_PARSER_H
#define POSIXTRACE_RULES_PARSER_H

#include "rules/rules.h"

struct parser {
	struct rules *rules;
	const char *line;
	unsigned number;       /* of the line */
	const char *at, *word; /* behind the last word; where it began */
	size_t len;            /* of the word; 0: the end of the line */
	bool quoted, failed, no_memory;
	char text[RULES_LINE]; /* of the word, without quotes */
};

/* That something else was expected at the word, with the line and a caret. */
void parser_fail(struct parser *parser, const char *expected);

/* The next word: of letters, a text in quotes, or of signs. */
void parser_next(struct parser *parser);

/* Whether it is this one; if so, the next one comes; or else that is an error. */
bool parser_is(const struct parser *parser, const char *word);
bool parser_skip(struct parser *parser, const char *word);
void parser_want(struct parser *parser, const char *word);

/* A word of letters or in quotes. */
bool parser_is_name(const struct parser *parser);

/* To be freed; NULL: no memory, a failure. */
char *parser_copy(struct parser *parser);

#endif
