/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * dictionary.h - the distinct values of a column in a row group, in the order of their appearance.
 * The values are kept in Parquet's encoding PLAIN, as the dictionary page has them.
 */
#ifndef POSIXTRACE_PARQUET_DICTIONARY_H
#define POSIXTRACE_PARQUET_DICTIONARY_H

#include "base/bytes.h"
#include "base/table.h"

#define DICTIONARY_VALUES 32768u
#define DICTIONARY_BYTES  (1u << 20)

struct dictionary {
	struct bytes plain;
	uint32_t *end;           /* the offset of the end of each value in "plain" */
	uint32_t count;
	uint32_t last;           /* the value that was found last */
	struct table table;
};

/* Removes all values. A dictionary of zeros is empty. */
void dictionary_clear(struct dictionary *dictionary);

/*
 * Stores the index of a value, which is given in the encoding PLAIN, in *index. If the value is
 * new, the function adds it. Returns false if the dictionary would become too large, or if memory
 * is lacking. The caller then continues without a dictionary.
 */
bool dictionary_index(struct dictionary *dictionary, const void *plain, size_t len,
		      uint32_t *index);

/* Returns the value with this index, in the encoding PLAIN. */
const char *dictionary_value(const struct dictionary *dictionary, uint32_t index, size_t *len);

#endif
