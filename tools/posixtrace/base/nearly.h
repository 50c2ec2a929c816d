/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * nearly.h - sorts numbers that are nearly in order. Different arrays may be sorted in several
 * threads at the same time, if the comparison function permits it.
 */
#ifndef POSIXTRACE_BASE_NEARLY_H
#define POSIXTRACE_BASE_NEARLY_H

#include <stddef.h>
#include <stdint.h>

/*
 * Sorts numbers, such as the indexes of the events of a log, by a comparison function of qsort(3).
 * Equal elements keep their order as far as they do with qsort(). Events of a log are nearly in
 * the order of time, so each number moves only a few places, and most numbers need one comparison.
 * qsort() sorts an array in which they move further.
 */
void nearly_sort(uint32_t *number, size_t count, int (*compare)(const void *a, const void *b));

#endif
