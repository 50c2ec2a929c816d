/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * go_table.h - the functions in the section .gopclntab of Go programs. Stripped programs have this
 * section, too, because the runtime needs it. The formats of Go 1.18 and later are known.
 *
 * The bytes may be hostile: each offset is checked. Nothing is copied, and a table has no state, so
 * that several threads may use it.
 */
#ifndef POSIXTRACE_SYMBOLS_GO_TABLE_H
#define POSIXTRACE_SYMBOLS_GO_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct go_table {
	const uint8_t *data;
	size_t bytes;
	uint64_t text;       /* the addresses in the table count from this address */
	uint64_t names, functions; /* offsets */
	uint64_t count;      /* number of functions */
};

struct go_function {
	uint64_t address, size;
	const char *name;    /* points into the section */
};

/* Reads the head of a section. Returns false if there is no section or its format is unknown. */
bool go_table_begin(struct go_table *table, const void *data, size_t bytes);

/* Stores a function by its index, in the order of addresses. Returns false for a wrong entry. */
bool go_table_get(const struct go_table *table, uint64_t index, struct go_function *function);

/* Returns the name of the function that contains an address, or NULL if there is none. */
const char *go_table_find(const struct go_table *table, uint64_t address);

#endif
