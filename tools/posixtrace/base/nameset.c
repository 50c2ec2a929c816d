/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "base/nameset.h"

#include <stdlib.h>
#include <string.h>

#include "base/vec.h"

/* Returns true if the set has this name at this index. table_find() calls this function. */
static bool is_name(const void *array, uint32_t index, const void *key)
{
	return !strcmp(((char *const *)array)[index], key);
}

uint32_t nameset_find(const struct nameset *set, const char *name)
{
	return table_find(&set->table, hash_bytes(HASH_BEGIN, name, strlen(name)), is_name,
			  set->name, name);
}

uint32_t nameset_index(struct nameset *set, const char *name)
{
	uint64_t hash = hash_bytes(HASH_BEGIN, name, strlen(name));
	uint32_t index = nameset_find(set, name);

	if (index != TABLE_NONE)
		return index;
	index = (uint32_t)set->count;
	if (!vec_grow(&set->name, set->count, 1) || !(set->name[index] = strdup(name)))
		return TABLE_NONE;
	/* A name that the table lacks could not be found, and each call would add it again. */
	if (!table_add(&set->table, hash, index)) {
		free(set->name[index]);
		return TABLE_NONE;
	}
	set->count++;
	return index;
}

void nameset_fini(struct nameset *set)
{
	for (size_t i = 0; i < set->count; i++)
		free(set->name[i]);
	free(set->name);
	table_fini(&set->table);
	*set = (struct nameset){ 0 };
}
