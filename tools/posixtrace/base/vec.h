/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * vec.h - arrays that grow. Different arrays may grow in several threads at the same time.
 *
 * Such an array is a pointer and a count; NULL and 0 are an empty array, and free() releases it. It
 * has room for the least power of two that is not below its count, so the room is not stored. An
 * array must therefore grow by vec_grow() and vec_reach() only. New elements are all zeros.
 */
#ifndef POSIXTRACE_BASE_VEC_H
#define POSIXTRACE_BASE_VEC_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Makes room for so many elements behind the first count; array is the address of the pointer. The
 * caller adds to its count the elements that it uses. Returns false without memory; the array is
 * unchanged.
 */
#define vec_grow(array, count, more) vec_grow_((array), sizeof(**(array)), (count), (more))

/*
 * Makes count greater than index, unless it is already. Returns false without memory; the array is
 * unchanged.
 */
#define vec_reach(array, count, index) vec_reach_((array), sizeof(**(array)), (count), (index))

/*
 * For arrays whose room is stored because their count also falls, as buffers and stacks have it:
 * makes room for so many elements behind the first used ones. array is the address of the pointer,
 * room the address of the number of elements that fit. New elements are undefined. Returns false
 * without memory; the array is unchanged.
 */
#define vec_reserve(array, room, used, more)                                                       \
	vec_reserve_((array), sizeof(**(array)), (room), (used), (more))

/* For the macros only. */
bool vec_grow_(void *array, size_t size, size_t count, size_t more);
bool vec_reserve_(void *array, size_t size, size_t *room, size_t used, size_t more);
bool vec_reach_(void *array, size_t size, size_t *count, size_t index);

#endif
