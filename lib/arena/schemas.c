/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * arena/schemas.c - the schemas of event types. Each type has at most one text, which never
 * changes.
 *
 * A type has an entry: a 64-bit word with the length and the offset of its text. All texts are in
 * the member `text`. The first text of a type is kept, so that all processes and all logs agree
 * about the data of the type's events.
 */
#include "arena/schemas.h"

#include <errno.h>
#include <string.h>

/*
 * Returns true if the type can have a schema. The standard defines the data of the predefined
 * types, so a program cannot register a schema for them.
 */
static bool has_entry(unsigned type)
{
	return type >= PTX_TYPE_FIRST_USER && type < PTX_TYPE_FIRST_USER + PTX_NAMES;
}

/*
 * Copies the text of an entry. Another process may have written any offset, any length, and a text
 * without a NUL. So the function checks the offset and the length, and ends the copy with a NUL.
 * Returns false if the text is not valid.
 */
static bool copy_text(const struct ptx_schemas *schemas, uint64_t entry, char *text)
{
	/* The caller has loaded the entry once, so length and offset belong together. */
	uint64_t len = entry >> 32, at = (uint32_t)entry - UINT64_C(1);

	/* The entry has the offset + 1, so 0 means that there is no text. */
	if ((uint32_t)entry == 0 || len >= PTX_SCHEMA_BYTES || at + len >= PTX_SCHEMAS_ROOM)
		return false;
	memcpy(text, schemas->text + at, len);
	text[len] = '\0';
	/* A NUL inside means that another process has overwritten the text. */
	return strlen(text) == len;
}

/*
 * Claims `len` bytes of the member `text` and returns their offset, or UINT64_MAX if there is no
 * room for them. This function never makes the member `used` greater than the room.
 */
static uint64_t claim_room(struct ptx_schemas *schemas, uint64_t len)
{
	uint64_t used = atomic_load_explicit(&schemas->used, memory_order_relaxed);

	do {
		/* A hostile process may have stored any number in `used`. */
		if (used > PTX_SCHEMAS_ROOM || len > PTX_SCHEMAS_ROOM - used)
			return UINT64_MAX;
	} while (!atomic_compare_exchange_weak_explicit(&schemas->used, &used, used + len,
							memory_order_relaxed,
							memory_order_relaxed));
	return used;
}

/* The text is compared in place. A copy is not needed, because each byte is read only once. */
bool ptx_schemas_has(const struct ptx_schemas *schemas, unsigned type, const char *text)
{
	uint64_t entry, len, at;

	if (!has_entry(type))
		return false;
	entry = atomic_load_explicit(&schemas->entry[type - PTX_TYPE_FIRST_USER],
				     memory_order_acquire);
	len = entry >> 32;
	at = (uint32_t)entry - UINT64_C(1);
	/* These bounds are the same as in copy_text(). */
	return (uint32_t)entry && len < PTX_SCHEMA_BYTES && at + len < PTX_SCHEMAS_ROOM &&
	       strnlen(text, PTX_SCHEMA_BYTES) == len && !memcmp(schemas->text + at, text, len);
}

/* Returns 0 if the entry has this text, and EEXIST if the entry has another text. */
static int schemas_compare(const struct ptx_schemas *schemas, uint64_t entry, const char *text)
{
	char other[PTX_SCHEMA_BYTES];

	return copy_text(schemas, entry, other) && !strcmp(other, text) ? 0 : EEXIST;
}

/*
 * Stores the text first, and then its entry by a compare-and-swap. So a reader never sees an
 * incomplete text. If another process stores an entry for the type first, the bytes that this
 * process has claimed stay unused.
 */
int ptx_schemas_put(struct ptx_schemas *schemas, unsigned type, const char *text)
{
	uint64_t len = strlen(text), at, entry;
	_Atomic uint64_t *place;

	/* The type may come from another process, so it is checked. */
	if (!has_entry(type) || len >= PTX_SCHEMA_BYTES)
		return EINVAL;
	place = &schemas->entry[type - PTX_TYPE_FIRST_USER];
	entry = atomic_load_explicit(place, memory_order_acquire);
	/* The type has a schema already. A program may register the same text again. */
	if (entry)
		return schemas_compare(schemas, entry, text);
	at = claim_room(schemas, len + 1);
	if (at == UINT64_MAX)
		return ENOSPC;
	/* No other process uses these bytes until an entry refers to them. */
	memcpy(schemas->text + at, text, len + 1);
	/*
	 * The exchange is seq_cst, because posix/level.c needs a total order of the stores of
	 * schemas and levels.
	 */
	if (!atomic_compare_exchange_strong_explicit(place, &entry, len << 32 | (at + 1),
						     memory_order_seq_cst, memory_order_acquire))
		return schemas_compare(schemas, entry, text);
	/*
	 * `changes` grows after the entry was stored. So a reader that sees the new count also
	 * finds the entry.
	 */
	atomic_fetch_add_explicit(&schemas->changes, 1, memory_order_seq_cst);
	return 0;
}

/* If the type has no schema, its entry is 0, and copy_text() returns false. */
bool ptx_schemas_get(const struct ptx_schemas *schemas, unsigned type, char *text)
{
	return schemas && has_entry(type) &&
	       copy_text(schemas,
			 atomic_load_explicit(&schemas->entry[type - PTX_TYPE_FIRST_USER],
					      memory_order_seq_cst),
			 text);
}

/*
 * Errors are ignored: a type that has a text in `to` already keeps that text. If `to` is full, the
 * other texts are not copied.
 */
void ptx_schemas_copy(struct ptx_schemas *to, const struct ptx_schemas *from)
{
	char text[PTX_SCHEMA_BYTES];

	/* Only types of the program have schemas. */
	for (unsigned type = PTX_TYPE_FIRST_USER; type < PTX_TYPE_FIRST_USER + PTX_NAMES; type++)
		if (ptx_schemas_get(from, type, text))
			ptx_schemas_put(to, type, text);
}
