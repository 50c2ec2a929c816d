/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * arena/names.h - the event type names of a process.  Lock-free and append-only. A process writes a
 * name into a cell, and one compare-and-swap makes that cell the next entry. If another process was
 * faster, it compares the winner's name with its own. A process that is killed on the way leaves at
 * most an unused cell. There are cells for nearly two hundred threads that add names at the same
 * moment; further ones find the limit reached.  Threads   any, also of other processes. No function
 * allocates or waits.
 */
#ifndef PTX_ARENA_NAMES_H
#define PTX_ARENA_NAMES_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "record/record.h"

#define PTX_NAMES      511 /* TRACE_USER_EVENT_MAX less the unnamed type */
#define PTX_NAME_CELLS 704

struct ptx_name_cell {
	_Atomic uint32_t taken;
	char name[PTX_TYPE_NAME_BYTES];
};

struct ptx_names {
	/* hash 32 | cell + 1; id is PTX_TYPE_FIRST_USER + index */
	_Atomic uint64_t entry[PTX_NAMES];
	struct ptx_name_cell cell[PTX_NAME_CELLS];
};

/* Bits of the types that this process may record: those that it opened, and the unnamed type. */
extern _Atomic uint64_t ptx_mapped[PTX_TYPE_MAX / 64];

/*
 * Returns the type of a name (shorter than PTX_TYPE_NAME_BYTES) and registers it if it is new; the
 * unnamed type at the limit. Predefined names have predefined types.
 */
unsigned ptx_names_open(struct ptx_names *names, const char *name);

/* Copies the name of type; false if it has none. */
bool ptx_names_get(const struct ptx_names *names, unsigned type, char *name);

/* The name that the standard gives to a type, or NULL. */
const char *ptx_names_predefined(unsigned type);

/* The type after this one in the list of all, 0 for the first: predefined ones, then entries. */
unsigned ptx_names_next(const struct ptx_names *names, unsigned type);

/* Copies all names to an empty list, with the same types. */
void ptx_names_copy(struct ptx_names *to, const struct ptx_names *from);

/*
 * Registers the names of from, which may be NULL, in to. Returns false if a name would get another
 * type there.
 */
bool ptx_names_merge(struct ptx_names *to, const struct ptx_names *from);

#endif
