/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* parse_expr.c - expressions. */
#include "report/template/parse.h"

/*
 * The greatest depth of nested parentheses. This limit bounds the recursion of the parser, and the
 * depth of the machine's stack that one expression needs.
 */
#define PARENTHESES 32

/*
 * Emits the instruction that pushes a number. The number has 64 bits, but an instruction has only
 * 32 bits for it. Therefore the number is in a pool, and the instruction has its index.
 */
static bool push_number(struct parse *parse, unsigned radix)
{
	uint64_t number;

	if (!lex_number(&parse->lex, radix, &number))
		return false;
	program_emit(parse->program, OP_NUMBER, 0, 0, program_number(parse->program, number));
	return true;
}

/*
 * Returns whether the word is meant as an octal number: o and digits. The digits 8 and 9 count
 * here, so that lex_number() reports them. Codes may begin with o, too: o4 is a code, while o17 is
 * the number 15.
 */
static bool is_octal_number(struct word word)
{
	struct code code;

	if (word.len < 2 || word.at[0] != 'o' ||
	    code_read(word.at, word.len, NULL, 0, &code) == CODE_OK)
		return false;
	for (size_t i = 1; i < word.len; i++)
		if (word.at[i] < '0' || word.at[i] > '9')
			return false;
	return true;
}

/*
 * Parses a number, a code or a macro. A word is a number if it begins with a digit, or if it is an
 * octal number such as o17. Everything else is a code or a macro. o1, o2, o4 and o8 are codes.
 */
bool parse_count(struct parse *parse)
{
	struct subject subject;
	struct word word;

	lex_blanks(&parse->lex);
	word = lex_peek_word(&parse->lex);
	if (word.len && ((word.at[0] >= '0' && word.at[0] <= '9') || is_octal_number(word)))
		return push_number(parse, 10);
	return parse_subject(parse, &subject) && subject_number(parse, &subject);
}

/*
 * Parses an expression in parentheses. After a failure the number of open parentheses is wrong,
 * which does no harm, because the parser then drops the whole line.
 */
static bool parse_expr_parenthesis(struct parse *parse)
{
	const char *open = parse->lex.p++;

	if (parse->parentheses == PARENTHESES)
		return lex_fail(&parse->lex, open, "E21",
				"more than 32 parentheses within one another");
	parse->parentheses++;
	if (!parse_expression(parse))
		return false;
	if (!lex_take(&parse->lex, ')'))
		return lex_expected(&parse->lex, "a ) was expected");
	parse->parentheses--;
	return true;
}

/*
 * Parses a factor, the part that binds most tightly: signs, followed by a count or by an expression
 * in parentheses.
 */
static bool parse_expr_factor(struct parse *parse)
{
	bool negative = false;

	/*
	 * Two signs cancel each other, so the loop can read any number of them without recursion.
	 */
	while (lex_take(&parse->lex, '-'))
		negative = !negative;
	if (!(lex_is(&parse->lex, '(') ? parse_expr_parenthesis(parse) : parse_count(parse)))
		return false;
	if (negative)
		program_emit(parse->program, OP_NEGATE, 0, 0, 0);
	return true;
}

/*
 * Operators of the same rank are applied from left to right, because the instruction for an
 * operator directly follows the instructions of its right operand.
 */
static bool parse_expr_term(struct parse *parse)
{
	if (!parse_expr_factor(parse))
		return false;
	for (;;) {
		enum op op;

		if (lex_take(&parse->lex, '*'))
			op = OP_MULTIPLY;
		else if (lex_take(&parse->lex, '/'))
			op = OP_DIVIDE;
		else
			return true;
		if (!parse_expr_factor(parse))
			return false;
		program_emit(parse->program, op, 0, 0, 0);
	}
}

bool parse_expression(struct parse *parse)
{
	if (!parse_expr_term(parse))
		return false;
	for (;;) {
		enum op op;

		if (lex_take(&parse->lex, '+'))
			op = OP_ADD;
		else if (lex_take(&parse->lex, '-'))
			op = OP_SUBTRACT;
		else
			return true;
		if (!parse_expr_term(parse))
			return false;
		program_emit(parse->program, op, 0, 0, 0);
	}
}
