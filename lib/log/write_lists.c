/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * log/write_lists.c - what event types mean, what things are called and, with write_mappings.c,
 * what was mapped, on the way to the file.
 *
 * In a sequence they go out as names do, before the block of events that waits. In a file of slots
 * they have an area in which block follows block; what has no room there waits for the end.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "log/writer.h"
#include "record/schema.h"

static bool has(const uint64_t *set, unsigned type)
{
	return set[type / 64] >> type % 64 & 1;
}

int ptx_log_schema(struct ptx_log *log, unsigned type, const char *text)
{
	struct ptx_log_lists *lists = &log->lists;
	size_t len = strnlen(text, PTX_SCHEMA_BYTES);
	int saved = errno;

	if (!type || type >= PTX_TYPE_MAX || len == PTX_SCHEMA_BYTES)
		return EINVAL;
	if (lists->schema[type])
		return strcmp(lists->schema[type], text) ? EEXIST : 0;
	lists->schema[type] = strdup(text);
	errno = saved;
	if (!lists->schema[type])
		return ENOMEM;
	lists->known[type / 64] |= UINT64_C(1) << type % 64;
	return 0;
}

static bool is_taken(const struct ptx_log_lists *lists, const struct ptx_object *object)
{
	for (size_t i = 0; i < lists->objects_taken; i++)
		if (!memcmp(&lists->object[i], object, sizeof(*object)))
			return true;
	return false;
}

int ptx_log_object(struct ptx_log *log, const struct ptx_object *object)
{
	struct ptx_log_lists *lists = &log->lists;

	if (is_taken(lists, object))
		return 0;
	if (lists->objects == lists->objects_room) {
		size_t room = lists->objects_room ? 2 * lists->objects_room : 64;
		int saved = errno;
		struct ptx_object *more = realloc(lists->object, room * sizeof(*more));

		errno = saved;
		if (!more)
			return ENOMEM;
		lists->object = more;
		lists->objects_room = room;
	}
	lists->object[lists->objects++] = *object;
	return 0;
}

bool ptx_log_lists_any(const struct ptx_log *log)
{
	static const uint64_t none[PTX_TYPE_MAX / 64];

	return log->lists.objects || log->lists.mappings ||
	       memcmp(log->lists.known, none, sizeof(none));
}

static size_t schema_bytes(const char *text)
{
	return sizeof(struct ptx_log_schema) + ((strlen(text) + 1 + 7) & ~(size_t)7);
}

int ptx_log_schemas_prepare(struct ptx_log *log, bool all, uint64_t offset)
{
	struct ptx_log_lists *lists = &log->lists;
	struct ptx_log_block *block;
	uint64_t which[PTX_TYPE_MAX / 64];
	size_t bytes = 0, count = 0;
	uint8_t *at;

	for (unsigned i = 0; i < PTX_TYPE_MAX / 64; i++)
		which[i] = lists->known[i] & ~(all ? 0 : lists->written[i]);
	for (unsigned type = 1; type < PTX_TYPE_MAX; type++)
		if (has(which, type))
			bytes += schema_bytes(lists->schema[type]);
	at = ptx_log_side_payload(log, bytes);
	if (!at)
		return ENOMEM;
	for (unsigned type = 1; type < PTX_TYPE_MAX; type++) {
		struct ptx_log_schema *entry = (struct ptx_log_schema *)(void *)at;

		if (!has(which, type))
			continue;
		entry->type = type;
		entry->bytes = (uint32_t)strlen(lists->schema[type]) + 1;
		memcpy(entry + 1, lists->schema[type], entry->bytes);
		at += schema_bytes(lists->schema[type]);
		count++;
	}
	block = (struct ptx_log_block *)(void *)log->side.bytes;
	block->records = (uint32_t)count;
	block->flags = all ? PTX_LOG_ALL_NAMES : 0;
	memcpy(lists->waiting, lists->known, sizeof(lists->waiting));
	ptx_log_side_ready(log, PTX_LOG_SCHEMAS, bytes, offset);
	return 0;
}

int ptx_log_objects_prepare(struct ptx_log *log, bool all, uint64_t offset)
{
	struct ptx_log_lists *lists = &log->lists;
	size_t first = all ? 0 : lists->objects_written, count = lists->objects - first;
	struct ptx_log_block *block;
	void *payload = ptx_log_side_payload(log, count * sizeof(struct ptx_object));

	if (!payload)
		return ENOMEM;
	if (count)
		memcpy(payload, lists->object + first, count * sizeof(struct ptx_object));
	block = (struct ptx_log_block *)(void *)log->side.bytes;
	block->records = (uint32_t)count;
	block->flags = all ? PTX_LOG_ALL_NAMES : 0;
	lists->objects_waiting = lists->objects;
	ptx_log_side_ready(log, PTX_LOG_OBJECTS, count * sizeof(struct ptx_object), offset);
	return 0;
}

/* What is in the side goes out; in slots, if it fits in the area. */
static int send(struct ptx_log *log)
{
	const struct ptx_log_header *h = log->header;

	if (log->loop && log->side.offset + log->side.len > h->lists_offset + h->lists_bytes) {
		log->side.len = 0;
		return 0;
	}
	return ptx_log_side_send(log);
}

int ptx_log_lists_write(struct ptx_log *log)
{
	struct ptx_log_lists *lists = &log->lists;
	int err = 0;

	if (memcmp(lists->known, lists->written, sizeof(lists->known))) {
		err = ptx_log_schemas_prepare(log, false, log->loop ? lists->at : log->at);
		if (!err)
			err = send(log);
	}
	if (!err && lists->objects > lists->objects_written) {
		err = ptx_log_objects_prepare(log, false, log->loop ? lists->at : log->at);
		if (!err)
			err = send(log);
	}
	if (!err && ptx_log_mappings_wait(log)) {
		err = ptx_log_mappings_prepare(log, false, log->loop ? lists->at : log->at);
		if (!err)
			err = send(log);
	}
	return err;
}

void ptx_log_lists_sent(struct ptx_log *log, unsigned type)
{
	struct ptx_log_lists *lists = &log->lists;

	if (type == PTX_LOG_SCHEMAS)
		memcpy(lists->written, lists->waiting, sizeof(lists->written));
	else if (type == PTX_LOG_OBJECTS)
		lists->objects_written = lists->objects_waiting;
	else
		lists->mappings_written = lists->mappings_waiting;
	if (log->loop && log->side.offset == lists->at)
		lists->at += log->side.len;
}

void ptx_log_lists_clear(struct ptx_log *log)
{
	memset(log->lists.written, 0, sizeof(log->lists.written));
	log->lists.objects_written = 0;
	memset(&log->lists.mappings_written, 0, sizeof(log->lists.mappings_written));
	log->lists.at = log->header->lists_offset;
}

/* A reader ignores an entry that breaks S2 or M2, so the tail does not repeat it. */
int ptx_log_schemas_take(struct ptx_log *log, const struct ptx_log_block *block,
			 const void *payload)
{
	const struct ptx_log_schema *entry = payload;
	struct posix_trace_schema_np schema;

	for (uint32_t i = 0; i < block->records; i++, entry = ptx_log_schema_next(entry)) {
		const char *text = ptx_log_schema_text(entry);

		if (text && !ptx_schema_parse(text, &schema) &&
		    ptx_log_schema(log, entry->type, text) == ENOMEM)
			return ENOMEM;
	}
	memcpy(log->lists.written, log->lists.known, sizeof(log->lists.written));
	return 0;
}

int ptx_log_objects_take(struct ptx_log *log, const struct ptx_log_block *block,
			 const void *payload)
{
	const struct ptx_object *object = payload;

	log->lists.objects_taken = 0;
	for (uint32_t i = 0; i < block->records; i++)
		if (ptx_log_object(log, &object[i]))
			return ENOMEM;
	log->lists.objects_taken = log->lists.objects_written = log->lists.objects;
	return 0;
}

void ptx_log_lists_free(struct ptx_log *log)
{
	for (unsigned type = 0; type < PTX_TYPE_MAX; type++)
		free(log->lists.schema[type]);
	free(log->lists.object);
	free(log->lists.mapping);
}
