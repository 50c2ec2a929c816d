/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * module_elf.c - reads ELF and DWARF by elfutils. The files may be hostile; elfutils checks their
 * contents. If the tool is built without elfutils, the functions at the end of this file are used.
 */
#include "symbols/module_part.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef HAVE_LIBDW

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwelf.h>
#include <elfutils/libdwfl.h>

#include "symbols/elf_names.h"

uint32_t module_build_id(int fd, uint8_t id[POSIX_TRACE_BUILD_ID_MAX_NP])
{
	ssize_t len = 0;
	const void *bits;
	Elf *elf;

	elf_version(EV_CURRENT); /* libelf requires this call first */
	/*
	 * The file is mapped privately. It may change while it is read, but libelf checks all
	 * offsets.
	 */
	elf = elf_begin(fd, ELF_C_READ_MMAP_PRIVATE, NULL);
	if (elf && elf_kind(elf) == ELF_K_ELF)
		len = dwelf_elf_gnu_build_id(elf, &bits);
	/* A log cannot store a longer build-id, so such a file is not the file of a module. */
	if (len <= 0 || len > POSIX_TRACE_BUILD_ID_MAX_NP)
		len = 0;
	if (len)
		memcpy(id, bits, (size_t)len);
	elf_end(elf);
	return (uint32_t)len;
}

/*
 * A callback of elfutils that should find the file of a module. The callback always fails, because
 * module_load() itself passes the file to elfutils.
 */
static int find_elf(Dwfl_Module *elf, void **user, const char *name, Dwarf_Addr base, char **file,
		    Elf **found)
{
	(void)elf, (void)user, (void)name, (void)base, (void)file, (void)found;
	return -1;
}

/*
 * A callback of elfutils that finds the debug file. It is used instead of elfutils' default, which
 * asks servers on the network.
 */
static int find_debug(Dwfl_Module *elf, void **user, const char *name, Dwarf_Addr base,
		      const char *main_file, const char *link, GElf_Word crc, char **file)
{
	const struct module *module = *user;
	const char *path = NULL;
	int fd;

	(void)elf, (void)name, (void)base, (void)link, (void)crc;
	if (!module || !main_file)
		return -1;
	fd = module_open_debug(module, &path);
	if (fd >= 0)
		*file = strdup(path);
	return fd;
}

/*
 * A callback of elfutils for relocatable files such as kernel modules. It always fails, because
 * processes do not map such files.
 */
static int section_address(Dwfl_Module *elf, void **user, const char *name, Dwarf_Addr base,
			   const char *section, GElf_Word index, const GElf_Shdr *header,
			   Dwarf_Addr *address)
{
	(void)elf, (void)user, (void)name, (void)base, (void)section, (void)index, (void)header;
	*address = (Dwarf_Addr)-1;
	return -1;
}

static const Dwfl_Callbacks callbacks = {
	.find_elf = find_elf,
	.find_debuginfo = find_debug,
	.section_address = section_address,
};

const char *module_load(struct module *module, int fd)
{
	void **user;

	module->session = dwfl_begin(&callbacks);
	if (!module->session) {
		close(fd);
		return dwfl_errmsg(-1);
	}
	/*
	 * elfutils reads most of the file only during the search for a name. If the contents of the
	 * file are wrong, there is no error here, but names are missing later.
	 */
	dwfl_report_begin(module->session);
	/* If the call succeeds, elfutils closes the descriptor later. */
	module->elf = dwfl_report_elf(module->session, module->path, module->found, fd, 0, true);
	if (!module->elf) {
		const char *why = dwfl_errmsg(-1);

		close(fd);
		dwfl_end(module->session);
		module->session = NULL;
		return why ? why : "it cannot be read";
	}
	dwfl_report_end(module->session, NULL, NULL);
	/* elfutils passes this pointer to find_debug(), which needs the module. */
	dwfl_module_info(module->elf, &user, NULL, NULL, NULL, NULL, NULL, NULL);
	*user = module;
	return NULL;
}

/* Returns the function's linkage name if DWARF has one, else its name in the source. */
static const char *name_of(Dwarf_Die *function)
{
	static const unsigned attributes[] = { DW_AT_linkage_name, DW_AT_MIPS_linkage_name };
	Dwarf_Attribute attribute;
	const char *name = NULL;

	for (unsigned i = 0; !name && i < 2; i++)
		name = dwarf_formstring(dwarf_attr_integrate(function, attributes[i], &attribute));
	return name ? name : dwarf_diename(function);
}

/*
 * Returns the symbol that contains the address, and the distance of the address from its begin. If
 * memory is lacking for the table of symbols, elfutils searches.
 */
static const char *find_symbol(struct module *module, Dwarf_Addr address, GElf_Off *offset,
			       GElf_Sym *symbol)
{
	if (!module->names)
		module->names = calloc(1, sizeof(*module->names));
	return module->names ? elf_names_find(module->names, module->elf, address, offset, symbol)
			     : dwfl_module_addrinfo(module->elf, address, offset, symbol, NULL,
						    NULL, NULL);
}

/* Returns the name that the symbol table has for the address. */
static const char *in_table(struct module *module, Dwarf_Addr address)
{
	GElf_Off offset;
	GElf_Sym symbol;

	return find_symbol(module, address, &offset, &symbol);
}

/*
 * Returns the name that the table of a Go program has for the address. A stripped program has this
 * table, too.
 */
static const char *in_go_table(struct module *module, Dwarf_Addr address)
{
	GElf_Addr bias;
	Elf *elf = dwfl_module_getelf(module->elf, &bias);
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	size_t names;

	if (!module->has_go && elf && !elf_getshdrstrndx(elf, &names))
		while ((section = elf_nextscn(elf, section)) != NULL) {
			const char *name = gelf_getshdr(section, &header) ?
					   elf_strptr(elf, names, header.sh_name) : NULL;
			Elf_Data *data = name && !strcmp(name, ".gopclntab") ?
					 elf_rawdata(section, NULL) : NULL;

			if (data && !go_table_begin(&module->go, data->d_buf, data->d_size))
				module->go.count = 0;
		}
	module->has_go = true;
	return module->go.count ? go_table_find(&module->go, address) : NULL;
}

/*
 * Returns the better of two names: 'name' is from DWARF, and 'symbol' is from the symbol table. If
 * 'symbol' is mangled but 'name' is not, 'symbol' is better, because it has the namespace of the
 * C++ function, which 'name' lacks.
 */
static const char *better_name(const char *name, const char *symbol)
{
	return name && strncmp(name, "_Z", 2) != 0 && symbol && !strncmp(symbol, "_Z", 2) ? symbol
											  : name;
}

/*
 * Returns the name of the innermost inlined function at the address. If no function is inlined
 * there, returns the name of the function itself. Returns NULL if the file has no DWARF for the
 * address.
 */
static const char *innermost_function(struct module *module, Dwarf_Addr address)
{
	Dwarf_Addr bias;
	Dwarf_Die *unit = dwfl_module_addrdie(module->elf, address, &bias), *scopes = NULL;
	const char *name = NULL;
	int count = unit ? dwarf_getscopes(unit, address - bias, &scopes) : 0;

	/* The first scope is the innermost one. */
	for (int i = 0; !name && i < count; i++) {
		int tag = dwarf_tag(&scopes[i]);

		if (tag == DW_TAG_subprogram || tag == DW_TAG_inlined_subroutine)
			name = name_of(&scopes[i]);
		if (tag == DW_TAG_subprogram)
			name = better_name(name, in_table(module, address));
	}
	free(scopes);
	return name;
}

bool module_find(struct module *module, uint64_t address, struct module_place *place)
{
	Dwfl_Line *line;
	int number = 0;

	memset(place, 0, sizeof(*place));
	if (module->lack || !module->elf)
		return false;
	/*
	 * DWARF is tried first, because it also has inlined functions. The symbol table has only
	 * the names of other functions.
	 */
	place->function = innermost_function(module, address);
	if (!place->function)
		place->function = in_table(module, address);
	if (!place->function)
		place->function = in_go_table(module, address);
	line = dwfl_module_getsrc(module->elf, address);
	if (line)
		place->file = dwfl_lineinfo(line, NULL, &number, NULL, NULL, NULL);
	/* Code that the compiler generated has line 0. */
	if (place->file && number > 0)
		place->line = (unsigned)number;
	return place->function || place->file;
}

const char *module_function(struct module *module, uint64_t address)
{
	const char *name;

	if (module->lack || !module->elf)
		return NULL;
	name = in_table(module, address);
	return name ? name : in_go_table(module, address);
}

const char *module_variable(struct module *module, uint64_t address, uint64_t *offset)
{
	Dwarf_Addr begin, end;
	GElf_Sym symbol;
	const char *name;

	if (module->lack || !module->elf)
		return NULL;
	/* A log may have many addresses of the heap. The names need not be read for them. */
	dwfl_module_info(module->elf, NULL, &begin, &end, NULL, NULL, NULL, NULL);
	if (address < begin || address >= end)
		return NULL;
	name = find_symbol(module, address, offset, &symbol);
	/* For an address behind the last symbol elfutils may return that symbol. */
	return name && GELF_ST_TYPE(symbol.st_info) == STT_OBJECT && *offset < symbol.st_size ?
	       name : NULL;
}

#else

uint32_t module_build_id(int fd, uint8_t id[POSIX_TRACE_BUILD_ID_MAX_NP])
{
	(void)fd, (void)id;
	return 0;
}

const char *module_load(struct module *module, int fd)
{
	(void)module;
	close(fd);
	return "posixtrace was built without elfutils";
}

bool module_find(struct module *module, uint64_t address, struct module_place *place)
{
	(void)module, (void)address;
	memset(place, 0, sizeof(*place));
	return false;
}

const char *module_function(struct module *module, uint64_t address)
{
	(void)module, (void)address;
	return NULL;
}

const char *module_variable(struct module *module, uint64_t address, uint64_t *offset)
{
	(void)module, (void)address, (void)offset;
	return NULL;
}

#endif
