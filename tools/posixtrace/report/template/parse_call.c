/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* parse_call.c - blocks, calls, timers and separators. */
#include "report/template/parse.h"

#include <string.h>

/*
 * Reads the end of a block. If the line ends before the block, the fault is reported at the
 * beginning of the block. If other text is in the place of the end, the fault is reported at this
 * text.
 */
static bool close_block(struct parse *parse, const char *open)
{
	struct lex *lex = &parse->lex;

	if (lex_take_two(lex, '}')) {
		parse->braces--;
		return true;
	}
	if (lex_at_end(lex))
		return lex_fail(lex, open, "E16", "this block is not closed");
	return lex_expected(lex, "}} was expected");
}

/*
 * Finds the place of a macro to which a value is assigned. A new name gets the next place; the
 * caller enters the name after the expression. Places are numbers, because templates that call each
 * other share their macros by number: the first macro of the caller is the first macro of the
 * called template, and so on.
 */
static bool place_of(struct parse *parse, const char *at, struct word name, bool *is_new,
		     unsigned *place)
{
	for (*place = 0; *place < parse->macros; ++*place)
		if (parse->macro[*place].len == name.len &&
		    !memcmp(parse->macro[*place].at, name.at, name.len))
			return true;
	if (parse->macros == TEMPLATE_PLACES)
		return lex_fail(&parse->lex, at, "E21", "more than 255 macros in a template");
	*is_new = true;
	return true;
}

/*
 * Refuses names to which no value can be assigned: names that are numbers of templates, and names
 * of macros that are read-only. In a function only its parameters exist, because a function may run
 * for any template and does not know the macros of that template.
 */
static bool is_assignable(struct parse *parse, const char *at, struct word name,
			  const struct macro **builtin)
{
	uint32_t number;

	*builtin = macro_find(name.at, name.len);
	if (is_template_number(name, &number))
		return lex_fail(&parse->lex, at, "E12",
				"a name of 3 or 4 hexadecimal digits names a template");
	if (parse->in_function)
		return lex_fail(&parse->lex, at, "E12", "a function assigns nothing");
	if (*builtin && (*builtin)->type == MACRO_NONE)
		return lex_fail(&parse->lex, at, "E13",
				"this macro of AIX has no meaning for POSIX trace events");
	if (*builtin && !(*builtin)->writable)
		return lex_fail(&parse->lex, at, "E12", "this macro can only be read");
	return true;
}

/*
 * Emits the instruction that stores a value in a macro. "builtin" is NULL, $DATAPOINTER or
 * $BASEPOINTER, because no other predefined macro is writable.
 */
static void parse_call_store(struct parse *parse, const struct macro *builtin, unsigned place)
{
	if (builtin)
		program_emit(parse->program, builtin->id == MACRO_DATAPOINTER ? OP_STORE_POINTER :
								OP_STORE_BASE, 0, 0, 0);
	else
		program_emit(parse->program, OP_STORE, 0, place, 0);
}

/* Parses the contents of a block with a macro: $name, or $name = expression */
static bool parse_call_assignment(struct parse *parse)
{
	struct lex *lex = &parse->lex;
	const char *at = lex->p++;
	const struct macro *builtin;
	struct word name = lex_peek_word(lex);
	bool is_new = false;
	unsigned place = 0;

	if (!name.len)
		return lex_expected(lex, "the name of a macro was expected");
	if (!is_assignable(parse, at, name, &builtin))
		return false;
	if (!builtin && !place_of(parse, at, name, &is_new, &place))
		return false;
	lex->p += name.len;
	if (lex_take(lex, '=')) {
		if (!parse_expression(parse))
			return false;
		parse_call_store(parse, builtin, place);
	}
	/*
	 * The name is entered only now, because the expression must not use the macro that it
	 * defines.
	 */
	if (is_new)
		parse->macro[parse->macros++] = name;
	return true;
}

/*
 * Returns whether the word cannot be the name of a function, because an element with this word
 * would not be read as a call. Codes with a wrong length are such words, too.
 */
static bool is_reserved(struct word word)
{
	struct code code;

	return word_is(word, "LOOP") || word_is(word, "BITFLAGS") || word_is(word, "starttimer") ||
	       word_is(word, "endtimer") || word_is(word, "setdelim") ||
	       code_read(word.at, word.len, NULL, 0, &code) != CODE_NONE;
}

/*
 * Parses the name of a parameter. The function refuses the name of a predefined macro and the
 * number of a template, so that a parameter cannot hide them. Macros of the template are not
 * visible in the function.
 */
static bool parse_call_parameter(struct parse *parse)
{
	struct lex *lex = &parse->lex;
	struct word name;
	uint32_t number;

	lex_blanks(lex);
	name = lex_peek_word(lex);
	if (!name.len)
		return lex_expected(lex, "the name of a parameter was expected");
	if (parse->parameters == TEMPLATE_PARAMETERS)
		return lex_fail(lex, name.at, "E21", "more than 8 parameters");
	if (is_template_number(name, &number) || macro_find(name.at, name.len))
		return lex_fail(lex, name.at, "E12", "no parameter can have this name");
	for (unsigned i = 0; i < parse->parameters; i++)
		if (parse->parameter[i].len == name.len &&
		    !memcmp(parse->parameter[i].at, name.at, name.len))
			return lex_fail(lex, name.at, "E12", "two parameters have this name");
	parse->parameter[parse->parameters++] = name;
	lex->p += name.len;
	return true;
}

/*
 * Parses (name, ...), with at most TEMPLATE_PARAMETERS names. parse->parameters counts the names.
 */
static bool parse_call_parameters(struct parse *parse)
{
	struct lex *lex = &parse->lex;

	if (!lex_take(lex, '('))
		return lex_expected(lex, "a ( was expected");
	if (lex_take(lex, ')'))
		return true;
	do
		if (!parse_call_parameter(parse))
			return false;
	while (lex_take(lex, ','));
	return lex_take(lex, ')') || lex_expected(lex, "a comma or ) was expected");
}

/*
 * Copies the name into the program's texts. If memory is lacking, it sets no_memory of the program,
 * and the load fails later.
 */
static bool keep_name(struct parse *parse, struct word name, struct text_ref *ref)
{
	char *text = program_text(parse->program, name.len, ref);

	if (text)
		memcpy(text, name.at, name.len);
	return true;
}

/*
 * Parses the definition of a function. The code of the function is in the middle of the template's
 * code, at the place of the definition, and a jump skips it. After a fault, further instructions
 * may be emitted, because the caller drops the whole line.
 */
static bool parse_call_function(struct parse *parse)
{
	struct program *program = parse->program;
	struct lex *lex = &parse->lex;
	struct word name = lex_peek_word(lex);
	struct function function = { .place = lex_place(lex, name.at) };
	uint32_t over;
	bool good;

	if (!name.len || (name.at[0] >= '0' && name.at[0] <= '9') || is_reserved(name))
		return lex_expected(lex, "$ or the name of a function was expected");
	if (parse->in_function)
		return lex_expected(lex, "a function is not defined within another one");
	lex->p += name.len;
	parse->parameters = 0;
	good = parse_call_parameters(parse);
	over = program_emit(program, OP_JUMP, 0, 0, 0);
	function.start = (uint32_t)program->codes;
	function.parameters = (uint8_t)parse->parameters;
	keep_name(parse, name, &function.name);
	program_function(program, &function);
	parse->in_function = true;
	good = good && parse_elements(parse);
	parse->in_function = false;
	parse->parameters = 0;
	program_emit(program, OP_RETURN, 0, 0, 0);
	program_land(program, over);
	return good;
}

/* Parses a block: {{ $name = expression }} or {{ name(parameter, ...) elements }} */
bool parse_block(struct parse *parse)
{
	struct lex *lex = &parse->lex;
	const char *open = lex->p;

	lex->p += 2;
	if (!parse_open_brace(parse, open))
		return false;
	return (lex_is(lex, '$') ? parse_call_assignment(parse) : parse_call_function(parse)) &&
	       close_block(parse, open);
}

static bool is_name_byte(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
	       c == '_' || c == '.' || c == ':' || c == '-';
}

bool parse_name(struct lex *lex, struct program *program, struct text_ref *name)
{
	const char *at = lex->p;
	char *text;

	if (at < lex->end && *at == '"')
		return lex_string(lex, program, false, name);
	while (lex->p < lex->end && is_name_byte(*lex->p))
		lex->p++;
	if (lex->p == at || lex->p - at > LEX_STRING_BYTES)
		return lex->p == at ? lex_expected(lex, "the name of an event type was expected") :
				      lex_fail(lex, at, "E21", "a name of more than 1023 bytes");
	text = program_text(program, (size_t)(lex->p - at), name);
	if (text)
		memcpy(text, at, (size_t)(lex->p - at));
	return true;
}

/*
 * Parses the call of a template. struct call gets only the key. templates_link() finds the template
 * when all files have been read.
 */
bool parse_template_call(struct parse *parse)
{
	struct lex *lex = &parse->lex;
	struct call call = { .place = lex_place(lex, lex->p) };
	struct word word;

	lex->p++;
	if (*lex->p == '@') {
		lex->p++;
		call.key.kind = KEY_NAME;
		if (!parse_name(lex, parse->program, &call.key.name))
			return false;
	} else {
		word = lex_peek_word(lex);
		call.key.kind = KEY_NUMBER;
		is_template_number(word, &call.key.number);
		lex->p += word.len;
	}
	program_emit(parse->program, OP_CALL, 0, 0, program_call(parse->program, &call));
	return true;
}

/*
 * Parses the call of a function. When the program runs, each argument leaves one number on the
 * machine's stack, and the end of the call removes these numbers. templates_link() compares the
 * number of arguments with the function.
 */
bool parse_function_call(struct parse *parse, struct word name)
{
	struct lex *lex = &parse->lex;
	struct call call = { .place = lex_place(lex, name.at), .is_function = true };

	lex_take(lex, '(');
	if (!lex_take(lex, ')')) {
		do {
			if (!parse_expression(parse))
				return false;
			/*
			 * The count stops at TEMPLATE_PARAMETERS + 1. No function accepts so many
			 * arguments.
			 */
			if (call.arguments <= TEMPLATE_PARAMETERS)
				call.arguments++;
		} while (lex_take(lex, ','));
		if (!lex_take(lex, ')'))
			return lex_expected(lex, "a comma or ) was expected");
	}
	call.key.kind = KEY_NAME;
	keep_name(parse, name, &call.key.name);
	program_emit(parse->program, OP_FUNCTION, 0, 0, program_call(parse->program, &call));
	return true;
}

/*
 * Parses the two numbers of a timer. When the instruction runs, both numbers are on the stack, and
 * the second number is on top.
 */
bool parse_timer(struct parse *parse, bool start)
{
	struct lex *lex = &parse->lex;

	if (!lex_take(lex, '('))
		return lex_expected(lex, "a ( was expected");
	if (!parse_expression(parse))
		return false;
	if (!lex_take(lex, ','))
		return lex_expected(lex, "a comma was expected");
	if (!parse_expression(parse))
		return false;
	if (!lex_take(lex, ')'))
		return lex_expected(lex, "a ) was expected");
	program_emit(parse->program, start ? OP_START_TIMER : OP_END_TIMER, 0, 0, 0);
	return true;
}

/*
 * Parses a separator. It becomes a text of the program, so it is valid as long as the machine runs.
 */
bool parse_delimiter(struct parse *parse)
{
	struct lex *lex = &parse->lex;
	struct text_ref text;

	if (!lex_take(lex, '('))
		return lex_expected(lex, "a ( was expected");
	if (!lex_string(lex, parse->program, true, &text))
		return false;
	if (!lex_take(lex, ')'))
		return lex_expected(lex, "a ) was expected");
	program_emit(parse->program, OP_DELIMITER, 0, text.len, text.offset);
	return true;
}
