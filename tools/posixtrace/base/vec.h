/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * vec.h - arrays that grow.
 *
 * Such an array is a pointer and a count; NULL and 0 are an empty one, and free() ends it. It has
 * room for the least power of two that is not below its count, so nothing needs to store the room.
 * An array must therefore get all its elements by these functions. Elements that are new are all
 * zeros.
 */
#ifndef POSIXTRACE_BASE_VEC_H
#define POSIXTRACE_BASE_VEC_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Makes room for so many more elements than count; array is the address of the pointer. The caller
 * adds to its count what it uses. False: no memory; the array is as it was.
 */
#define vec_grow(array, count, more) vec_grow_((array), sizeof(**(array)), (count), (more))

/* Makes count greater than index, if it is not. False: no memory; the array is as it was. */
#define vec_reach(array, count, index) vec_reach_((array), sizeof(**(array)), (count), (index))

bool vec_grow_(void *array, size_t size, size_t count, size_t more);
bool vec_reach_(void *array, size_t size, size_t *count, size_t index);

#endif
