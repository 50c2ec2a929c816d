/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * arena/objects.c - the list of named objects. A cell has one entry. Processes claim the cells in
 * order, and the cells become ready in any order. If a process is killed before its cell is ready,
 * readers skip this cell for ever.
 */
#include "arena/objects.h"

#include <errno.h>
#include <string.h>

/* The result is bounded, because another process may have written any number. */
unsigned ptx_objects_count(const struct ptx_objects *objects)
{
	uint32_t claimed = atomic_load_explicit(&objects->claimed, memory_order_acquire);

	return claimed < PTX_OBJECTS ? claimed : PTX_OBJECTS;
}

bool ptx_objects_get(const struct ptx_objects *objects, unsigned i, struct ptx_object *object)
{
	const struct ptx_object_cell *cell = &objects->cell[i];

	/* Acquire order: if the cell is ready, all its fields are visible. */
	if (i >= PTX_OBJECTS || !atomic_load_explicit(&cell->ready, memory_order_acquire))
		return false;
	/* No other process can change the copy. */
	*object = cell->object;
	/* Another process may have written a name without a NUL. */
	object->name[PTX_OBJECT_NAME_BYTES - 1] = '\0';
	return true;
}

/*
 * Returns true if the newest entry for this pointer has the same kind and name. Most cells have
 * another pointer, so the pointer in the cell is compared before the cell is copied. Then the
 * pointer in the copy is compared, because another process may have changed the cell.
 */
static bool is_recorded(const struct ptx_objects *objects, const struct ptx_object *object)
{
	struct ptx_object old;

	/* The search begins with the newest entry, because it has the object's present name. */
	for (unsigned i = ptx_objects_count(objects); i-- > 0;) {
		const struct ptx_object_cell *cell = &objects->cell[i];

		if (!atomic_load_explicit(&cell->ready, memory_order_acquire) ||
		    cell->object.pointer != object->pointer || !ptx_objects_get(objects, i, &old) ||
		    old.pid != object->pid || old.pointer != object->pointer)
			continue;
		/* The times are not compared, because the newest entry is still valid. */
		return old.kind == object->kind &&
		       !strncmp(old.name, object->name, PTX_OBJECT_NAME_BYTES - 1);
	}
	return false;
}

int ptx_objects_put(struct ptx_objects *objects, const struct ptx_object *object)
{
	struct ptx_object_cell *cell;
	uint32_t i;

	/*
	 * An equal entry is not added again, because programs that name an object repeatedly would
	 * fill the list.
	 */
	if (is_recorded(objects, object))
		return 0;
	/*
	 * `claimed` is increased only while there is room. So it cannot wrap around, and no cell is
	 * claimed twice.
	 */
	i = atomic_load_explicit(&objects->claimed, memory_order_relaxed);
	do {
		if (i >= PTX_OBJECTS)
			return ENOSPC;
	} while (!atomic_compare_exchange_weak_explicit(
		&objects->claimed, &i, i + 1, memory_order_relaxed, memory_order_relaxed));
	/* Only this process writes to the claimed cell. The release store publishes the cell. */
	cell = &objects->cell[i];
	cell->object = *object;
	/* The name is shortened to fit and ends with a NUL. */
	cell->object.name[PTX_OBJECT_NAME_BYTES - 1] = '\0';
	atomic_store_explicit(&cell->ready, 1, memory_order_release);
	return 0;
}

/* ENOSPC is ignored: if `to` is full, the other entries are not copied. */
void ptx_objects_copy(struct ptx_objects *to, const struct ptx_objects *from)
{
	struct ptx_object object;

	/* The entries are copied in the order of the cells, so that later entries stay later. */
	for (unsigned i = 0; i < ptx_objects_count(from); i++)
		/* Cells that are not ready are omitted. */
		if (ptx_objects_get(from, i, &object))
			ptx_objects_put(to, &object);
}
