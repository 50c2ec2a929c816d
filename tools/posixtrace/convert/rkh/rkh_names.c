/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * rkh_names.c - the names that dictionary records give to addresses, signals, pools and user
 * events. The number and the size of all names are limited, because they depend on the input.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/table.h"
#include "base/vec.h"
#include "convert/rkh/rkh.h"

#define NAMES_MAX (1u << 15)
#define BYTES_MAX ((size_t)8 << 20) /* greatest number of bytes of all names */

struct entry {
	uint64_t key;
	char *name;
};

struct rkh_names {
	size_t entries, bytes;
	struct entry *entry;
	struct table table; /* finds entries */
};

struct rkh_names *rkh_names_new(void)
{
	return calloc(1, sizeof(struct rkh_names));
}

/* After this call the table is empty and can be used again. */
void rkh_names_clear(struct rkh_names *names)
{
	for (size_t i = 0; i < names->entries; i++)
		free(names->entry[i].name);
	free(names->entry);
	table_fini(&names->table);
	memset(names, 0, sizeof(*names));
}

void rkh_names_free(struct rkh_names *names)
{
	if (names)
		rkh_names_clear(names);
	free(names);
}

/* Compares the key of an entry with the wanted key, for table_find(). */
static bool is_at(const void *array, uint32_t index, const void *key)
{
	return ((const struct entry *)array)[index].key == *(const uint64_t *)key;
}

/* Returns the entry of a key, or NULL. */
static struct entry *find_entry(const struct rkh_names *names, uint64_t key)
{
	uint32_t index = table_find(&names->table, hash_number(HASH_BEGIN, key), is_at,
				    names->entry, &key);

	return index == TABLE_NONE ? NULL : &names->entry[index];
}

/* Adds an entry without a name. Returns NULL if memory is lacking. */
static struct entry *new_entry(struct rkh_names *names, uint64_t key)
{
	struct entry *entry;

	if (!vec_grow(&names->entry, names->entries, 1) ||
	    !table_add(&names->table, hash_number(HASH_BEGIN, key), (uint32_t)names->entries))
		return NULL;
	entry = &names->entry[names->entries++];
	entry->key = key;
	return entry;
}

/* The key contains the number of the space + 1, so that no key is 0. */
static uint64_t key_of(enum rkh_space space, uint32_t value)
{
	return (uint64_t)(space + 1) << 32 | value;
}

/*
 * A name replaces the earlier name of the value. The limits bound the memory for a hostile stream.
 */
int rkh_names_set(struct rkh_names *names, enum rkh_space space, uint32_t value, const char *name)
{
	uint64_t key = key_of(space, value);
	struct entry *entry = find_entry(names, key);
	size_t len = strlen(name) + 1, old = entry ? strlen(entry->name) + 1 : 0;
	char *copy;

	/*
	 * The bytes of a replaced name do not count any more. So a stream that repeats its names,
	 * such as a stream with accounts, does not reach the limit.
	 */
	if ((!entry && names->entries == NAMES_MAX) || names->bytes - old + len > BYTES_MAX)
		return ENOSPC;
	copy = malloc(len);
	if (copy && !entry)
		entry = new_entry(names, key);
	if (!copy || !entry) {
		free(copy);
		return ENOMEM;
	}
	memcpy(copy, name, len);
	names->bytes += len - old;
	free(entry->name);
	entry->name = copy;
	return 0;
}

/*
 * Returns the name as in the stream. The function is for names of types, which must be restored
 * exactly.
 */
const char *rkh_names_whole(const struct rkh_names *names, enum rkh_space space, uint32_t value)
{
	const struct entry *entry = find_entry(names, key_of(space, value));

	return entry ? entry->name : NULL;
}

/*
 * Targets send the name of an object as an expression of the program's source, often with a leading
 * &. The function returns the name without this &.
 */
const char *rkh_names_find(const struct rkh_names *names, enum rkh_space space, uint32_t value)
{
	const char *name = rkh_names_whole(names, space, value);

	return name && *name == '&' ? name + 1 : name;
}

/*
 * Returns whether the record is a dictionary record. Its last argument is the name, and the
 * argument before the name is the named value.
 */
static bool is_dictionary(const struct rkh_record *record, enum rkh_space *space)
{
	if (record->args < 2 || record->arg[record->args - 1].kind != RKH_STR)
		return false;
	switch (record->arg[record->args - 2].kind) {
	case RKH_SYM:
		*space = RKH_ADDRESSES;
		return true;
	case RKH_SIG:
		*space = RKH_SIGNALS;
		return true;
	default:
		*space = record == &rkh3_records[RKH_TUSR] ? RKH_EVENTS : RKH_POOLS;
		return true;
	}
}

/*
 * If the frame is a configuration, the function removes all names, because names may have new
 * meanings in the stream that begins.
 */
int rkh_names_read(struct rkh_names *names, const struct rkh_config *config,
		   const struct rkh_frame *frame)
{
	enum rkh_space space;
	uint32_t value = 0;
	size_t at = 0;

	if (frame->is_config)
		rkh_names_clear(names);
	if (!frame->record || frame->raw || !is_dictionary(frame->record, &space))
		return 0;
	/*
	 * Only the last number before the name is used. rkh_measure() has checked that all
	 * arguments are in the frame.
	 */
	for (unsigned i = 0; i + 1 < frame->record->args; i++) {
		unsigned size = rkh_size(config, frame->record->arg[i].kind);

		value = (uint32_t)rkh_number(frame->args + at, size);
		at += size;
	}
	return rkh_names_set(names, space, value, (const char *)frame->args + at);
}
