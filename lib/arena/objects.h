/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * arena/objects.h - names of objects in the memory of the processes of an arena. The list is
 * lock-free and append-only. A process claims a cell by one compare-and-swap, fills it, and makes
 * it ready by one store. A process that is killed before the last step leaves an unused cell. An
 * entry is valid from its own time until the time of a later entry for the same pointer of the same
 * process. If the later entry has an empty name, it only ends the earlier entry.
 *
 * Threads   any, in all processes of the arena. Signals: async-signal-safe.
 */
#ifndef PTX_ARENA_OBJECTS_H
#define PTX_ARENA_OBJECTS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "record/object.h"

#define PTX_OBJECTS 4096

struct ptx_object_cell {
	_Atomic uint32_t ready;
	uint32_t spare;
	struct ptx_object object;
};

struct ptx_objects {
	_Atomic uint32_t claimed; /* number of claimed cells, from the first on */
	struct ptx_object_cell cell[PTX_OBJECTS];
};

/*
 * Adds an entry. A name that is too long is shortened. If the newest entry of this pointer has the
 * same kind and name, no entry is added. Returns 0, or ENOSPC if all cells are used.
 */
int ptx_objects_put(struct ptx_objects *objects, const struct ptx_object *object);

/* Returns the number of cells that may be in use. */
unsigned ptx_objects_count(const struct ptx_objects *objects);

/* Copies cell `i`, with a NUL at the end of the name. Returns false if the cell is not ready. */
bool ptx_objects_get(const struct ptx_objects *objects, unsigned i, struct ptx_object *object);

/*
 * Adds the entries of the list `from` to the list `to`. Entries for which `to` has no room are
 * dropped.
 */
void ptx_objects_copy(struct ptx_objects *to, const struct ptx_objects *from);

#endif
