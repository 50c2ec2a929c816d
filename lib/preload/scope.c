/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * preload/scope.c - the symbol tables of the objects from the shim to the C library.
 *
 * dl_iterate_phdr() shows the objects in the order of the search. The only exception is the
 * kernel's object (vDSO), which dl_iterate_phdr() shows but the dynamic linker does not search.
 */
#include "preload/scope.h"

#include <dlfcn.h>
#include <elf.h>
#include <gnu/libc-version.h>
#include <link.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/auxv.h>

/* If a program has more objects than this, the functions are looked up by dlsym() at its start. */
#define OBJECTS 64

/*
 * A bit of a symbol's version. A symbol with this bit is hidden: it is found only together with its
 * version.
 */
#define HIDDEN 0x8000

/*
 * The tables that a search in an object reads. The table DT_GNU_HASH has four parts: numbers,
 * filter, buckets and chains.
 */
static shim_start_zeros struct object {
	/* The difference between addresses in memory and in the file. */
	uintptr_t base;
	const ElfW(Sym) *symbol;
	const char *string;
	const uint16_t *version; /* NULL: no symbol has a version */
	/* The filter: two bits of a word are set for each name in the table. */
	const ElfW(Addr) *bloom;
	uint32_t bloom_mask, bloom_shift;
	uint32_t buckets, first; /* number of buckets, and the first symbol that is in the table */
	/*
	 * `bucket` has the first symbol of each bucket. `chain` has the hash of each symbol,
	 * indexed by the symbol's number.
	 */
	const uint32_t *bucket, *chain;
} objects[OBJECTS];
/* The number of noted objects. It is stored only when all of them are noted; until then it is 0. */
static shim_start_data _Atomic unsigned object_count;

/* The state of a pass over the objects. */
struct pass {
	bool is_behind; /* the shim was passed */
	bool is_whole;  /* the C library was reached */
	unsigned count;
};

/*
 * Returns the address of a table. The dynamic linker has replaced offsets by addresses, except in
 * dynamic sections that are not writable. A table is behind the beginning of its object, so a
 * smaller value is an offset.
 */
static const void *table_at(uintptr_t base, const ElfW(Dyn) *entry)
{
	uintptr_t value = entry->d_un.d_ptr;

	return (const void *)(value < base ? value + base : value);
}

/*
 * Reads the positions of the tables. Returns false if there is no DT_GNU_HASH, or if the symbols or
 * their names are missing. The dynamic linker has used the tables already, so they are not checked
 * again. *result is assigned as a whole at the end, because another thread may already use the same
 * struct with the same values.
 */
static bool read_tables(struct object *result, uintptr_t base, const ElfW(Dyn) *entry)
{
	struct object object = { .base = base };
	const uint32_t *hash = NULL;

	for (; entry->d_tag != DT_NULL; entry++)
		switch (entry->d_tag) {
		case DT_SYMTAB:
			object.symbol = table_at(base, entry);
			break;
		case DT_STRTAB:
			object.string = table_at(base, entry);
			break;
		case DT_VERSYM:
			object.version = table_at(base, entry);
			break;
		case DT_GNU_HASH:
			hash = table_at(base, entry);
			break;
		}
	if (!hash || !object.symbol || !object.string)
		return false;
	object.buckets = hash[0];
	object.first = hash[1];
	/* The number of words is a power of two. */
	object.bloom_mask = hash[2] - 1;
	object.bloom_shift = hash[3];
	object.bloom = (const void *)(hash + 4);
	object.bucket = (const uint32_t *)(object.bloom + hash[2]);
	/*
	 * The symbols before `first` have no word in the chains. So `chain` points to that many
	 * words before the chains, and is indexed by the symbol's number.
	 */
	object.chain = object.bucket + object.buckets - object.first;
	*result = object;
	return true;
}

/* Returns whether the address is in memory of the object. */
static bool scope_contains(const struct dl_phdr_info *info, uintptr_t address)
{
	for (int i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_LOAD &&
		    address - (info->dlpi_addr + info->dlpi_phdr[i].p_vaddr) <
			    info->dlpi_phdr[i].p_memsz)
			return true;
	return false;
}

/*
 * Returns the dynamic section of an object, or NULL if the dynamic linker does not search the
 * object.
 */
static const ElfW(Dyn) *dynamic_of(const struct dl_phdr_info *info)
{
	const ElfW(Dyn) *dynamic = NULL;

	for (int i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_DYNAMIC)
			dynamic = (const void *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
	return scope_contains(info, getauxval(AT_SYSINFO_EHDR)) ? NULL : dynamic;
}

/* Callback of dl_iterate_phdr(): notes an object behind the shim. The result 1 ends the pass. */
static int note_object(struct dl_phdr_info *info, size_t bytes, void *arg)
{
	struct pass *pass = arg;
	const ElfW(Dyn) *dynamic;

	(void)bytes;
	/* The shim is the object with this file's own variables. */
	if (!pass->is_behind) {
		pass->is_behind = scope_contains(info, (uintptr_t)objects);
		return 0;
	}
	dynamic = dynamic_of(info);
	if (!dynamic)
		return 0;
	if (pass->count == OBJECTS || !read_tables(&objects[pass->count], info->dlpi_addr, dynamic))
		return 1;
	pass->count++;
	/* Only the C library has this function. */
	if (!scope_contains(info, (uintptr_t)gnu_get_libc_version))
		return 0;
	/*
	 * If another library defines dlsym(), its dlsym() may return other functions than a search
	 * of these tables.
	 */
	pass->is_whole = scope_contains(info, (uintptr_t)dlsym);
	return 1;
}

/* Two threads that call this function at the same time store the same values. */
void shim_scope_begin(void)
{
	struct pass pass = { .count = 0 };

	if (shim_scope_is_known())
		return;
	dl_iterate_phdr(note_object, &pass);
	/* The store is a release, because the objects must be visible before the count. */
	if (pass.is_whole)
		atomic_store_explicit(&object_count, pass.count, memory_order_release);
}

bool shim_scope_is_known(void)
{
	return atomic_load_explicit(&object_count, memory_order_relaxed);
}

/* Returns the hash of a name by the function of DT_GNU_HASH. */
static uint32_t hash_of(const char *name)
{
	uint32_t hash = 5381;

	while (*name)
		hash = hash * 33 + (unsigned char)*name++;
	return hash;
}

/*
 * Returns whether the texts are equal. Replaces strcmp(): a sanitizer may define a strcmp() that
 * cannot be called before the sanitizer has started.
 */
static bool is_equal(const char *a, const char *b)
{
	for (; *a == *b; a++, b++)
		if (!*a)
			return true;
	return false;
}

/*
 * Returns whether the symbol is a definition that dlsym() finds by its name: a global or weak
 * symbol that has no version or a default version. If is_old is true, any version is accepted.
 */
static bool is_found(const struct object *object, uint32_t index, const char *name, bool is_old)
{
	const ElfW(Sym) *symbol = &object->symbol[index];
	unsigned binding = ELF64_ST_BIND(symbol->st_info);

	return symbol->st_shndx != SHN_UNDEF && symbol->st_value &&
	       (binding == STB_GLOBAL || binding == STB_WEAK) &&
	       (is_old || !object->version || !(object->version[index] & HIDDEN)) &&
	       is_equal(object->string + symbol->st_name, name);
}

/* Returns the definition in one object, NULL if it has none. */
static const ElfW(Sym) *find_in(const struct object *object, const char *name, uint32_t hash,
				bool is_old)
{
	const unsigned bits = 8 * sizeof(ElfW(Addr));
	ElfW(Addr) word = object->bloom[hash / bits & object->bloom_mask];
	uint32_t i;

	/*
	 * Most objects do not define the name. The filter shows that without a comparison of names:
	 * for a name that is in the table both bits are set.
	 */
	if (!(word >> hash % bits & word >> (hash >> object->bloom_shift) % bits & 1) ||
	    !object->buckets)
		return NULL;
	/* 0 means that the bucket is empty. */
	i = object->bucket[hash % object->buckets];
	if (!i)
		return NULL;
	/* The lowest bit of a hash marks the end of the chain, so the comparison ignores it. */
	for (;; i++) {
		if ((object->chain[i] | 1) == (hash | 1) &&
		    is_found(object, i, name, is_old))
			return &object->symbol[i];
		if (object->chain[i] & 1)
			return NULL;
	}
}

/*
 * A function that an object selects at run time (STT_GNU_IFUNC) is left to the dynamic linker,
 * because the selection depends on it.
 */
void *shim_scope_find(const char *name, bool is_old)
{
	const uint32_t hash = hash_of(name);
	const unsigned count = atomic_load_explicit(&object_count, memory_order_acquire);

	/*
	 * As in the dynamic linker's search, the definition in the first object that has the name
	 * is used.
	 */
	for (unsigned i = 0; i < count; i++) {
		const ElfW(Sym) *symbol = find_in(&objects[i], name, hash, is_old);

		if (symbol)
			return ELF64_ST_TYPE(symbol->st_info) == STT_FUNC ?
				       (void *)(objects[i].base + symbol->st_value) :
				       NULL;
	}
	return NULL;
}

/* The state of a search for the only definition. */
struct only {
	const char *name;
	uint32_t hash;
	void *function;
	bool is_unsure;
};

/* Callback of dl_iterate_phdr(): looks into one object. The result 1 ends the search. */
static int look_into(struct dl_phdr_info *info, size_t bytes, void *arg)
{
	struct only *only = arg;
	const ElfW(Dyn) *dynamic = dynamic_of(info);
	const ElfW(Sym) *symbol;
	struct object object;

	(void)bytes;
	if (!dynamic || scope_contains(info, (uintptr_t)objects))
		return 0;
	if (!read_tables(&object, info->dlpi_addr, dynamic)) {
		only->is_unsure = true;
		return 1;
	}
	symbol = find_in(&object, only->name, only->hash, false);
	if (!symbol)
		return 0;
	/*
	 * If this is a second definition, the caller's scope decides between the two definitions,
	 * and this scope is not known here. A function that is selected at run time is left to the
	 * dynamic linker, too.
	 */
	only->is_unsure = only->function || ELF64_ST_TYPE(symbol->st_info) != STT_FUNC;
	only->function = (void *)(object.base + symbol->st_value);
	return only->is_unsure;
}

void *shim_scope_find_only(const char *name, bool *is_unsure)
{
	struct only only = { .name = name, .hash = hash_of(name) };

	dl_iterate_phdr(look_into, &only);
	*is_unsure = only.is_unsure;
	return only.is_unsure ? NULL : only.function;
}
