/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * exits.c - decodes a function and finds its beginning and its ends.
 *
 * The compiler may put a rare part of a function elsewhere, as NAME.cold. A branch that leads to
 * this part is not an end of the function, and the part is decoded as well.
 *
 * An instruction is decoded only if another instruction leads to it: it follows that instruction,
 * it is the target of a branch, or it is in a table of jumps. So data is not mistaken for code.
 * If it is not certain that all ends were found, the function is refused.
 *
 * A function of Go begins with a check whether the stack is large enough. If the stack is too
 * small, the runtime moves it, and the function begins again. So the breakpoint for the beginning
 * is behind this check.
 */
#include "functions/exits.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "functions/insn.h"

#define PARTS_MOST     8
#define TABLE_MOST     65536 /* entries of a table of jumps */
/* greatest number of instructions of the check of the stack, up to its branch */
#define CHECK_INSNS    8
/* greatest number of instructions from the target of this branch to the call of the runtime */
#define GROW_INSNS     40

/* The states of a byte of a function. */
/* START: first byte of a decoded instruction; INSIDE: a further byte of it */
enum { UNKNOWN, START, INSIDE };

struct sweep {
	struct binary_file *file;
	const struct binary_function *function;
	struct exits *exits;
	struct part {
		uint64_t from, until;
		uint8_t *byte;       /* a value of the enum for each byte */
		uint8_t *line;       /* NULL, or made by is_in_line() */
	} part[PARTS_MOST];
	unsigned parts;
	uint64_t *target;    /* targets of branches into the function, which must be decoded */
	size_t targets, room;
	uint64_t *named;     /* addresses that instructions contain */
	size_t names;
	bool has_indirect;   /* it has an indirect jump, whose table may lead to any place */
	const char *why;
};

static const char no_memory[] = "there is no memory";
static const char overlap[] = "its instructions overlap";

/*
 * Returns the reason if a function of this name is refused, or NULL. The functions of Go in the
 * list leave the stack of their caller, or are the first code of a program.
 */
static const char *refuse_name(const struct binary_file *file, const char *name)
{
	static const char *const switches[] = {
		"runtime.gogo*", "runtime.mcall*", "runtime.systemstack*", "runtime.morestack*",
		"runtime.asmcgocall*", "runtime.cgocallback*", "runtime.goexit*", "runtime.mstart*",
		"runtime.rt0_go*", "_rt0_*", "gogo", "gosave*", "runtime.sigreturn*",
		"runtime.sigtramp*", "runtime.cgoSigtramp*",
	};

	if (!fnmatch("*.cold", name, 0) || !fnmatch("*.cold.*", name, 0))
		return "a part of another function";
	if (!strcmp(name, "setjmp") || !strcmp(name, "_setjmp") || !strcmp(name, "sigsetjmp") ||
	    !strcmp(name, "__sigsetjmp") || !strcmp(name, "vfork") || !strcmp(name, "__vfork"))
		return "it returns several times";
	for (size_t i = 0; binary_is_go(file) && i < sizeof(switches) / sizeof(switches[0]); i++)
		if (!fnmatch(switches[i], name, 0))
			return "it changes stacks";
	return NULL;
}

/* Decodes the instruction at an address. Returns false if there is none. */
static bool decode_at(const struct binary_file *file, uint64_t at, struct insn *insn)
{
	size_t bytes;
	const uint8_t *code = binary_at(file, at, &bytes);

	return code && insn_decode(insn, code, bytes, at);
}

/* ------------------------------------------------------------------ begin */

/*
 * Returns whether the code at an address calls the function of Go's runtime that enlarges a stack.
 */
static bool is_growing(const struct binary_file *file, uint64_t at)
{
	struct insn insn;

	for (unsigned i = 0; i < GROW_INSNS && decode_at(file, at, &insn); i++, at += insn.len) {
		const struct binary_function *called;

		if (insn.kind == INSN_CALL && insn.target) {
			called = binary_function_at(file, insn.target);
			return called && !strncmp(called->name, "runtime.morestack", 17);
		}
		if (insn.kind == INSN_RETURN || insn.kind == INSN_INDIRECT)
			return false;
	}
	return false;
}

/*
 * Returns the place behind the check of the stack. If the function has no such check, returns the
 * beginning of the function.
 */
static uint64_t behind_check(const struct binary_file *file,
			     const struct binary_function *function)
{
	const uint64_t end = function->address + function->size;
	uint64_t at = function->address, behind = at;
	struct insn insn;

	for (unsigned i = 0; i < CHECK_INSNS && at < end && decode_at(file, at, &insn); i++) {
		at += insn.len;
		if (insn.kind == INSN_BRANCH && insn.target > at && insn.target < end &&
		    is_growing(file, insn.target))
			behind = at;
		else if (insn.target || insn.kind == INSN_RETURN || insn.kind == INSN_CALL)
			break;
	}
	return behind;
}

/*
 * Chooses the place of the beginning. Returns the reason of a refusal, or NULL. The place is the
 * first instruction that can have a breakpoint and is not endbr64. endbr64 is skipped, because a
 * breakpoint there is slower. The skipped instructions do not change the stack pointer.
 */
static const char *choose_begin(const struct binary_file *file,
				const struct binary_function *function, uint64_t *begin)
{
	const uint64_t end = function->address + function->size;
	struct insn insn;

	*begin = binary_is_go(file) ? behind_check(file, function) : function->address;
	for (;;) {
		if (*begin >= end || !decode_at(file, *begin, &insn))
			return "its instructions cannot be decoded";
		if (insn.has_breakpoints && insn.kind != INSN_ENDBR)
			return NULL;
		if (insn.kind != INSN_PLAIN && insn.kind != INSN_ENDBR)
			return "its first instruction cannot have a breakpoint";
		*begin += insn.len;
	}
}

/* ------------------------------------------------------------------ ends */

/* Returns the part of the function that contains an address, or NULL if no part does. */
static struct part *part_of(struct sweep *sweep, uint64_t address)
{
	for (unsigned i = 0; i < sweep->parts; i++)
		if (address >= sweep->part[i].from && address < sweep->part[i].until)
			return &sweep->part[i];
	return NULL;
}

static void add_part(struct sweep *sweep, const struct binary_function *function)
{
	struct part *part = &sweep->part[sweep->parts];

	if (function->size > BINARY_FUNCTION_BYTES) {
		sweep->why = "it is too long";
		return;
	}
	part->from = function->address;
	part->until = function->address + function->size;
	part->byte = calloc(function->size, 1);
	if (part->byte)
		sweep->parts++;
	else
		sweep->why = no_memory;
}

/* If the address is in a rare part of the function, adds this part and returns true. */
static bool take_part(struct sweep *sweep, uint64_t address)
{
	const struct binary_function *at = binary_function_at(sweep->file, address);
	const size_t len = strlen(sweep->function->name);

	if (!at || strncmp(at->name, sweep->function->name, len) ||
	    strncmp(at->name + len, ".cold", 5) || sweep->parts == PARTS_MOST)
		return false;
	add_part(sweep, at);
	return true;
}

static void add_exit(struct sweep *sweep, uint64_t at, const struct insn *insn)
{
	struct exits *exits = sweep->exits;

	if (!insn->has_breakpoints)
		sweep->why = "an instruction that leaves it cannot have a breakpoint";
	else if (!vec_grow(&exits->place, exits->places, 1))
		sweep->why = no_memory;
	else
		exits->place[exits->places++] = (struct exits_place){
			at, insn->target,
			insn->kind == INSN_BRANCH ? insn->condition : EXITS_ALWAYS };
}

/* Adds a place of the function to the places that must be decoded. */
static void add_target(struct sweep *sweep, uint64_t address)
{
	if (vec_reserve(&sweep->target, &sweep->room, sweep->targets, 1))
		sweep->target[sweep->targets++] = address;
	else
		sweep->why = no_memory;
}

/* Notes the target of a branch or a jump. */
static void take_target(struct sweep *sweep, uint64_t at, const struct insn *insn)
{
	const uint64_t begin = sweep->exits->begin, first = sweep->function->address;
	/*
	 * A branch to the first instruction of a function of Go is not a loop: the runtime begins
	 * the function again after it has moved the stack.
	 */
	const uint64_t least = binary_is_go(sweep->file) && begin > first ? first + 1 : first;

	if (insn->target >= least && insn->target <= begin)
		sweep->why = "a loop begins at its first instruction";
	else if (part_of(sweep, insn->target) || take_part(sweep, insn->target))
		add_target(sweep, insn->target);
	else if (insn->kind != INSN_SHORT_ONLY)
		add_exit(sweep, at, insn);
}

/*
 * Returns whether the byte before an address is the prefix lock. Code may branch to the instruction
 * behind the prefix if the program has only one thread.
 */
static bool is_behind_lock(const struct sweep *sweep, uint64_t address)
{
	size_t bytes;
	const uint8_t *code = binary_at(sweep->file, address - 1, &bytes);

	return code && *code == 0xf0;
}

/*
 * Marks the bytes of an instruction. If another instruction already has one of these bytes, refuses
 * the function.
 */
static void mark_bytes(struct sweep *sweep, struct part *part, uint64_t at, unsigned len)
{
	uint8_t *byte = part->byte + (at - part->from);

	byte[0] = START;
	for (unsigned i = 1; i < len; i++)
		if (byte[i] != START)
			byte[i] = INSIDE;
		else if (i > 1 || !is_behind_lock(sweep, at + 1))
			sweep->why = overlap;
}

/*
 * Decodes from an address up to an instruction that does not lead to the next instruction, or up to
 * code that has already been decoded. Notes exits, targets, and the addresses that the instructions
 * contain.
 */
static void follow_code(struct sweep *sweep, uint64_t at)
{
	struct part *part = part_of(sweep, at);
	struct insn insn;

	for (; part && at < part->until && !sweep->why; at += insn.len) {
		uint8_t *byte = part->byte + (at - part->from);

		if (*byte == START)
			return;
		if (*byte == INSIDE) {
			if (at == part->from || byte[-1] != START || !is_behind_lock(sweep, at))
				sweep->why = overlap;
			*byte = START;
			return;
		}
		if (!decode_at(sweep->file, at, &insn) || insn.len > part->until - at) {
			sweep->why = "its instructions cannot be decoded";
			return;
		}
		mark_bytes(sweep, part, at, insn.len);
		if (insn.has_address && !vec_grow(&sweep->named, sweep->names, 1)) {
			sweep->why = no_memory;
			return;
		}
		if (insn.has_address)
			sweep->named[sweep->names++] = insn.address;
		if (insn.kind == INSN_RETURN)
			add_exit(sweep, at, &insn);
		else if (insn.kind == INSN_CALL && insn.target != sweep->function->address &&
			 part_of(sweep, insn.target))
			sweep->why = "it calls a part of itself";
		else if (insn.target && insn.kind != INSN_CALL)
			take_target(sweep, at, &insn);
		sweep->has_indirect |= insn.kind == INSN_INDIRECT;
		if (insn.kind == INSN_RETURN || insn.kind == INSN_JUMP ||
		    insn.kind == INSN_INDIRECT)
			return;
	}
}

/*
 * Decodes all code to which the known targets lead. Meanwhile, branches in this code add further
 * targets and parts.
 */
static void follow_targets(struct sweep *sweep)
{
	while (sweep->targets && !sweep->why)
		follow_code(sweep, sweep->target[--sweep->targets]);
}

/*
 * Decodes all bytes of the part in line, one instruction after the other. Returns whether an
 * instruction begins at the address.
 */
static bool is_in_line(struct sweep *sweep, struct part *part, uint64_t address)
{
	struct insn insn;

	if (!part->line) {
		part->line = calloc(part->until - part->from, 1);
		if (!part->line) {
			sweep->why = no_memory;
			return false;
		}
		for (uint64_t at = part->from; at < part->until; at += insn.len) {
			if (!decode_at(sweep->file, at, &insn))
				break;
			part->line[at - part->from] = 1;
		}
	}
	return part->line[address - part->from];
}

/*
 * If a table of jumps is at the address, follows its entries. Entries are distances of 4 bytes from
 * the beginning of the table, or addresses of 8 bytes. The length of the table is unknown.
 * follow_table() stops at the first entry that does not lead to an instruction of the traced
 * function. Data behind the table may look like an entry that leads to an instruction, too. In code
 * without data this is harmless. In code with data, decoding in line usually fails, so that
 * is_in_line() refuses the place.
 */
static void follow_table(struct sweep *sweep, uint64_t table, unsigned width)
{
	for (unsigned i = 0; i < TABLE_MOST && !sweep->why; i++) {
		size_t bytes;
		const uint8_t *entry = binary_data_at(sweep->file, table + (uint64_t)i * width,
						      &bytes);
		struct part *part;
		uint64_t target = 0;

		if (!entry || bytes < width)
			return;
		memcpy(&target, entry, width);
		if (width == 4)
			target = table + (uint64_t)(int64_t)(int32_t)target;
		part = part_of(sweep, target);
		if (!part || part->byte[target - part->from] == INSIDE ||
		    !is_in_line(sweep, part, target))
			return;
		add_target(sweep, target);
		follow_targets(sweep);
	}
}

/*
 * Examines the bytes to which no decoded instruction leads. If is_code is true, these bytes are
 * code: a function of Go has no data, and a function with landing pads has bytes that only an
 * exception reaches. Otherwise, if the function has an indirect jump, the bytes may be a table in
 * the function, or instructions to which an unknown table leads. If an exit may be among them, the
 * function is refused.
 */
static void examine_gaps(struct sweep *sweep, struct part *part, bool is_code)
{
	struct insn insn;

	for (uint64_t at = part->from; at < part->until && !sweep->why;) {
		if (part->byte[at - part->from] != UNKNOWN) {
			at++;
		} else if (is_code || binary_is_pointed_into(sweep->file, at - 1, at + 1)) {
			add_target(sweep, at);
			follow_targets(sweep);
		} else if (!decode_at(sweep->file, at, &insn) || insn.kind == INSN_RETURN ||
			   (insn.target && insn.kind != INSN_CALL &&
			    !part_of(sweep, insn.target))) {
			sweep->why = "data may be behind its indirect jump";
		} else {
			at++;
			for (unsigned i = 1; i < insn.len && at < part->until &&
			     part->byte[at - part->from] == UNKNOWN; i++)
				at++;
		}
	}
}

/* Decodes the function from its beginning on. */
static void follow_function(struct sweep *sweep)
{
	const struct binary_frame *frame = binary_frame_at(sweep->file, sweep->function->address);
	const bool is_code = binary_is_go(sweep->file) || (frame && frame->has_pads);

	add_target(sweep, sweep->function->address);
	follow_targets(sweep);
	for (size_t i = 0; i < sweep->names && sweep->has_indirect && !sweep->why; i++) {
		follow_table(sweep, sweep->named[i], 4);
		follow_table(sweep, sweep->named[i], 8);
	}
	for (unsigned i = 0; i < sweep->parts && (is_code || sweep->has_indirect); i++)
		examine_gaps(sweep, &sweep->part[i], is_code);
	for (size_t i = 0; i < sweep->names && !sweep->why; i++)
		if (sweep->named[i] != sweep->function->address &&
		    part_of(sweep, sweep->named[i]))
			sweep->why = "it refers to memory among its instructions";
}

const char *exits_of(struct binary_file *file, const struct binary_function *function,
		     struct exits *exits)
{
	struct sweep sweep = { .file = file, .function = function, .exits = exits };

	*exits = (struct exits){ .places = 0 };
	if (binary_unknown(file))
		return binary_unknown(file);
	sweep.why = refuse_name(file, function->name);
	if (sweep.why)
		return sweep.why;
	sweep.why = binary_function_lack(function);
	if (!sweep.why)
		sweep.why = choose_begin(file, function, &exits->begin);
	if (sweep.why)
		return sweep.why;
	add_part(&sweep, function);
	if (!sweep.why)
		follow_function(&sweep);
	for (unsigned i = 0; i < sweep.parts; i++) {
		free(sweep.part[i].byte);
		free(sweep.part[i].line);
	}
	free(sweep.target);
	free(sweep.named);
	return sweep.why;
}

void exits_fini(struct exits *exits)
{
	free(exits->place);
	*exits = (struct exits){ .places = 0 };
}
