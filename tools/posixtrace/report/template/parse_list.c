/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* parse_list.c - the lists from which a value selects: the cases of a switch, bit flags. */
#include "report/template/parse.h"

/* Parses the body of a case: "text", or elements in braces. */
static bool case_body(struct parse *parse)
{
	struct text_ref text;

	if (!lex_is(&parse->lex, '"'))
		return parse_braced(parse);
	if (!lex_string(&parse->lex, parse->program, true, &text))
		return false;
	program_emit(parse->program, OP_LITERAL, 0, text.len, text.offset);
	return true;
}

/*
 * Parses the value of a case that is a number, and emits OP_CASE. The instruction behind OP_CASE is
 * the jump to the next case. If the subject equals the value, OP_CASE skips this jump.
 */
static bool number_value(struct parse *parse, unsigned radix)
{
	bool negative = lex_take(&parse->lex, '-');
	uint64_t number;

	if (lex_is(&parse->lex, '"'))
		return lex_expected(&parse->lex, "a number or \\* was expected");
	if (!lex_number(&parse->lex, radix, &number))
		return false;
	program_emit(parse->program, OP_CASE, 0, 0,
		     program_number(parse->program, negative ? -number : number));
	return true;
}

/*
 * Parses the value of a case that is a text. The value is compared with bytes of the log, so it is
 * kept exactly as written, even if it has bytes that cannot be printed.
 */
static bool text_value(struct parse *parse)
{
	struct text_ref text;

	if (!lex_is(&parse->lex, '"'))
		return lex_expected(&parse->lex, "a string or \\* was expected");
	if (!lex_string(&parse->lex, parse->program, false, &text))
		return false;
	program_emit(parse->program, OP_CASE_TEXT, 0, text.len, text.offset);
	return true;
}

/*
 * Reads the value of a case. For the value \*, which matches every subject, *conditional becomes
 * false. If *conditional is true, the caller must emit a jump next. The jump runs if the subject
 * has another value.
 */
static bool case_value(struct parse *parse, bool is_text, unsigned radix, bool *conditional)
{
	struct lex *lex = &parse->lex;

	lex_blanks(lex);
	*conditional = lex->end - lex->p < 2 || lex->p[0] != '\\' || lex->p[1] != '*';
	if (!*conditional) {
		lex->p += 2;
		return true;
	}
	return is_text ? text_value(parse) : number_value(parse, radix);
}

/*
 * Each case ends with a jump to the place behind the last case. Until that place is known, these
 * jumps form a list: in place of its target, each has the index of the jump of the case before it.
 * The jump of the first case has NO_JUMP.
 */
#define NO_JUMP UINT32_MAX

/*
 * Emits the comparison, a jump to the next case, the body, and a jump behind the switch. *leave is
 * the head of the list of the jumps behind the switch.
 */
static bool one_case(struct parse *parse, bool is_text, unsigned radix, uint32_t *leave)
{
	struct program *program = parse->program;
	uint32_t next = 0;
	bool conditional;

	if (!case_value(parse, is_text, radix, &conditional))
		return false;
	if (conditional)
		next = program_emit(program, OP_JUMP, 0, 0, 0);
	if (!case_body(parse))
		return false;
	*leave = program_emit(program, OP_JUMP, 0, 0, *leave);
	if (conditional)
		program_land(program, next);
	return true;
}

/*
 * When a body runs, the subject in the register is no longer needed, so a switch in the body may
 * use the register. If memory is lacking, the list of jumps is incomplete. The function then does
 * not follow the list, because the program will not run.
 */
bool parse_switch(struct parse *parse, const struct subject *subject)
{
	struct program *program = parse->program;
	bool is_text = subject_is_text(subject);
	unsigned radix = subject_radix(subject);
	uint32_t leave = NO_JUMP;
	unsigned cases = 0;

	if (is_text) {
		subject_text(parse, subject);
	} else {
		if (!subject_number(parse, subject))
			return false;
		program_emit(program, OP_SWITCH, 0, 0, 0);
	}
	while (lex_take(&parse->lex, ',')) {
		lex_blanks(&parse->lex);
		if (cases++ == PARSE_CASES)
			return lex_fail(&parse->lex, parse->lex.p, "E21", "more than 1024 cases");
		if (!one_case(parse, is_text, radix, &leave))
			return false;
	}
	while (leave != NO_JUMP && !program->no_memory) {
		uint32_t before = program->code[leave].c;

		program_land(program, leave);
		leave = before;
	}
	return true;
}

/* Emits the text of an entry with an operation that prints it under a condition. */
static bool entry_text(struct parse *parse, enum op op)
{
	struct text_ref text;

	if (!lex_string(&parse->lex, parse->program, true, &text))
		return false;
	program_emit(parse->program, op, 0, text.len, text.offset);
	return true;
}

/* Parses an entry for several bits: & mask value "text" */
static bool field_entry(struct parse *parse, unsigned radix)
{
	const char *at = parse->lex.p++;
	uint64_t mask, value;
	uint32_t numbers;

	if (!lex_number(&parse->lex, radix, &mask) || !lex_number(&parse->lex, radix, &value))
		return false;
	if (value & ~mask)
		diag_add(parse->diags, lex_place(&parse->lex, at), "W01",
			 "the value has bits outside the mask: it never matches");
	numbers = program_number(parse->program, mask);
	program_number(parse->program, value);
	program_emit(parse->program, OP_FIELD, 0, 0, numbers);
	return entry_text(parse, OP_WORD);
}

/*
 * Parses flag "text", or flag "set" "clear". The parser finds the second text only after it has
 * emitted the instruction for the first text. So it then changes this instruction.
 */
static bool flag_entry(struct parse *parse, unsigned radix)
{
	struct program *program = parse->program;
	uint64_t flag;
	uint32_t set;

	if (!lex_number(&parse->lex, radix, &flag))
		return false;
	program_emit(program, OP_FLAG, 0, 0, program_number(program, flag));
	set = (uint32_t)program->codes;
	if (!entry_text(parse, OP_WORD))
		return false;
	if (!lex_is(&parse->lex, '"'))
		return true;
	if (!program->no_memory)
		program->code[set].op = OP_IF_SET;
	return entry_text(parse, OP_IF_CLEAR);
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/*
 * Parses a list of bit flags. The flags are octal if the code or format of the subject is o.
 * Otherwise the flags are hexadecimal, even if the subject is decimal. In contrast, the values of a
 * switch have the radix of its subject.
 */
bool parse_bit_flags(struct parse *parse)
{
	struct lex *lex = &parse->lex;
	struct subject subject;
	unsigned entries = 0, radix;

	if (!parse_subject(parse, &subject) || !subject_number(parse, &subject))
		return false;
	radix = subject.code.letter == 'o' ? 8 : 16;
	program_emit(parse->program, OP_BITS, 0, 0, 0);
	if (!lex_take(lex, ','))
		return lex_expected(lex, "a comma was expected");
	do {
		lex_blanks(lex);
		if (entries++ == PARSE_CASES)
			return lex_fail(lex, lex->p, "E21", "more than 1024 bit flags");
		if (!(lex_is(lex, '&') ? field_entry(parse, radix) : flag_entry(parse, radix)))
			return false;
	} while (lex_take(lex, ',') || lex_is(lex, '&') ||
		 (lex->p < lex->end && is_digit(*lex->p)));
	return true;
}
