/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "arena/schemas.h"

#include <errno.h>
#include <string.h>

static bool has_entry(unsigned type)
{
	return type >= PTX_TYPE_FIRST_USER && type < PTX_TYPE_FIRST_USER + PTX_NAMES;
}

/* Shared memory: where and how long may be anything, and the text may lack its end. */
static bool copy_text(const struct ptx_schemas *schemas, uint64_t entry, char *text)
{
	uint64_t len = entry >> 32, at = (uint32_t)entry - UINT64_C(1);

	if (entry == 0 || len >= PTX_SCHEMA_BYTES || at + len >= PTX_SCHEMAS_ROOM)
		return false;
	memcpy(text, schemas->text + at, len);
	text[len] = '\0';
	return strlen(text) == len;
}

/* Room for len bytes; UINT64_MAX: there is none. */
static uint64_t take_room(struct ptx_schemas *schemas, uint64_t len)
{
	uint64_t used = atomic_load_explicit(&schemas->used, memory_order_relaxed);

	do {
		if (used > PTX_SCHEMAS_ROOM || len > PTX_SCHEMAS_ROOM - used)
			return UINT64_MAX;
	} while (!atomic_compare_exchange_weak_explicit(&schemas->used, &used, used + len,
							memory_order_relaxed,
							memory_order_relaxed));
	return used;
}

static int compare(const struct ptx_schemas *schemas, uint64_t entry, const char *text)
{
	char other[PTX_SCHEMA_BYTES];

	return copy_text(schemas, entry, other) && !strcmp(other, text) ? 0 : EEXIST;
}

int ptx_schemas_put(struct ptx_schemas *schemas, unsigned type, const char *text)
{
	uint64_t len = strlen(text), at, entry;
	_Atomic uint64_t *place;

	if (!has_entry(type) || len >= PTX_SCHEMA_BYTES)
		return EINVAL;
	place = &schemas->entry[type - PTX_TYPE_FIRST_USER];
	entry = atomic_load_explicit(place, memory_order_acquire);
	if (entry)
		return compare(schemas, entry, text);
	at = take_room(schemas, len + 1);
	if (at == UINT64_MAX)
		return ENOSPC;
	memcpy(schemas->text + at, text, len + 1);
	/* In one order with the levels of streams: posix/level.c. */
	if (!atomic_compare_exchange_strong_explicit(place, &entry, len << 32 | (at + 1),
						     memory_order_seq_cst, memory_order_acquire))
		return compare(schemas, entry, text);
	atomic_fetch_add_explicit(&schemas->changes, 1, memory_order_seq_cst);
	return 0;
}

bool ptx_schemas_get(const struct ptx_schemas *schemas, unsigned type, char *text)
{
	return schemas && has_entry(type) &&
	       copy_text(schemas,
			 atomic_load_explicit(&schemas->entry[type - PTX_TYPE_FIRST_USER],
					      memory_order_seq_cst),
			 text);
}

void ptx_schemas_copy(struct ptx_schemas *to, const struct ptx_schemas *from)
{
	char text[PTX_SCHEMA_BYTES];

	for (unsigned type = PTX_TYPE_FIRST_USER; type < PTX_TYPE_FIRST_USER + PTX_NAMES; type++)
		if (ptx_schemas_get(from, type, text))
			ptx_schemas_put(to, type, text);
}
