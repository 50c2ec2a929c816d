/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * preload/choose.h - which events are wanted: families by name, then types by pattern.
 *
 * A list of families: names with commas between, each adding to what stands before; "all", "none",
 * "default"; -NAME takes away. A list that begins with -NAME begins with the default. What is no
 * name of a family is passed over.
 */
#ifndef PTX_PRELOAD_CHOOSE_H
#define PTX_PRELOAD_CHOOSE_H

#include <stdbool.h>

#include "preload/types.h"

enum shim_family {
	FAMILY_SHIM, /* what the shim says of itself: always */
	FAMILY_ALLOC,
	FAMILY_LOCK,
	FAMILY_HOLD,
	FAMILY_IO,
	FAMILY_STDIO,
	FAMILY_NET,
	FAMILY_THREAD,
	FAMILY_PROCESS,
	FAMILY_SIGNAL,
	FAMILY_TIME,
	FAMILY_DL,
	FAMILY_FUNC,
	FAMILY_COUNT
};

enum shim_family shim_family_of(enum shim_type type);

/* A bit for each family; list may be NULL for the default. */
unsigned shim_families(const char *list);

/* One type: of a chosen family and, where there are patterns, matched by one of them. */
bool shim_is_chosen(enum shim_type type, unsigned families, const char *const *glob,
		    unsigned globs);

#endif
