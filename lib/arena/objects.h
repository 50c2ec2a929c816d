/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * arena/objects.h - what things in the memory of the processes of an arena are called.
 *
 * Lock-free and append-only: a cell is taken by one compare-and-swap, filled, and made ready by one
 * store. Who is killed in between leaves a cell that is not used. An entry holds from its time on,
 * until a later one for the same pointer of the same process; an empty name ends it.
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
	_Atomic uint32_t taken; /* cells, from the first on */
	struct ptx_object_cell cell[PTX_OBJECTS];
};

/* Its name is cut to fit. What its newest entry says already is not said again. ENOSPC. */
int ptx_objects_put(struct ptx_objects *objects, const struct ptx_object *object);

/* How many cells may be in use. */
unsigned ptx_objects_count(const struct ptx_objects *objects);

/* Copies what cell number i has; false: nothing yet. Its name has an end. */
bool ptx_objects_get(const struct ptx_objects *objects, unsigned i, struct ptx_object *object);

void ptx_objects_copy(struct ptx_objects *to, const struct ptx_objects *from);

#endif
