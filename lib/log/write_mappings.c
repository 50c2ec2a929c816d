/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * log/write_mappings.c - encodes the mappings of files (FORMAT 3.12); write_lists.c sends them.
 *
 * The entries are kept as bytes with the layout of the file, because the tail writes all of them
 * again. If an entry were missing, a reader could find an old file at an address where another file
 * is mapped now. Therefore, if a valid entry cannot be kept, the list ends with an entry which
 * shows that mappings after this time are not known.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "log/writer.h"

/*
 * Returns the length of a path with its padding. Paths are padded so that the next entry is 8-byte
 * aligned (FORMAT M1).
 */
static size_t write_mappings_padded(size_t bytes)
{
	return (bytes + 7) & ~(size_t)7;
}

/*
 * Makes room for one entry of this many bytes, and for the last entry of write_mappings_end(),
 * which must not fail. Returns false if memory is lacking; the list is then as before.
 */
static bool make_room(struct ptx_log_lists *lists, size_t bytes)
{
	size_t room = lists->mapping_room ? lists->mapping_room : 4096;
	uint8_t *more;
	int saved = errno;

	/* Room for the last entry is reserved with each entry. */
	bytes += sizeof(struct ptx_log_mapping);
	while (room - lists->mapping_bytes < bytes)
		room *= 2;
	if (room == lists->mapping_room)
		return true;
	more = realloc(lists->mapping, room);
	errno = saved;
	if (!more)
		return false;
	lists->mapping = more;
	lists->mapping_room = room;
	return true;
}

/*
 * Adds an entry and its path. Returns ENOSPC if the list has ended, or if a further entry would
 * exceed the limits up to which every reader keeps entries (FORMAT 3.12). The last entry below the
 * limit is reserved for the entry that ends the list.
 */
static int write_mappings_add(struct ptx_log_lists *lists, const struct ptx_log_mapping *entry,
			      const char *path)
{
	size_t bytes = sizeof(*entry) + write_mappings_padded(entry->path_bytes);
	uint8_t *to;

	if (lists->mappings_ended || lists->mappings >= PTX_MAPPINGS_MAX - 1 ||
	    entry->path_bytes > PTX_MAPPING_PATHS_MAX - lists->path_bytes)
		return ENOSPC;
	if (!make_room(lists, bytes))
		return ENOMEM;
	to = lists->mapping + lists->mapping_bytes;
	/* The padding behind the path is zero. */
	memset(to, 0, bytes);
	memcpy(to, entry, sizeof(*entry));
	if (entry->path_bytes)
		memcpy(to + sizeof(*entry), path, entry->path_bytes);
	lists->mapping_bytes += bytes;
	lists->path_bytes += entry->path_bytes;
	lists->mappings++;
	return 0;
}

/*
 * Ends the list at the time when_ns: a last entry of the kind "gone" for process 0 shows that
 * mappings after this time are not known (FORMAT 3.12). make_room() has reserved the memory for the
 * last entry. An empty list needs no last entry, because it has no entry that could be wrong.
 */
static void write_mappings_end(struct ptx_log_lists *lists, int64_t when_ns)
{
	struct ptx_log_mapping entry = { .kind = PTX_MAPPING_GONE, .end = UINT64_MAX,
					 .time_ns = when_ns };

	if (lists->mappings && !lists->mappings_ended) {
		memcpy(lists->mapping + lists->mapping_bytes, &entry, sizeof(entry));
		lists->mapping_bytes += sizeof(entry);
		lists->mappings++;
	}
	/* Every later call of write_mappings_add() returns ENOSPC. */
	lists->mappings_ended = true;
}

/*
 * The fields depend on the kind: a child has its parent in file_offset, and only a file has path
 * and build-id. The lengths are checked, because they come from shared memory. If
 * write_mappings_add() fails, the list ends. The list also ends if the entry itself is of the kind
 * "gone" for process 0.
 */
int ptx_log_mapping(struct ptx_log *log, const struct ptx_mapping *mapping)
{
	struct ptx_log_mapping entry = { .kind = mapping->kind, .pid = mapping->pid,
					 .start = mapping->start, .end = mapping->end,
					 .file_offset = mapping->offset, .base = mapping->base,
					 .time_ns = mapping->from_ns };
	const char *path = NULL;
	int err;

	/* FORMAT 3.12 stores the parent in the field that a child does not need. */
	if (mapping->kind == PTX_MAPPING_CHILD)
		entry.file_offset = mapping->parent;
	if (mapping->kind == PTX_MAPPING_FILE) {
		path = mapping->path;
		entry.path_bytes = (uint32_t)strnlen(path, PTX_MAPPING_PATH_BYTES) + 1;
		if (entry.path_bytes > PTX_MAPPING_PATH_BYTES ||
		    mapping->id_bytes > PTX_MAPPING_ID_BYTES)
			return EINVAL;
		/* The id fits: id_bytes was compared above. */
		entry.build_id_bytes = mapping->id_bytes;
		memcpy(entry.build_id, mapping->id, mapping->id_bytes);
	}
	err = write_mappings_add(&log->lists, &entry, path);
	if (err || (entry.kind == PTX_MAPPING_GONE && !entry.pid))
		write_mappings_end(&log->lists, entry.time_ns);
	return err;
}

/*
 * In a log of slots, mappings are written only to the first half of the lists area, so that later
 * schemas and objects have room. Without its schema, the data of a type has no meaning. The tail
 * has all mappings.
 */
bool ptx_log_mappings_wait(const struct ptx_log *log)
{
	const struct ptx_log_lists *lists = &log->lists;
	const struct ptx_log_header *h = log->header;
	size_t bytes = lists->mapping_bytes - lists->mappings_written.bytes;

	/* A sequence has no limit; blocks follow each other. */
	return bytes && (!log->loop || lists->at + sizeof(struct ptx_log_block) + bytes <=
					       h->lists_offset + h->lists_bytes / 2);
}

/* As with the other lists, the block has all entries and flag 1, or only the unwritten entries. */
int ptx_log_mappings_prepare(struct ptx_log *log, bool all, uint64_t offset)
{
	static const struct ptx_log_mappings none;
	struct ptx_log_lists *lists = &log->lists;
	/* Progress is counted in bytes and in entries, because the header needs both. */
	const struct ptx_log_mappings *from = all ? &none : &lists->mappings_written;
	size_t bytes = lists->mapping_bytes - from->bytes;
	struct ptx_log_block *block;
	void *payload = ptx_log_meta_payload(log, bytes);

	if (!payload)
		return ENOMEM;
	/* memcpy() from a NULL list is undefined even for 0 bytes. */
	if (bytes)
		memcpy(payload, lists->mapping + from->bytes, bytes);
	block = (struct ptx_log_block *)(void *)log->meta.bytes;
	/* The block has the entries behind `from`. */
	block->records = lists->mappings - from->count;
	block->flags = all ? PTX_LOG_ALL_NAMES : 0;
	lists->mappings_waiting.bytes = lists->mapping_bytes;
	lists->mappings_waiting.count = lists->mappings;
	ptx_log_meta_ready(log, PTX_LOG_MAPPINGS, bytes, offset);
	return 0;
}

/* An entry that breaks FORMAT M2 is dropped, because the tail must only have valid entries. */
int ptx_log_mappings_restore(struct ptx_log *log, const struct ptx_log_block *block,
			     const void *payload)
{
	const struct ptx_log_mapping *entry = payload;
	struct ptx_log_lists *lists = &log->lists;

	for (uint32_t i = 0; i < block->records; i++, entry = ptx_log_mapping_next(entry))
		if (!ptx_log_check_mapping(entry) &&
		    write_mappings_add(lists, entry, (const char *)(entry + 1)) == ENOMEM)
			return ENOMEM;
	/* The file has these entries, so only later entries are written. */
	lists->mappings_written.bytes = lists->mapping_bytes;
	lists->mappings_written.count = lists->mappings;
	return 0;
}
