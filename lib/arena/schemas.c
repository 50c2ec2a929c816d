/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * arena/schemas.c - the schemas of event types: one text per type, added once, never changed.
 *
 * A type has an entry with the length and offset of its text. The first text of a type stays, so
 * that all processes and all logs agree about the data of its events.
 */
#include "arena/schemas.h"

#include <errno.h>
#include <string.h>

/* Predefined types have no schema of the program; their data is that of the standard. */
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
	/* The entry was loaded once; both parts are of one value. */
	uint64_t len = entry >> 32, at = (uint32_t)entry - UINT64_C(1);

	/* An offset of 0 means that there is no text; `at` would be before the texts. */
	if ((uint32_t)entry == 0 || len >= PTX_SCHEMA_BYTES || at + len >= PTX_SCHEMAS_ROOM)
		return false;
	memcpy(text, schemas->text + at, len);
	text[len] = '\0';
	/* A NUL inside means that another process has overwritten the text. */
	return strlen(text) == len;
}

/*
 * Claims `len` bytes of the member `text`. Returns UINT64_MAX if there is no room for them. This
 * function never makes the member `used` greater than the room.
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

/* The text is compared without a copy, since no byte of it is read twice. */
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

/* Returns 0 if the entry has this text, EEXIST if it has another text. */
static int schemas_compare(const struct ptx_schemas *schemas, uint64_t entry, const char *text)
{
	char other[PTX_SCHEMA_BYTES];

	return copy_text(schemas, entry, other) && !strcmp(other, text) ? 0 : EEXIST;
}

/*
 * The text is complete before its entry exists, so a reader never sees a part of it. If the
 * exchange fails, the bytes that this process has claimed stay unused.
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
	/* The first text stays; the same text again is no error. */
	if (entry)
		return schemas_compare(schemas, entry, text);
	at = claim_room(schemas, len + 1);
	if (at == UINT64_MAX)
		return ENOSPC;
	/* Only this process uses the bytes until an entry refers to them. */
	memcpy(schemas->text + at, text, len + 1);
	/*
	 * The exchange is seq_cst, because posix/level.c needs a total order of the stores of
	 * schemas and levels.
	 */
	if (!atomic_compare_exchange_strong_explicit(place, &entry, len << 32 | (at + 1),
						     memory_order_seq_cst, memory_order_acquire))
		return schemas_compare(schemas, entry, text);
	/*
	 * The count grows after the entry exists: a reader that sees the change also sees the text.
	 */
	atomic_fetch_add_explicit(&schemas->changes, 1, memory_order_seq_cst);
	return 0;
}

/* An entry that is 0 gives no text; copy_text() rejects it. */
bool ptx_schemas_get(const struct ptx_schemas *schemas, unsigned type, char *text)
{
	return schemas && has_entry(type) &&
	       copy_text(schemas,
			 atomic_load_explicit(&schemas->entry[type - PTX_TYPE_FIRST_USER],
					      memory_order_seq_cst),
			 text);
}

/*
 * Errors are ignored: a type that has a text in `to` keeps that text, and a full list stays as it
 * is.
 */
void ptx_schemas_copy(struct ptx_schemas *to, const struct ptx_schemas *from)
{
	char text[PTX_SCHEMA_BYTES];

	/* Only types of the program have schemas. */
	for (unsigned type = PTX_TYPE_FIRST_USER; type < PTX_TYPE_FIRST_USER + PTX_NAMES; type++)
		if (ptx_schemas_get(from, type, text))
			ptx_schemas_put(to, type, text);
}
