/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* parse_subject.c - codes and macros, and the operations on them. */
#include "report/template/parse.h"

#include <string.h>

/*
 * Returns the word directly after the dot. Returns NULL if "dot" is not at a dot or no word follows
 * it.
 */
static const char *parse_subject_dotted(const struct lex *lex, const char *dot, size_t *len)
{
	struct lex behind = *lex;
	struct word word;

	if (dot >= lex->end || *dot != '.')
		return NULL;
	behind.p = dot + 1;
	word = lex_peek_word(&behind);
	*len = word.len;
	return word.len ? word.at : NULL;
}

/*
 * Parses a code. Returns false both for a wrong code and for a word that is not a code. Only a
 * wrong code sets lex->failed. HB and HT have no part behind a dot, so a dot behind them is not
 * consumed.
 */
bool parse_code(struct parse *parse, struct word word, struct subject *subject)
{
	struct lex *lex = &parse->lex;
	size_t n_len = 0;
	const char *n = parse_subject_dotted(lex, word.at + word.len, &n_len);

	*subject = (struct subject){ .at = word.at, .kind = SUBJECT_CODE };
	switch (code_read(word.at, word.len, n, n_len, &subject->code)) {
	case CODE_NONE:
		return false;
	case CODE_BAD:
		return lex_fail(lex, word.at, "E10", "this code has no such length or width");
	default:
		lex->p = subject->code.has_n ? n + n_len : word.at + word.len;
		return true;
	}
}

/*
 * Reads hexadecimal digits of either case. The table has the digits a to f twice, the second time
 * at 16 to 21.
 */
bool is_template_number(struct word word, uint32_t *number)
{
	*number = 0;
	if (word.len != 3 && word.len != 4)
		return false;
	for (size_t i = 0; i < word.len; i++) {
		static const char digits[] = "0123456789abcdefABCDEF";
		const char *digit = word.at[i] ? strchr(digits, word.at[i]) : NULL;
		uint32_t value;

		if (!digit)
			return false;
		value = (uint32_t)(digit - digits);
		*number = *number << 4 | (value < 16 ? value : value - 6);
	}
	return true;
}

/*
 * Returns whether the name is in the list, and stores its index. The search is linear, because
 * there are at most 255 names.
 */
static bool parse_subject_find(const struct word *names, unsigned count, struct word name,
			       unsigned *index)
{
	for (*index = 0; *index < count; ++*index)
		if (names[*index].len == name.len && !memcmp(names[*index].at, name.at, name.len))
			return true;
	return false;
}

/*
 * Finds what a name means. Parameters are searched first, then predefined macros, then the macros
 * of the template. Macros of the template are not visible in a function.
 */
static bool parse_subject_resolve(struct parse *parse, struct word name, struct subject *subject)
{
	struct lex *lex = &parse->lex;

	if (parse_subject_find(parse->parameter, parse->parameters, name, &subject->index)) {
		subject->kind = SUBJECT_PARAMETER;
		return true;
	}
	subject->macro = macro_find(name.at, name.len);
	if (subject->macro) {
		subject->kind = SUBJECT_BUILTIN;
		if (subject->macro->type == MACRO_NONE)
			return lex_fail(lex, subject->at, "E13",
					"this macro of AIX has no meaning for POSIX trace events");
		return true;
	}
	subject->kind = SUBJECT_PLACE;
	if (!parse->in_function &&
	    parse_subject_find(parse->macro, parse->macros, name, &subject->index))
		return true;
	return lex_fail(lex, subject->at, "E11",
			parse->in_function ? "this function has no such parameter"
					   : "this macro is not defined before it is used");
}

/*
 * Returns whether the macro or parameter is a number. It always is, except for some predefined
 * macros.
 */
static bool is_number(const struct subject *subject)
{
	return subject->kind != SUBJECT_BUILTIN || subject->macro->type == MACRO_INTEGER;
}

/* The % and the format follow the name directly. Actions and strings have no format. */
static bool parse_subject_format(struct parse *parse, struct subject *subject)
{
	struct lex *lex = &parse->lex;
	const char *percent = lex->p++, *n;
	struct word word = lex_peek_word(lex);
	size_t n_len = 0;

	n = parse_subject_dotted(lex, word.at + word.len, &n_len);
	if (!is_number(subject) ||
	    code_read_format(word.at, word.len, n, n_len, &subject->code) != CODE_OK)
		return lex_fail(lex, percent, "E22", "this macro has no such format");
	lex->p = n ? n + n_len : word.at + word.len;
	return true;
}

bool parse_macro(struct parse *parse, struct subject *subject)
{
	struct lex *lex = &parse->lex;
	struct word name;

	*subject = (struct subject){ .at = lex->p++ };
	name = lex_peek_word(lex);
	if (!name.len)
		return lex_expected(lex, "the name of a macro was expected");
	if (!parse_subject_resolve(parse, name, subject))
		return false;
	lex->p += name.len;
	return lex->p == lex->end || *lex->p != '%' || parse_subject_format(parse, subject);
}

bool parse_subject(struct parse *parse, struct subject *subject)
{
	struct lex *lex = &parse->lex;
	struct word word;
	uint32_t number;

	if (lex_is(lex, '$')) {
		struct lex name = *lex;

		name.p++;
		if (is_template_number(lex_peek_word(&name), &number))
			return lex_fail(lex, lex->p, "E20", "a template gives no number");
		return parse_macro(parse, subject);
	}
	word = lex_peek_word(lex);
	if (!word.len)
		return lex_expected(lex, "a code or a macro was expected");
	if (parse_code(parse, word, subject))
		return true;
	return lex_fail(lex, word.at, "E09", "neither a code nor a macro");
}

/* Emits the instruction that pushes the value, without its format. */
static void parse_subject_push(struct parse *parse, const struct subject *subject)
{
	enum op op = subject->kind == SUBJECT_PLACE ? OP_PLACE :
		     subject->kind == SUBJECT_PARAMETER ? OP_PARAMETER : OP_BUILTIN;

	program_emit(parse->program, op, 0,
		     op == OP_BUILTIN ? (unsigned)subject->macro->id : subject->index, 0);
}

static void emit_code(struct parse *parse, enum op op, const struct code *code)
{
	program_emit(parse->program, op, (unsigned char)code->letter, code->m, code->n);
}

/*
 * Emits the instructions that print a code or a macro. With the format S, a macro prints the text
 * at the data pointer. The low m bytes of the macro's value are the length of this text. Without a
 * format, the macro is printed in its own form.
 */
bool subject_print(struct parse *parse, const struct subject *subject)
{
	if (subject->kind == SUBJECT_CODE) {
		emit_code(parse, OP_PRINT_CODE, &subject->code);
		return true;
	}
	if (!is_number(subject)) {
		program_emit(parse->program, OP_STRING, 0, subject->macro->id, 0);
		return true;
	}
	parse_subject_push(parse, subject);
	if (subject->code.letter == 'S') {
		emit_code(parse, OP_NARROW, &(struct code){ .letter = 'U', .m = subject->code.m });
		program_emit(parse->program, OP_COUNTED, 0, 0, subject->code.n);
	} else if (subject->code.letter) {
		emit_code(parse, OP_PRINT, &subject->code);
	} else {
		program_emit(parse->program, OP_PRINT, 0,
			     subject->kind == SUBJECT_BUILTIN ? (unsigned)subject->macro->print :
								(unsigned)PRINT_SHORTEST,
			     0);
	}
	return true;
}

/*
 * Returns whether a format results in a number. S results in a text; F, T and P are for printing
 * only.
 */
static bool is_number_format(char letter)
{
	return !letter || strchr("XDUoEBW", letter);
}

/*
 * Emits the instructions that leave one number on the stack. Returns false for texts, for actions,
 * and for formats that only print.
 */
bool subject_number(struct parse *parse, const struct subject *subject)
{
	bool good = subject->kind == SUBJECT_CODE ? code_is_integer(&subject->code) :
		    is_number(subject) && is_number_format(subject->code.letter);

	if (!good)
		return lex_fail(&parse->lex, subject->at, "E20", "a number is needed here");
	if (subject->kind == SUBJECT_CODE) {
		emit_code(parse, OP_READ_CODE, &subject->code);
		return true;
	}
	parse_subject_push(parse, subject);
	if (subject->code.letter)
		emit_code(parse, OP_NARROW, &subject->code);
	return true;
}

bool subject_is_text(const struct subject *subject)
{
	if (subject->kind == SUBJECT_CODE)
		return code_is_text(&subject->code);
	return !is_number(subject) ? subject->macro->type == MACRO_STRING :
				     subject->code.letter == 'S';
}

/*
 * Emits the instructions that fill the switch's register with a text. The caller may call it only
 * if subject_is_text() returns true for the subject.
 */
void subject_text(struct parse *parse, const struct subject *subject)
{
	if (subject->kind == SUBJECT_CODE) {
		emit_code(parse, OP_READ_TEXT, &subject->code);
	} else if (!is_number(subject)) {
		program_emit(parse->program, OP_STRING_SUBJECT, 0, subject->macro->id, 0);
	} else {
		parse_subject_push(parse, subject);
		emit_code(parse, OP_NARROW, &(struct code){ .letter = 'U', .m = subject->code.m });
		program_emit(parse->program, OP_COUNTED_SUBJECT, 0, 0, 0);
	}
}

unsigned subject_radix(const struct subject *subject)
{
	if (subject->code.letter)
		return code_radix(&subject->code);
	return subject->kind == SUBJECT_BUILTIN &&
	       (subject->macro->print == PRINT_DECIMAL ||
		subject->macro->print == PRINT_UNSIGNED) ? 10 : 16;
}
