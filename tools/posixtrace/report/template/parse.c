/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* parse.c - the elements of a template. */
#include "report/template/parse.h"

/*
 * Parses a string. Its length is at most LEX_STRING_BYTES, which fits in the 16 bits of the member
 * "b".
 */
static bool parse_literal(struct parse *parse)
{
	struct text_ref text;

	if (!lex_string(&parse->lex, parse->program, true, &text))
		return false;
	program_emit(parse->program, OP_LITERAL, 0, text.len, text.offset);
	return true;
}

/* Parses \n or \t outside of a string. It is a literal of one byte. */
static bool parse_control(struct parse *parse)
{
	struct lex *lex = &parse->lex;
	char c = lex->end - lex->p >= 2 ? lex->p[1] : 0;
	struct text_ref text;
	char *kept;

	if (c != 'n' && c != 't')
		return lex_expected(lex, "only \\n and \\t may be outside of strings");
	kept = program_text(parse->program, 1, &text);
	if (kept)
		*kept = c == 'n' ? '\n' : '\t';
	program_emit(parse->program, OP_LITERAL, 0, text.len, text.offset);
	lex->p += 2;
	return true;
}

/*
 * Parses the rest of an element that begins with a code or a macro. If a comma follows, the code or
 * macro selects a case of a switch.
 */
static bool subject_element(struct parse *parse, const struct subject *subject)
{
	bool is_action = subject->kind == SUBJECT_BUILTIN && subject->macro->type == MACRO_ACTION;
	bool is_move = subject->kind == SUBJECT_CODE && code_is_move(&subject->code);

	if (lex_is(&parse->lex, ','))
		return parse_switch(parse, subject);
	if (is_action)
		program_emit(parse->program, OP_ACTION, 0, subject->macro->id, 0);
	else if (is_move)
		program_emit(parse->program, OP_MOVE, (unsigned char)subject->code.letter,
			     subject->code.m, subject->code.n);
	else
		return subject_print(parse, subject);
	return true;
}

/*
 * Parses LOOP count { elements }. OP_LOOP may jump behind the loop, and OP_AGAIN may jump back to
 * the body. Loops nest only in braces, so PARSE_BRACES bounds their depth, too.
 */
static bool parse_loop(struct parse *parse)
{
	struct program *program = parse->program;
	uint32_t begin, body;

	if (!parse_count(parse))
		return false;
	begin = program_emit(program, OP_LOOP, 0, 0, 0);
	body = (uint32_t)program->codes;
	if (!parse_braced(parse))
		return false;
	program_emit(program, OP_AGAIN, 0, 0, body);
	program_land(program, begin);
	return true;
}

/*
 * Parses an element that begins with a word: a keyword, a code, or the name of a function to call.
 * parse_code() returns false for a word that is not a code, and also for a wrong code. Only a wrong
 * code sets lex->failed.
 */
static bool word_element(struct parse *parse)
{
	struct lex *lex = &parse->lex;
	struct word word = lex_peek_word(lex);
	struct subject subject;

	if (word_is(word, "LOOP")) {
		lex->p += word.len;
		return parse_loop(parse);
	}
	if (word_is(word, "BITFLAGS")) {
		lex->p += word.len;
		return parse_bit_flags(parse);
	}
	if (word_is(word, "starttimer") || word_is(word, "endtimer")) {
		lex->p += word.len;
		return parse_timer(parse, word.at[0] == 's');
	}
	if (word_is(word, "setdelim")) {
		lex->p += word.len;
		return parse_delimiter(parse);
	}
	if (parse_code(parse, word, &subject))
		return subject_element(parse, &subject);
	if (lex->failed)
		return false;
	lex->p += word.len;
	if (lex_is(lex, '('))
		return parse_function_call(parse, word);
	return lex_fail(lex, word.at, "E09", "neither a code nor a keyword nor a function call");
}

/*
 * $ begins a macro or the call of a template. It is a call if @ follows, or a word with the form of
 * a template's number. A copy of the lexer looks ahead, so that the lexer itself does not move.
 */
static bool macro_element(struct parse *parse)
{
	struct lex *lex = &parse->lex;
	struct lex name = *lex;
	struct subject subject;
	uint32_t number;

	name.p++;
	if ((name.p < name.end && *name.p == '@') ||
	    is_template_number(lex_peek_word(&name), &number))
		return parse_template_call(parse);
	return parse_macro(parse, &subject) && subject_element(parse, &subject);
}

/*
 * Parses one element, whose first byte is at lex->p. Each element takes at least one byte, so
 * parse_elements() ends.
 */
static bool parse_element(struct parse *parse)
{
	struct lex *lex = &parse->lex;

	switch (*lex->p) {
	case '"':
		return parse_literal(parse);
	case '\\':
		return parse_control(parse);
	case '$':
		return macro_element(parse);
	case '{':
		if (lex->end - lex->p >= 2 && lex->p[1] == '{')
			return parse_block(parse);
		return lex_expected(lex, "a brace that belongs to nothing");
	default:
		if (lex_peek_word(lex).len)
			return word_element(parse);
		return lex_expected(lex, "text must be in quotes");
	}
}

/*
 * The function is recursive, through other functions, only for an element in braces. PARSE_BRACES
 * bounds the depth of braces, and so the stack that a hostile file can use.
 */
bool parse_elements(struct parse *parse)
{
	while (!lex_at_end(&parse->lex) && *parse->lex.p != '}')
		if (!parse_element(parse))
			return false;
	return true;
}

/*
 * The number of open braces is not restored after a failure, because the parser then drops the
 * whole line.
 */
bool parse_open_brace(struct parse *parse, const char *at)
{
	if (parse->braces == PARSE_BRACES)
		return lex_fail(&parse->lex, at, "E21", "more than 32 braces within one another");
	parse->braces++;
	return true;
}

/*
 * Two opening braces begin a block, which defines a macro or a function. They do not begin a body.
 */
bool parse_braced(struct parse *parse)
{
	struct lex *lex = &parse->lex;
	const char *open;

	if (!lex_is(lex, '{') || (lex->end - lex->p >= 2 && lex->p[1] == '{'))
		return lex_expected(lex, "a { was expected");
	open = lex->p++;
	if (!parse_open_brace(parse, open) || !parse_elements(parse))
		return false;
	if (!lex_take(lex, '}'))
		return lex_fail(lex, open, "E16", "this brace is not closed");
	parse->braces--;
	return true;
}
