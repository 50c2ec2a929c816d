/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * vec.h - arrays that grow. Different arrays may grow in several threads at the same time.
 *
 * Such an array is a pointer and a count; NULL and 0 are an empty array, and free() releases it. It
 * has room for the least power of two that is not below its count, so the room is not stored.
 * Therefore only vec_grow() and vec_reach() may make such an array grow. New elements are all
 * zeros.
 */
#ifndef POSIXTRACE_BASE_VEC_H
#define POSIXTRACE_BASE_VEC_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Makes room for more elements behind the count elements of the array. "array" is the address of
 * the pointer. The caller then adds the elements that it uses to its count. If memory is lacking,
 * the result is false and the array is unchanged.
 */
#define vec_grow(array, count, more) vec_grow_((array), sizeof(**(array)), (count), (more))

/*
 * Makes the array have an element with this index: if *count is not greater than index, it becomes
 * index + 1. If memory is lacking, the result is false and the array is unchanged.
 */
#define vec_reach(array, count, index) vec_reach_((array), sizeof(**(array)), (count), (index))

/*
 * Makes room for more elements behind the used elements of a buffer or a stack. The number of used
 * elements may also fall, so the caller stores the room. "array" is the address of the pointer, and
 * "room" is the address of the number of elements that fit. New elements are undefined. If memory
 * is lacking, the result is false and the array is unchanged.
 */
#define vec_reserve(array, room, used, more)                                                       \
	vec_reserve_((array), sizeof(**(array)), (room), (used), (more))

/* Only the macros call these functions. */
bool vec_grow_(void *array, size_t size, size_t count, size_t more);
bool vec_reserve_(void *array, size_t size, size_t *room, size_t used, size_t more);
bool vec_reach_(void *array, size_t size, size_t *count, size_t index);

#endif
