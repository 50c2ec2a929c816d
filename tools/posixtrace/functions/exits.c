/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * exits.c - decodes a function and finds its begin and its ends.
 *
 * The compiler may put a rare part of a function elsewhere, as NAME.cold. A branch leads there and
 * is no end; the part is decoded as well.
 *
 * A function of Go begins with a check whether the stack is large enough. If it is not, the runtime
 * moves the stack, and the function begins again. So the place of the begin is behind the check.
 */
#include "functions/exits.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "functions/insn.h"

#define FUNCTION_BYTES (UINT64_C(1) << 24) /* longer functions are refused */
#define PARTS_MOST     8
#define CHECK_INSNS    8  /* of the check of the stack, up to its branch */
#define GROW_INSNS     40 /* from the target of that branch to the call of the runtime */

/* Code without a jump or return inside it. It is reached from above, or by a branch. */
struct run {
	uint64_t from, until;
	bool is_reached;
};

struct sweep {
	struct binary_file *file;
	const struct binary_function *function;
	struct exits *exits;
	struct { uint64_t from, until; } part[PARTS_MOST];
	unsigned parts;
	struct run *run;
	size_t runs;
	uint64_t *target;    /* of branches into the function */
	size_t targets;
	bool has_indirect;   /* a table may lead to any place */
	const char *why;
};

static const char no_memory[] = "there is no memory";

/* Returns the function that contains an address, NULL if none is known. */
static const struct binary_function *function_at(const struct binary_file *file, uint64_t address)
{
	size_t count, from = 0, until;
	const struct binary_function *function = binary_functions(file, &count);

	until = count;
	while (from < until) {
		size_t middle = from + (until - from) / 2;

		if (function[middle].address <= address)
			from = middle + 1;
		else
			until = middle;
	}
	for (; from > 0 && function[from - 1].address + function[from - 1].size > address; from--)
		return &function[from - 1];
	return NULL;
}

/* Functions that leave the stack of their caller, and the first code of a program. */
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

/* Returns whether code leads to the function of the runtime that gives a goroutine more stack. */
static bool is_growing(const struct binary_file *file, uint64_t at)
{
	struct insn insn;

	for (unsigned i = 0; i < GROW_INSNS && decode_at(file, at, &insn); i++, at += insn.len) {
		const struct binary_function *called;

		if (insn.kind == INSN_CALL && insn.target) {
			called = function_at(file, insn.target);
			return called && !strncmp(called->name, "runtime.morestack", 17);
		}
		if (insn.kind == INSN_RETURN || insn.kind == INSN_INDIRECT)
			return false;
	}
	return false;
}

/* Returns the place behind the check of the stack, or the begin of the function without one. */
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
 * Chooses the place of the begin. Returns the reason of a refusal, or NULL. Instructions that
 * cannot have a breakpoint are left in front of it, as is endbr64: breakpoints at common
 * instructions are faster. None of these changes the stack pointer.
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

/* Returns whether an address is in a part of the function that is decoded. */
static bool is_own(const struct sweep *sweep, uint64_t address)
{
	for (unsigned i = 0; i < sweep->parts; i++)
		if (address >= sweep->part[i].from && address < sweep->part[i].until)
			return true;
	return false;
}

/* Adds the rare part of the function that has this address, if it has one. */
static bool take_part(struct sweep *sweep, uint64_t address)
{
	const struct binary_function *at = function_at(sweep->file, address);
	const size_t len = strlen(sweep->function->name);

	if (!at || strncmp(at->name, sweep->function->name, len) ||
	    strncmp(at->name + len, ".cold", 5) || sweep->parts == PARTS_MOST)
		return false;
	sweep->part[sweep->parts].from = at->address;
	sweep->part[sweep->parts++].until = at->address + at->size;
	return true;
}

static void add_exit(struct sweep *sweep, uint64_t address, uint64_t target, uint8_t condition)
{
	struct exits *exits = sweep->exits;

	if (!vec_grow(&exits->place, exits->places, 1))
		sweep->why = no_memory;
	else
		exits->place[exits->places++] = (struct exits_place){ address, target, condition };
}

/* Notes the target of a branch or a jump. */
static void take_target(struct sweep *sweep, uint64_t at, const struct insn *insn)
{
	const uint64_t begin = sweep->exits->begin, first = sweep->function->address;
	/* Go begins a function again after it has moved the stack. */
	const uint64_t least = binary_is_go(sweep->file) && begin > first ? first + 1 : first;

	if (insn->target >= least && insn->target <= begin) {
		sweep->why = "a loop begins at its first instruction";
		return;
	}
	if (is_own(sweep, insn->target) || take_part(sweep, insn->target)) {
		if (vec_grow(&sweep->target, sweep->targets, 1))
			sweep->target[sweep->targets++] = insn->target;
		else
			sweep->why = no_memory;
		return;
	}
	if (insn->kind != INSN_SHORT_ONLY)
		add_exit(sweep, at, insn->target,
			 insn->kind == INSN_BRANCH ? insn->condition : EXITS_ALWAYS);
}

/* Decodes a part from its begin to its end. */
static void sweep_part(struct sweep *sweep, uint64_t at, uint64_t end)
{
	struct run run = { .from = at, .is_reached = at == sweep->function->address };
	struct insn insn;

	for (; at < end && !sweep->why; at += insn.len) {
		bool ends;

		if (!decode_at(sweep->file, at, &insn)) {
			sweep->why = "its instructions cannot be decoded";
			return;
		}
		ends = insn.kind == INSN_RETURN || insn.kind == INSN_JUMP ||
		       insn.kind == INSN_INDIRECT;
		sweep->has_indirect |= insn.kind == INSN_INDIRECT;
		if (insn.kind == INSN_RETURN)
			add_exit(sweep, at, 0, EXITS_ALWAYS);
		else if (insn.target && insn.kind != INSN_CALL)
			take_target(sweep, at, &insn);
		if (!ends && at + insn.len < end)
			continue;
		run.until = at + insn.len;
		if (!vec_grow(&sweep->run, sweep->runs, 1)) {
			sweep->why = no_memory;
			return;
		}
		sweep->run[sweep->runs++] = run;
		run = (struct run){ .from = run.until };
	}
}

/* Removes the places to which nothing leads. */
static void drop_unreached(struct sweep *sweep)
{
	const struct binary_frame *frame = binary_frame_at(sweep->file, sweep->function->address);
	struct exits *exits = sweep->exits;
	size_t kept = 0;

	if (binary_is_go(sweep->file) || sweep->has_indirect || (frame && frame->has_pads))
		return;
	for (size_t i = 0; i < sweep->runs; i++) {
		struct run *run = &sweep->run[i];

		for (size_t k = 0; k < sweep->targets && !run->is_reached; k++)
			run->is_reached = sweep->target[k] >= run->from &&
					  sweep->target[k] < run->until;
	}
	for (size_t i = 0; i < exits->places; i++)
		for (size_t k = 0; k < sweep->runs; k++)
			if (sweep->run[k].is_reached &&
			    exits->place[i].address >= sweep->run[k].from &&
			    exits->place[i].address < sweep->run[k].until) {
				exits->place[kept++] = exits->place[i];
				break;
			}
	exits->places = kept;
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
	if (function->is_resolver)
		return "it chooses an implementation while the program is linked";
	if (!insn_is_available())
		return "posixtrace was built without Zydis";
	if (!function->size)
		return "its size is unknown";
	if (function->size > FUNCTION_BYTES)
		return "it is too long";
	sweep.why = choose_begin(file, function, &exits->begin);
	if (sweep.why)
		return sweep.why;
	sweep.part[sweep.parts].from = function->address;
	sweep.part[sweep.parts++].until = function->address + function->size;
	/* Branches add further parts meanwhile. */
	for (unsigned i = 0; i < sweep.parts && !sweep.why; i++)
		sweep_part(&sweep, sweep.part[i].from, sweep.part[i].until);
	if (!sweep.why)
		drop_unreached(&sweep);
	free(sweep.run);
	free(sweep.target);
	return sweep.why;
}

void exits_fini(struct exits *exits)
{
	free(exits->place);
	*exits = (struct exits){ .places = 0 };
}
