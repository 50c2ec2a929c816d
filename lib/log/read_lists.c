/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * log/read_lists.c - what a log says of types and things, for its readers.
 *
 * A block's form is checked here, so that its entries can be walked. Whether a text is a schema is
 * for who shows it to find out: one that is not makes its type opaque and spoils nothing else.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "log/read_decode.h"
#include "record/schema.h"

static size_t entry_bytes(const struct ptx_log_schema *entry)
{
	return sizeof(*entry) + (((size_t)entry->bytes + 7) & ~(size_t)7);
}

const char *ptx_log_check_schemas(const struct ptx_log_block *block, const void *payload)
{
	const uint8_t *at = payload;
	size_t left = block->payload_bytes;

	for (uint32_t i = 0; i < block->records; i++) {
		const struct ptx_log_schema *entry = (const void *)at;

		if (left < sizeof(*entry) || left < entry_bytes(entry))
			return "a schema runs past its block";
		if (!entry->type || entry->type >= PTX_TYPE_MAX)
			return "a schema's event type is out of range";
		at += entry_bytes(entry);
		left -= entry_bytes(entry);
	}
	return left ? "a block of schemas has another length than its entries" : NULL;
}

const char *ptx_log_check_objects(const struct ptx_log_block *block, const void *payload)
{
	const struct ptx_object *object = payload;

	if (block->payload_bytes != (uint64_t)block->records * sizeof(*object))
		return "a block of objects has another length than its count says";
	for (uint32_t i = 0; i < block->records; i++)
		if (!memchr(object[i].name, 0, sizeof(object[i].name)))
			return "the name of an object has no end";
	return NULL;
}

const struct ptx_log_schema *ptx_log_schema_next(const struct ptx_log_schema *entry)
{
	return (const void *)((const uint8_t *)entry + entry_bytes(entry));
}

const char *ptx_log_schema_text(const struct ptx_log_schema *entry)
{
	const char *text = (const char *)(entry + 1);

	if (entry->bytes < 2 || entry->bytes > PTX_SCHEMA_BYTES ||
	    strnlen(text, entry->bytes) != entry->bytes - 1)
		return NULL;
	return text;
}

int ptx_log_decode_schemas(const struct ptx_log_block *block, const void *payload,
			   struct ptx_read_lists *said)
{
	const struct ptx_log_schema *entry = payload;

	for (uint32_t i = 0; i < block->records; i++, entry = ptx_log_schema_next(entry)) {
		const char *text = ptx_log_schema_text(entry);

		if (!text || said->schema[entry->type]) /* the first one stays */
			continue;
		said->schema[entry->type] = strdup(text);
		if (!said->schema[entry->type])
			return ENOMEM;
	}
	return 0;
}

int ptx_log_decode_objects(const struct ptx_log_block *block, const void *payload,
			   struct ptx_read_lists *said)
{
	size_t count = block->records;
	struct ptx_object *more;

	if (block->flags & PTX_LOG_ALL_NAMES) /* with those that were met before */
		said->objects = 0;
	if (count > PTX_LOG_OBJECTS_MAX - said->objects)
		count = PTX_LOG_OBJECTS_MAX - said->objects;
	if (count == 0)
		return 0;
	more = realloc(said->object, (said->objects + count) * sizeof(*more));
	if (!more)
		return ENOMEM;
	memcpy(more + said->objects, payload, count * sizeof(*more));
	said->object = more;
	said->objects += count;
	return 0;
}

void ptx_read_lists_fini(struct ptx_read_lists *said)
{
	for (unsigned type = 0; type < PTX_TYPE_MAX; type++)
		free(said->schema[type]);
	free(said->object);
	ptx_mappings_fini(&said->mappings);
	memset(said, 0, sizeof(*said));
}
