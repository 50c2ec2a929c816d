/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* vec.c - growth of arrays, by powers of two. */
#include "base/vec.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Returns the least power of two that is not below count, 0 for 0, or SIZE_MAX if there is none. */
static size_t vec_room(size_t count)
{
	size_t room = count > 0;

	while (room < count) {
		if (room > SIZE_MAX / 2)
			return SIZE_MAX;
		room *= 2;
	}
	return room;
}

/*
 * The caller's pointer may have any type, so this function gets its address as void * and copies it
 * in and out.
 */
bool vec_grow_(void *array, size_t size, size_t count, size_t more)
{
	/* The room that the array has now follows from its count; see the header. */
	size_t had = vec_room(count), room;
	unsigned char *elements; /* copied by memcpy(): the caller's pointer has another type */

	if (more > SIZE_MAX - count)
		return false;
	room = vec_room(count + more);
	memcpy(&elements, array, sizeof(elements));
	if (room > had) {
		/* reallocarray() checks the product for overflow, also for a room of SIZE_MAX. */
		elements = reallocarray(elements, room, size);
		if (!elements)
			return false;
		memcpy(array, &elements, sizeof(elements));
	}
	/* Callers may rely on zeros, since vec_grow() is also used instead of calloc(). */
	if (more)
		memset(elements + count * size, 0, more * size);
	return true;
}

bool vec_reach_(void *array, size_t size, size_t *count, size_t index)
{
	if (index < *count)
		return true;
	if (!vec_grow_(array, size, *count, index - *count + 1))
		return false;
	*count = index + 1;
	return true;
}
