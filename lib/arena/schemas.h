/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * arena/schemas.h - the schemas of a process's event types.
 *
 * The table is lock-free and append-only, as the names are. A process copies a text behind the used
 * bytes. Then one compare-and-swap makes this text the schema of the type. A process that is too
 * late, or is killed in between, leaves unused bytes. Readers load `changes` first and the entries
 * afterwards, so they find each entry that `changes` counts.
 *
 * Threads   any, also of other processes. No function allocates or waits.
 */
#ifndef PTX_ARENA_SCHEMAS_H
#define PTX_ARENA_SCHEMAS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "arena/names.h"
#include "record/schema.h"

#define PTX_SCHEMAS_ROOM (400u * 1024)

struct ptx_schemas {
	_Atomic uint64_t used;             /* bytes of `text` that are claimed */
	_Atomic uint64_t changes;          /* number of types with a schema */
	/*
	 * 0: no schema; else the length in the upper 32 bits and offset + 1 in the lower 32 bits;
	 * the index is type - PTX_TYPE_FIRST_USER
	 */
	_Atomic uint64_t entry[PTX_NAMES];
	char text[PTX_SCHEMAS_ROOM];
};

/*
 * Gives a named type a text shorter than PTX_SCHEMA_BYTES. EEXIST: the type has another text;
 * ENOSPC: the table has no room for the text; EINVAL: a predefined type, or a text that is too
 * long.
 */
int ptx_schemas_put(struct ptx_schemas *schemas, unsigned type, const char *text);

/* Returns whether the type has this text. */
bool ptx_schemas_has(const struct ptx_schemas *schemas, unsigned type, const char *text);

/*
 * Copies the text of a type, at most PTX_SCHEMA_BYTES. Returns false if the type has no valid text.
 */
bool ptx_schemas_get(const struct ptx_schemas *schemas, unsigned type, char *text);

/* Adds the schemas of the list `from` to the list `to`. */
void ptx_schemas_copy(struct ptx_schemas *to, const struct ptx_schemas *from);

#endif
