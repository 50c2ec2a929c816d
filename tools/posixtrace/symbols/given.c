/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* given.c - keeps symbols that were fetched with a trace. */
#include "symbols/given.h"

#include <stdlib.h>
#include <string.h>

#include "base/table.h"
#include "base/vec.h"

/*
 * Each element is a separate allocation, because symbols must not move when the array grows.
 */
static struct given **given;
static size_t givens;
static struct table table;

static bool is_same(const void *array, uint32_t index, const void *key)
{
	const struct given *entry = ((struct given *const *)array)[index], *wanted = key;

	return entry->address == wanted->address && entry->pid == wanted->pid &&
	       entry->trid == wanted->trid && entry->kind == wanted->kind;
}

static uint64_t hash_key(const struct given *key)
{
	return hash_number(hash_number(HASH_BEGIN, key->address),
			   (uint64_t)(unsigned)key->pid << 34 ^ (uint64_t)key->trid << 2 ^
			   (uint64_t)key->kind);
}

/* Copies a text, and moves *to behind the copy. Returns NULL for an empty text. */
static char *copy_text(char **to, const char *text)
{
	char *copy = *to;

	if (!*text)
		return NULL;
	*to = stpcpy(copy, text) + 1;
	return copy;
}

/* A name such as libc.so.6+0x1234 is not the name of a function. */
static void fill_symbol(struct given *entry, const char *name, const char *file, unsigned line,
			const char *module)
{
	struct symbol *symbol = &entry->symbol;
	char *to = entry->own;

	symbol->name = copy_text(&to, *name ? name : module);
	symbol->file = copy_text(&to, file);
	symbol->line = line;
	symbol->module = copy_text(&to, module);
	if (!symbol->module)
		symbol->module = "";
	symbol->is_function = *name && !strstr(name, "+0x");
	symbol->whole = symbol->name;
}

void given_add(const struct given *key, const char *name, const char *file, unsigned line,
	       const char *module)
{
	struct given *entry;

	if (!*name && (!*file || !*module))
		return;
	if (table_find(&table, hash_key(key), is_same, given, key) != TABLE_NONE ||
	    givens >= TABLE_NONE - 1)
		return;
	entry = malloc(sizeof(*entry));
	if (!entry)
		return;
	*entry = *key;
	entry->own = malloc(strlen(name) + strlen(file) + 2 * strlen(module) + 4);
	if (entry->own && vec_grow(&given, givens, 1) &&
	    table_add(&table, hash_key(key), (uint32_t)givens)) {
		fill_symbol(entry, name, file, line, module);
		given[givens++] = entry;
		return;
	}
	free(entry->own);
	free(entry);
}

const struct symbol *given_find(trace_id_t trid, pid_t pid, uint64_t address, bool is_exact)
{
	struct given key = {
		.trid = trid, .pid = pid, .address = address,
		.kind = is_exact ? GIVEN_EXACT : GIVEN_RETURN,
	};
	uint32_t index = table_find(&table, hash_key(&key), is_same, given, &key);

	if (index == TABLE_NONE) {
		key.kind = GIVEN_FRAME;
		index = table_find(&table, hash_key(&key), is_same, given, &key);
	}
	return index == TABLE_NONE ? NULL : &given[index]->symbol;
}
