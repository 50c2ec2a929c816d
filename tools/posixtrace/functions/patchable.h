/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * patchable.h - decides how the beginning of a function can be patched.
 *
 * A function is patched only if its instructions prove that the patch is safe. In case of doubt the
 * function is refused. A jump of 5 bytes replaces whole instructions at the beginning, and these
 * instructions are executed elsewhere. So the following must be proven:
 *
 * 	no branch, table of jumps, pointer or symbol leads to a replaced byte except the first;
 * 	no replaced instruction depends on its address in a way that cannot be corrected;
 * 	no call through a register is replaced: its return address would be elsewhere;
 * 	all instructions of the function can be decoded.
 */
#ifndef POSIXTRACE_FUNCTIONS_PATCHABLE_H
#define POSIXTRACE_FUNCTIONS_PATCHABLE_H

#include "functions/binary.h"

enum patch_method {
	PATCH_REFUSED,
	PATCH_SLOT, /* the compiler has left room for the jump: NOPs, or a call of __fentry__() */
	PATCH_MOVE, /* the first instructions are moved */
	PATCH_BYTE, /* for probes: only one byte is replaced, by the first byte of a jump */
};

struct patchable {
	enum patch_method method;
	const char *why;              /* PATCH_REFUSED: the reason */
	struct shim_plan_site site;   /* for other methods: the plan of the function's site */
};

/*
 * Decides how one function of the file can be patched. "kind" is SHIM_SITE_FUNCTION for most
 * functions. For a function that handles exceptions, "kind" is the kind of its hook, which records
 * no event for the call.
 */
struct patchable patchable_of(struct binary_file *file, const struct binary_function *function,
			      enum shim_site_kind kind);

/*
 * Returns the reason why functions of this file are never patched, or NULL if they may be patched.
 * The files of the C library and of this project are never patched, because the hooks themselves
 * use them.
 */
const char *patchable_lack(const struct binary_file *file);

#endif
