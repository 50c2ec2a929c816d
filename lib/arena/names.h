/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * arena/names.h - the event type names of a process.
 *
 * Lock-free and append-only: a name is written into a cell of its own, and one compare-and-swap
 * makes that cell the next entry. Who loses looks whether the winner brought the same name. So a
 * process killed anywhere leaves at worst a cell that is not used. There are cells for nearly two
 * hundred threads that bring new names at the same moment; more find the limit reached.
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

/* Types that this process may record: bits of the ids that it opened, and of the unnamed type. */
extern _Atomic uint64_t ptx_mapped[PTX_TYPE_MAX / 64];

/* The id of name (shorter than PTX_TYPE_NAME_BYTES), registered if new; the unnamed type's at the
 * limit. Predefined names have predefined ids. */
unsigned ptx_names_open(struct ptx_names *names, const char *name);

/* Copies the name of type; false if it has none. */
bool ptx_names_get(const struct ptx_names *names, unsigned type, char *name);

/* The name that the standard gives to that type, or NULL. */
const char *ptx_names_predefined(unsigned type);

/* The type that follows in the list of all, 0 for the first: predefined ones, then by entry. */
unsigned ptx_names_next(const struct ptx_names *names, unsigned type);

void ptx_names_copy(struct ptx_names *to, const struct ptx_names *from);

/* Makes the ids of from, which may be NULL, those of to; false if one means another name there. */
bool ptx_names_merge(struct ptx_names *to, const struct ptx_names *from);

#endif
