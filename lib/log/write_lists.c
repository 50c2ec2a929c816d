/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * log/write_lists.c - writes the schemas of event types, the names of objects and, with
 * write_mappings.c, the mappings of files.
 *
 * In a sequence these lists are written before the next block of events, as the names of event
 * types are. In a log of slots these lists have an area of their own, in which the blocks follow
 * each other. Entries that do not fit there remain in memory until the writer writes the tail,
 * which has all entries. An entry of a list has three states: known, waiting in the metadata
 * buffer, and written. An entry that waits becomes written only when the block is in the file, so
 * that a failed write loses no entry.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "log/writer.h"
#include "record/schema.h"

/* Returns true if a set of event types has this type. */
static bool write_lists_has(const uint64_t *set, unsigned type)
{
	return set[type / 64] >> type % 64 & 1;
}

/*
 * The text is copied, because the tail repeats all schemas. The same schema may be added again, for
 * example after a clear. If the type has another schema already, the function returns EEXIST and
 * keeps the first text, as readers do (FORMAT 3.10).
 */
int ptx_log_schema(struct ptx_log *log, unsigned type, const char *text)
{
	struct ptx_log_lists *lists = &log->lists;
	size_t len = strnlen(text, PTX_SCHEMA_BYTES);
	int saved = errno;

	/* The type and the text come from shared memory, so both are checked again. */
	if (!type || type >= PTX_TYPE_MAX || len == PTX_SCHEMA_BYTES)
		return EINVAL;
	if (lists->schema[type])
		return strcmp(lists->schema[type], text) ? EEXIST : 0;
	lists->schema[type] = strdup(text);
	errno = saved;
	if (!lists->schema[type])
		return ENOMEM;
	/* The schema is known from now on; the next write sends it. */
	lists->known[type / 64] |= UINT64_C(1) << type % 64;
	return 0;
}

/*
 * Returns true if a guardian has read this object from the log of a dead writer. The guardian first
 * reads the objects of that log, and then adds all objects of the stream. The function compares
 * only with the objects from the log, so equal objects of the stream remain separate entries.
 */
static bool is_restored(const struct ptx_log_lists *lists, const struct ptx_object *object)
{
	for (size_t i = 0; i < lists->objects_restored; i++)
		if (!memcmp(&lists->object[i], object, sizeof(*object)))
			return true;
	return false;
}

/*
 * The size of the array doubles. After a failure the array is unchanged, and the caller may try
 * again.
 */
int ptx_log_object(struct ptx_log *log, const struct ptx_object *object)
{
	struct ptx_log_lists *lists = &log->lists;

	/* An object that the dead writer has written already is not added again. */
	if (is_restored(lists, object))
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

/*
 * Decides whether the tail has SCHEMAS and OBJECTS blocks (FORMAT 3.9). Mappings count as well: the
 * tail has both blocks if any list has an entry.
 */
bool ptx_log_lists_any(const struct ptx_log *log)
{
	static const uint64_t none[PTX_TYPE_MAX / 64];

	/* Any known entry counts, written or not: the tail repeats all. */
	return log->lists.objects || log->lists.mappings ||
	       memcmp(log->lists.known, none, sizeof(none));
}

/*
 * Returns the bytes of an entry with its text, NUL and padding (FORMAT S1). The text has at most
 * 1023 bytes.
 */
static size_t schema_bytes(const char *text)
{
	return sizeof(struct ptx_log_schema) + ((strlen(text) + 1 + 7) & ~(size_t)7);
}

/*
 * The block has at most 1023 schemas of about 1 KiB each, so it never exceeds the limit of FORMAT
 * B5. ptx_log_meta_payload() has made the padding zero.
 */
int ptx_log_schemas_prepare(struct ptx_log *log, bool all, uint64_t offset)
{
	struct ptx_log_lists *lists = &log->lists;
	struct ptx_log_block *block;
	uint64_t which[PTX_TYPE_MAX / 64];
	size_t bytes = 0, count = 0;
	uint8_t *at;

	/* The types of this block: all known ones, or those that are not in the file. */
	for (unsigned i = 0; i < PTX_TYPE_MAX / 64; i++)
		which[i] = lists->known[i] & ~(all ? 0 : lists->written[i]);
	for (unsigned type = 1; type < PTX_TYPE_MAX; type++)
		if (write_lists_has(which, type))
			bytes += schema_bytes(lists->schema[type]);
	/* The metadata buffer is one piece of memory, so the first pass has computed its length. */
	at = ptx_log_meta_payload(log, bytes);
	if (!at)
		return ENOMEM;
	/* The second pass copies what the first pass has measured. */
	for (unsigned type = 1; type < PTX_TYPE_MAX; type++) {
		struct ptx_log_schema *entry = (struct ptx_log_schema *)(void *)at;

		if (!write_lists_has(which, type))
			continue;
		entry->type = type;
		entry->bytes = (uint32_t)strlen(lists->schema[type]) + 1;
		memcpy(entry + 1, lists->schema[type], entry->bytes);
		at += schema_bytes(lists->schema[type]);
		count++;
	}
	block = (struct ptx_log_block *)(void *)log->meta.bytes;
	block->records = (uint32_t)count;
	/* Flag 1 means that the block has all entries (FORMAT 3.1). */
	block->flags = all ? PTX_LOG_ALL_NAMES : 0;
	/*
	 * The set `known` may grow before this block is in the file. The set `waiting` has the
	 * types that the file has once this block is written.
	 */
	memcpy(lists->waiting, lists->known, sizeof(lists->waiting));
	ptx_log_meta_ready(log, PTX_LOG_SCHEMAS, bytes, offset);
	return 0;
}

/*
 * Objects have an order, so one number is enough: `objects_written` counts from the first object.
 */
int ptx_log_objects_prepare(struct ptx_log *log, bool all, uint64_t offset)
{
	struct ptx_log_lists *lists = &log->lists;
	size_t first = all ? 0 : lists->objects_written, count = lists->objects - first;
	struct ptx_log_block *block;
	void *payload = ptx_log_meta_payload(log, count * sizeof(struct ptx_object));

	if (!payload)
		return ENOMEM;
	if (count)
		/*
		 * The structures are copied as they are: FORMAT 3.11 has the layout of
		 * record/object.h.
		 */
		memcpy(payload, lists->object + first, count * sizeof(struct ptx_object));
	block = (struct ptx_log_block *)(void *)log->meta.bytes;
	block->records = (uint32_t)count;
	block->flags = all ? PTX_LOG_ALL_NAMES : 0;
	/* Objects that are added from now on belong to the next block. */
	lists->objects_waiting = lists->objects;
	ptx_log_meta_ready(log, PTX_LOG_OBJECTS, count * sizeof(struct ptx_object), offset);
	return 0;
}

/*
 * Sends the metadata buffer. In a log of slots, a block that does not fit in the lists area is
 * dropped instead: its entries stay unwritten until the tail is written. The area cannot grow,
 * because slots follow it. Returns 0, or the error of a write.
 */
static int write_lists_send(struct ptx_log *log)
{
	const struct ptx_log_header *h = log->header;

	/*
	 * A block that does not fit is dropped and not kept: the metadata buffer is needed for the
	 * other lists.
	 */
	if (log->loop && log->meta.offset + log->meta.len > h->lists_offset + h->lists_bytes) {
		log->meta.len = 0;
		return 0;
	}
	return ptx_log_meta_send(log);
}

/*
 * There is only one metadata buffer, so each list is prepared and sent before the next list. An
 * error leaves the block in the metadata buffer; the next write sends it before anything else. In a
 * log of slots, a block of schemas or objects may not fit. Each write then prepares this block
 * again, which costs a copy in memory but no I/O.
 */
int ptx_log_lists_write(struct ptx_log *log)
{
	struct ptx_log_lists *lists = &log->lists;
	int err = 0;

	/*
	 * A block is written only if the two sets differ. So without new schemas there is no I/O
	 * here.
	 */
	if (memcmp(lists->known, lists->written, sizeof(lists->known))) {
		err = ptx_log_schemas_prepare(log, false, log->loop ? lists->at : log->at);
		if (!err)
			err = write_lists_send(log);
	}
	if (!err && lists->objects > lists->objects_written) {
		err = ptx_log_objects_prepare(log, false, log->loop ? lists->at : log->at);
		if (!err)
			err = write_lists_send(log);
	}
	if (!err && ptx_log_mappings_wait(log)) {
		err = ptx_log_mappings_prepare(log, false, log->loop ? lists->at : log->at);
		if (!err)
			err = write_lists_send(log);
	}
	return err;
}

/*
 * In a log of slots, `lists->at` moves behind the block that was sent. A block of the tail is not
 * in the lists area and does not move it.
 */
void ptx_log_lists_sent(struct ptx_log *log, unsigned type)
{
	struct ptx_log_lists *lists = &log->lists;

	/* Only the block's entries become written, not all known ones: more may be known by now. */
	if (type == PTX_LOG_SCHEMAS)
		memcpy(lists->written, lists->waiting, sizeof(lists->written));
	else if (type == PTX_LOG_OBJECTS)
		lists->objects_written = lists->objects_waiting;
	else
		lists->mappings_written = lists->mappings_waiting;
	if (log->loop && log->meta.offset == lists->at)
		lists->at += log->meta.len;
}

/*
 * A clear keeps schemas, objects and mappings: they describe the program and not the events. They
 * are written again, because blocks of the old log_id are invalid (FORMAT W5).
 */
void ptx_log_lists_clear(struct ptx_log *log)
{
	memset(log->lists.written, 0, sizeof(log->lists.written));
	log->lists.objects_written = 0;
	memset(&log->lists.mappings_written, 0, sizeof(log->lists.mappings_written));
	log->lists.at = log->header->lists_offset;
}

/*
 * An entry that breaks FORMAT S2 is not added, because readers ignore it. EEXIST is no error here:
 * a hostile log may have two schemas of one type, and the first schema counts.
 */
int ptx_log_schemas_restore(struct ptx_log *log, const struct ptx_log_block *block,
			    const void *payload)
{
	const struct ptx_log_schema *entry = payload;
	struct posix_trace_schema_np schema;

	for (uint32_t i = 0; i < block->records; i++, entry = ptx_log_schema_next(entry)) {
		const char *text = ptx_log_schema_text(entry);

		/*
		 * Only ENOMEM ends the reading. The other errors mean that the entry is not needed.
		 */
		if (text && !ptx_schema_parse(text, &schema) &&
		    ptx_log_schema(log, entry->type, text) == ENOMEM)
			return ENOMEM;
	}
	memcpy(log->lists.written, log->lists.known, sizeof(log->lists.written));
	return 0;
}

/*
 * objects_restored is 0 during the loop, so that the entries of this block are not compared with
 * each other. The file has them all, so objects_written must count each of them, also equal ones.
 */
int ptx_log_objects_restore(struct ptx_log *log, const struct ptx_log_block *block,
			    const void *payload)
{
	const struct ptx_object *object = payload;

	log->lists.objects_restored = 0;
	for (uint32_t i = 0; i < block->records; i++)
		if (ptx_log_object(log, &object[i]))
			return ENOMEM;
	log->lists.objects_restored = log->lists.objects_written = log->lists.objects;
	return 0;
}

/* free() of NULL does nothing, so unused lists need no test. */
void ptx_log_lists_free(struct ptx_log *log)
{
	for (unsigned type = 0; type < PTX_TYPE_MAX; type++)
		free(log->lists.schema[type]);
	free(log->lists.object);
	free(log->lists.mapping);
}
