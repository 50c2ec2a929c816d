/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * nameset.h - a set of names. It stores each name once and gives it an index. A set of all zeros is
 * empty.
 */
#ifndef POSIXTRACE_BASE_NAMESET_H
#define POSIXTRACE_BASE_NAMESET_H

#include "base/table.h"

struct nameset {
	char **name;
	size_t count;
	struct table table;
};

/*
 * Returns the index of a name. If the set does not have the name yet, the function adds it. Returns
 * TABLE_NONE if memory is lacking.
 */
uint32_t nameset_index(struct nameset *set, const char *name);

/* Returns the index of a name, or TABLE_NONE if the set does not have it. */
uint32_t nameset_find(const struct nameset *set, const char *name);

/* Frees the memory and makes the set empty. */
void nameset_fini(struct nameset *set);

#endif
