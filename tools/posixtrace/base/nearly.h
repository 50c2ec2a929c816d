/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * nearly.h - sorts elements that are nearly in order. Different arrays may be sorted in several
 * threads at the same time, if the comparison function permits it.
 */
#ifndef POSIXTRACE_BASE_NEARLY_H
#define POSIXTRACE_BASE_NEARLY_H

#include <stddef.h>

#define NEARLY_SIZE_MAX 64 /* bytes of an element */

/*
 * Sorts elements of at most NEARLY_SIZE_MAX bytes, such as the indexes of the events of a log, by a
 * comparison function of qsort(3). Equal elements may change their order, as with qsort(). Events
 * of a log are nearly in the order of time, so each element moves only a few places, and most
 * elements need one comparison. If the elements must move further, the function calls qsort().
 */
void nearly_sort(void *base, size_t count, size_t size,
		 int (*compare)(const void *a, const void *b));

#endif
