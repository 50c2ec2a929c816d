/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * elf_names.c - finds symbols by address.
 *
 * elfutils compares an address with all symbols of a module in the order of their tables: first the
 * global ones, then, if none of them contains the address, the local ones. Only the symbols that
 * contain the address matter. A later symbol replaces an earlier one in three cases: it begins
 * behind the earlier one; its binding is stronger; both begin at the same address, the later one is
 * smaller, and its binding is not weaker. If no symbol contains the address, elfutils takes a
 * symbol without a size, a label, but only if no symbol at or before the address ends behind the
 * label. A global label exactly at the address comes before the local symbols that contain the
 * address. Labels are rare, so the table only decides that there is none.
 */
#include "symbols/elf_names.h"

#include <stdlib.h>

#define CONTAINING_MOST 32 /* more symbols that contain an address are left to elfutils */

struct elf_name {
	GElf_Addr begin, size;
	/* the greatest end of this symbol and those before it, and of the global ones among them */
	GElf_Addr all_end, global_end;
	int index; /* in the order of elfutils */
	bool is_global;
	bool all_is_label, global_is_label; /* a label is at this end */
};

/* By address, then in the order of elfutils. */
static int by_begin(const void *a, const void *b)
{
	const struct elf_name *one = a, *two = b;

	if (one->begin != two->begin)
		return one->begin < two->begin ? -1 : 1;
	return one->index < two->index ? -1 : one->index > two->index;
}

/* Returns whether elfutils compares addresses with a symbol. */
static bool is_compared(const char *name, const GElf_Sym *symbol)
{
	const int type = GELF_ST_TYPE(symbol->st_info);

	return name && *name && symbol->st_shndx != SHN_UNDEF && type != STT_SECTION &&
	       type != STT_FILE && type != STT_TLS;
}

/*
 * Adds a symbol. Returns false if the table cannot have it: its end is above all addresses, or it
 * is a descriptor of a function, which elfutils resolves on a few machines.
 */
static bool add_symbol(struct elf_names *names, Dwfl_Module *module, int index, int first_global)
{
	GElf_Addr begin, bias;
	GElf_Sym symbol;
	const char *text = dwfl_module_getsym_info(module, index, &symbol, &begin, NULL, NULL,
						   &bias);

	if (!is_compared(text, &symbol))
		return true;
	if (begin + symbol.st_size < begin ||
	    (begin != symbol.st_value && begin != symbol.st_value + bias))
		return false;
	names->name[names->count++] = (struct elf_name){
		.begin = begin, .size = symbol.st_size, .index = index,
		.is_global = index >= first_global,
	};
	return true;
}

/* Extends the end of several symbols by one that begins at or behind all of them. */
static void extend_end(GElf_Addr *end, bool *is_label, const struct elf_name *name)
{
	const GElf_Addr own = name->begin + name->size;

	if (own < *end)
		return;
	*is_label = !name->size || (own == *end && *is_label);
	*end = own;
}

static void read_symbols(struct elf_names *names, Dwfl_Module *module)
{
	const int symbols = dwfl_module_getsymtab(module);
	const int first = dwfl_module_getsymtab_first_global(module);
	GElf_Addr all = 0, global = 0;
	bool all_is_label = false, global_is_label = false;

	names->is_read = true;
	if (symbols <= 0 || first < 0)
		return;
	names->name = calloc((size_t)symbols, sizeof(*names->name));
	names->is_usable = names->name;
	for (int i = 1; names->is_usable && i < symbols; i++)
		names->is_usable = add_symbol(names, module, i, first);
	if (!names->is_usable) {
		elf_names_free(names);
		names->is_read = true;
		return;
	}
	qsort(names->name, names->count, sizeof(*names->name), by_begin);
	for (size_t i = 0; i < names->count; i++) {
		struct elf_name *name = &names->name[i];

		extend_end(&all, &all_is_label, name);
		if (name->is_global)
			extend_end(&global, &global_is_label, name);
		name->all_end = all;
		name->global_end = global;
		name->all_is_label = all_is_label;
		name->global_is_label = global_is_label;
	}
}

/* Returns the number of symbols that begin at or before the address. */
static size_t count_until(const struct elf_names *names, GElf_Addr address)
{
	size_t from = 0, until = names->count;

	while (from < until) {
		const size_t middle = from + (until - from) / 2;

		if (names->name[middle].begin <= address)
			from = middle + 1;
		else
			until = middle;
	}
	return from;
}

/* The symbols that contain an address: all global ones, or all local ones if there is no other. */
struct containing {
	const struct elf_name *name[CONTAINING_MOST];
	size_t count;
	bool is_global;
};

/* Keeps the symbols in the order of elfutils. Returns false if there are too many. */
static bool keep_name(struct containing *found, const struct elf_name *name)
{
	size_t at;

	if (name->is_global && !found->is_global)
		found->count = 0;
	if (!name->is_global && found->is_global)
		return true;
	found->is_global = name->is_global;
	if (found->count == CONTAINING_MOST)
		return false;
	for (at = found->count++; at && found->name[at - 1]->index > name->index; at--)
		found->name[at] = found->name[at - 1];
	found->name[at] = name;
	return true;
}

static int binding_strength(const GElf_Sym *symbol)
{
	switch (GELF_ST_BIND(symbol->st_info)) {
	case STB_GLOBAL:
		return 3;
	case STB_WEAK:
		return 2;
	case STB_LOCAL:
		return 1;
	default:
		return 0;
	}
}

/* Returns whether the later symbol replaces the earlier one. */
static bool is_better(const struct elf_name *earlier, const GElf_Sym *old,
		      const struct elf_name *later, const GElf_Sym *new)
{
	if (earlier->begin < later->begin || binding_strength(old) < binding_strength(new))
		return true;
	return earlier->begin == later->begin && earlier->size > later->size &&
	       binding_strength(old) <= binding_strength(new);
}

static const char *choose_name(Dwfl_Module *module, const struct containing *found,
			       GElf_Addr address, GElf_Off *offset, GElf_Sym *symbol)
{
	const struct elf_name *best = NULL;
	const char *chosen = NULL, *text;
	GElf_Addr begin;
	GElf_Sym next;

	for (size_t i = 0; i < found->count; i++) {
		text = dwfl_module_getsym_info(module, found->name[i]->index, &next, &begin, NULL,
					       NULL, NULL);
		if (!text || (best && !is_better(best, symbol, found->name[i], &next)))
			continue;
		best = found->name[i];
		chosen = text;
		*symbol = next;
		*offset = address - begin;
	}
	return chosen;
}

/*
 * Returns whether elfutils may take a label. "last" is the last symbol that begins at or before the
 * address; "found" has the symbols that contain the address.
 */
static bool may_be_label(const struct elf_name *last, const struct containing *found,
			 GElf_Addr address)
{
	if (found->is_global)
		return false;
	return found->count ? last->global_is_label && last->global_end == address
			    : last->all_is_label;
}

const char *elf_names_find(struct elf_names *names, Dwfl_Module *module, GElf_Addr address,
			   GElf_Off *offset, GElf_Sym *symbol)
{
	struct containing found = { .count = 0 };
	bool is_known = true;
	size_t first;

	if (!names->is_read)
		read_symbols(names, module);
	first = count_until(names, address);
	for (size_t i = first; is_known && i && names->name[i - 1].all_end > address; i--)
		if (address - names->name[i - 1].begin < names->name[i - 1].size)
			is_known = keep_name(&found, &names->name[i - 1]);
	if (is_known && first)
		is_known = !may_be_label(&names->name[first - 1], &found, address);
	if (names->is_usable && is_known)
		return choose_name(module, &found, address, offset, symbol);
	return dwfl_module_addrinfo(module, address, offset, symbol, NULL, NULL, NULL);
}

void elf_names_free(struct elf_names *names)
{
	free(names->name);
	*names = (struct elf_names){ .name = NULL };
}
