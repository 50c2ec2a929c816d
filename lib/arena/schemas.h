/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * arena/schemas.h - what the event types of a process mean, as texts beside their names.
 *
 * Lock-free and append-only, as the names are: a text is copied to the end of what is used, and one
 * compare-and-swap makes it the type's. Who loses, or is killed in between, leaves bytes that
 * nobody uses. Whoever is told of a change looks again at what was said before it.
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
	_Atomic uint64_t used;             /* of text */
	_Atomic uint64_t changes;          /* how many types were described */
	_Atomic uint64_t entry[PTX_NAMES]; /* 0, or length 32 | offset + 1; by type as in names.h */
	char text[PTX_SCHEMAS_ROOM];
};

/*
 * Gives a named type a text shorter than PTX_SCHEMA_BYTES. EEXIST: it has another; ENOSPC; EINVAL:
 * a predefined type.
 */
int ptx_schemas_put(struct ptx_schemas *schemas, unsigned type, const char *text);

/* Copies the text of type, of PTX_SCHEMA_BYTES at most; false: it has none that can be true. */
bool ptx_schemas_get(const struct ptx_schemas *schemas, unsigned type, char *text);

/* What from has and to has not. */
void ptx_schemas_copy(struct ptx_schemas *to, const struct ptx_schemas *from);

#endif
