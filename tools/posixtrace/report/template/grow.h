/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * grow.h - arrays that grow.
 */
#ifndef POSIXTRACE_REPORT_TEMPLATE_GROW_H
#define POSIXTRACE_REPORT_TEMPLATE_GROW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

/* Room for more elements of size bytes behind used; false: no memory, and nothing is changed. */
static inline bool grow(void *array, size_t *room, size_t used, size_t more, size_t size)
{
	void **place = array;
	size_t wanted = *room ? *room : 64;
	void *moved;

	if (more <= *room - used)
		return true;
	while (wanted - used < more)
		wanted *= 2;
	moved = reallocarray(*place, wanted, size);
	if (!moved)
		return false;
	*place = moved;
	*room = wanted;
	return true;
}

#endif
