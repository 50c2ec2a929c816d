/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * arguments.h - finds where the arguments of a function are when the function begins, and where its
 * result is when it ends. Their types become fields of a schema.
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

/* Which program reads the values of a function, and by which convention the function gets them. */
enum arguments_way {
	ARGUMENTS_BY_SHIM,
	ARGUMENTS_BY_KERNEL, /* the kernel reads them, but no vector registers */
	ARGUMENTS_OF_GO,     /* the kernel reads them; the place of a result is not known */
};

/*
 * Finds the arguments and the result of a function. Arguments whose place or type is not known, and
 * structures, are left out. Returns false if the function is not known, or if neither an argument
 * nor the result can be read. "name" is the linker's name of the function. prototypes may be NULL.
 */
bool arguments_of(struct prototypes *prototypes, uint64_t address, const char *name,
		  enum arguments_way way, struct arguments *arguments);

#endif
