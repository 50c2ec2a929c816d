/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * exits.h - the places at which a function begins and ends, for breakpoints of the kernel.
 *
 * A breakpoint replaces one byte of an instruction. In data among the code it would change the
 * data, so a place is used only if the instructions before it lead there, a branch or a table of
 * jumps, or if the code is of a compiler that puts no data into functions.
 */
#ifndef POSIXTRACE_FUNCTIONS_EXITS_H
#define POSIXTRACE_FUNCTIONS_EXITS_H

#include "functions/binary.h"

struct exits_place {
	uint64_t address;
	uint64_t target;     /* 0: it is a return; else a jump to another function */
	uint8_t condition;   /* of the jump; EXITS_ALWAYS */
};

#define EXITS_ALWAYS 0xff

struct exits {
	uint64_t begin;      /* the stack pointer is at the return address there */
	struct exits_place *place;
	size_t places;
};

/*
 * Finds the places of a function. Returns NULL, or the reason why it cannot be traced; "there is no
 * memory" is one. exits_fini() is to be called in both cases.
 */
const char *exits_of(struct binary_file *file, const struct binary_function *function,
		     struct exits *exits);
void exits_fini(struct exits *exits);

#endif
