/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * log/read_lists.c - reads SCHEMAS and OBJECTS blocks (FORMAT 3.10, 3.11).
 *
 * This file checks the form of a block (FORMAT S1, O1), so that its entries can be visited. FORMAT
 * S2 has two parts. This file checks the first part, the length and the NUL of a text. The user of
 * the schema checks the second part: it parses the text. If the text is not a schema, the data of
 * that type has no fields, and the rest of the log remains readable.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "log/read_decode.h"
#include "record/schema.h"

/*
 * Returns the size of an entry with its text and padding. The sum cannot overflow: the field
 * `bytes` has 32 bits, and size_t has 64.
 */
static size_t entry_bytes(const struct ptx_log_schema *entry)
{
	return sizeof(*entry) + (((size_t)entry->bytes + 7) & ~(size_t)7);
}

/*
 * Checks FORMAT S1. `left` is the number of bytes up to the end of the payload. The function
 * compares `left` with the size of an entry's head before it reads the head. Then it compares
 * `left` with the length that the head gives.
 */
const char *ptx_log_check_schemas(const struct ptx_log_block *block, const void *payload)
{
	const uint8_t *at = payload;
	size_t left = block->payload_bytes;

	for (uint32_t i = 0; i < block->records; i++) {
		const struct ptx_log_schema *entry = (const void *)at;

		if (left < sizeof(*entry) || left < entry_bytes(entry))
			return "a schema runs past its block";
		/* Type 0 is not valid, and types from PTX_TYPE_MAX on are outside schema[]. */
		if (!entry->type || entry->type >= PTX_TYPE_MAX)
			return "a schema's event type is out of range";
		/*
		 * Entries have no table of offsets: the length of each entry leads to the next
		 * entry.
		 */
		at += entry_bytes(entry);
		left -= entry_bytes(entry);
	}
	return left ? "a block of schemas has another length than its entries" : NULL;
}

/* Checks FORMAT O1. The product has 64 bits and cannot overflow. */
const char *ptx_log_check_objects(const struct ptx_log_block *block, const void *payload)
{
	const struct ptx_object *object = payload;

	if (block->payload_bytes != (uint64_t)block->records * sizeof(*object))
		return "a block of objects has another length than its count says";
	/* The payload has all entries, so object[i] is inside. */
	for (uint32_t i = 0; i < block->records; i++)
		if (!memchr(object[i].name, 0, sizeof(object[i].name)))
			return "the name of an object has no end";
	return NULL;
}

/*
 * Returns the next entry, or the end of the payload after the last entry. The payload must have
 * passed ptx_log_check_schemas().
 */
const struct ptx_log_schema *ptx_log_schema_next(const struct ptx_log_schema *entry)
{
	return (const void *)((const uint8_t *)entry + entry_bytes(entry));
}

/*
 * Returns the text of an entry. Returns NULL if the text is empty or too long, or if the text has a
 * NUL before its last byte or does not end with a NUL. This is the part of FORMAT S2 that needs no
 * parsing.
 */
const char *ptx_log_schema_text(const struct ptx_log_schema *entry)
{
	/* The text is directly behind the head. */
	const char *text = (const char *)(entry + 1);

	if (entry->bytes < 2 || entry->bytes > PTX_SCHEMA_BYTES ||
	    strnlen(text, entry->bytes) != entry->bytes - 1)
		return NULL;
	return text;
}

/*
 * Adds the schemas of a block. The first entry of a type counts (FORMAT 3.10). Returns 0 or ENOMEM.
 */
int ptx_log_decode_schemas(const struct ptx_log_block *block, const void *payload,
			   struct ptx_read_lists *lists)
{
	const struct ptx_log_schema *entry = payload;

	for (uint32_t i = 0; i < block->records; i++, entry = ptx_log_schema_next(entry)) {
		const char *text = ptx_log_schema_text(entry);

		/* An entry that breaks FORMAT S2, and a second entry of a type, are ignored. */
		if (!text || lists->schema[entry->type])
			continue;
		/* A copy, because the next read of the log may overwrite the payload in memory. */
		lists->schema[entry->type] = strdup(text);
		if (!lists->schema[entry->type])
			return ENOMEM;
	}
	return 0;
}

/*
 * Adds the objects of a block. The list keeps at most PTX_LOG_OBJECTS_MAX entries, and further ones
 * are ignored (FORMAT 3.11), so that a hostile log cannot make its reader allocate unlimited
 * memory. Returns 0 or ENOMEM.
 */
int ptx_log_decode_objects(const struct ptx_log_block *block, const void *payload,
			   struct ptx_read_lists *lists)
{
	size_t count = block->records;
	struct ptx_object *more;

	/*
	 * A block with this flag has all entries, also those of earlier blocks. So the list begins
	 * again.
	 */
	if (block->flags & PTX_LOG_ALL_NAMES)
		lists->objects = 0;
	/* lists->objects is never above the maximum, so the difference is not below 0. */
	if (count > PTX_LOG_OBJECTS_MAX - lists->objects)
		/* FORMAT 3.11 limits the number of objects. */
		count = PTX_LOG_OBJECTS_MAX - lists->objects;
	if (count == 0)
		return 0;
	/* The count is bounded above, so the product cannot overflow. */
	more = realloc(lists->object, (lists->objects + count) * sizeof(*more));
	if (!more)
		return ENOMEM;
	/* The payload has the layout of the structure (FORMAT 3.11). */
	memcpy(more + lists->objects, payload, count * sizeof(*more));
	lists->object = more;
	lists->objects += count;
	return 0;
}

/* Frees the lists, also those that are incomplete after an ENOMEM. */
void ptx_read_lists_fini(struct ptx_read_lists *lists)
{
	/* Type 0 has no schema; its element is NULL, and free() permits that. */
	for (unsigned type = 0; type < PTX_TYPE_MAX; type++)
		free(lists->schema[type]);
	free(lists->object);
	ptx_mappings_fini(&lists->mappings);
	memset(lists, 0, sizeof(*lists));
}
