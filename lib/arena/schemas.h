/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * arena/schemas.h - the schemas of a process's event types.
 *
 * The table is lock-free and append-only, like the table of names (names.h). A process claims
 * unused bytes and copies its text into them. Then one compare-and-swap makes this text the schema
 * of the type. If another process is faster, or if the process is killed before the
 * compare-and-swap, the bytes stay unused. Readers load `changes` first and the entries afterwards,
 * so they find each entry that `changes` counts.
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
	 * 0: no schema. Otherwise the length of the text in the upper 32 bits, and its offset + 1
	 * in the lower 32 bits. The index is type - PTX_TYPE_FIRST_USER.
	 */
	_Atomic uint64_t entry[PTX_NAMES];
	char text[PTX_SCHEMAS_ROOM];
};

/*
 * Makes `text` the schema of a type. The text must be shorter than PTX_SCHEMA_BYTES. EEXIST: the
 * type has another text; ENOSPC: the table has no room for the text; EINVAL: a predefined type, or
 * a text that is too long.
 */
int ptx_schemas_put(struct ptx_schemas *schemas, unsigned type, const char *text);

/* Returns true if the schema of the type is this text. */
bool ptx_schemas_has(const struct ptx_schemas *schemas, unsigned type, const char *text);

/*
 * Copies the schema of a type to `text`, which has room for PTX_SCHEMA_BYTES. Returns false if the
 * type has no valid schema.
 */
bool ptx_schemas_get(const struct ptx_schemas *schemas, unsigned type, char *text);

/* Adds the schemas of the list `from` to the list `to`. */
void ptx_schemas_copy(struct ptx_schemas *to, const struct ptx_schemas *from);

#endif
