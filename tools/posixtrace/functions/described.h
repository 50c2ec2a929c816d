/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * described.h - the event types of functions whose arguments and results are recorded.
 *
 * Each such function has its own event type func.call:NAME. This type has the fields of func.call,
 * and a field for each argument and for the result. A function that cannot have its own type is
 * traced without arguments.
 */
#ifndef POSIXTRACE_FUNCTIONS_DESCRIBED_H
#define POSIXTRACE_FUNCTIONS_DESCRIBED_H

#include <stdbool.h>
#include <stddef.h>

#include "functions/arguments.h"
#include "functions/binary.h"

/*
 * The greatest number of types. A process can have 512 event types, and the shim and the program
 * need some of them.
 */
#define DESCRIBED_TYPES 192

struct described {
	bool is_wanted;            /* --args */
	struct described_type {
		char *name, *schema;
	} *type;
	size_t types;
	struct shim_plan_argument *argument;
	size_t arguments;
	size_t functions;          /* sites that record arguments or a result */
	size_t left_out;           /* sites of functions that cannot have their own event type */
};

/*
 * Adds the arguments and the type of a function to its site, if arguments are wanted and known. The
 * members "type" and "first" of the site are indexes into this struct. Returns false if memory is
 * lacking.
 */
bool described_take(struct described *described, struct prototypes *prototypes,
		    const struct binary_function *function, enum arguments_way way,
		    struct shim_plan_site *site);

/* Frees the types and the arguments. */
void described_fini(struct described *described);

#endif
