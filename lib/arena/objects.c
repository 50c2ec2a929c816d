/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "arena/objects.h"

#include <errno.h>
#include <string.h>

unsigned ptx_objects_count(const struct ptx_objects *objects)
{
	uint32_t taken = atomic_load_explicit(&objects->taken, memory_order_acquire);

	return taken < PTX_OBJECTS ? taken : PTX_OBJECTS;
}

bool ptx_objects_get(const struct ptx_objects *objects, unsigned i, struct ptx_object *object)
{
	const struct ptx_object_cell *cell = &objects->cell[i];

	if (i >= PTX_OBJECTS || !atomic_load_explicit(&cell->ready, memory_order_acquire))
		return false;
	*object = cell->object;
	object->name[PTX_OBJECT_NAME_BYTES - 1] = '\0'; /* another process may have written it */
	return true;
}

static bool is_said(const struct ptx_objects *objects, const struct ptx_object *object)
{
	struct ptx_object old;

	for (unsigned i = ptx_objects_count(objects); i-- > 0;) {
		const struct ptx_object_cell *cell = &objects->cell[i];

		if (!atomic_load_explicit(&cell->ready, memory_order_acquire) ||
		    cell->object.pointer != object->pointer || !ptx_objects_get(objects, i, &old) ||
		    old.pid != object->pid || old.pointer != object->pointer)
			continue;
		return old.kind == object->kind &&
		       !strncmp(old.name, object->name, PTX_OBJECT_NAME_BYTES - 1);
	}
	return false;
}

int ptx_objects_put(struct ptx_objects *objects, const struct ptx_object *object)
{
	struct ptx_object_cell *cell;
	uint32_t i;

	if (is_said(objects, object))
		return 0;
	/* Not to be had from a count that wrapped: it is only added to while there is room. */
	i = atomic_load_explicit(&objects->taken, memory_order_relaxed);
	do {
		if (i >= PTX_OBJECTS)
			return ENOSPC;
	} while (!atomic_compare_exchange_weak_explicit(&objects->taken, &i, i + 1,
							memory_order_relaxed,
							memory_order_relaxed));
	cell = &objects->cell[i];
	cell->object = *object;
	cell->object.name[PTX_OBJECT_NAME_BYTES - 1] = '\0';
	atomic_store_explicit(&cell->ready, 1, memory_order_release);
	return 0;
}

void ptx_objects_copy(struct ptx_objects *to, const struct ptx_objects *from)
{
	struct ptx_object object;

	for (unsigned i = 0; i < ptx_objects_count(from); i++)
		if (ptx_objects_get(from, i, &object))
			ptx_objects_put(to, &object);
}
