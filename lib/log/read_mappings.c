/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * log/read_mappings.c - what a log says of mapped files, for its readers: FORMAT 3.12.
 *
 * A block's form is checked here, so that its entries can be walked. An entry that cannot be used
 * is left out and spoils nothing else.
 */
#include <errno.h>
#include <string.h>

#include "log/read_decode.h"

static size_t entry_bytes(const struct ptx_log_mapping *entry)
{
	return sizeof(*entry) + (((size_t)entry->path_bytes + 7) & ~(size_t)7);
}

const struct ptx_log_mapping *ptx_log_mapping_next(const struct ptx_log_mapping *entry)
{
	return (const void *)((const uint8_t *)entry + entry_bytes(entry));
}

const char *ptx_log_check_mappings(const struct ptx_log_block *block, const void *payload)
{
	const uint8_t *at = payload;
	size_t left = block->payload_bytes;

	for (uint32_t i = 0; i < block->records; i++) {
		const struct ptx_log_mapping *entry = (const void *)at;

		if (left < sizeof(*entry) || left < entry_bytes(entry))
			return "a mapping runs past its block";
		at += entry_bytes(entry);
		left -= entry_bytes(entry);
	}
	return left ? "a block of mappings has another length than its entries" : NULL;
}

static const char *check_file(const struct ptx_log_mapping *entry)
{
	const char *path = (const char *)(entry + 1);

	if (entry->build_id_bytes > PTX_MAPPING_ID_BYTES)
		return "its build-id is too long";
	if (entry->path_bytes == 0 || entry->path_bytes > PTX_MAPPING_PATH_BYTES)
		return "its path has an impossible length";
	if (strnlen(path, entry->path_bytes) != entry->path_bytes - 1)
		return "the end of its path is not where it should be";
	return NULL;
}

const char *ptx_log_check_mapping(const struct ptx_log_mapping *entry)
{
	if ((entry->kind == PTX_MAPPING_FILE || entry->kind == PTX_MAPPING_GONE) &&
	    entry->start >= entry->end)
		return "it ends before it starts";
	return entry->kind == PTX_MAPPING_FILE ? check_file(entry) : NULL;
}

static bool decode(const struct ptx_log_mapping *entry, struct ptx_mapping *mapping)
{
	if (entry->kind < PTX_MAPPING_FILE || entry->kind > PTX_MAPPING_CHILD ||
	    ptx_log_check_mapping(entry))
		return false;
	memset(mapping, 0, sizeof(*mapping));
	mapping->kind = entry->kind;
	mapping->pid = entry->pid;
	mapping->from_ns = entry->time_ns;
	mapping->until_ns = INT64_MAX;
	if (entry->kind == PTX_MAPPING_CHILD) {
		mapping->parent = (uint32_t)entry->file_offset;
		return true;
	}
	mapping->start = entry->start;
	mapping->end = entry->end;
	if (entry->kind == PTX_MAPPING_GONE)
		return true;
	mapping->offset = entry->file_offset;
	mapping->base = entry->base;
	mapping->id_bytes = entry->build_id_bytes;
	memcpy(mapping->id, entry->build_id, sizeof(mapping->id));
	mapping->path = (const char *)(entry + 1);
	return true;
}

int ptx_log_decode_mappings(const struct ptx_log_block *block, const void *payload,
			    struct ptx_read_lists *said)
{
	const struct ptx_log_mapping *entry = payload;
	struct ptx_mapping mapping;
	int err = 0;

	if (block->flags & PTX_LOG_ALL_NAMES) /* with those that were met before */
		ptx_mappings_fini(&said->mappings);
	for (uint32_t i = 0; i < block->records && !err; i++, entry = ptx_log_mapping_next(entry))
		if (decode(entry, &mapping))
			err = ptx_mappings_add(&said->mappings, &mapping);
	return err == ENOSPC ? 0 : err;
}
