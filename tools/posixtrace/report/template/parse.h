/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * parse.h - compiles the descriptor of a template into instructions.
 *
 * The functions parse_X() consume the element X. They emit its instructions, except for the
 * functions that fill a struct subject or a struct text_ref. After a fault, each function keeps the
 * fault in the lexer and returns false. The depth of recursion is bounded, because the depths of
 * braces and of parentheses are limited, and no other element nests.
 */
#ifndef POSIXTRACE_REPORT_TEMPLATE_PARSE_H
#define POSIXTRACE_REPORT_TEMPLATE_PARSE_H

#include "report/template/codes.h"
#include "report/template/lex.h"
#include "report/template/macros.h"

#define PARSE_BRACES 32
#define PARSE_CASES  1024

struct parse {
	struct lex lex;
	struct program *program;
	struct diags *diags;
	unsigned braces, parentheses;
	bool in_function;
	struct word parameter[TEMPLATE_PARAMETERS];
	unsigned parameters;
	struct word macro[TEMPLATE_PLACES]; /* the macros in the order of their first definition */
	unsigned macros;
};

/* A code or a macro. It is printed, selects a case of a switch, or is used in a calculation. */
struct subject {
	const char *at;
	enum { SUBJECT_CODE, SUBJECT_BUILTIN, SUBJECT_PLACE, SUBJECT_PARAMETER } kind;
	struct code code;          /* the code, or the format of a macro; letter 0: no format */
	const struct macro *macro; /* the macro of a SUBJECT_BUILTIN */
	unsigned index;            /* place of a macro, or index of a parameter */
};

/* parse.c: elements up to the end of the line, or up to a closing brace, which is not consumed. */
bool parse_elements(struct parse *parse);
bool parse_braced(struct parse *parse); /* { elements } */
bool parse_open_brace(struct parse *parse, const char *at); /* counts the brace */

/* parse_subject.c */
/* Returns false also if the word is not a code, which is no fault. */
bool parse_code(struct parse *parse, struct word word, struct subject *subject);
bool parse_macro(struct parse *parse, struct subject *subject); /* at the $ */
bool parse_subject(struct parse *parse, struct subject *subject); /* a code or a macro */
bool subject_print(struct parse *parse, const struct subject *subject);
bool subject_number(struct parse *parse, const struct subject *subject); /* emits the instructions
									  * that push it */
bool subject_is_text(const struct subject *subject);
void subject_text(struct parse *parse, const struct subject *subject);
unsigned subject_radix(const struct subject *subject);

/*
 * Returns whether the word has 3 or 4 hexadecimal digits. Such a word is always the number of a
 * template and never the name of a macro.
 */
bool is_template_number(struct word word, uint32_t *number);

/* parse_expr.c: emits the instructions that push the value of an expression. */
bool parse_expression(struct parse *parse);
bool parse_count(struct parse *parse); /* the same for a number, a code or a macro alone */

/*
 * parse_list.c: parse_switch() must be called when the lexer is at the comma behind the subject.
 * parse_bit_flags() must be called when the lexer is behind the keyword.
 */
bool parse_switch(struct parse *parse, const struct subject *subject);
bool parse_bit_flags(struct parse *parse);

/* parse_call.c: blocks at their {{, calls, and elements that look like calls. */
bool parse_block(struct parse *parse);
bool parse_template_call(struct parse *parse); /* at the $ */
bool parse_function_call(struct parse *parse, struct word name);
bool parse_timer(struct parse *parse, bool start);
bool parse_delimiter(struct parse *parse);

/* Reads the name of an event type behind an @: some characters, or any text in quotes. */
bool parse_name(struct lex *lex, struct program *program, struct text_ref *name);

#endif
