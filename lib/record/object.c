/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * record/object.c - finds the name of an object at the time of an event.
 *
 * Entries are sorted by address, process and time, so that one binary search finds the last entry
 * that is not younger than the event. The entries come from logs and shared memory, so chains of
 * parents have a limit.
 */
#include "record/object.h"

#include <stdbool.h>
#include <stdlib.h>

/*
 * Events and entries have stamps of different clocks, so the first event of an object may have an
 * earlier stamp than the object's first entry. This entry is therefore also valid in the EARLY_NS
 * nanoseconds before its time.
 */
#define EARLY_NS 1000000

#define GENERATIONS 16 /* limit of ancestors that are searched */

/*
 * The key of the order. Entries about children are sorted by the child's pid, behind all entries
 * about objects.
 */
struct key {
	uint64_t major;
	uint32_t minor;
	bool child;
	int64_t time_ns;
};

static struct key key_of(const struct ptx_object *object)
{
	if (object->kind == PTX_OBJECT_CHILD)
		return (struct key){ object->pid, 0, true, object->time_ns };
	return (struct key){ object->pointer, object->pid, false, object->time_ns };
}

/* Returns whether two keys are equal except for their times. */
static bool is_same(const struct key *a, const struct key *b)
{
	return a->child == b->child && a->major == b->major && a->minor == b->minor;
}

/*
 * Returns a number below, equal to or above 0, as for qsort(). Children are behind all objects, so
 * that neither search meets the other kind.
 */
static int compare_keys(const struct key *a, const struct key *b)
{
	if (a->child != b->child)
		return a->child ? 1 : -1;
	if (a->major != b->major)
		return a->major < b->major ? -1 : 1;
	if (a->minor != b->minor)
		return a->minor < b->minor ? -1 : 1;
	return (a->time_ns > b->time_ns) - (a->time_ns < b->time_ns);
}

/* Compares two entries, for qsort(). */
static int in_order(const void *a, const void *b)
{
	struct key x = key_of(a), y = key_of(b);

	return compare_keys(&x, &y);
}

void ptx_objects_sort(struct ptx_object *object, size_t count)
{
	if (count) /* qsort() must not be called with a null pointer */
		qsort(object, count, sizeof(*object), in_order);
}

/*
 * Returns the youngest entry with this key that is not younger than the key's time, or NULL. If
 * `early` is true, the oldest entry with this key is accepted even if it is a little younger.
 */
static const struct ptx_object *newest_entry(const struct ptx_object *object, size_t count,
					     const struct key *key, bool early)
{
	size_t low = 0, high = count;
	/*
	 * Invariant: in the order of compare_keys(), no entry before `low` is behind the key, and
	 * all entries from `high` on are behind it.
	 */
	struct key found;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		found = key_of(&object[middle]);
		if (compare_keys(&found, key) <= 0)
			low = middle + 1;
		else
			high = middle;
	}
	if (low > 0) {
		found = key_of(&object[low - 1]);
		if (is_same(&found, key))
			return &object[low - 1];
	}
	if (early && low < count) {
		found = key_of(&object[low]);
		if (is_same(&found, key) &&
		    (uint64_t)found.time_ns - (uint64_t)key->time_ns <= EARLY_NS)
			return &object[low];
	}
	return NULL;
}

/*
 * Returns the entry of pid 0 with the name of the pointer at that time, or NULL. Entries of pid 0
 * are valid for every process that has no entry of its own. An entry with an empty name means that
 * the object has no name from then on.
 */
static const struct ptx_object *find_any_process(const struct ptx_object *object, size_t count,
						 uint64_t pointer, int64_t time_ns)
{
	struct key thing = { pointer, 0, false, time_ns };
	const struct ptx_object *found = newest_entry(object, count, &thing, true);

	return found && found->name[0] ? found : NULL;
}

const struct ptx_object *ptx_objects_find(const struct ptx_object *object, size_t count,
					  uint32_t pid, uint64_t pointer, int64_t time_ns)
{
	/*
	 * Each step goes from a child to its parent: the child has the names that the parent had at
	 * the time of the birth. Only the first step, for the event's own process and its birth,
	 * has the tolerance for early events.
	 */
	for (unsigned i = 0; count && i < GENERATIONS; i++) {
		struct key thing = { pointer, pid, false, time_ns },
			   child = { pid, 0, true, time_ns };
		const struct ptx_object *found = newest_entry(object, count, &thing, i == 0);

		if (found)
			return found->name[0] ? found : NULL;
		found = newest_entry(object, count, &child, i == 0);
		if (!found)
			break;
		pid = (uint32_t)found->pointer;
		/*
		 * A birth within the tolerance may be later than the event; the time must not
		 * increase.
		 */
		if (found->time_ns < time_ns)
			time_ns = found->time_ns;
	}
	return count ? find_any_process(object, count, pointer, time_ns) : NULL;
}
