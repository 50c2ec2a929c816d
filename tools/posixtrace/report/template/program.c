/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * program.c - stores the instructions, texts, numbers, calls and functions of all templates. Each
 * kind of element has an array. A reference to an element is an index and not a pointer, because an
 * array may move when it grows.
 *
 * If memory is lacking, a function that adds an element sets program->no_memory and returns the
 * index 0. Callers use an index without a check. This does no harm, because a program with
 * no_memory is not run.
 */
#include "report/template/program.h"

#include <stdlib.h>
#include <string.h>

#include "base/vec.h"

uint32_t program_emit(struct program *program, enum op op, unsigned a, unsigned b, uint32_t c)
{
	if (!vec_grow(&program->code, program->codes, 1)) {
		program->no_memory = true;
		return 0;
	}
	program->code[program->codes] = (struct ins){ (uint8_t)op, (uint8_t)a, (uint16_t)b, c };
	return (uint32_t)program->codes++;
}

uint32_t program_number(struct program *program, uint64_t number)
{
	if (!vec_grow(&program->number, program->numbers, 1)) {
		program->no_memory = true;
		return 0;
	}
	program->number[program->numbers] = number;
	return (uint32_t)program->numbers++;
}

uint32_t program_call(struct program *program, const struct call *call)
{
	if (!vec_grow(&program->call, program->calls, 1)) {
		program->no_memory = true;
		return 0;
	}
	program->call[program->calls] = *call;
	return (uint32_t)program->calls++;
}

uint32_t program_function(struct program *program, const struct function *function)
{
	if (!vec_grow(&program->function, program->functions, 1)) {
		program->no_memory = true;
		return 0;
	}
	program->function[program->functions] = *function;
	return (uint32_t)program->functions++;
}

/* The pointer is valid until the next text is added; "ref" is valid as long as the program. */
char *program_text(struct program *program, size_t len, struct text_ref *ref)
{
	char *text;

	*ref = (struct text_ref){ 0, 0 };
	/* The room has one byte more than the text, so that an empty text has an address, too. */
	if (!vec_grow(&program->text, program->texts, len + 1)) {
		program->no_memory = true;
		return NULL;
	}
	text = program->text + program->texts;
	*ref = (struct text_ref){ (uint32_t)program->texts, (uint32_t)len };
	program->texts += len;
	return text;
}

/*
 * If memory was lacking, "index" may be the 0 of a failed program_emit(), and the instruction at 0
 * is another one.
 */
void program_land(struct program *program, uint32_t index)
{
	if (!program->no_memory)
		program->code[index].c = (uint32_t)program->codes;
}

struct program_mark program_mark(const struct program *program)
{
	return (struct program_mark){
		program->codes, program->texts, program->numbers, program->calls,
		program->functions,
	};
}

/*
 * No remaining element refers to the dropped part, because lines are parsed one after the other,
 * and each dropped part is everything that one line has added.
 */
void program_drop(struct program *program, const struct program_mark *mark)
{
	program->codes = mark->codes;
	program->texts = mark->texts;
	program->numbers = mark->numbers;
	program->calls = mark->calls;
	program->functions = mark->functions;
}

void program_fini(struct program *program)
{
	free(program->code);
	free(program->text);
	free(program->number);
	free(program->call);
	free(program->function);
}

/*
 * Keys are ordered by kind, then by number or name. Names are ordered by length, and names of equal
 * length by their bytes.
 */
int key_compare(const struct program *program, const struct key *a, const struct key *b)
{
	if (a->kind != b->kind)
		return a->kind < b->kind ? -1 : 1;
	if (a->kind == KEY_NUMBER)
		return a->number < b->number ? -1 : a->number > b->number;
	if (a->kind == KEY_OTHERS)
		return 0;
	if (a->name.len != b->name.len)
		return a->name.len < b->name.len ? -1 : 1;
	return memcmp(program->text + a->name.offset, program->text + b->name.offset, a->name.len);
}
