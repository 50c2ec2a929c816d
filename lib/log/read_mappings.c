/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * log/read_mappings.c - reads MAPPINGS blocks (FORMAT 3.12).
 *
 * This file checks the form of a block (FORMAT M1), so that its entries can be visited. An entry
 * that breaks FORMAT M2 is ignored, and the other entries are used. Without a mapping some names of
 * functions are missing, but no event is missing.
 */
#include <errno.h>
#include <string.h>

#include "log/read_decode.h"

/*
 * Returns the size of an entry with its path and padding. The sum cannot overflow: path_bytes has
 * 32 bits, size_t 64.
 */
static size_t entry_bytes(const struct ptx_log_mapping *entry)
{
	return sizeof(*entry) + (((size_t)entry->path_bytes + 7) & ~(size_t)7);
}

/* After ptx_log_check_mappings() the next entry is inside the payload, or is the payload's end. */
const struct ptx_log_mapping *ptx_log_mapping_next(const struct ptx_log_mapping *entry)
{
	return (const void *)((const uint8_t *)entry + entry_bytes(entry));
}

/* FORMAT M1: each length is compared with the remaining bytes before the entry is used. */
const char *ptx_log_check_mappings(const struct ptx_log_block *block, const void *payload)
{
	const uint8_t *at = payload;
	size_t left = block->payload_bytes;

	for (uint32_t i = 0; i < block->records; i++) {
		const struct ptx_log_mapping *entry = (const void *)at;

		/* The head must be inside before its length is read. */
		if (left < sizeof(*entry) || left < entry_bytes(entry))
			return "a mapping runs past its block";
		at += entry_bytes(entry);
		left -= entry_bytes(entry);
	}
	return left ? "a block of mappings has another length than its entries" : NULL;
}

/*
 * Checks the parts of FORMAT M2 for the kind "file". If a build-id were too long, readers would
 * read behind its field. If a path had no NUL at its end, they would read behind the entry. Returns
 * NULL, or the reason of a failure.
 */
static const char *check_file(const struct ptx_log_mapping *entry)
{
	const char *path = (const char *)(entry + 1);

	/* The field has PTX_MAPPING_ID_BYTES; later code copies build_id_bytes of them. */
	if (entry->build_id_bytes > PTX_MAPPING_ID_BYTES)
		return "its build-id is too long";
	if (entry->path_bytes == 0 || entry->path_bytes > PTX_MAPPING_PATH_BYTES)
		return "its path has an impossible length";
	/* FORMAT M2: the only NUL is the last byte, so the path can be used as a string. */
	if (strnlen(path, entry->path_bytes) != entry->path_bytes - 1)
		return "the end of its path is not where it should be";
	return NULL;
}

/*
 * An unknown kind is no error: a later minor version may define the kind, and readers skip the
 * entry.
 */
const char *ptx_log_check_mapping(const struct ptx_log_mapping *entry)
{
	/* An empty or reversed range would break the search for an address. */
	if ((entry->kind == PTX_MAPPING_FILE || entry->kind == PTX_MAPPING_GONE) &&
	    entry->start >= entry->end)
		return "it ends before it starts";
	return entry->kind == PTX_MAPPING_FILE ? check_file(entry) : NULL;
}

/*
 * Returns false for an entry that the reader ignores. The path of *mapping points into the entry;
 * ptx_mappings_add() copies it.
 */
static bool read_mappings_decode(const struct ptx_log_mapping *entry, struct ptx_mapping *mapping)
{
	if (entry->kind < PTX_MAPPING_FILE || entry->kind > PTX_MAPPING_CHILD ||
	    ptx_log_check_mapping(entry))
		return false;
	memset(mapping, 0, sizeof(*mapping));
	mapping->kind = entry->kind;
	mapping->pid = entry->pid;
	mapping->from_ns = entry->time_ns;
	/* A note has the time at which a mapping begins; ptx_mappings_settle() finds its end. */
	mapping->until_ns = INT64_MAX;
	/* A child has no range: file_offset has the parent's process id. */
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
	/* The path has its NUL: ptx_log_check_mapping() has accepted the entry. */
	mapping->path = (const char *)(entry + 1);
	return true;
}

/*
 * If the list has reached its limit (FORMAT 3.12), the function ignores further entries and returns
 * 0.
 */
int ptx_log_decode_mappings(const struct ptx_log_block *block, const void *payload,
			    struct ptx_read_lists *lists)
{
	const struct ptx_log_mapping *entry = payload;
	struct ptx_mapping mapping;
	int err = 0;

	/*
	 * A block with this flag has all entries, also those of earlier blocks. So the list begins
	 * again.
	 */
	if (block->flags & PTX_LOG_ALL_NAMES)
		ptx_mappings_fini(&lists->mappings);
	for (uint32_t i = 0; i < block->records && !err; i++, entry = ptx_log_mapping_next(entry))
		/* An entry that breaks FORMAT M2 or has an unknown kind is ignored. */
		if (read_mappings_decode(entry, &mapping))
			err = ptx_mappings_add(&lists->mappings, &mapping);
	return err == ENOSPC ? 0 : err;
}
