/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "arena/maps.h"

#include <errno.h>
#include <string.h>

/* Not to be had from a count that wrapped: it is only added to while there is room. */
static bool take(_Atomic uint32_t *taken, uint32_t wanted, uint32_t room, uint32_t *at)
{
	uint32_t old = atomic_load_explicit(taken, memory_order_relaxed);

	do {
		if (old > room || wanted > room - old)
			return false;
	} while (!atomic_compare_exchange_weak_explicit(taken, &old, old + wanted,
							memory_order_relaxed,
							memory_order_relaxed));
	*at = old;
	return true;
}

unsigned ptx_maps_count(const struct ptx_maps *maps)
{
	uint32_t taken = atomic_load_explicit(&maps->taken, memory_order_acquire);

	return taken < PTX_MAPS_NOTES ? taken : PTX_MAPS_NOTES;
}

/* The file of a note; false: none that can be there. Another process may have written it. */
static bool get_file(const struct ptx_maps *maps, uint32_t file, struct ptx_mapping *mapping,
		     char path[PTX_MAPPING_PATH_BYTES])
{
	size_t at = file - 1, room, len;

	if (file == 0 || at >= PTX_MAPS_ROOM)
		return false;
	mapping->id_bytes = maps->text[at++];
	if (mapping->id_bytes > PTX_MAPPING_ID_BYTES || mapping->id_bytes > PTX_MAPS_ROOM - at)
		return false;
	memcpy(mapping->id, maps->text + at, mapping->id_bytes);
	at += mapping->id_bytes;
	room = PTX_MAPS_ROOM - at < PTX_MAPPING_PATH_BYTES ? PTX_MAPS_ROOM - at :
							     PTX_MAPPING_PATH_BYTES;
	len = strnlen((const char *)maps->text + at, room);
	if (len == room)
		return false;
	memcpy(path, maps->text + at, len);
	path[len] = '\0';
	mapping->path = path;
	return true;
}

bool ptx_maps_get(const struct ptx_maps *maps, unsigned i, struct ptx_mapping *mapping,
		  char path[PTX_MAPPING_PATH_BYTES])
{
	const struct ptx_maps_note *note = &maps->note[i];

	if (i >= PTX_MAPS_NOTES || !atomic_load_explicit(&note->ready, memory_order_acquire))
		return false;
	memset(mapping, 0, sizeof *mapping);
	mapping->kind = note->kind;
	mapping->pid = note->pid;
	mapping->parent = note->parent;
	mapping->start = note->start;
	mapping->end = note->end;
	mapping->offset = note->offset;
	mapping->base = note->base;
	mapping->from_ns = note->from_ns;
	if (mapping->pid == 0 || mapping->from_ns <= 0 || mapping->from_ns == INT64_MAX)
		return false;
	switch (mapping->kind) {
	case PTX_MAPPING_FILE:
		return mapping->start < mapping->end && get_file(maps, note->file, mapping, path);
	case PTX_MAPPING_GONE:
		return mapping->start < mapping->end;
	case PTX_MAPPING_CHILD:
		return mapping->parent != 0;
	}
	return false;
}

static bool is_at(const struct ptx_maps *maps, uint32_t at, const struct ptx_mapping *mapping)
{
	const size_t bytes = 1 + mapping->id_bytes + strlen(mapping->path) + 1;
	const unsigned char *text = maps->text + at;

	return bytes <= PTX_MAPS_ROOM && at <= PTX_MAPS_ROOM - bytes &&
	       *text == mapping->id_bytes && !memcmp(text + 1, mapping->id, mapping->id_bytes) &&
	       !strcmp((const char *)text + 1 + mapping->id_bytes, mapping->path);
}

/* Processes of a family have much in common, and one after the other the same programs. */
static int put_file(struct ptx_maps *maps, const struct ptx_mapping *mapping, uint32_t *file)
{
	const size_t path_bytes = strlen(mapping->path) + 1;
	const uint32_t bytes = (uint32_t)(1 + mapping->id_bytes + path_bytes);
	uint32_t at;

	for (unsigned i = ptx_maps_count(maps); i-- > 0;)
		if (atomic_load_explicit(&maps->note[i].ready, memory_order_acquire) &&
		    maps->note[i].file && is_at(maps, maps->note[i].file - 1, mapping)) {
			*file = maps->note[i].file;
			return 0;
		}
	if (path_bytes > PTX_MAPPING_PATH_BYTES || !take(&maps->used, bytes, PTX_MAPS_ROOM, &at))
		return ENOSPC;
	maps->text[at] = (unsigned char)mapping->id_bytes;
	memcpy(maps->text + at + 1, mapping->id, mapping->id_bytes);
	memcpy(maps->text + at + 1 + mapping->id_bytes, mapping->path, path_bytes);
	*file = at + 1;
	return 0;
}

static int put_note(struct ptx_maps *maps, const struct ptx_mapping *mapping)
{
	struct ptx_maps_note *note;
	uint32_t i, file = 0;
	int err = 0;

	if (atomic_load_explicit(&maps->ended_ns, memory_order_acquire))
		return ENOSPC; /* what could be said now would be taken with what was not */
	if (mapping->kind == PTX_MAPPING_FILE)
		err = put_file(maps, mapping, &file);
	if (err || !take(&maps->taken, 1, PTX_MAPS_NOTES, &i))
		return ENOSPC;
	note = &maps->note[i];
	note->kind = mapping->kind;
	note->pid = mapping->pid;
	note->parent = mapping->parent;
	note->start = mapping->start;
	note->end = mapping->end;
	note->offset = mapping->offset;
	note->base = mapping->base;
	note->from_ns = mapping->from_ns;
	note->file = file;
	atomic_store_explicit(&note->ready, 1, memory_order_release);
	return 0;
}

static void end(struct ptx_maps *maps, int64_t when_ns)
{
	int64_t old = atomic_load_explicit(&maps->ended_ns, memory_order_relaxed);

	while ((!old || when_ns < old) &&
	       !atomic_compare_exchange_weak_explicit(&maps->ended_ns, &old, when_ns,
						      memory_order_acq_rel, memory_order_relaxed))
		;
}

int ptx_maps_put(struct ptx_maps *maps, const struct ptx_mapping *mapping)
{
	int err = put_note(maps, mapping);

	if (err)
		end(maps, mapping->from_ns);
	return err;
}

int64_t ptx_maps_ended(const struct ptx_maps *maps)
{
	int64_t ended_ns = atomic_load_explicit(&maps->ended_ns, memory_order_acquire);

	return ended_ns > 0 && ended_ns < INT64_MAX ? ended_ns : 0;
}
