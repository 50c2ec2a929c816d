/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* nearly.c - an insertion sort, which qsort() replaces if the elements move too far. */
#include "base/nearly.h"

#include <stdlib.h>
#include <string.h>

/*
 * The number of places by which an element may move on average. qsort() needs some 20 comparisons
 * for each of a million elements.
 */
#define MOVES_EACH 8

void nearly_sort(void *base, size_t count, size_t size,
		 int (*compare)(const void *a, const void *b))
{
	char *first = base, moved[NEARLY_SIZE_MAX];
	size_t moves = 0;

	for (size_t i = 1; i < count; i++) {
		char *element = first + i * size, *at = element;

		while (at > first && compare(at - size, element) > 0)
			at -= size;
		if (at == element)
			continue;
		memcpy(moved, element, size);
		memmove(at + size, at, (size_t)(element - at));
		memcpy(at, moved, size);
		/* A hostile log can have any order. So the sum of all moves is limited. */
		moves += (size_t)(element - at) / size;
		if (moves / MOVES_EACH > count) {
			qsort(base, count, size, compare);
			return;
		}
	}
}
