/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * elf.h - the symbols and the code of a module, read from the memory of the process that has loaded
 * it. The functions do not read the file of the module, because it may have been replaced, or may
 * not be visible to this process.
 */
#ifndef POSIXTRACE_INJECT_ELF_H
#define POSIXTRACE_INJECT_ELF_H

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "inject/memory.h"

struct elf_module {
	/* an address in memory is base + the address in the file */
	uint64_t base;
	Elf64_Sym *symbol;     /* a copy of the dynamic symbol table */
	size_t symbols;
	char *string;
	size_t string_bytes;
	size_t soname;         /* offset of the name in "string"; 0: none */
	unsigned char *code;   /* a copy of the executable segment */
	uint64_t code_begin;
	size_t code_bytes;
};

/*
 * Reads the module whose first mapping begins at the address "begin". Returns false if there is no
 * module for this processor, or if its contents are contradictory. If with_code is true, the
 * executable segment is copied, too.
 */
bool elf_read(struct elf_module *module, int memory, uint64_t begin, bool with_code);
void elf_fini(struct elf_module *module);

/* Returns the name of the library, or "" if it has none. */
const char *elf_soname(const struct elf_module *module);

/* Returns the defined symbol of this name, or NULL. Its address is base + st_value. */
const Elf64_Sym *elf_find(const struct elf_module *module, const char *name);

/* Returns the address of a symbol, or 0 if it is not defined. */
uint64_t elf_address(const struct elf_module *module, const char *name);

/* Returns the address of the first occurrence of the bytes in the code, or 0 if there is none. */
uint64_t elf_code_find(const struct elf_module *module, const void *bytes, size_t count);

/* Returns whether the address is in the executable segment. */
bool elf_has_code(const struct elf_module *module, uint64_t address);

#endif
