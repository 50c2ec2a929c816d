/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "parquet/dictionary.h"

#include <stdlib.h>
#include <string.h>

#include "base/vec.h"

struct wanted_value {
	const void *plain;
	size_t len;
};

void dictionary_clear(struct dictionary *dictionary)
{
	bytes_free(&dictionary->plain);
	free(dictionary->end);
	table_fini(&dictionary->table);
	*dictionary = (struct dictionary){ .count = 0 };
}

const char *dictionary_value(const struct dictionary *dictionary, uint32_t index, size_t *len)
{
	uint32_t begin = index ? dictionary->end[index - 1] : 0;

	*len = dictionary->end[index] - begin;
	return dictionary->plain.at + begin;
}

static bool is_same_value(const void *array, uint32_t index, const void *key)
{
	const struct wanted_value *wanted = key;
	size_t len;
	const char *plain = dictionary_value(array, index, &len);

	return len == wanted->len && !memcmp(plain, wanted->plain, len);
}

/* Hashes a number as one word, and a text by its bytes. */
static uint64_t hash_value(const struct wanted_value *value)
{
	uint64_t number;

	if (value->len != sizeof(number))
		return hash_bytes(HASH_BEGIN, value->plain, value->len);
	memcpy(&number, value->plain, sizeof(number));
	return hash_number(HASH_BEGIN, number);
}

static bool add_value(struct dictionary *dictionary, const struct wanted_value *value,
		      uint64_t hash)
{
	if (dictionary->count == DICTIONARY_VALUES ||
	    dictionary->plain.used + value->len > DICTIONARY_BYTES ||
	    !vec_grow(&dictionary->end, dictionary->count, 1))
		return false;
	bytes_add(&dictionary->plain, value->plain, value->len);
	if (dictionary->plain.failed || !table_add(&dictionary->table, hash, dictionary->count))
		return false;
	dictionary->end[dictionary->count++] = (uint32_t)dictionary->plain.used;
	return true;
}

/* A value is often equal to the value before it. In this case it is found without a hash. */
bool dictionary_index(struct dictionary *dictionary, const void *plain, size_t len,
		      uint32_t *index)
{
	const struct wanted_value value = { plain, len };
	uint64_t hash;

	if (dictionary->count && is_same_value(dictionary, dictionary->last, &value)) {
		*index = dictionary->last;
		return true;
	}
	hash = hash_value(&value);
	*index = table_find(&dictionary->table, hash, is_same_value, dictionary, &value);
	if (*index == TABLE_NONE) {
		*index = dictionary->count;
		if (!add_value(dictionary, &value, hash))
			return false;
	}
	dictionary->last = *index;
	return true;
}
