/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * flush/transfer_lists.c - gives the log the schemas, names of objects and mappings of the arena.
 *
 * Called before each block, so that a description that was made before an event is in the log
 * before that event. If nothing is new, a call costs two loads. The lists are in shared memory. The
 * functions that read them (arena/schemas.h, arena/objects.h) check each entry and bound its
 * length, and the number of entries is limited by this library. The caller has the turn and the
 * stream's lock.
 */
#include <errno.h>

#include "arena/arena.h"
#include "flush/flush_private.h"

/*
 * The member `changes` is loaded before the entries (acquire). So an entry that is added during the
 * walk is not missed: its addition changes `changes`, and the call for the next block walks again.
 * A hostile process can store any number in `changes`. In the worst case there is a walk for each
 * block.
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
			/* the number is now wrong, so at the next block the function walks again */
			flush->descriptions--;
		else
			flush->described[type / 64] |= UINT64_C(1) << type % 64;
	}
}

/*
 * A process claims a cell first and fills it later, or never if it is killed. So the log may have
 * cells behind a cell that is not ready. flush->objects is the number of cells, from the first cell
 * on, that the log has without a hole. object_stored has one bit for each cell, set if the log has
 * the cell.
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
 * If there is no memory to give an entry to the log, the entry is not marked as given, and the next
 * block tries again. The parameter `mapped` may be NULL.
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
