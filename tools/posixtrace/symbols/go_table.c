/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * go_table.c - reads .gopclntab.
 *
 * 	head       magic (4 bytes), 0, 0, size of instructions, size of pointers
 * 	8, 24      number of functions, address of the code
 * 	32, 64     offsets of the names, and of the list of functions
 * 	list       pairs of 4 bytes: address from the begin of the code, offset of the description
 * 		   from the list; the last address is the end of the code
 * 	at that offset: address again, then the offset of the name among the names
 */
#include "symbols/go_table.h"

#include <string.h>

#define MAGIC_1_18 0xfffffff0u
#define MAGIC_1_20 0xfffffff1u
#define HEAD_BYTES 72
#define NAME_MOST  4096

static uint64_t word_at(const struct go_table *table, size_t offset)
{
	uint64_t word;

	memcpy(&word, table->data + offset, sizeof(word));
	return word;
}

/* Reads a number of 4 bytes. Returns false if it is not in the section. */
static bool half_at(const struct go_table *table, uint64_t offset, uint32_t *number)
{
	if (offset > table->bytes || table->bytes - offset < sizeof(*number))
		return false;
	memcpy(number, table->data + offset, sizeof(*number));
	return true;
}

bool go_table_begin(struct go_table *table, const void *data, size_t bytes)
{
	uint32_t magic;

	*table = (struct go_table){ .data = data, .bytes = bytes };
	if (!data || bytes < HEAD_BYTES)
		return false;
	memcpy(&magic, data, sizeof(magic));
	if ((magic != MAGIC_1_18 && magic != MAGIC_1_20) || table->data[7] != 8)
		return false;
	table->count = word_at(table, 8);
	table->text = word_at(table, 24);
	table->names = word_at(table, 32);
	table->functions = word_at(table, 64);
	/* Because of these limits, no later sum of offsets overflows. */
	return table->names < bytes && table->functions < bytes && table->count < bytes / 8;
}

bool go_table_get(const struct go_table *table, uint64_t index, struct go_function *function)
{
	const uint64_t at = table->functions + index * 8;
	uint32_t begin, end, description, name;
	uint64_t text;

	if (index >= table->count || !half_at(table, at, &begin) ||
	    !half_at(table, at + 4, &description) || !half_at(table, at + 8, &end) ||
	    !half_at(table, table->functions + description + 4, &name) || end < begin)
		return false;
	text = table->names + name;
	/* The name must have its NUL in the section. The limit bounds the time of a search. */
	if (text >= table->bytes ||
	    !memchr(table->data + text, 0, table->bytes - text < NAME_MOST ?
					   table->bytes - text : NAME_MOST))
		return false;
	*function = (struct go_function){ .address = table->text + begin, .size = end - begin,
					  .name = (const char *)table->data + text };
	return true;
}

/* The search ends even if a hostile table is not sorted. */
const char *go_table_find(const struct go_table *table, uint64_t address)
{
	uint64_t from = 0, until = table->count;
	struct go_function function;

	while (from < until) {
		uint64_t middle = from + (until - from) / 2;

		if (!go_table_get(table, middle, &function))
			return NULL;
		if (address < function.address)
			until = middle;
		else if (address - function.address >= function.size)
			from = middle + 1;
		else
			return *function.name ? function.name : NULL;
	}
	return NULL;
}
