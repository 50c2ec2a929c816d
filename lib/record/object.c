/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "record/object.h"

#include <stdbool.h>
#include <stdlib.h>

/*
 * An event's time and that of an entry are read from different clocks: so long before its first
 * entry a thing has its name already.
 */
#define EARLY_NS 1000000

#define GENERATIONS 16 /* of parents that are asked */

/* What entries are looked for by; children apart from things. */
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

static bool is_same(const struct key *a, const struct key *b)
{
	return a->child == b->child && a->major == b->major && a->minor == b->minor;
}

static int compare(const struct key *a, const struct key *b)
{
	if (a->child != b->child)
		return a->child ? 1 : -1;
	if (a->major != b->major)
		return a->major < b->major ? -1 : 1;
	if (a->minor != b->minor)
		return a->minor < b->minor ? -1 : 1;
	return (a->time_ns > b->time_ns) - (a->time_ns < b->time_ns);
}

static int in_order(const void *a, const void *b)
{
	struct key x = key_of(a), y = key_of(b);

	return compare(&x, &y);
}

void ptx_objects_sort(struct ptx_object *object, size_t count)
{
	if (count)
		qsort(object, count, sizeof(*object), in_order);
}

/*
 * The newest entry of that key which is not younger; if early, else the oldest, were it a little
 * younger.
 */
static const struct ptx_object *newest(const struct ptx_object *object, size_t count,
				       const struct key *key, bool early)
{
	size_t low = 0, high = count;
	struct key found;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		found = key_of(&object[middle]);
		if (compare(&found, key) <= 0)
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

/* What is said of no process holds for all of which nothing else is said. */
static const struct ptx_object *of_any(const struct ptx_object *object, size_t count,
				       uint64_t pointer, int64_t time_ns)
{
	struct key thing = { pointer, 0, false, time_ns };
	const struct ptx_object *found = newest(object, count, &thing, true);

	return found && found->name[0] ? found : NULL;
}

const struct ptx_object *ptx_objects_find(const struct ptx_object *object, size_t count,
					  uint32_t pid, uint64_t pointer, int64_t time_ns)
{
	for (unsigned i = 0; count && i < GENERATIONS; i++) {
		struct key thing = { pointer, pid, false, time_ns },
			   child = { pid, 0, true, time_ns };
		const struct ptx_object *found = newest(object, count, &thing, i == 0);

		if (found)
			return found->name[0] ? found : NULL;
		found = newest(object, count, &child, i == 0);
		if (!found)
			break;
		pid = (uint32_t)found->pointer;
		if (found->time_ns < time_ns)
			time_ns = found->time_ns;
	}
	return count ? of_any(object, count, pointer, time_ns) : NULL;
}
