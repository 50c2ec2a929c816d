/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * arena/names.h - the event type names of a process.
 *
 * The table is lock-free and append-only. A process writes a name into a cell, and one
 * compare-and-swap makes that cell the next entry. If another process was faster, the process
 * compares the new entry's name with its own name, and continues the search. A process that is
 * killed before the compare-and-swap leaves at most an unused cell. The table has nearly two
 * hundred more cells than entries, for threads that add names at the same moment. If more threads
 * add names at the same moment, some of them get the unnamed type, as if the limit of names were
 * reached.
 *
 * Threads   any, also of other processes. No function allocates or waits.
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
	_Atomic uint32_t claimed;
	char name[PTX_TYPE_NAME_BYTES];
};

struct ptx_names {
	/*
	 * hash of the name in the upper 32 bits, number of its cell + 1 in the lower 32 bits; the
	 * type is PTX_TYPE_FIRST_USER + index
	 */
	_Atomic uint64_t entry[PTX_NAMES];
	struct ptx_name_cell cell[PTX_NAME_CELLS];
};

/* Bits of the types that this process may record: those that it opened, and the unnamed type. */
extern _Atomic uint64_t ptx_opened_types[PTX_TYPE_MAX / 64];

/*
 * Returns the type of a name (shorter than PTX_TYPE_NAME_BYTES), and registers the name if it is
 * new. Returns the unnamed type if the limit is reached. Predefined names have predefined types.
 */
unsigned ptx_names_open(struct ptx_names *names, const char *name);

/*
 * Returns the type of a name of `len` bytes if its entry follows the entry of the name that this
 * process has last found in the list, and else 0. A name that this process has added itself does
 * not count. The function executes far fewer instructions than ptx_names_open().
 */
unsigned ptx_names_guess(const struct ptx_names *names, const char *name, size_t len);

/* Copies the name of a type. Returns false if the type has no name. */
bool ptx_names_get(const struct ptx_names *names, unsigned type, char *name);

/* Returns the name that the standard gives to a type, or NULL. */
const char *ptx_names_predefined(unsigned type);

/*
 * Returns the type that follows `type` in the order of all types: first the predefined types, then
 * the types of the entries. For 0 it returns the first type, and for the last type it returns 0.
 */
unsigned ptx_names_next(const struct ptx_names *names, unsigned type);

/* Copies all names to the list `to`. The names keep their types. */
void ptx_names_copy(struct ptx_names *to, const struct ptx_names *from);

/*
 * Registers the names of the list `from`, which may be NULL, in the list `to`. Returns false if a
 * name would have another type in `to` than in `from`.
 */
bool ptx_names_merge(struct ptx_names *to, const struct ptx_names *from);

#endif
