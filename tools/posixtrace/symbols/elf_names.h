/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * elf_names.h - the symbols of a module, sorted by address, so that a search does not compare an
 * address with each symbol. The answers are those of dwfl_module_addrinfo() of elfutils.
 *
 * The file may be hostile. If its symbols do not allow a table, or if an address needs a rule that
 * the table does not know, elfutils itself searches.
 */
#ifndef POSIXTRACE_SYMBOLS_ELF_NAMES_H
#define POSIXTRACE_SYMBOLS_ELF_NAMES_H

#include <elfutils/libdwfl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct elf_name;

/* All zero: the symbols were not read yet. */
struct elf_names {
	struct elf_name *name;
	size_t count;
	bool is_read, is_usable;
};

/*
 * Returns the name of the symbol that contains the address, or NULL if there is none. Stores the
 * distance of the address from the begin of the symbol, and the symbol. The first call reads all
 * symbols of the module.
 */
const char *elf_names_find(struct elf_names *names, Dwfl_Module *module, GElf_Addr address,
			   GElf_Off *offset, GElf_Sym *symbol);
void elf_names_free(struct elf_names *names);

#endif
