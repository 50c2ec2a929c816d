/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * arena/maps.h - what the processes of an arena say that they have mapped, and since when.
 *
 * A process that ends a moment after it began is gone before anybody has looked at it; what it said
 * stays. Lock-free and append-only, as objects.h: a note is taken by one compare-and-swap, filled,
 * and made ready by one store. Text is taken likewise, and shared by notes of the same file. Who is
 * killed in between leaves room that is not used.
 */
#ifndef PTX_ARENA_MAPS_H
#define PTX_ARENA_MAPS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "record/mapping.h"

#define PTX_MAPS_NOTES 2048
#define PTX_MAPS_ROOM  (64u * 1024)

struct ptx_maps_note {
	_Atomic uint32_t ready;
	uint32_t kind, pid, parent;
	uint64_t start, end, offset, base;
	int64_t from_ns;
	uint32_t file; /* where in the text, + 1; 0: of another kind than FILE */
	uint32_t spare;
};

struct ptx_maps {
	_Atomic uint32_t taken; /* notes, from the first on */
	_Atomic uint32_t used;  /* of the text */
	/* since when something could not be said; 0: all was. Nothing is after that */
	_Atomic int64_t ended_ns;
	struct ptx_maps_note note[PTX_MAPS_NOTES];
	/* of a file: bytes of its build-id, build-id, path, NUL */
	unsigned char text[PTX_MAPS_ROOM];
};

/* ENOSPC: there is no room for it. Async-signal-safe. */
int ptx_maps_put(struct ptx_maps *maps, const struct ptx_mapping *mapping);

/*
 * The earliest time of what had no room: what was said before may have changed since; 0: all was
 * said.
 */
int64_t ptx_maps_ended(const struct ptx_maps *maps);

/* How many notes may be in use. */
unsigned ptx_maps_count(const struct ptx_maps *maps);

/* Copies note i and its path; false: nothing yet, or nothing that can be true. */
bool ptx_maps_get(const struct ptx_maps *maps, unsigned i, struct ptx_mapping *mapping,
		  char path[PTX_MAPPING_PATH_BYTES]);

#endif
