/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* pidset.c - a set of numbers of processes: a hash table and an array. */
#include "base/pidset.h"

#include <stdlib.h>

#include "base/vec.h"

/* Returns true if the set has this number at this index. table_find() calls this function. */
static bool is_pid(const void *array, uint32_t index, const void *key)
{
	return ((const pid_t *)array)[index] == *(const pid_t *)key;
}

static uint64_t hash_pid(pid_t pid)
{
	return hash_number(HASH_BEGIN, (unsigned)pid);
}

uint32_t pidset_find(const struct pidset *set, pid_t pid)
{
	return table_find(&set->table, hash_pid(pid), is_pid, set->pid, &pid);
}

uint32_t pidset_index(struct pidset *set, pid_t pid)
{
	uint32_t index = pidset_find(set, pid);

	if (index != TABLE_NONE)
		return index;
	index = (uint32_t)set->count;
	if (!vec_grow(&set->pid, set->count, 1) || !table_add(&set->table, hash_pid(pid), index))
		return TABLE_NONE;
	set->pid[set->count++] = pid;
	return index;
}

void pidset_fini(struct pidset *set)
{
	free(set->pid);
	table_fini(&set->table);
	*set = (struct pidset){ 0 };
}
