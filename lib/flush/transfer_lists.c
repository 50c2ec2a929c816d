/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * flush/transfer_lists.c - what event types mean and what things are called, from the arena to the
 * log.
 *
 * Before each block, so that a description that was made before an event is in the log before it.
 * Where nothing is new that is two loads.
 */
#include <errno.h>

#include "arena/arena.h"
#include "flush/flush_private.h"

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
			flush->descriptions--; /* at the next block then */
		else
			flush->described[type / 64] |= UINT64_C(1) << type % 64;
	}
}

/* A cell may be filled later than those behind it, or never. */
static void transfer_objects(struct ptx_flush *flush, const struct ptx_objects *objects)
{
	unsigned count = ptx_objects_count(objects);
	struct ptx_object object;

	for (unsigned i = flush->objects; i < count; i++) {
		uint64_t *said = &flush->object_said[i / 64], bit = UINT64_C(1) << i % 64;

		if (!(*said & bit) && ptx_objects_get(objects, i, &object) &&
		    ptx_log_object(flush->log, &object) == 0)
			*said |= bit;
		if (*said & bit && i == flush->objects)
			flush->objects++;
	}
}

void ptx_transfer_lists(struct ptx_flush *flush)
{
	const struct ptx_lists *lists = flush->drain->arena->lists;

	ptx_mapped_give(flush->mapped, flush->log);
	if (!lists)
		return;
	transfer_schemas(flush, &lists->schemas);
	transfer_objects(flush, &lists->objects);
}
