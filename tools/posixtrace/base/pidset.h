/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * pidset.h - a set of numbers of processes. It stores each number once and gives it an index. The
 * caller keeps facts of the processes in arrays, and uses this index for them. A set of all zeros
 * is empty.
 */
#ifndef POSIXTRACE_BASE_PIDSET_H
#define POSIXTRACE_BASE_PIDSET_H

#include <sys/types.h>

#include "base/table.h"

struct pidset {
	pid_t *pid;
	size_t count;
	struct table table;
};

/*
 * Returns the index of a number. If the set does not have the number yet, the function adds it, and
 * the index is the former count. Returns TABLE_NONE if memory is lacking.
 */
uint32_t pidset_index(struct pidset *set, pid_t pid);

/* Returns the index of a number, or TABLE_NONE if the set does not have it. */
uint32_t pidset_find(const struct pidset *set, pid_t pid);

/* Frees the memory and makes the set empty. */
void pidset_fini(struct pidset *set);

#endif
