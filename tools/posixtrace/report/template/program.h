/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * program.h - templates as programs: instructions of eight bytes, with their texts and numbers in
 * arrays of their own.
 *
 * A machine with a stack of numbers runs the instructions; prose.h collects the output. Numbers
 * have 64 bits and wrap. The machine has one register for the subject of a switch and one for bit
 * flags. The selected part of a switch may contain another switch. One register is enough, because
 * the outer subject is no longer needed when the selected part runs.
 */
#ifndef POSIXTRACE_REPORT_TEMPLATE_PROGRAM_H
#define POSIXTRACE_REPORT_TEMPLATE_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "report/template/diag.h"

#define TEMPLATE_PLACES 255 /* macros that a template may define */
#define TEMPLATE_CALLS  10  /* greatest depth of nested calls */
#define TEMPLATE_PARAMETERS 8

/*
 * The comments below describe the members a, b and c of struct ins. "c: code", "c: number" and
 * "c: call" mean that c is an index into this array of struct program. "text" means that c is the
 * offset of a text, and b its length. "a b c" means that a, b and c are the letter, m and n of a
 * format code; see codes.h.
 */
enum op {
	OP_RETURN,    /* the end of a template or a function */
	OP_JUMP,      /* c: code */
	OP_LITERAL,   /* text */
	OP_PRINT_CODE,   /* a b c: reads a value and prints it */
	OP_MOVE,      /* a b c: moves the pointer by a code G, O, R or W */
	OP_READ_CODE, /* a b c: pushes a number */
	OP_READ_TEXT, /* a b c: reads a text into the switch's register */
	OP_NUMBER,    /* c: number; pushes it */
	OP_BUILTIN,   /* b: enum macro_id; pushes the macro's value */
	OP_PLACE,     /* b: place of a macro; pushes the macro's value */
	OP_PARAMETER, /* b: index of a parameter; pushes the parameter */
	OP_STRING,    /* b: enum macro_id; prints the macro's text */
	OP_STRING_SUBJECT, /* b: enum macro_id; the switch's register gets the macro's text */
	OP_PRINT,     /* a b c: pops a number and prints it in this form */
	OP_NARROW,    /* a b c: pops a number and pushes the part of it that the format keeps */
	OP_COUNTED,   /* c is a width. Pops a length and prints a text of that length */
	OP_COUNTED_SUBJECT, /* pops a length; moves a text of that length to the switch's
			     * register */
	OP_ADD, OP_SUBTRACT, OP_MULTIPLY, OP_DIVIDE, OP_NEGATE,
	OP_STORE,     /* b: place of a macro; pops a number into this macro */
	OP_STORE_POINTER,
	OP_STORE_BASE,
	OP_SWITCH,    /* pops a number to the switch's register */
	OP_CASE,      /* c: number. If the subject equals this number, skips the next instruction */
	OP_CASE_TEXT, /* text. Like OP_CASE for a subject that is a text */
	OP_LOOP,      /* pops the count; c: code behind the loop */
	OP_AGAIN,     /* c: code of the loop's body */
	OP_BITS,      /* pops a number to the flags' register */
	OP_FLAG,      /* c: number. Tests whether all of its bits are set; 0: no bit is set */
	OP_FIELD,     /* c: number. It is a mask, and the next number is a value. Tests whether the
		       * masked bits equal the value */
	OP_WORD,      /* text; printed as a field if the flag is set */
	OP_IF_SET,    /* text; printed in its position if the flag is set */
	OP_IF_CLEAR,  /* text; printed in its position if the flag is clear */
	OP_CALL,      /* c: call. Calls a template */
	OP_FUNCTION,  /* c: call. Calls a function, whose arguments have been pushed */
	OP_START_TIMER, /* pops two numbers */
	OP_END_TIMER,
	OP_DELIMITER, /* text; makes it the separator */
	OP_ACTION,    /* b: enum macro_id; performs its action */
};

struct ins {
	uint8_t op;
	uint8_t a;
	uint16_t b;
	uint32_t c;
};

struct text_ref {
	uint32_t offset;
	uint32_t len;
};

/* The key of a template: a number, a name, or the key for all other events. */
struct key {
	enum { KEY_NUMBER, KEY_NAME, KEY_OTHERS } kind;
	uint32_t number;
	struct text_ref name;
};

struct call {
	struct diag_place place;
	struct key key;    /* for a function: its name */
	uint32_t start;    /* index of the first called instruction; valid after templates_link() */
	uint8_t arguments;
	bool is_function;
};

struct function {
	struct text_ref name;
	struct diag_place place;
	uint32_t start;
	uint8_t parameters;
};

struct program {
	struct ins *code;
	size_t codes;
	char *text;
	size_t texts;
	uint64_t *number;
	size_t numbers;
	struct call *call;
	size_t calls;
	struct function *function;
	size_t functions;
	bool no_memory; /* memory was lacking for an element */
};

/*
 * A state of the program. program_drop() can remove the elements that were added after this state.
 */
struct program_mark {
	size_t codes, texts, numbers, calls, functions;
};

/*
 * Each of these functions adds an element and returns its index. If memory is lacking, it sets
 * no_memory and returns 0.
 */
uint32_t program_emit(struct program *program, enum op op, unsigned a, unsigned b, uint32_t c);
uint32_t program_number(struct program *program, uint64_t number);
uint32_t program_call(struct program *program, const struct call *call);
uint32_t program_function(struct program *program, const struct function *function);

/* Makes room for len bytes of text, which the caller fills. Returns NULL if memory is lacking. */
char *program_text(struct program *program, size_t len, struct text_ref *ref);

/* Sets the target of the instruction at "index" to the next instruction that will be emitted. */
void program_land(struct program *program, uint32_t index);

/*
 * program_mark() returns the present state, and program_drop() removes everything that was added
 * since. Other elements must not refer to the removed part. program_fini() frees the program.
 */
struct program_mark program_mark(const struct program *program);
void program_drop(struct program *program, const struct program_mark *mark);
void program_fini(struct program *program);

/* Compares keys for the tree: below 0, 0 or above 0, as strcmp(3) does. */
int key_compare(const struct program *program, const struct key *a, const struct key *b);

#endif
