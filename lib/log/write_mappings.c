/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * log/write_mappings.c - which file was mapped where, on the way to the file; write_lists.c sends
 * it.
 *
 * The entries are kept as they stand in the file, since all of them are written again at its end.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "log/writer.h"

static size_t padded(size_t bytes)
{
	return (bytes + 7) & ~(size_t)7;
}

/* With room for the entry that ends them. */
static bool make_room(struct ptx_log_lists *lists, size_t bytes)
{
	size_t room = lists->mapping_room ? lists->mapping_room : 4096;
	uint8_t *more;
	int saved = errno;

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

static int add(struct ptx_log_lists *lists, const struct ptx_log_mapping *entry, const char *path)
{
	size_t bytes = sizeof(*entry) + padded(entry->path_bytes);
	uint8_t *to;

	if (lists->mappings_ended || lists->mappings >= PTX_MAPPINGS_MAX - 1 ||
	    entry->path_bytes > PTX_MAPPING_PATHS_MAX - lists->path_bytes)
		return ENOSPC;
	if (!make_room(lists, bytes))
		return ENOMEM;
	to = lists->mapping + lists->mapping_bytes;
	memset(to, 0, bytes);
	memcpy(to, entry, sizeof(*entry));
	if (entry->path_bytes)
		memcpy(to + sizeof(*entry), path, entry->path_bytes);
	lists->mapping_bytes += bytes;
	lists->path_bytes += entry->path_bytes;
	lists->mappings++;
	return 0;
}

/* What could not be told would make what was told before a lie. */
static void end(struct ptx_log_lists *lists, int64_t when_ns)
{
	struct ptx_log_mapping entry = { .kind = PTX_MAPPING_GONE, .end = UINT64_MAX,
					 .time_ns = when_ns };

	if (lists->mappings && !lists->mappings_ended) {
		memcpy(lists->mapping + lists->mapping_bytes, &entry, sizeof(entry));
		lists->mapping_bytes += sizeof(entry);
		lists->mappings++;
	}
	lists->mappings_ended = true;
}

int ptx_log_mapping(struct ptx_log *log, const struct ptx_mapping *mapping)
{
	struct ptx_log_mapping entry = { .kind = mapping->kind, .pid = mapping->pid,
					 .start = mapping->start, .end = mapping->end,
					 .file_offset = mapping->offset, .base = mapping->base,
					 .time_ns = mapping->from_ns };
	const char *path = NULL;
	int err;

	if (mapping->kind == PTX_MAPPING_CHILD)
		entry.file_offset = mapping->parent;
	if (mapping->kind == PTX_MAPPING_FILE) {
		path = mapping->path;
		entry.path_bytes = (uint32_t)strnlen(path, PTX_MAPPING_PATH_BYTES) + 1;
		if (entry.path_bytes > PTX_MAPPING_PATH_BYTES ||
		    mapping->id_bytes > PTX_MAPPING_ID_BYTES)
			return EINVAL;
		entry.build_id_bytes = mapping->id_bytes;
		memcpy(entry.build_id, mapping->id, mapping->id_bytes);
	}
	err = add(&log->lists, &entry, path);
	if (err || (entry.kind == PTX_MAPPING_GONE && !entry.pid))
		end(&log->lists, entry.time_ns);
	return err;
}

/* They take no more than half of the area, so that schemas and objects have room. */
bool ptx_log_mappings_wait(const struct ptx_log *log)
{
	const struct ptx_log_lists *lists = &log->lists;
	const struct ptx_log_header *h = log->header;
	size_t bytes = lists->mapping_bytes - lists->mappings_written.bytes;

	return bytes && (!log->loop || lists->at + sizeof(struct ptx_log_block) + bytes <=
					       h->lists_offset + h->lists_bytes / 2);
}

int ptx_log_mappings_prepare(struct ptx_log *log, bool all, uint64_t offset)
{
	static const struct ptx_log_mappings none;
	struct ptx_log_lists *lists = &log->lists;
	const struct ptx_log_mappings *from = all ? &none : &lists->mappings_written;
	size_t bytes = lists->mapping_bytes - from->bytes;
	struct ptx_log_block *block;
	void *payload = ptx_log_side_payload(log, bytes);

	if (!payload)
		return ENOMEM;
	if (bytes)
		memcpy(payload, lists->mapping + from->bytes, bytes);
	block = (struct ptx_log_block *)(void *)log->side.bytes;
	block->records = lists->mappings - from->count;
	block->flags = all ? PTX_LOG_ALL_NAMES : 0;
	lists->mappings_waiting.bytes = lists->mapping_bytes;
	lists->mappings_waiting.count = lists->mappings;
	ptx_log_side_ready(log, PTX_LOG_MAPPINGS, bytes, offset);
	return 0;
}

int ptx_log_mappings_take(struct ptx_log *log, const struct ptx_log_block *block,
			  const void *payload)
{
	const struct ptx_log_mapping *entry = payload;
	struct ptx_log_lists *lists = &log->lists;

	for (uint32_t i = 0; i < block->records; i++, entry = ptx_log_mapping_next(entry))
		if (!ptx_log_check_mapping(entry) &&
		    add(lists, entry, (const char *)(entry + 1)) == ENOMEM)
			return ENOMEM;
	lists->mappings_written.bytes = lists->mapping_bytes;
	lists->mappings_written.count = lists->mappings;
	return 0;
}
