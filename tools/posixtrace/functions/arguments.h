/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * arguments.h - where the arguments of a function are when it begins, and its result when it ends,
 * with their types as fields of a schema.
 *
 * A file is hostile: libdw checks its structure, and numbers, lengths and depths are limited here.
 * One thread may use the prototypes of a file.
 */
#ifndef POSIXTRACE_FUNCTIONS_ARGUMENTS_H
#define POSIXTRACE_FUNCTIONS_ARGUMENTS_H

#include <stdbool.h>
#include <stdint.h>
#include <trace_np.h>

#include "../../../lib/preload/patch_plan.h"
#include "functions/prototype.h"

#define ARGUMENTS_SCHEMA 640 /* bytes of the fields of a function, with the NUL */

struct arguments {
	char schema[ARGUMENTS_SCHEMA]; /* "s32 a; str name; s32 return" */
	struct shim_plan_argument plan[SHIM_PLAN_OF_SITE];
	unsigned count;                /* of arguments; plan[count] is the result */
	bool has_result;
};

/* The reader of the values, and the convention by which they are passed. */
enum arguments_way {
	ARGUMENTS_BY_SHIM,
	ARGUMENTS_BY_KERNEL, /* which does not know the vector registers */
	ARGUMENTS_OF_GO,     /* by the kernel; a result has no place that is known */
};

/*
 * Finds the arguments and the result of a function. Those whose place or type is not known are left
 * out, as are structures. Returns false if the function is not known, or none of them can be read.
 * name is that of the linker. prototypes may be NULL.
 */
bool arguments_of(struct prototypes *prototypes, uint64_t address, const char *name,
		  enum arguments_way way, struct arguments *arguments);

#endif
