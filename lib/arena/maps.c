/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * arena/maps.c - the notes of mapped files. A process writes them at its start, at dlopen() and at
 * fork(), and readers compute spans of time from them (record/mapping.h).
 *
 * A note reports that a process has mapped a file, no longer has a mapping, or was forked. If one
 * note is missing because there is no room, the other notes are misleading: an old file could still
 * seem to be mapped. So the notes end at the time of the missing note, and no process adds a
 * further note.
 */
#include "arena/maps.h"

#include <errno.h>
#include <string.h>

/*
 * The greatest number of notes that ptx_maps_find() reads. About ten processes make so many notes,
 * and the notes are in a few pages.
 */
#define FIND_NOTES 64

/*
 * Claims `wanted` units of a list that has room for `room` units. The count is increased only while
 * there is room, so it cannot wrap around. Returns false if there is not enough room.
 */
static bool claim_units(_Atomic uint32_t *claimed, uint32_t wanted, uint32_t room, uint32_t *at)
{
	uint32_t old = atomic_load_explicit(claimed, memory_order_relaxed);

	/*
	 * Each round compares the room again, because another process may have claimed a part of
	 * the room.
	 */
	do {
		if (old > room || wanted > room - old)
			return false;
	} while (!atomic_compare_exchange_weak_explicit(
		claimed, &old, old + wanted, memory_order_relaxed, memory_order_relaxed));
	*at = old;
	return true;
}

/* The result is bounded, because another process may have written any number. */
unsigned ptx_maps_count(const struct ptx_maps *maps)
{
	uint32_t claimed = atomic_load_explicit(&maps->claimed, memory_order_acquire);

	return claimed < PTX_MAPS_NOTES ? claimed : PTX_MAPS_NOTES;
}

/*
 * Copies build-id and path of a note's file from the member `text`. Another process may have
 * written any offset, so each length is checked against the room. Returns false if there is no
 * valid build-id and path at this offset.
 */
static bool get_file(const struct ptx_maps *maps, uint32_t file, struct ptx_mapping *mapping,
		     char path[PTX_MAPPING_PATH_BYTES])
{
	/* A note has the offset + 1, so that 0 means that it has no file. */
	size_t at = file - 1, room, len;

	if (file == 0 || at >= PTX_MAPS_ROOM)
		return false;
	/* The byte is read only once, because another process may change it after the check. */
	mapping->id_bytes = maps->text[at++];
	if (mapping->id_bytes > PTX_MAPPING_ID_BYTES || mapping->id_bytes > PTX_MAPS_ROOM - at)
		return false;
	memcpy(mapping->id, maps->text + at, mapping->id_bytes);
	at += mapping->id_bytes;
	room = PTX_MAPS_ROOM - at < PTX_MAPPING_PATH_BYTES ? PTX_MAPS_ROOM - at :
							     PTX_MAPPING_PATH_BYTES;
	/* The path is valid only if it ends within the text and fits into the caller's buffer. */
	len = strnlen((const char *)maps->text + at, room);
	if (len == room)
		return false;
	memcpy(path, maps->text + at, len);
	path[len] = '\0';
	mapping->path = path;
	return true;
}

/*
 * The note is copied first, and the copy is checked, because another process may change the note.
 */
bool ptx_maps_get(const struct ptx_maps *maps, unsigned i, struct ptx_mapping *mapping,
		  char path[PTX_MAPPING_PATH_BYTES])
{
	const struct ptx_maps_note *note = &maps->note[i];

	/*
	 * Acquire order: if the member `ready` of a note is set, all fields of the note are
	 * visible.
	 */
	if (i >= PTX_MAPS_NOTES || !atomic_load_explicit(&note->ready, memory_order_acquire))
		return false;
	/* The build-id and the path stay empty, unless get_file() sets them. */
	memset(mapping, 0, sizeof *mapping);
	mapping->kind = note->kind;
	mapping->pid = note->pid;
	/* Only the note of a child has a parent. */
	mapping->parent = note->parent;
	mapping->start = note->start;
	mapping->end = note->end;
	mapping->offset = note->offset;
	mapping->base = note->base;
	mapping->from_ns = note->from_ns;
	/* A note without process or time belongs to no span. */
	if (mapping->pid == 0 || mapping->from_ns <= 0 || mapping->from_ns == INT64_MAX)
		return false;
	switch (mapping->kind) {
	case PTX_MAPPING_FILE:
		/* An empty range is no mapping (FORMAT M2). */
		return mapping->start < mapping->end && get_file(maps, note->file, mapping, path);
	case PTX_MAPPING_GONE:
		return mapping->start < mapping->end;
	/* A child must have a parent, and process 0 cannot be a parent. */
	case PTX_MAPPING_CHILD:
		return mapping->parent != 0;
	}
	return false;
}

/*
 * Returns true if the file of a note has this build-id; `file` is that member of the note. Another
 * process may write any number into it, so the function checks that it reads only bytes of the
 * text.
 */
static bool has_id(const struct ptx_maps *maps, uint32_t file, const uint8_t *id, size_t bytes)
{
	const size_t at = (size_t)file - 1;

	return file && at < PTX_MAPS_ROOM && bytes < PTX_MAPS_ROOM - at &&
	       maps->text[at] == bytes && !memcmp(maps->text + at + 1, id, bytes);
}

bool ptx_maps_find(const struct ptx_maps *maps, const uint8_t *id, size_t bytes, const char *name,
		   char path[PTX_MAPPING_PATH_BYTES])
{
	const unsigned count = ptx_maps_count(maps);
	struct ptx_mapping mapping;

	for (unsigned n = 0; n < FIND_NOTES && n < count; n++) {
		const struct ptx_maps_note *note = &maps->note[count - 1 - n];
		uint32_t file;

		if (!atomic_load_explicit(&note->ready, memory_order_acquire))
			continue;
		/*
		 * Another process may change the path meanwhile. So get_file() copies the path, and
		 * the copy is compared.
		 */
		file = note->file;
		if (has_id(maps, file, id, bytes) && get_file(maps, file, &mapping, path) &&
		    *path == '/' && !strcmp(strrchr(path, '/') + 1, name))
			return true;
	}
	return false;
}

/*
 * Returns true if the text at this offset has the build-id and the path of the caller's mapping.
 * Another process may change the text meanwhile. But the caller's mapping determines how many bytes
 * are compared, so the comparison ends within the text.
 */
static bool is_at(const struct ptx_maps *maps, uint32_t at, const struct ptx_mapping *mapping)
{
	/* `mapping` belongs to the caller and is valid. Only the text is shared. */
	const size_t bytes = 1 + mapping->id_bytes + strlen(mapping->path) + 1;
	const unsigned char *text = maps->text + at;

	/* The length is compared first, so that no byte behind the text is read. */
	return bytes <= PTX_MAPS_ROOM && at <= PTX_MAPS_ROOM - bytes &&
	       *text == mapping->id_bytes && !memcmp(text + 1, mapping->id, mapping->id_bytes) &&
	       !strcmp((const char *)text + 1 + mapping->id_bytes, mapping->path);
}

/*
 * Stores build-id and path of the file as a text, or finds an equal text. Returns 0 or ENOSPC. The
 * processes of a family (meet/family.h) often run the same program one after the other, and then
 * map the same files. Therefore the newest notes are compared first.
 */
static int put_file(struct ptx_maps *maps, const struct ptx_mapping *mapping, uint32_t *file)
{
	const size_t path_bytes = strlen(mapping->path) + 1;
	const uint32_t bytes = (uint32_t)(1 + mapping->id_bytes + path_bytes);
	uint32_t at;

	/*
	 * Acquire order: if the member `ready` of a note is set, the text of the note is complete.
	 */
	for (unsigned i = ptx_maps_count(maps); i-- > 0;)
		if (atomic_load_explicit(&maps->note[i].ready, memory_order_acquire) &&
		    maps->note[i].file && is_at(maps, maps->note[i].file - 1, mapping)) {
			*file = maps->note[i].file;
			return 0;
		}
	/* A path that is too long has no place in any log (FORMAT M2). */
	if (path_bytes > PTX_MAPPING_PATH_BYTES ||
	    !claim_units(&maps->used, bytes, PTX_MAPS_ROOM, &at))
		return ENOSPC;
	/*
	 * The order is: the length of the build-id, the build-id, the path. get_file() reads the
	 * same order.
	 */
	maps->text[at] = (unsigned char)mapping->id_bytes;
	memcpy(maps->text + at + 1, mapping->id, mapping->id_bytes);
	memcpy(maps->text + at + 1 + mapping->id_bytes, mapping->path, path_bytes);
	*file = at + 1;
	return 0;
}

/*
 * Adds the note, or returns ENOSPC. The release store publishes the note when all its fields are
 * there.
 */
static int put_note(struct ptx_maps *maps, const struct ptx_mapping *mapping)
{
	struct ptx_maps_note *note;
	uint32_t i, file = 0;
	int err = 0;

	if (atomic_load_explicit(&maps->ended_ns, memory_order_acquire))
		return ENOSPC; /* a note after the end would make the list seem complete */
	if (mapping->kind == PTX_MAPPING_FILE)
		err = put_file(maps, mapping, &file);
	/*
	 * The text was claimed before the note. If there is no room for the note, the text stays
	 * unused.
	 */
	if (err || !claim_units(&maps->claimed, 1, PTX_MAPS_NOTES, &i))
		return ENOSPC;
	note = &maps->note[i];
	/* Other processes skip the note until its member `ready` is set. */
	note->kind = mapping->kind;
	note->pid = mapping->pid;
	note->parent = mapping->parent;
	note->start = mapping->start;
	note->end = mapping->end;
	note->offset = mapping->offset;
	note->base = mapping->base;
	note->from_ns = mapping->from_ns;
	/* The text and all fields of the note are stored before the member `ready`. */
	note->file = file;
	atomic_store_explicit(&note->ready, 1, memory_order_release);
	return 0;
}

/* Lowers ended_ns to this time. If several processes find no room, the earliest time is kept. */
static void maps_end(struct ptx_maps *maps, int64_t when_ns)
{
	int64_t old = atomic_load_explicit(&maps->ended_ns, memory_order_relaxed);

	/* The loop ends, because the stored time only decreases. */
	while ((!old || when_ns < old) &&
	       !atomic_compare_exchange_weak_explicit(&maps->ended_ns, &old, when_ns,
						      memory_order_acq_rel, memory_order_relaxed))
		;
}

/* If there is no room for a note, the text that was claimed for it stays unused. */
int ptx_maps_put(struct ptx_maps *maps, const struct ptx_mapping *mapping)
{
	int err = put_note(maps, mapping);

	/*
	 * The notes end at the time of the note that is missing, which may be before the present
	 * time.
	 */
	if (err)
		maps_end(maps, mapping->from_ns);
	return err;
}

/* An impossible time counts as 0. */
int64_t ptx_maps_ended(const struct ptx_maps *maps)
{
	int64_t ended_ns = atomic_load_explicit(&maps->ended_ns, memory_order_acquire);

	return ended_ns > 0 && ended_ns < INT64_MAX ? ended_ns : 0;
}
