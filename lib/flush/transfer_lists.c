/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * flush/transfer_lists.c - adds the schemas, names of objects and mappings of the arena to the log.
 *
 * write_out() calls ptx_transfer_lists() before it writes a block. So if a program has registered a
 * schema before an event, the log has the schema before the event. If these lists have no new
 * entries, a call costs one load for the schemas and one for the objects. The lists are in shared
 * memory. The functions that read them (arena/schemas.h, arena/objects.h) check each entry and
 * bound its length, and this library limits the number of entries. The caller has the turn
 * (flush.h) and the stream's lock.
 */
#include <errno.h>

#include "arena/arena.h"
#include "flush/flush_private.h"

/*
 * Adds the new schemas. `changes` is loaded before the entries (acquire). So an entry that is added
 * during the loop is not missed: `changes` grows, and the call for the next block reads all entries
 * again. A hostile process can store any number in `changes`. In the worst case each block costs a
 * loop over all entries.
 */
static void transfer_schemas(struct ptx_flush *flush, const struct ptx_schemas *schemas)
{
	uint64_t changes = atomic_load_explicit(&schemas->changes, memory_order_acquire);
	char text[PTX_SCHEMA_BYTES];

	if (changes == flush->descriptions)
		return;
	flush->descriptions = changes;
	for (unsigned type = PTX_TYPE_FIRST_USER; type < PTX_TYPE_FIRST_USER + PTX_NAMES; type++) {
		if (flush->described[type / 64] >> type % 64 & 1 ||
		    !ptx_schemas_get(schemas, type, text))
			continue;
		ptx_transfer_name(flush, type);
		if (ptx_log_schema(flush->log, type, text) == ENOMEM)
			/*
			 * `descriptions` now differs from `changes`, so the call for the next block
			 * reads all entries again
			 */
			flush->descriptions--;
		else
			flush->described[type / 64] |= UINT64_C(1) << type % 64;
	}
}

/*
 * Adds the new names of objects. A cell of the list has one entry. A process claims a cell first
 * and fills it later, or never if it is killed. So the log may have the entries of cells behind a
 * cell that is not ready. The log has the entries of the first flush->objects cells. object_stored
 * has one bit for each cell, set if the log has its entry.
 */
static void transfer_objects(struct ptx_flush *flush, const struct ptx_objects *objects)
{
	unsigned count = ptx_objects_count(objects);
	struct ptx_object object;

	for (unsigned i = flush->objects; i < count; i++) {
		uint64_t *stored = &flush->object_stored[i / 64], bit = UINT64_C(1) << i % 64;

		if (!(*stored & bit) && ptx_objects_get(objects, i, &object) &&
		    ptx_log_object(flush->log, &object) == 0)
			*stored |= bit;
		if (*stored & bit && i == flush->objects)
			flush->objects++;
	}
}

/*
 * If there is no memory to add an entry, the call for the next block tries again. flush->mapped may
 * be NULL.
 */
void ptx_transfer_lists(struct ptx_flush *flush)
{
	const struct ptx_lists *lists = flush->drain->arena->lists;

	ptx_mapped_store(flush->mapped, flush->log);
	if (!lists)
		return;
	transfer_schemas(flush, &lists->schemas);
	transfer_objects(flush, &lists->objects);
}

/* A log has the names of all event types of the process, even of types without events (LOG-10). */
void ptx_transfer_rest(struct ptx_flush *flush)
{
	const struct ptx_names *names = flush->drain->arena->names;

	for (unsigned type = ptx_names_next(names, 0); type; type = ptx_names_next(names, type))
		ptx_transfer_name(flush, type);
	ptx_transfer_lists(flush);
}
