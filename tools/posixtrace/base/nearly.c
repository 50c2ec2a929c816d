/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* nearly.c - an insertion sort, as long as it needs few moves. */
#include "base/nearly.h"

#include <stdlib.h>

/* qsort() needs some 20 comparisons for each of a million elements. */
#define MOVES_EACH 8

void nearly_sort(uint32_t *number, size_t count, int (*compare)(const void *a, const void *b))
{
	size_t moves = 0;

	for (size_t i = 1; i < count; i++) {
		const uint32_t moved = number[i];
		size_t at = i;

		for (; at && compare(&number[at - 1], &moved) > 0; at--)
			number[at] = number[at - 1];
		number[at] = moved;
		/* A hostile log can have any order. So the sum of all moves is limited. */
		moves += i - at;
		if (moves / MOVES_EACH > count) {
			qsort(number, count, sizeof(*number), compare);
			return;
		}
	}
}
