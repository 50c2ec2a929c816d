/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "base/vec.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* The least power of two that is not below count; 0 for 0. SIZE_MAX: there is none. */
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

bool vec_grow_(void *array, size_t size, size_t count, size_t more)
{
	size_t had = vec_room(count), room;
	unsigned char *elements; /* copied in and out: the pointer's own type is the caller's */

	if (more > SIZE_MAX - count)
		return false;
	room = vec_room(count + more);
	memcpy(&elements, array, sizeof(elements));
	if (room > had) {
		elements = reallocarray(elements, room, size);
		if (!elements)
			return false;
		memcpy(array, &elements, sizeof(elements));
	}
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
