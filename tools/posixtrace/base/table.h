/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * table.h - a hash table for the elements of an array of the caller. The table stores the indexes
 * of the elements.
 *
 * The table uses open addressing; at least half of its places are free. The table keeps 32 bits of
 * each element's hash. So the table can grow without reading the elements, and a search compares
 * few elements. The table never shrinks. A table of all zeros is empty.
 */
#ifndef POSIXTRACE_BASE_TABLE_H
#define POSIXTRACE_BASE_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TABLE_NONE UINT32_MAX

/*
 * The initial value of a hash. The caller then adds one or more parts by hash_bytes() and
 * hash_number().
 */
#define HASH_BEGIN UINT64_C(0xcbf29ce484222325)

struct table_place {
	uint32_t hash;
	uint32_t next_index; /* the element's index + 1; 0: the place is free */
};

struct table {
	struct table_place *place;
	size_t places; /* a power of two */
	size_t used;
};

/*
 * Adds bytes to a hash (FNV-1a). An attacker can construct collisions, but they only make searches
 * slower.
 */
static inline uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t len)
{
	const unsigned char *p = bytes;

	for (size_t i = 0; i < len; i++)
		hash = (hash ^ p[i]) * UINT64_C(0x100000001b3);
	return hash;
}

/*
 * Adds a number to a hash. The shift mixes the high bits of the product into the low bits, because
 * the low bits select the place.
 */
static inline uint64_t hash_number(uint64_t hash, uint64_t number)
{
	hash = (hash ^ number) * UINT64_C(0x9e3779b97f4a7c15);
	return hash ^ hash >> 29;
}

static inline uint32_t table_fold(uint64_t hash)
{
	return (uint32_t)(hash ^ hash >> 32);
}

/*
 * Returns the index of the element with this hash for which is_same(array, index, key) is true, or
 * TABLE_NONE. The function is inlined so that the compiler can inline is_same(), too.
 */
static inline __attribute__((always_inline)) uint32_t
table_find(const struct table *table, uint64_t hash,
	   bool (*is_same)(const void *array, uint32_t index, const void *key), const void *array,
	   const void *key)
{
	uint32_t folded = table_fold(hash);

	if (!table->places)
		return TABLE_NONE;
	for (size_t i = folded & (table->places - 1);; i = (i + 1) & (table->places - 1)) {
		const struct table_place *place = &table->place[i];

		if (!place->next_index)
			return TABLE_NONE;
		if (place->hash == folded && is_same(array, place->next_index - 1, key))
			return place->next_index - 1;
	}
}

/*
 * Adds an element that is not in the table yet. If memory is lacking, the function returns false
 * and leaves the table unchanged.
 */
bool table_add(struct table *table, uint64_t hash, uint32_t index);

/*
 * Removes an element that is in the table. "hash" and "index" must be the arguments that
 * table_add() got for the element.
 */
void table_remove(struct table *table, uint64_t hash, uint32_t index);

/* Frees the memory and makes the table empty. */
void table_fini(struct table *table);

#endif
