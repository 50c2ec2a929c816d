/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * patchable.h - decides how the begin of a function can be patched.
 *
 * A function is patched if its instructions prove that this is safe; a doubt is a refusal. A jump
 * of 5 bytes replaces whole instructions at the begin, which run elsewhere. So
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
	PATCH_SLOT, /* the compiler left room: NOPs, or a call of __fentry__() */
	PATCH_MOVE, /* the first instructions are moved */
	PATCH_BYTE, /* for probes: only one byte is replaced, by the first one of a jump */
};

struct patchable {
	enum patch_method method;
	const char *why;              /* PATCH_REFUSED: the reason */
	struct shim_plan_site site;   /* else: the plan of its site */
};

/*
 * Decides for one function of the file. kind: SHIM_SITE_FUNCTION, or the kind of a function that
 * handles exceptions, for a hook that records no event of its own.
 */
struct patchable patchable_of(struct binary_file *file, const struct binary_function *function,
			      enum shim_site_kind kind);

/*
 * Returns the reason why functions of this file are never patched, NULL if they may be: files of
 * the C library and of this project, which the hooks themselves use.
 */
const char *patchable_lack(const struct binary_file *file);

#endif
