/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * log/write_names.c - writes the names of event types (FORMAT 3.5).
 *
 * In a sequence a NAMES block with the new names precedes the next block of events. A log of slots
 * has two areas for names, and each NAMES block has all names. The writer writes a new block to the
 * area that has the older block. So if the writer is killed at any moment, one valid block with
 * names remains. The sets of types `known`, `waiting` and `written` show the progress of each name.
 */
#include <errno.h>
#include <string.h>

#include "log/writer.h"

/* Returns true if a set of event types has this type. */
static bool write_names_has(const uint64_t *set, unsigned type)
{
	return set[type / 64] >> type % 64 & 1;
}

/*
 * The name comes from shared memory, so the type and the length are checked here again. A name that
 * the type already has is no error.
 */
int ptx_log_name(struct ptx_log *log, unsigned type, const char *name)
{
	size_t len = strnlen(name, PTX_TYPE_NAME_BYTES);

	if (!type || type >= PTX_TYPE_MAX || len == PTX_TYPE_NAME_BYTES)
		return EINVAL;
	/* The first name may be in the file already, where it cannot be changed. */
	if (write_names_has(log->names.known, type))
		return strcmp(log->names.name[type], name) ? EEXIST : 0;
	memcpy(log->names.name[type], name, len);
	/* The name is known from now on; the next write sends it. */
	log->names.known[type / 64] |= UINT64_C(1) << type % 64;
	return 0;
}

/* An area with a damaged block is written again, even if no name is new. */
bool ptx_log_names_wait(const struct ptx_log *log)
{
	return log->names.damaged ||
	       memcmp(log->names.known, log->names.written, sizeof(log->names.known)) != 0;
}

/*
 * The function counts the names before the loop, because it must compute how much room the metadata
 * buffer needs. A block of all names has flag 1 and may be empty: every complete log has one
 * (FORMAT 3.9).
 */
int ptx_log_names_prepare(struct ptx_log *log, bool all, uint64_t offset)
{
	struct ptx_log_block *block;
	struct ptx_log_name *entry;
	uint32_t count = 0;

	for (unsigned i = 0; i < PTX_TYPE_MAX / 64; i++)
		count += (uint32_t)__builtin_popcountll(
			log->names.known[i] & ~(all ? 0 : log->names.written[i]));
	entry = ptx_log_meta_payload(log, count * sizeof(*entry));
	if (!entry)
		return ENOMEM;
	block = (struct ptx_log_block *)(void *)log->meta.bytes;
	block->records = count;
	block->flags = all ? PTX_LOG_ALL_NAMES : 0;
	/*
	 * More names may be added before this block is in the file, so the set `waiting` keeps the
	 * names that the file has once this block is written.
	 */
	memcpy(log->names.waiting, log->names.known, sizeof(log->names.waiting));
	for (unsigned type = 1; type < PTX_TYPE_MAX; type++) {
		/* This condition is the same as in the count above. */
		if (!write_names_has(log->names.known, type) ||
		    (!all && write_names_has(log->names.written, type)))
			continue;
		/* The names are in the order of their types. Readers do not rely on this order. */
		entry->type = type;
		memcpy(entry->name, log->names.name[type], sizeof(entry->name));
		entry++;
	}
	ptx_log_meta_ready(log, PTX_LOG_NAMES, count * sizeof(*entry), offset);
	return 0;
}

/*
 * Returns the offset of a names area. If the header was read from a file, both fields were checked
 * (FORMAT H5).
 */
static uint64_t area_offset(const struct ptx_log *log, unsigned area)
{
	return log->header->names_offset + area * log->header->names_bytes;
}

/*
 * Writes to the area that ptx_log_names_sent() has chosen, so the block with the newest names stays
 * until the next block is complete (FORMAT N2). After the death of a writer both areas may need a
 * block: then the loop runs twice. Each round removes one of the reasons for which
 * ptx_log_names_wait() returns true, so the loop ends.
 */
int ptx_log_names_write_slots(struct ptx_log *log)
{
	int err = 0;

	/* Each block has all names, so either area is enough for a reader. */
	while (!err && ptx_log_names_wait(log)) {
		err = ptx_log_names_prepare(log, true, area_offset(log, log->names.area));
		if (!err)
			err = ptx_log_meta_send(log);
	}
	return err;
}

/*
 * The next block goes to the other area. A NAMES block of the tail is in no area and does not
 * change the choice.
 */
void ptx_log_names_sent(struct ptx_log *log)
{
	struct ptx_log_names *names = &log->names;

	memcpy(names->written, names->waiting, sizeof(names->written));
	if (log->loop && log->meta.offset == area_offset(log, names->area)) {
		names->damaged &= ~(1u << names->area);
		names->area = !names->area;
	}
}

/* The payload was checked (FORMAT N1). The file has these names, so they are marked as written. */
void ptx_log_names_restore(struct ptx_log *log, const struct ptx_log_block *block,
			   const struct ptx_log_name *name)
{
	for (uint32_t i = 0; i < block->records; i++, name++) {
		memcpy(log->names.name[name->type], name->name, sizeof(name->name));
		log->names.known[name->type / 64] |= UINT64_C(1) << name->type % 64;
		log->names.written[name->type / 64] |= UINT64_C(1) << name->type % 64;
	}
}

/*
 * A clear does not change the names of the types. The names must be written again, because blocks
 * with the old log_id are invalid (FORMAT W5).
 */
void ptx_log_names_clear(struct ptx_log *log)
{
	memset(log->names.written, 0, sizeof(log->names.written));
	log->names.area = log->names.damaged = 0;
}
