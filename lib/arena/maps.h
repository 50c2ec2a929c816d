/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * arena/maps.h - notes of the processes of an arena about their mapped files, with times.
 *
 * A process that runs only for a moment has often ended before a reader can read its
 * /proc/PID/maps, but its own notes remain. The list is lock-free and append-only, like the list in
 * objects.h: a process claims a note by one compare-and-swap, fills it, and sets the note's member
 * `ready` by one store. The process claims room for the path of the file in the same way. Notes of
 * the same file share one path. A process that is killed between these steps leaves unused room.
 *
 * Threads   any, in all processes of the arena. Signals: async-signal-safe.
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
	uint32_t file; /* offset in the text, + 1; 0 in a note of another kind than FILE */
	uint32_t spare;
};

struct ptx_maps {
	_Atomic uint32_t claimed; /* number of claimed notes, from the first on */
	_Atomic uint32_t used;  /* bytes of `text` that are claimed */
	/*
	 * the earliest time of a missing note, so the notes are not reliable after this time; 0: no
	 * note is missing
	 */
	_Atomic int64_t ended_ns;
	struct ptx_maps_note note[PTX_MAPS_NOTES];
	/* for each file: the length of its build-id in bytes, the build-id, the path, NUL */
	unsigned char text[PTX_MAPS_ROOM];
};

/*
 * Adds a note. Returns 0, or ENOSPC if this note or an earlier note had no room, so that the notes
 * have ended. Async-signal-safe.
 */
int ptx_maps_put(struct ptx_maps *maps, const struct ptx_mapping *mapping);

/*
 * Returns the earliest time of a note that had no room, or 0 if no note is missing. After that
 * time, the existing notes may no longer be true.
 */
int64_t ptx_maps_ended(const struct ptx_maps *maps);

/* Returns the number of notes that may be in use. */
unsigned ptx_maps_count(const struct ptx_maps *maps);

/* Copies note `i` and its path. Returns false if the note is not ready or has impossible values. */
bool ptx_maps_get(const struct ptx_maps *maps, unsigned i, struct ptx_mapping *mapping,
		  char path[PTX_MAPPING_PATH_BYTES]);

/*
 * Searches the newest notes for a file with this build-id, in whose absolute path `name` is the
 * last part, and copies the path. If there is none, returns false, and `path` may have any text.
 */
bool ptx_maps_find(const struct ptx_maps *maps, const uint8_t *id, size_t bytes, const char *name,
		   char path[PTX_MAPPING_PATH_BYTES]);

#endif
