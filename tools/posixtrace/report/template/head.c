/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* head.c - a logical line: the key, version, level and label of a template. */
#include "report/template/load.h"
#include "report/template/parse.h"

#include <string.h>

/*
 * Reads a key that is a number. Numbers of event types are valid within one log only; see
 * posixtrace-template(5).
 */
static bool number_key(struct lex *lex, struct key *key)
{
	struct word word = lex_peek_word(lex);

	key->kind = KEY_NUMBER;
	if (!is_template_number(word, &key->number))
		return lex_fail(lex, lex->p, "E05",
				"a key has 3 or 4 hexadecimal digits, or is @name");
	lex->p += word.len;
	return true;
}

/*
 * Reads any of the three forms of a key. The bytes of a name are added to the program's texts; the
 * caller drops them if it does not keep the template.
 */
static bool read_key(struct lex *lex, struct program *program, struct key *key)
{
	const char *at;

	lex_blanks(lex);
	at = lex->p;
	memset(key, 0, sizeof(*key));
	if (at == lex->end || *at != '@')
		return number_key(lex, key);
	lex->p++;
	if (lex->p < lex->end && *lex->p == '*') {
		lex->p++;
		key->kind = KEY_OTHERS;
		return true;
	}
	key->kind = KEY_NAME;
	if (parse_name(lex, program, &key->name))
		return true;
	/*
	 * If no name follows the @, the key is missing, which the error E05 describes better than
	 * E14.
	 */
	if (!strcmp(lex->failed_code, "E14")) {
		lex->failed_code = "E05";
		lex->failed_at = lex_place(lex, at);
	}
	return false;
}

/* Reads a decimal number of 64 bits. Returns false if there is no number, or if it is too large. */
static bool head_digits(struct lex *lex, uint64_t *value)
{
	const char *at = lex->p;

	for (*value = 0; lex->p < lex->end && *lex->p >= '0' && *lex->p <= '9'; lex->p++)
		if (__builtin_mul_overflow(*value, 10, value) ||
		    __builtin_add_overflow(*value, (uint64_t)(*lex->p - '0'), value))
			return false;
	return lex->p > at;
}

/*
 * Reads a version. A letter or _ directly behind the version is an error. So 1.0a is not
 * the version 1.0 with a word behind it.
 */
static bool read_version(struct lex *lex, struct template *template)
{
	const char *at;

	lex_blanks(lex);
	at = lex->p;
	if (head_digits(lex, &template->major) && lex->p < lex->end && *lex->p == '.') {
		lex->p++;
		if (head_digits(lex, &template->minor) && !lex_peek_word(lex).len)
			return true;
	}
	return lex_fail(lex, at, "E06", "a version such as 1.0 was expected");
}

/*
 * Reads the level, which is optional. If L= does not follow, the level remains APPL, and nothing is
 * consumed except for blanks.
 */
static bool read_level(struct lex *lex, enum level *level)
{
	static const char *const names[] = { "APPL", "SVC", "KERN", "INT" };
	const char *at;
	struct word word;

	lex_blanks(lex);
	at = lex->p;
	if (lex->end - at < 2 || at[0] != 'L' || at[1] != '=')
		return true;
	lex->p += 2;
	lex_blanks(lex);
	word = lex_peek_word(lex);
	lex->p += word.len;
	for (*level = LEVEL_APPL; *level <= LEVEL_INT; ++*level)
		if (word_is(word, names[*level]))
			return true;
	return lex_fail(lex, at, "E07", "the levels are APPL, SVC, KERN and INT");
}

/*
 * Reads a template: [+] key version [L=level] "label" element ... The instructions are added to the
 * end of the program, and template->start is the index of the first instruction. If the function
 * returns false, the caller drops everything that the function has added.
 */
static bool read_template(struct parse *parse, struct template *template)
{
	struct lex *lex = &parse->lex;
	struct program *program = parse->program;

	lex_take(lex, '+');
	lex_blanks(lex);
	template->place = lex_place(lex, lex->p);
	if (!read_key(lex, program, &template->key) || !read_version(lex, template) ||
	    !read_level(lex, &template->level))
		return false;
	if (!lex_is(lex, '"'))
		return lex_fail(lex, lex->p, "E08", "the label, a string, was expected");
	if (!lex_string(lex, program, true, &template->label))
		return false;
	template->start = (uint32_t)program->codes;
	if (!parse_elements(parse))
		return false;
	if (!lex_at_end(lex))
		return lex_expected(lex, "this brace closes nothing");
	program_emit(program, OP_RETURN, 0, 0, 0);
	return true;
}

/*
 * Reads a line that removes a template. It is not an error if no loaded template has this key: the
 * earlier template file may exist in several editions, and only some of them have such a template.
 */
static bool read_removal(struct templates *templates, struct parse *parse)
{
	struct key key;

	lex_take(&parse->lex, '-');
	if (!read_key(&parse->lex, parse->program, &key))
		return false;
	if (!lex_at_end(&parse->lex))
		return lex_expected(&parse->lex, "a line that removes a key may have nothing else");
	if (!parse->lex.failed)
		templates_remove(templates, &key);
	return true;
}

/*
 * Reports the error of this line or the wrong blank behind a backslash. If the line has both,
 * reports the first of the two.
 */
static void head_report(struct templates *templates, struct lex *lex, const char *wrong_blank)
{
	if (wrong_blank &&
	    (!lex->failed || lex_place(lex, wrong_blank).offset < lex->failed_at.offset)) {
		lex->failed = false;
		lex_fail(lex, wrong_blank, "E02",
			 "there is a blank after the backslash of this line");
	}
	if (lex->failed)
		diag_add(&templates->diags, lex->failed_at, lex->failed_code, lex->failed_text);
}

/*
 * The parser adds the line to the program directly. After a failure, the mark allows the function
 * to remove everything that the line has added: instructions, texts, numbers, calls and functions.
 * A line that is empty or begins with * has no template. A line with a blank behind a backslash is
 * refused, because it is uncertain where the author wanted this line to end.
 */
void templates_line(struct templates *templates, uint32_t file, const struct logical_line *line)
{
	static struct parse parse; /* large, and only one line is read at a time */
	struct program *program = &templates->program;
	struct program_mark mark = program_mark(program);
	struct template template = { .first_function = mark.functions, .first_call = mark.calls };
	bool good = true;

	memset(&parse, 0, sizeof(parse));
	parse.lex = (struct lex){
		.base = templates->diags.file[file].bytes, .file = file,
		.p = line->bytes, .end = line->end,
	};
	parse.program = program;
	parse.diags = &templates->diags;
	if (lex_at_end(&parse.lex) || *parse.lex.p == '*') {
		head_report(templates, &parse.lex, line->wrong_blank);
		return;
	}
	if (*parse.lex.p == '-') {
		if (!line->wrong_blank)
			read_removal(templates, &parse);
		head_report(templates, &parse.lex, line->wrong_blank);
		program_drop(program, &mark);
		return;
	}
	good = read_template(&parse, &template) && !line->wrong_blank;
	head_report(templates, &parse.lex, line->wrong_blank);
	template.functions = program->functions - mark.functions;
	template.calls = program->calls - mark.calls;
	if (!good || program->no_memory || !templates_keep(templates, &template))
		program_drop(program, &mark);
}
