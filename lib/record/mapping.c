/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "record/mapping.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/*
 * An event's time and that of a note are read from different clocks: so long before anything was
 * noted of a process the first notes hold already.
 */
#define EARLY_NS 1000000

#define GENERATIONS 16 /* of parents that are asked */

static bool make_room(struct ptx_mappings *list)
{
	size_t room = list->room ? 2 * list->room : 64;
	struct ptx_mapping *more;

	if (list->count < list->room)
		return true;
	more = realloc(list->mapping, room * sizeof *more);
	if (!more)
		return false;
	list->mapping = more;
	list->room = room;
	return true;
}

int ptx_mappings_add(struct ptx_mappings *list, const struct ptx_mapping *mapping)
{
	size_t len = mapping->path ? strlen(mapping->path) + 1 : 0;
	int saved = errno;
	char *path = NULL;

	if (list->count >= PTX_MAPPINGS_MAX || len > PTX_MAPPING_PATHS_MAX - list->path_bytes)
		return ENOSPC;
	if (len)
		path = malloc(len);
	if ((len && !path) || !make_room(list)) {
		free(path);
		errno = saved;
		return ENOMEM;
	}
	if (path)
		memcpy(path, mapping->path, len);
	list->mapping[list->count] = *mapping;
	list->mapping[list->count++].path = path;
	list->path_bytes += len;
	return 0;
}

void ptx_mappings_fini(struct ptx_mappings *list)
{
	for (size_t i = 0; i < list->count; i++)
		free((char *)(uintptr_t)list->mapping[i].path);
	free(list->mapping);
	memset(list, 0, sizeof *list);
}

/* Of one time, what goes stands before what comes. */
static int in_order(const void *a, const void *b)
{
	const struct ptx_mapping *x = a, *y = b;

	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	if (x->from_ns != y->from_ns)
		return x->from_ns < y->from_ns ? -1 : 1;
	if ((x->kind == PTX_MAPPING_GONE) != (y->kind == PTX_MAPPING_GONE))
		return x->kind == PTX_MAPPING_GONE ? -1 : 1;
	return (x->start > y->start) - (x->start < y->start);
}

static bool overlap(const struct ptx_mapping *a, const struct ptx_mapping *b)
{
	return a->start < b->end && b->start < a->end;
}

/* A child's descent ends when all that it has goes: it has executed another program. */
static bool ends(const struct ptx_mapping *old, const struct ptx_mapping *note)
{
	if (old->kind == PTX_MAPPING_CHILD)
		return note->kind == PTX_MAPPING_CHILD ||
		       (note->kind == PTX_MAPPING_GONE && note->start == 0 &&
			note->end == UINT64_MAX);
	return note->kind != PTX_MAPPING_CHILD && overlap(old, note);
}

/* From then on nothing is known of any process. */
static void cut(struct ptx_mappings *list, int64_t when_ns)
{
	size_t kept = 0;

	for (size_t i = 0; i < list->count; i++) {
		struct ptx_mapping *m = &list->mapping[i];

		if (m->from_ns >= when_ns) {
			free((char *)(uintptr_t)m->path);
			continue;
		}
		if (m->until_ns > when_ns)
			m->until_ns = when_ns;
		list->mapping[kept++] = *m;
	}
	list->count = kept;
}

void ptx_mappings_settle(struct ptx_mappings *list)
{
	struct ptx_mapping *all = list->mapping;
	int64_t end_ns = INT64_MAX;
	size_t first = 0, kept = 0;

	if (list->count)
		qsort(all, list->count, sizeof *all, in_order);
	for (size_t i = 0; i < list->count; i++) {
		struct ptx_mapping note = all[i];

		if (first < kept && all[first].pid != note.pid)
			first = kept;
		for (size_t j = first; j < kept; j++)
			if (all[j].until_ns == INT64_MAX && ends(&all[j], &note))
				all[j].until_ns = note.from_ns;
		if (note.kind == PTX_MAPPING_GONE && note.pid == 0 && note.from_ns < end_ns)
			end_ns = note.from_ns;
		if (note.kind == PTX_MAPPING_GONE) {
			free((char *)(uintptr_t)note.path);
			continue;
		}
		note.until_ns = INT64_MAX;
		note.first = first == kept || note.from_ns == all[first].from_ns;
		all[kept++] = note;
	}
	list->count = kept;
	if (end_ns != INT64_MAX)
		cut(list, end_ns);
}

static const struct ptx_mapping *find_own(const struct ptx_mappings *list, uint32_t pid,
					  uint64_t address, int64_t time_ns)
{
	const struct ptx_mapping *early = NULL;

	for (size_t i = 0; i < list->count; i++) {
		const struct ptx_mapping *m = &list->mapping[i];

		if (m->pid != pid || m->kind != PTX_MAPPING_FILE || address < m->start ||
		    address >= m->end || time_ns >= m->until_ns)
			continue;
		if (time_ns >= m->from_ns)
			return m;
		if (m->first && (uint64_t)m->from_ns - (uint64_t)time_ns <= EARLY_NS)
			early = m;
	}
	return early;
}

static const struct ptx_mapping *find_birth(const struct ptx_mappings *list, uint32_t pid,
					    int64_t time_ns)
{
	for (size_t i = list->count; i-- > 0;) {
		const struct ptx_mapping *m = &list->mapping[i];

		if (m->pid != pid || m->kind != PTX_MAPPING_CHILD || time_ns >= m->until_ns)
			continue;
		if (time_ns >= m->from_ns ||
		    (m->first && (uint64_t)m->from_ns - (uint64_t)time_ns <= EARLY_NS))
			return m;
	}
	return NULL;
}

static bool is_same(const struct ptx_mapping *a, const struct ptx_mapping *b)
{
	return a->start == b->start && a->end == b->end && a->id_bytes == b->id_bytes &&
	       !memcmp(a->id, b->id, a->id_bytes) && !strcmp(a->path, b->path);
}

/* A child that was seen with something else there may have had that already. */
static bool agrees(const struct ptx_mappings *list, const struct ptx_mapping *birth,
		   uint64_t address, const struct ptx_mapping *inherited)
{
	for (size_t i = 0; i < list->count; i++) {
		const struct ptx_mapping *m = &list->mapping[i];

		if (m->pid == birth->pid && m->kind == PTX_MAPPING_FILE &&
		    m->from_ns >= birth->from_ns && m->from_ns < birth->until_ns &&
		    address >= m->start && address < m->end && !is_same(m, inherited))
			return false;
	}
	return true;
}

static const struct ptx_mapping *find(const struct ptx_mappings *list, uint32_t pid,
				      uint64_t address, int64_t time_ns, unsigned generation)
{
	const struct ptx_mapping *found = find_own(list, pid, address, time_ns), *birth;

	if (found || generation == GENERATIONS)
		return found;
	birth = find_birth(list, pid, time_ns);
	if (!birth)
		return NULL;
	found = find(list, birth->parent, address,
		     birth->from_ns < time_ns ? birth->from_ns : time_ns, generation + 1);
	return found && agrees(list, birth, address, found) ? found : NULL;
}

const struct ptx_mapping *ptx_mappings_find(const struct ptx_mappings *list, uint32_t pid,
					    uint64_t address, int64_t time_ns)
{
	return find(list, pid, address, time_ns, 0);
}

size_t ptx_mapping_build_id(const void *notes, size_t len, uint8_t id[PTX_MAPPING_ID_BYTES])
{
	const uint8_t *at = notes;
	Elf64_Nhdr note; /* the same for both classes */

	while (len >= sizeof note) {
		uint64_t name, body;

		memcpy(&note, at, sizeof note);
		name = ((uint64_t)note.n_namesz + 3) & ~UINT64_C(3);
		body = ((uint64_t)note.n_descsz + 3) & ~UINT64_C(3);
		if (name + body > len - sizeof note)
			return 0;
		if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 &&
		    !memcmp(at + sizeof note, "GNU", 4)) {
			if (note.n_descsz == 0 || note.n_descsz > PTX_MAPPING_ID_BYTES)
				return 0;
			memcpy(id, at + sizeof note + name, note.n_descsz);
			return note.n_descsz;
		}
		at += sizeof note + name + body;
		len -= sizeof note + name + body;
	}
	return 0;
}
