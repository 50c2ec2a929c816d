/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* parser.c - splits a line of rules into words and prints errors with their place. */
#include "rules/parser.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/out.h"
#include "base/text.h"

/* ------------------------------------------------------------------ errors */

static struct out out_stderr = { .fd = 2 };

/*
 * Prints the line with a caret below the wrong word. A tab in the line is printed as a tab in both
 * lines, so that the caret is below the word.
 */
void parser_fail(struct parser *parser, const char *expected)
{
	/*
	 * The column is counted in bytes. So behind characters of several bytes the caret is too
	 * far to the right.
	 */
	size_t column = (size_t)(parser->word - parser->line);

	if (parser->failed) /* only the first error of a line is printed */
		return;
	parser->failed = true;
	parser->rules->errors++;
	out_flush(&out_stdout);
	text_safe(&out_stderr, parser->rules->path, strlen(parser->rules->path));
	out_printf(&out_stderr, ":%u:%zu: error: expected %s, ", parser->number, column + 1,
		   expected);
	if (parser->len) {
		out_str(&out_stderr, "found ");
		text_quoted(&out_stderr, parser->word, parser->len);
	} else {
		out_str(&out_stderr, "found the end of the line");
	}
	out_str(&out_stderr, "\n    ");
	for (const char *p = parser->line; *p; p++)
		if (*p == '\t')
			out_char(&out_stderr, '\t');
		else
			text_safe(&out_stderr, p, 1);
	out_str(&out_stderr, "\n    ");
	for (size_t i = 0; i < column; i++)
		out_char(&out_stderr, parser->line[i] == '\t' ? '\t' : ' ');
	out_str(&out_stderr, "^\n");
	out_flush(&out_stderr);
}

/* ------------------------------------------------------------------ words */

/*
 * Returns true for the bytes of which words consist. These are the bytes of names, patterns and
 * numbers, and all bytes above ASCII.
 */
static bool is_word(char c)
{
	return isalnum((unsigned char)c) || (c && strchr("_.*?[]!-:#@/", c)) ||
	       (unsigned char)c >= 128;
}

/*
 * Reads a quoted text. A backslash is dropped, and the byte behind it is copied unchanged. The text
 * fits into the buffer, because it is not longer than its line.
 */
static void parser_quoted(struct parser *parser)
{
	size_t n = 0;

	for (parser->at++; *parser->at && *parser->at != '"'; parser->at++) {
		if (*parser->at == '\\' && parser->at[1])
			parser->at++;
		parser->text[n++] = *parser->at;
	}
	parser->text[n] = '\0';
	parser->quoted = true;
	parser->len = (size_t)(parser->at - parser->word) + 1;
	if (*parser->at) {
		parser->at++;
		return;
	}
	parser->len--;
	parser_fail(parser, "a \" at the end of the text");
}

void parser_next(struct parser *parser)
{
	const char *p = parser->at;

	while (*p == ' ' || *p == '\t')
		p++;
	parser->word = parser->at = p;
	parser->quoted = false;
	parser->len = 0;
	parser->text[0] = '\0';
	/* There is no word at the end of the line and in a comment. */
	if (!*p || *p == '#')
		return;
	if (*p == '"') {
		parser_quoted(parser);
		return;
	}
	if (is_word(*p))
		/*
		 * A colon at the end of a word ends the name of a rule and is not a part of the
		 * word.
		 */
		while (is_word(*p) && !(*p == ':' && (p[1] == ' ' || !p[1])))
			p++;
	else if (*p && strchr("<>=", *p))
		p += strspn(p, "<>=");
	else
		p++;
	parser->len = (size_t)(p - parser->word);
	parser->at = p;
	memcpy(parser->text, parser->word, parser->len);
	parser->text[parser->len] = '\0';
}

bool parser_is(const struct parser *parser, const char *word)
{
	return !parser->quoted && !strcmp(parser->text, word);
}

bool parser_skip(struct parser *parser, const char *word)
{
	if (!parser_is(parser, word))
		return false;
	parser_next(parser);
	return true;
}

/* If an error of this line was printed already, the function prints nothing. */
void parser_expect(struct parser *parser, const char *word)
{
	char expected[32];

	if (parser_skip(parser, word) || parser->failed)
		return;
	snprintf(expected, sizeof(expected), "\"%s\"", word);
	parser_fail(parser, expected);
}

bool parser_is_name(const struct parser *parser)
{
	return parser->len && (parser->quoted || is_word(*parser->word));
}

/* The rule needs a copy, because the next line overwrites the text. */
char *parser_copy(struct parser *parser)
{
	char *text = strdup(parser->text);

	if (!text)
		parser->failed = parser->no_memory = true;
	return text;
}
