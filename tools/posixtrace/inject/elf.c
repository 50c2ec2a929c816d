/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * elf.c - reads a loaded module from memory. Every size is bounded before it is used.
 *
 * The memory belongs to a running process. It may change between two reads, and it may be forged.
 * So each value is copied once and checked in the copy. A module with contradictory contents is not
 * used, and the process is refused.
 */
#include "inject/elf.h"

#include <stdlib.h>
#include <string.h>

/*
 * Limits for the sizes of a module. They are several times greater than the sizes of the largest
 * known libraries. Because of them, a forged module cannot make this process use much memory.
 */
#define HEADERS_MAX 64
#define DYNAMIC_MAX 512
#define SYMBOLS_MAX 1000000
#define STRINGS_MAX ((size_t)64 << 20)
#define CODE_MAX    ((size_t)64 << 20)
#define PAGE        4096

/* The needed entries of a dynamic section. */
struct dynamic {
	uint64_t symbol, string, string_bytes, hash, soname;
};

/*
 * Returns the address for the value of an entry of the dynamic section. The dynamic linker has
 * replaced offsets by addresses in most modules, but not in the vdso.
 */
static uint64_t address_of(const struct elf_module *module, uint64_t value)
{
	return value < module->base ? value + module->base : value;
}

/*
 * Reads the needed entries of the dynamic section. Returns false if the section has no end within
 * DYNAMIC_MAX entries, or lacks a table. A module without DT_GNU_HASH is not supported, because the
 * number of its symbols would be unknown.
 */
static bool read_dynamic(const struct elf_module *module, int memory, uint64_t address,
			 struct dynamic *dynamic)
{
	Elf64_Dyn entry;

	memset(dynamic, 0, sizeof(*dynamic));
	for (int i = 0; i < DYNAMIC_MAX; i++) {
		if (!memory_read(memory, address + (uint64_t)i * sizeof(entry), &entry,
				 sizeof(entry)))
			return false;
		switch (entry.d_tag) {
		case DT_NULL:
			return dynamic->symbol && dynamic->string && dynamic->hash;
		case DT_SYMTAB:
			dynamic->symbol = address_of(module, entry.d_un.d_ptr);
			break;
		case DT_STRTAB:
			dynamic->string = address_of(module, entry.d_un.d_ptr);
			break;
		case DT_STRSZ:
			dynamic->string_bytes = entry.d_un.d_val;
			break;
		case DT_GNU_HASH:
			dynamic->hash = address_of(module, entry.d_un.d_ptr);
			break;
		case DT_SONAME:
			dynamic->soname = entry.d_un.d_val;
			break;
		}
	}
	return false;
}

/*
 * Computes the number of symbols from a DT_GNU_HASH table. Returns 0 if the table cannot be right.
 */
static size_t count_symbols(int memory, uint64_t hash)
{
	uint32_t head[4], last = 0, *bucket, chain = 0;
	uint64_t chains;
	bool ok;

	if (!memory_read(memory, hash, head, sizeof(head)) || head[0] > SYMBOLS_MAX ||
	    head[2] > SYMBOLS_MAX || !head[0])
		return 0;
	/*
	 * The table has four words, a Bloom filter of head[2] words of 64 bits, head[0] buckets,
	 * and then the chains. Each bucket has the first symbol of its chain; the greatest of these
	 * symbols begins the last chain. head[1] is the first symbol with a hash.
	 */
	hash += sizeof(head) + head[2] * sizeof(uint64_t);
	chains = hash + head[0] * sizeof(uint32_t);
	bucket = calloc(head[0], sizeof(*bucket));
	ok = bucket && memory_read(memory, hash, bucket, head[0] * sizeof(*bucket));
	for (uint32_t i = 0; ok && i < head[0]; i++)
		if (bucket[i] > last)
			last = bucket[i];
	free(bucket);
	if (!ok || last >= SYMBOLS_MAX)
		return 0;
	if (last < head[1])
		return head[1] < SYMBOLS_MAX ? head[1] : 0;
	/* The last element of a chain has an odd hash. */
	while (last < SYMBOLS_MAX) {
		if (!memory_read(memory, chains + (uint64_t)(last - head[1]) * sizeof(chain),
				 &chain, sizeof(chain)))
			return 0;
		last++;
		if (chain & 1)
			return last;
	}
	return 0;
}

/*
 * Copies an array and appends a NUL, so that the last string in it ends. Returns NULL if memory is
 * lacking or the array cannot be read. The caller has limited "bytes" and frees the copy.
 */
static void *copy_of(int memory, uint64_t address, size_t bytes)
{
	void *copy = malloc(bytes + 1);

	if (copy && memory_read(memory, address, copy, bytes)) {
		((char *)copy)[bytes] = '\0';
		return copy;
	}
	free(copy);
	return NULL;
}

/*
 * Reads the tables of symbols and strings. After a failure, the caller calls elf_fini() to free the
 * tables that were read.
 */
static bool read_tables(struct elf_module *module, int memory, uint64_t address)
{
	struct dynamic dynamic;

	if (!read_dynamic(module, memory, address, &dynamic) ||
	    dynamic.string_bytes > STRINGS_MAX)
		return false;
	module->symbols = count_symbols(memory, dynamic.hash);
	if (!module->symbols)
		return false;
	module->symbol =
		copy_of(memory, dynamic.symbol, module->symbols * sizeof(*module->symbol));
	module->string = copy_of(memory, dynamic.string, dynamic.string_bytes);
	module->string_bytes = dynamic.string_bytes;
	module->soname = dynamic.soname < dynamic.string_bytes ? dynamic.soname : 0;
	return module->symbol && module->string;
}

/*
 * Reads the program headers, and limits the sizes in them. "begin" is the address of the first
 * segment, from which the base follows. Only the first executable segment is copied. In a library
 * that was linked by ld, this segment contains all code.
 */
static bool read_headers(struct elf_module *module, int memory, uint64_t begin, bool with_code)
{
	Elf64_Phdr header[HEADERS_MAX];
	Elf64_Ehdr elf;
	uint64_t dynamic = 0;
	bool has_base = false;

	if (!memory_read(memory, begin, &elf, sizeof(elf)) ||
	    memcmp(elf.e_ident, ELFMAG, SELFMAG) || elf.e_ident[EI_CLASS] != ELFCLASS64 ||
	    elf.e_machine != EM_X86_64 || elf.e_phentsize != sizeof(header[0]) ||
	    elf.e_phnum > HEADERS_MAX ||
	    !memory_read(memory, begin + elf.e_phoff, header, elf.e_phnum * sizeof(header[0])))
		return false;
	for (int i = 0; i < elf.e_phnum; i++)
		if (header[i].p_type == PT_LOAD && !has_base) {
			module->base = begin - (header[i].p_vaddr & ~(uint64_t)(PAGE - 1));
			has_base = true;
		} else if (header[i].p_type == PT_DYNAMIC) {
			dynamic = header[i].p_vaddr;
		}
	for (int i = 0; i < elf.e_phnum && with_code; i++)
		if (header[i].p_type == PT_LOAD && (header[i].p_flags & PF_X) &&
		    header[i].p_memsz <= CODE_MAX) {
			module->code_begin = module->base + header[i].p_vaddr;
			module->code_bytes = header[i].p_memsz;
			module->code = copy_of(memory, module->code_begin, module->code_bytes);
			break;
		}
	return has_base && dynamic && (!with_code || module->code) &&
	       read_tables(module, memory, module->base + dynamic);
}

bool elf_read(struct elf_module *module, int memory, uint64_t begin, bool with_code)
{
	memset(module, 0, sizeof(*module));
	if (read_headers(module, memory, begin, with_code))
		return true;
	elf_fini(module);
	return false;
}

void elf_fini(struct elf_module *module)
{
	free(module->symbol);
	free(module->string);
	free(module->code);
	memset(module, 0, sizeof(*module));
}

const char *elf_soname(const struct elf_module *module)
{
	return module->soname ? module->string + module->soname : "";
}

/*
 * Versions are not compared, because all versions of a function that a caller searches for have the
 * same address. No read goes beyond the table of strings: the function compares st_name with the
 * size of the table, and copy_of() has put a NUL behind the last string.
 */
const Elf64_Sym *elf_find(const struct elf_module *module, const char *name)
{
	for (size_t i = 0; i < module->symbols; i++) {
		const Elf64_Sym *symbol = &module->symbol[i];

		if (symbol->st_shndx != SHN_UNDEF && symbol->st_name < module->string_bytes &&
		    !strcmp(module->string + symbol->st_name, name))
			return symbol;
	}
	return NULL;
}

uint64_t elf_address(const struct elf_module *module, const char *name)
{
	const Elf64_Sym *symbol = elf_find(module, name);

	return symbol ? module->base + symbol->st_value : 0;
}

uint64_t elf_code_find(const struct elf_module *module, const void *bytes, size_t count)
{
	const unsigned char *at = memmem(module->code, module->code_bytes, bytes, count);

	return at ? module->code_begin + (uint64_t)(at - module->code) : 0;
}

/*
 * For an address before the segment, the difference wraps around to a large number, so one
 * comparison is enough.
 */
bool elf_has_code(const struct elf_module *module, uint64_t address)
{
	return address - module->code_begin < module->code_bytes;
}
