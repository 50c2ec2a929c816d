/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * exits.h - the places at which a function begins and ends, for breakpoints of the kernel.
 *
 * A breakpoint replaces one byte of an instruction. If data among the code were mistaken for an
 * instruction, the breakpoint would change this data. So a place gets a breakpoint only if the
 * instructions before it, a branch or a table of jumps lead to it. Code of a compiler that puts no
 * data into functions needs no such proof.
 */
#ifndef POSIXTRACE_FUNCTIONS_EXITS_H
#define POSIXTRACE_FUNCTIONS_EXITS_H

#include "functions/binary.h"

struct exits_place {
	uint64_t address;
	/* 0: the place is a return; otherwise it is a jump to this address in another function */
	uint64_t target;
	uint8_t condition;   /* condition of the jump; EXITS_ALWAYS: none */
};

#define EXITS_ALWAYS 0xff

struct exits {
	uint64_t begin;      /* at this place, the stack pointer is at the return address */
	struct exits_place *place;
	size_t places;
};

/*
 * Finds the places of a function. Returns NULL, or the reason why the function cannot be traced.
 * "there is no memory" is a reason, too. The caller must call exits_fini() in all cases.
 */
const char *exits_of(struct binary_file *file, const struct binary_function *function,
		     struct exits *exits);
void exits_fini(struct exits *exits);

#endif
