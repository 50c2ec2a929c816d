/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* move.h - moves the instructions that a jump replaces. */
#ifndef POSIXTRACE_FUNCTIONS_MOVE_H
#define POSIXTRACE_FUNCTIONS_MOVE_H

#include "../../../lib/preload/patch_plan.h"
#include "functions/insn.h"

/*
 * Appends an instruction to the moved code of the site. "code" has the bytes of the instruction,
 * and "address" is its address in the file. Returns the reason why the instruction cannot be moved,
 * or NULL.
 */
const char *move_insn(struct shim_plan_site *site, const struct insn *insn, const uint8_t *code,
		      uint64_t address);

#endif
