/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* etw_layout.c - layouts of payloads and maps of values, which the readers of descriptions fill. */
#include "convert/etw/etw_layout.h"

#include <stdlib.h>
#include <string.h>

#include "base/vec.h"

struct etw_layout *etw_layout_new(void)
{
	return calloc(1, sizeof(struct etw_layout));
}

/*
 * Maps of values are not freed here, because they belong to the provider and several of its layouts
 * use them.
 */
void etw_layout_free(struct etw_layout *layout)
{
	if (!layout)
		return;
	for (unsigned i = 0; i < layout->fields; i++)
		free(layout->field[i].name);
	free(layout->field);
	free(layout->provider);
	free(layout->event);
	free(layout);
}

/* The returned field is valid until the next call, which may move the array. */
struct etw_field *etw_layout_add(struct etw_layout *layout, const char *name, size_t len)
{
	struct etw_field *field;

	if (layout->fields == ETW_FIELDS_MAX)
		return NULL;
	if (!vec_grow(&layout->field, layout->fields, 1))
		return NULL;
	field = &layout->field[layout->fields];
	/*
	 * The text of an array of structs repeats the names of members, so long names are
	 * shortened.
	 */
	field->name = etw_text_copy(name, len, ETW_FIELD_NAME_MAX);
	if (!field->name)
		return NULL;
	layout->fields++;
	return field;
}

/* The map owns its copies of the names. The array "sorted" only points to the entries. */
void etw_map_free(struct etw_map *map)
{
	if (!map)
		return;
	for (size_t i = 0; i < map->entries; i++)
		free(map->entry[i].name);
	free(map->entry);
	free(map->sorted);
	free(map);
}

/* If a value is added twice, etw_map_name() returns the name that was added first. */
bool etw_map_add(struct etw_map *map, uint32_t value, const char *name)
{
	struct etw_map_entry *entry;

	if (!vec_grow(&map->entry, map->entries, 1))
		return false;
	entry = &map->entry[map->entries];
	entry->value = value;
	entry->name = etw_text_copy(name, strlen(name), ETW_FIELD_NAME_MAX);
	if (!entry->name)
		return false;
	map->entries++;
	return true;
}

/* Orders by value. If values are equal, the entry that was added first is first. */
static int compare_entries(const void *a, const void *b)
{
	const struct etw_map_entry *x = *(struct etw_map_entry *const *)a;
	const struct etw_map_entry *y = *(struct etw_map_entry *const *)b;

	if (x->value != y->value)
		return x->value < y->value ? -1 : 1;
	return x < y ? -1 : x > y;
}

/*
 * The function sorts pointers to the entries and not the entries, because a schema needs the
 * entries in the order in which they were added.
 */
bool etw_map_sort(struct etw_map *map)
{
	map->sorted = calloc(map->entries + 1, sizeof(struct etw_map_entry *));
	if (!map->sorted)
		return false;
	for (size_t i = 0; i < map->entries; i++)
		map->sorted[i] = &map->entry[i];
	qsort(map->sorted, map->entries, sizeof(struct etw_map_entry *), compare_entries);
	return true;
}

/*
 * The search is binary, because a map may have thousands of values, and each event may need a
 * search.
 */
const char *etw_map_name(const struct etw_map *map, uint64_t value)
{
	size_t low = 0, high = map->entries;

	/* The loop finds the first entry whose value is not less than the argument. */
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (map->sorted[middle]->value < value)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == map->entries || map->sorted[low]->value != value)
		return NULL;
	return map->sorted[low]->name;
}
