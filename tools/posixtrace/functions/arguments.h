/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * arguments.h - finds the places of a function's arguments at its beginning, and the place of its
 * result at its end. The arguments and the result become fields of a schema.
 *
 * A file is hostile: libdw checks its structure, and arguments.c limits numbers, lengths and
 * depths. Only one thread may use the prototypes of a file.
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
	unsigned count;                /* number of arguments; plan[count] is the result */
	bool has_result;
};

/* The reader of a function's values, and the convention by which the function gets them. */
enum arguments_way {
	ARGUMENTS_BY_SHIM,
	ARGUMENTS_BY_KERNEL, /* the kernel reads the values, but not from vector registers */
	ARGUMENTS_OF_GO,     /* the kernel reads the values; the place of a result is not known */
};

/*
 * Finds the arguments and the result of a function. Structures, and arguments whose place or type
 * is not known, are omitted. Returns false if the function is not known, or if no argument and no
 * result can be read. "name" is the linker's name of the function. "prototypes" may be NULL.
 */
bool arguments_of(struct prototypes *prototypes, uint64_t address, const char *name,
		  enum arguments_way way, struct arguments *arguments);

#endif
