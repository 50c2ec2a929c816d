/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * preload/patch_value.h - copies values of the program into the data of an event, at a probe and at
 * the beginning and the end of a function. A plan names the places of the values.
 *
 * Memory is checked before it is read, because a pointer of the program may be wrong.
 *
 * Threads   any thread.
 * Signals   async-signal-safe.
 * Errors    errno may change.
 */
#ifndef PTX_PRELOAD_PATCH_VALUE_H
#define PTX_PRELOAD_PATCH_VALUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "preload/patch_plan.h"

/*
 * The registers of the program, as the assembly of patch_enter.c has saved them: `frame` is the
 * address of the saved rbp, below which the other general registers are. `vectors` has 64 bytes for
 * each vector register. `stack` is the stack pointer. Only the hook of a probe saves rbx and r12 to
 * r15.
 */
struct shim_registers {
	const uint64_t *frame;
	const unsigned char *vectors;
	uint64_t stack;
};

/* Bytes of an event's values, if its texts have at most `texts` bytes together. */
#define SHIM_VALUE_BYTES(texts) (8 * SHIM_PLAN_OF_SITE + (texts))

/*
 * Writes the values of arguments in their order and without gaps, and returns the number of bytes.
 * `data` has room for SHIM_VALUE_BYTES(texts). `base` is the address of the module. If is_passed_on
 * is true, the pointers of the program need not be valid. In a quiet process, the function then
 * omits a text if only a system call could check its memory.
 */
size_t shim_values_put(unsigned char *data, size_t texts, const struct shim_plan_argument *argument,
		       unsigned count, const struct shim_registers *registers, uintptr_t base,
		       bool is_passed_on);

#endif
