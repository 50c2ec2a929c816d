/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * preload/choose.h - which events are wanted: families by name, then types by pattern.
 *
 * A list of families has names separated by commas. Each name adds a family to those before it.
 * "all", "none" and "default" mean whole lists; -NAME removes a family. If the first name of a list
 * is -NAME, the family is removed from the default. Unknown names are ignored.
 *
 * Threads   all functions may run concurrently. Signals: async-signal-safe but shim_is_chosen().
 */
#ifndef PTX_PRELOAD_CHOOSE_H
#define PTX_PRELOAD_CHOOSE_H

#include <stdbool.h>

#ifndef PTX_PRELOAD_TYPES_H
# include "preload/types.h"
#endif

enum shim_family {
	FAMILY_SHIM, /* reports of the shim about itself: always on */
	FAMILY_ALLOC,
	FAMILY_LOCK,
	FAMILY_HOLD,
	FAMILY_IO,
	FAMILY_FILE,
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

/* Returns the family that a type belongs to. */
enum shim_family shim_family_of(enum shim_type type);

/* Returns the name of a type. */
const char *shim_name_of(enum shim_type type);

/* Returns a bit for each chosen family. `list` may be NULL for the default. */
unsigned shim_families(const char *list);

/*
 * Returns the number of bytes of each call to record; 0 if the list does not say a number
 * (data=BYTES).
 */
unsigned shim_content_of(const char *list);

/*
 * Returns the last number that follows a name such as "data=" in the list, or `most` if the number
 * is greater; 0 if there is none.
 */
unsigned shim_number_of(const char *list, const char *name, unsigned most);

/*
 * Returns whether a type is wanted: its family is chosen and, if there are patterns, one of them
 * matches its name.
 */
bool shim_is_chosen(enum shim_type type, unsigned families, const char *const *glob,
		    unsigned globs);

#endif
