/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * record/mapping.c - spans of mapped files from notes, and the file at an address.
 *
 * A log has notes in the order in which processes or their observers made them.
 * ptx_mappings_settle() makes spans of them once. Afterwards ptx_mappings_find() answers for any
 * time, in any order. Notes come from logs and from shared memory of other processes, so their
 * number and the length of their paths are limited.
 */
#include "record/mapping.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/*
 * Events and notes have stamps of different clocks, so the first event of a process may have an
 * earlier stamp than the first notes about the process. These notes are therefore also valid in the
 * EARLY_NS nanoseconds before their time.
 */
#define EARLY_NS 1000000

/*
 * The limit for the number of ancestors that are searched. In a hostile log, the parents could form
 * a circle.
 */
#define GENERATIONS 16

/* Makes room for one more mapping. Returns false if there is no memory. */
static bool grow_list(struct ptx_mappings *list)
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

	/* The limits bound the memory that a hostile log can demand. */
	if (list->count >= PTX_MAPPINGS_MAX || len > PTX_MAPPING_PATHS_MAX - list->path_bytes)
		return ENOSPC;
	/* The path is copied first: if the array cannot grow, the list is unchanged. */
	if (len)
		path = malloc(len);
	if ((len && !path) || !grow_list(list)) {
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

/* The paths are owned by the list, although the member is const for its readers. */
void ptx_mappings_fini(struct ptx_mappings *list)
{
	for (size_t i = 0; i < list->count; i++)
		free((char *)(uintptr_t)list->mapping[i].path);
	free(list->mapping);
	memset(list, 0, sizeof *list);
}

/*
 * Compares two notes for qsort(): by process, then by time. Among notes of one time, GONE precedes
 * the others, so that a range that is unmapped and mapped again at one time belongs to the new
 * file.
 */
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

/* Returns whether two ranges overlap. The ends of the ranges are exclusive. */
static bool do_overlap(const struct ptx_mapping *a, const struct ptx_mapping *b)
{
	return a->start < b->end && b->start < a->end;
}

/*
 * Returns whether `note` ends the span of `old`. A child inherits its parent's mappings until it
 * executes another program, which is noted as GONE for all addresses.
 */
static bool ends_span(const struct ptx_mapping *old, const struct ptx_mapping *note)
{
	if (old->kind == PTX_MAPPING_CHILD)
		return note->kind == PTX_MAPPING_CHILD ||
		       (note->kind == PTX_MAPPING_GONE && note->start == 0 &&
			note->end == UINT64_MAX);
	return note->kind != PTX_MAPPING_CHILD && do_overlap(old, note);
}

/*
 * Removes everything from when_ns on. A note GONE of pid 0 reports that further notes were lost,
 * so nothing is known of any process after it.
 */
static void forget_after(struct ptx_mappings *list, int64_t when_ns)
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

/*
 * The function works in place: `kept` never exceeds `i`, so that a note is read before its entry is
 * overwritten. `first` is the first kept span of the present process; spans of the processes before
 * it need not be compared.
 */
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
		/*
		 * Each new note ends the open spans that it contradicts. A process has few
		 * mappings, and the number of notes is limited, so a linear search is fast
		 * enough.
		 */
		for (size_t j = first; j < kept; j++)
			if (all[j].until_ns == INT64_MAX && ends_span(&all[j], &note))
				all[j].until_ns = note.from_ns;
		/* The earliest note GONE of pid 0 limits the spans of all processes. */
		if (note.kind == PTX_MAPPING_GONE && note.pid == 0 && note.from_ns < end_ns)
			end_ns = note.from_ns;
		/*
		 * A note GONE is not kept. Its path, if there is one, is freed here because the
		 * entry is overwritten.
		 */
		if (note.kind == PTX_MAPPING_GONE) {
			free((char *)(uintptr_t)note.path);
			continue;
		}
		note.until_ns = INT64_MAX;
		/*
		 * The oldest notes of a process describe mappings that existed before these notes
		 * were made. So find_own() accepts them a little before their time.
		 */
		note.first = first == kept || note.from_ns == all[first].from_ns;
		all[kept++] = note;
	}
	list->count = kept;
	if (end_ns != INT64_MAX)
		forget_after(list, end_ns);
}

/*
 * Returns the file that the process itself had at the address. A span that begins a little later
 * counts if it is one of the first of the process.
 */
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

/*
 * Returns the note about the parent that the process had at that time, or NULL. The search begins
 * at the end, because the youngest of several notes is the right note.
 */
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

/*
 * Returns whether both are the same part of the same file. The parent and the child may have noted
 * this part independently. The end is not compared: a process notes the last byte of a segment, an
 * observer the end of its last page.
 */
static bool is_same(const struct ptx_mapping *a, const struct ptx_mapping *b)
{
	return a->start == b->start && a->id_bytes == b->id_bytes &&
	       !memcmp(a->id, b->id, a->id_bytes) && !strcmp(a->path, b->path);
}

/*
 * Returns whether the notes of the child allow that it still had the inherited mapping. If a later
 * note shows another file at that address in the child, it is unknown when the child mapped that
 * file. So the result is false, and the caller reports no file.
 */
static bool mapping_agrees(const struct ptx_mappings *list, const struct ptx_mapping *birth,
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

/*
 * Returns the file at an address, or NULL. Searches the process, then its ancestors, each at the
 * time of the descendant's birth. `generation` counts the steps.
 */
static const struct ptx_mapping *find_inherited(const struct ptx_mappings *list, uint32_t pid,
				      uint64_t address, int64_t time_ns, unsigned generation)
{
	const struct ptx_mapping *found = find_own(list, pid, address, time_ns), *birth;

	if (found || generation == GENERATIONS)
		return found;
	birth = find_birth(list, pid, time_ns);
	if (!birth)
		return NULL;
	/*
	 * The child has the mappings that its parent had at the time of birth. Later changes of the
	 * parent do not concern the child.
	 */
	found = find_inherited(list, birth->parent, address,
			       birth->from_ns < time_ns ? birth->from_ns : time_ns, generation + 1);
	return found && mapping_agrees(list, birth, address, found) ? found : NULL;
}

const struct ptx_mapping *ptx_mappings_find(const struct ptx_mappings *list, uint32_t pid,
					    uint64_t address, int64_t time_ns)
{
	return find_inherited(list, pid, address, time_ns, 0);
}

/*
 * The notes are of a file or of memory that another process controls. All lengths are checked as
 * 64-bit sums, which cannot overflow.
 */
size_t ptx_mapping_build_id(const void *notes, size_t len, uint8_t id[PTX_MAPPING_ID_BYTES])
{
	const uint8_t *at = notes;
	Elf64_Nhdr note; /* the same struct for both ELF classes */

	while (len >= sizeof note) {
		uint64_t name, body;

		memcpy(&note, at, sizeof note);
		/* Names and descriptions are padded to 4 bytes. */
		name = ((uint64_t)note.n_namesz + 3) & ~UINT64_C(3);
		body = ((uint64_t)note.n_descsz + 3) & ~UINT64_C(3);
		if (name + body > len - sizeof note)
			return 0;
		/*
		 * Other owners use the same type numbers, so the name must match, too. n_namesz
		 * counts the NUL.
		 */
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
