/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tail.c - a circular array of copies. A new copy at a place reuses the memory of the old copy
 * there.
 */
#include "base/tail.h"

#include <stdlib.h>
#include <string.h>

#include "base/vec.h"

struct tail_entry {
	char *bytes;         /* the copy: the struct, and the data behind it */
	size_t room;
};

/*
 * Returns the offset of the data behind the struct. It is a multiple of 16, as malloc() aligns
 * memory, so that the data may have any type.
 */
static size_t data_at(const struct tail *tail)
{
	return (tail->size + 15) / 16 * 16;
}

bool tail_init(struct tail *tail, size_t limit, size_t size)
{
	*tail = (struct tail){ .limit = limit, .size = size };
	tail->entry = calloc(limit ? limit : 1, sizeof(*tail->entry));
	return tail->entry != NULL;
}

void tail_fini(struct tail *tail)
{
	for (size_t i = 0; tail->entry && i < tail->limit; i++)
		free(tail->entry[i].bytes);
	free(tail->entry);
	tail->entry = NULL;
}

bool tail_add(struct tail *tail, const void *entry, const void *data, size_t len)
{
	struct tail_entry *place = &tail->entry[tail->count % tail->limit];

	if (!vec_reserve(&place->bytes, &place->room, 0, data_at(tail) + len))
		return false;
	memcpy(place->bytes, entry, tail->size);
	if (len)
		memcpy(place->bytes + data_at(tail), data, len);
	tail->count++;
	return true;
}

const void *tail_at(const struct tail *tail, size_t index, const void **data)
{
	/*
	 * "count" is never reduced. When the array is full, count modulo limit is the place of the
	 * oldest element, which is the next to be overwritten.
	 */
	size_t left = tail->count < tail->limit ? (size_t)tail->count : tail->limit;
	const struct tail_entry *place;

	if (index >= left)
		return NULL;
	place = &tail->entry[(tail->count - left + index) % tail->limit];
	*data = place->bytes + data_at(tail);
	return place->bytes;
}
