/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* table.c - insertion, removal and growth of the hash table. */
#include "base/table.h"

#include <stdlib.h>

#define PLACES_FIRST 64 /* a power of two */

/*
 * Stores an entry in a free place. The search begins at the place that the entry's hash selects.
 * There always is a free place.
 */
static void table_put(struct table *table, struct table_place what)
{
	size_t i = what.hash & (table->places - 1);

	while (table->place[i].next_index)
		i = (i + 1) & (table->places - 1);
	table->place[i] = what;
}

/*
 * Doubles the table. The function needs only the hashes that the table has stored, not the
 * elements.
 */
static bool table_grow(struct table *table)
{
	struct table more = { .places = table->places ? 2 * table->places : PLACES_FIRST };

	more.place = calloc(more.places, sizeof(*more.place));
	if (!more.place)
		return false;
	for (size_t i = 0; i < table->places; i++)
		if (table->place[i].next_index)
			table_put(&more, table->place[i]);
	more.used = table->used;
	free(table->place);
	*table = more;
	return true;
}

bool table_add(struct table *table, uint64_t hash, uint32_t index)
{
	if (2 * (table->used + 1) > table->places && !table_grow(table))
		return false;
	/*
	 * The place gets index + 1, because 0 in next_index means that a place is free. So a table
	 * that calloc() has made has only free places.
	 */
	table_put(table, (struct table_place){ table_fold(hash), index + 1 });
	table->used++;
	return true;
}

/*
 * The search for an entry ends at a free place. So the function moves entries behind the removed
 * one to fill its place. It does not move an entry whose search begins behind that place.
 */
void table_remove(struct table *table, uint64_t hash, uint32_t index)
{
	const size_t mask = table->places - 1;
	size_t hole = table_fold(hash) & mask;

	while (table->place[hole].next_index != index + 1)
		hole = (hole + 1) & mask;
	for (size_t i = (hole + 1) & mask; table->place[i].next_index; i = (i + 1) & mask) {
		const size_t first = table->place[i].hash & mask;

		if (((i - first) & mask) < ((i - hole) & mask))
			continue;
		table->place[hole] = table->place[i];
		hole = i;
	}
	table->place[hole] = (struct table_place){ 0 };
	table->used--;
}

void table_fini(struct table *table)
{
	free(table->place);
	*table = (struct table){ 0 };
}
