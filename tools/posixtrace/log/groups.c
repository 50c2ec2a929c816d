/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * groups.c - counts events in a hash table of groups. If groups differ only by type, it counts them
 * in an array, which is faster.
 */
#include "log/groups.h"

#include <errno.h>
#include <stdlib.h>

#include "base/vec.h"

#define LOOK_EVERY 65536 /* the number of events after which the flag stop is read again */

struct groups *groups_new(unsigned columns, volatile sig_atomic_t *stop)
{
	struct groups *groups = calloc(1, sizeof(*groups));

	if (!groups)
		return NULL;
	groups->columns = columns;
	groups->stop = stop;
	return groups;
}

void groups_free(struct groups *groups)
{
	if (groups) {
		free(groups->group);
		table_fini(&groups->table);
	}
	free(groups);
}

static bool is_same(const struct group *a, const struct group *b)
{
	return a->type == b->type && a->pid == b->pid && a->tid == b->tid &&
	       a->thread == b->thread && a->address == b->address && a->len == b->len &&
	       a->truncated == b->truncated && a->late == b->late;
}

/*
 * Hashes all properties. The properties that are not in columns are always 0, so they make no
 * difference.
 */
static uint64_t hash_of(const struct group *group)
{
	uint64_t hash = hash_number(group->type, (uint64_t)(uint32_t)group->pid << 32 |
						 (uint32_t)group->tid);

	hash = hash_number(hash, group->thread);
	hash = hash_number(hash, group->address);
	return hash_number(hash, group->len << 2 | (unsigned)group->truncated << 1 | group->late);
}

/*
 * Returns true if the group at index has the properties of key. table_find() calls this function.
 */
static bool is_at(const void *array, uint32_t index, const void *key)
{
	const struct group *group = array;

	return is_same(&group[index], key);
}

/*
 * Adds the weight of 'group' to the stored group with equal properties. If no stored group has
 * these properties, stores 'group'.
 */
static int add_group(struct groups *groups, const struct group *group)
{
	uint64_t hash = hash_of(group);
	uint32_t index = table_find(&groups->table, hash, is_at, groups->group, group);

	if (index != TABLE_NONE) {
		/* The weight cannot overflow, because a log has fewer than 2^64 events. */
		groups->group[index].weight += group->weight;
		return 0;
	}
	/*
	 * The contents of the log determine the number of groups. Without this limit a hostile log
	 * could use up the memory.
	 */
	if (groups->count == GROUPS_MAX)
		return EOVERFLOW;
	if (!vec_grow(&groups->group, groups->count, 1) ||
	    !table_add(&groups->table, hash, (uint32_t)groups->count))
		return ENOMEM;
	groups->group[groups->count++] = *group;
	return 0;
}

int groups_event(struct groups *groups, const struct posix_trace_event_np *event)
{
	unsigned columns = groups->columns;
	struct group group = { .weight = 1 };

	/*
	 * The user may interrupt a long query. The flag is volatile, and reading it for each event
	 * would take time, so it is read only once in LOOK_EVERY events.
	 */
	if (++groups->looks % LOOK_EVERY == 0 && groups->stop && *groups->stop)
		return ECANCELED;
	if (!(columns & ~(unsigned)GROUPS_TYPE) && event->info.posix_event_id < GROUPS_TYPES) {
		groups->of_type[columns ? event->info.posix_event_id : 0]++;
		return 0;
	}
	/*
	 * Only the properties in columns are stored. All others remain 0, so that they do not
	 * distinguish groups.
	 */
	if (columns & GROUPS_TYPE)
		group.type = event->info.posix_event_id;
	if (columns & GROUPS_PID)
		group.pid = event->info.posix_pid;
	if (columns & GROUPS_TID)
		group.tid = event->tid;
	if (columns & GROUPS_THREAD)
		group.thread = (uint64_t)event->info.posix_thread_id;
	if (columns & GROUPS_ADDRESS)
		group.address = (uintptr_t)event->info.posix_prog_address;
	if (columns & GROUPS_LEN)
		group.len = event->data_len;
	if (columns & GROUPS_FLAGS) {
		group.truncated = event->info.posix_truncation_status != POSIX_TRACE_NOT_TRUNCATED;
		group.late = (event->flags & POSIX_TRACE_EVENT_LATE_NP) != 0;
	}
	return add_group(groups, &group);
}

int groups_add(struct groups *groups, const struct groups *more)
{
	int err = 0;

	for (size_t i = 0; i < GROUPS_TYPES; i++)
		/*
		 * Both structs have the same columns, so the same index in of_type has the same
		 * meaning.
		 */
		groups->of_type[i] += more->of_type[i];
	for (size_t i = 0; !err && i < more->count; i++)
		err = add_group(groups, &more->group[i]);
	return err;
}

int groups_finish(struct groups *groups)
{
	int err = 0;

	/*
	 * If columns is 0, groups_event() has counted every event as type 0, so there is one group.
	 */
	for (size_t i = 0; !err && i < GROUPS_TYPES; i++)
		if (groups->of_type[i])
			err = add_group(groups, &(struct group){ .weight = groups->of_type[i],
							     .type = (trace_event_id_t)i });
	return err;
}
