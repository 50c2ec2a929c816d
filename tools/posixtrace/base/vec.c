/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* vec.c - makes arrays grow. Their room is always a power of two. */
#include "base/vec.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Returns the least power of two that is not below count, 0 for 0, or SIZE_MAX if there is none. */
static size_t vec_room(size_t count)
{
	/*
	 * The function runs often, because arrays with an element for each event of a log grow by
	 * one element at a time. So it uses no loop. For a count above 1 the result is 2 to the
	 * power of "bits", which is the number of bits of count - 1.
	 */
	const unsigned word_bits = 8 * sizeof(unsigned long long);
	unsigned bits = count > 1 ? word_bits - (unsigned)__builtin_clzll(count - 1) : 0;

	if (bits >= 8 * sizeof(size_t))
		return SIZE_MAX;
	return count ? (size_t)1 << bits : 0;
}

/*
 * Moves the elements to memory for room elements. "array" is the address of the caller's pointer.
 * That pointer may have any type, so the function copies it by memcpy().
 */
static bool move_elements(void *array, size_t size, size_t room)
{
	void *elements;

	memcpy(&elements, array, sizeof(elements));
	/*
	 * reallocarray() fails if room * size overflows, so it also fails if vec_room() returned
	 * SIZE_MAX.
	 */
	elements = reallocarray(elements, room, size);
	if (!elements)
		return false;
	memcpy(array, &elements, sizeof(elements));
	return true;
}

bool vec_grow_(void *array, size_t size, size_t count, size_t more)
{
	/*
	 * The header explains that the room of an array is not stored. So the function computes the
	 * array's present room from its count.
	 */
	size_t had = vec_room(count), room;
	unsigned char *elements;

	if (more > SIZE_MAX - count)
		return false;
	room = vec_room(count + more);
	if (room > had && !move_elements(array, size, room))
		return false;
	/*
	 * The new elements are set to zeros, since some callers use vec_grow() in place of
	 * calloc().
	 */
	memcpy(&elements, array, sizeof(elements));
	if (more)
		memset(elements + count * size, 0, more * size);
	return true;
}

bool vec_reserve_(void *array, size_t size, size_t *room, size_t used, size_t more)
{
	size_t wanted;

	if (more <= *room - used)
		return true;
	if (more > SIZE_MAX - used)
		return false;
	wanted = vec_room(used + more);
	if (!move_elements(array, size, wanted))
		return false;
	*room = wanted;
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
