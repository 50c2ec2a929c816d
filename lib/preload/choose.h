/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * preload/choose.h - which events are wanted: families by name, then types by pattern.
 *
 * A list of families has names separated by commas. A name adds a family. "all" and "default" add
 * several families, "none" removes all, and -NAME removes a family. If the first item of a list is
 * -NAME, the list begins with the default families. Unknown names are ignored.
 *
 * Threads   all functions may run concurrently.
 * Signals   all functions are async-signal-safe, except shim_is_chosen().
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
	FAMILY_IPC,
	FAMILY_DL,
	FAMILY_FUNC,
	FAMILY_COUNT
};

/* Returns the family that a type belongs to. */
enum shim_family shim_family_of(enum shim_type type);

/* Return the name and the schema of a type. */
const char *shim_name_of(enum shim_type type);
const char *shim_schema_of(enum shim_type type);

/* Returns a bit for each chosen family. `list` may be NULL for the default. */
unsigned shim_families(const char *list);

/*
 * Returns how many of the bytes that a call moves are recorded: BYTES, at most SHIM_CONTENT_MAX, if
 * the list has data=BYTES, and else 0.
 */
unsigned shim_content_of(const char *list);

/*
 * Returns the number that follows a name such as "data=" in the list; 0 if the list does not have
 * the name. The last such number of the list is valid. `most` is the greatest result.
 */
unsigned shim_number_of(const char *list, const char *name, unsigned most);

/*
 * Returns whether a type is wanted: its family is chosen and, if there are patterns, one of them
 * matches its name. Patterns do not restrict the shim's own events.
 */
bool shim_is_chosen(enum shim_type type, unsigned families, const char *const *glob,
		    unsigned globs);

#endif
