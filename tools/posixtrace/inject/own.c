/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * own.c - the process's own dynamic linker, from the vector that the kernel gave to the program,
 * and the list of modules that debuggers use, too.
 */
#include "inject/own.h"

#include <errno.h>
#include <stdio.h>

#include "inject/memory.h"

#define MODULES 4096 /* the most entries that are read of a list, which may have no end */

int own_read(struct own *own, pid_t pid)
{
	char path[40];
	Elf64_auxv_t entry;
	FILE *file;
	bool has_any = false;

	*own = (struct own){ 0, 0 };
	snprintf(path, sizeof(path), "/proc/%d/auxv", (int)pid);
	file = fopen(path, "re");
	if (!file)
		return errno;
	while (fread(&entry, sizeof(entry), 1, file) == 1 && entry.a_type != AT_NULL) {
		has_any = true;
		if (entry.a_type == AT_BASE)
			own->linker = entry.a_un.a_val;
		else if (entry.a_type == AT_PHDR)
			own->headers = entry.a_un.a_val;
	}
	fclose(file);
	return has_any ? 0 : EIO;
}

bool own_is_linker(const struct own *own, const struct elf_module *module)
{
	return own->linker ? module->base == own->linker :
			     own->headers == module->base + sizeof(Elf64_Ehdr);
}

/* The members of struct link_map that all versions of the C library have. */
struct link {
	uint64_t base, name, dynamic, next, previous;
};

bool own_has_loaded(int memory, const struct elf_module *linker, const struct elf_module *module)
{
	/* The member r_map of struct r_debug follows its version. */
	uint64_t list = elf_address(linker, "_r_debug"), at = 0;
	struct link link;

	if (!list || !memory_read(memory, list + sizeof(uint64_t), &at, sizeof(at)))
		return false;
	for (unsigned i = 0; at && i < MODULES; i++, at = link.next) {
		if (!memory_read(memory, at, &link, sizeof(link)))
			return false;
		if (link.base == module->base)
			return true;
	}
	return false;
}
