/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * binary_elf.c - reads an ELF file with libelf, which checks the offsets in the file. Without
 * libelf no function is known.
 *
 * Names are not copied: they point into the string tables that libelf has mapped, and remain valid
 * until binary_read_end().
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "base/vec.h"
#include "functions/binary_part.h"
#include "symbols/go_table.h"

/* Orders functions by address, then by name. */
static int by_address(const void *a, const void *b)
{
	const struct binary_function *x = a, *y = b;

	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	return strcmp(x->name, y->name);
}

/* If two tables have the same name for an address, the entry of one table may lack the size. */
void binary_sort(struct binary_file *file)
{
	size_t kept = 0;

	if (!file->functions)
		return;
	qsort(file->function, file->functions, sizeof(*file->function), by_address);
	for (size_t i = 1; i < file->functions; i++)
		if (by_address(&file->function[kept], &file->function[i]))
			file->function[++kept] = file->function[i];
		else if (!file->function[kept].size)
			file->function[kept].size = file->function[i].size;
	file->functions = kept + 1;
}

#ifdef HAVE_LIBELF

#include <gelf.h>

#define SECTION_RELR  19        /* SHT_RELR; older headers lack it */
#ifndef DF_1_PIE
#define DF_1_PIE 0x08000000
#endif
/*
 * The greatest number of functions of a file, because a hostile table may claim any number of
 * symbols.
 */
#define FUNCTIONS_MAX (1u << 22)

/*
 * Stores a loaded segment if all its bytes are in the file, and if fewer than BINARY_SEGMENTS are
 * stored. Returns false for any other segment. The addresses of such a segment remain unknown, and
 * functions in it are omitted. The stored size is the size of the part in the file, because code is
 * never in the zeroed rest.
 */
static bool take_segment(struct binary_file *file, const GElf_Phdr *header, const char *image,
			 size_t bytes)
{
	if (header->p_type == PT_LOAD) {
		if (!file->segments || header->p_vaddr < file->begin)
			file->begin = header->p_vaddr;
		if (header->p_vaddr + header->p_memsz > file->end)
			file->end = header->p_vaddr + header->p_memsz;
	}
	if (header->p_type != PT_LOAD || file->segments == BINARY_SEGMENTS ||
	    header->p_offset > bytes || header->p_filesz > bytes - header->p_offset)
		return false;
	file->segment[file->segments++] = (struct binary_segment){
		.address = header->p_vaddr, .size = header->p_filesz, .memory = header->p_memsz,
		.offset = header->p_offset,
		.bytes = (const uint8_t *)image + header->p_offset,
		.is_code = header->p_flags & PF_X, .is_writable = header->p_flags & PF_W,
	};
	return true;
}

/*
 * Finds the build-id in a segment of notes. Sizes in a note have 32 bits, so their sum does not
 * overflow in 64 bits. The function compares the sum with the rest of the segment before it reads a
 * byte of the note. Notes are copied, because they need not be aligned.
 */
static void take_notes(struct binary_file *file, const uint8_t *note, size_t bytes)
{
	Elf64_Nhdr header;

	while (bytes >= sizeof(header) && !file->id_len) {
		size_t name, data;

		memcpy(&header, note, sizeof(header));
		name = ((size_t)header.n_namesz + 3) & ~(size_t)3;
		data = ((size_t)header.n_descsz + 3) & ~(size_t)3;
		if (name > bytes || data > bytes || sizeof(header) + name + data > bytes)
			return;
		if (header.n_type == NT_GNU_BUILD_ID && header.n_namesz == 4 &&
		    !memcmp(note + sizeof(header), "GNU", 4) && header.n_descsz &&
		    header.n_descsz <= SHIM_PLAN_ID) {
			file->id_len = header.n_descsz;
			memcpy(file->id, note + sizeof(header) + name, header.n_descsz);
		}
		note += sizeof(header) + name + data;
		bytes -= sizeof(header) + name + data;
	}
}

/* Returns whether a section of dynamic entries marks a position-independent program. */
static bool is_pie(Elf *elf)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;

	while ((section = elf_nextscn(elf, section)) != NULL) {
		Elf_Data *data;
		GElf_Dyn entry;

		if (!gelf_getshdr(section, &header) || header.sh_type != SHT_DYNAMIC ||
		    !(data = elf_getdata(section, NULL)))
			continue;
		for (int i = 0; gelf_getdyn(data, i, &entry) && entry.d_tag != DT_NULL; i++)
			if (entry.d_tag == DT_FLAGS_1 && entry.d_un.d_val & DF_1_PIE)
				return true;
	}
	return false;
}

/*
 * Reads the program headers. Returns the reason why the file is not supported, or NULL. A
 * statically linked program has no dynamic linker that would load the shim. A file is such a
 * program if it has no dynamic entries, or if it is a program that does not name a dynamic linker.
 */
static const char *take_headers(struct binary_file *file)
{
	GElf_Ehdr elf;
	size_t bytes, headers;
	const char *image = elf_rawfile(file->elf, &bytes);
	bool is_dynamic = false, has_linker = false;

	if (!image || !gelf_getehdr(file->elf, &elf) || elf_getphdrnum(file->elf, &headers))
		return "it is not an ELF file";
	if (elf.e_machine != EM_X86_64 || elf.e_ident[EI_CLASS] != ELFCLASS64)
		return "functions are patched on x86-64 only";
	if (elf.e_type != ET_EXEC && elf.e_type != ET_DYN)
		return "it is neither a program nor a library";
	file->is_fixed = elf.e_type == ET_EXEC;
	file->entry = elf.e_entry;
	for (size_t i = 0; i < headers; i++) {
		GElf_Phdr header;

		if (!gelf_getphdr(file->elf, (int)i, &header))
			return "its program headers cannot be read";
		take_segment(file, &header, image, bytes);
		is_dynamic |= header.p_type == PT_DYNAMIC;
		has_linker |= header.p_type == PT_INTERP;
		if (header.p_type == PT_GNU_EH_FRAME)
			file->frame_table = header.p_vaddr;
		if (header.p_type == PT_NOTE && header.p_offset <= bytes &&
		    header.p_filesz <= bytes - header.p_offset)
			take_notes(file, (const uint8_t *)image + header.p_offset, header.p_filesz);
	}
	file->is_static = !is_dynamic || (!has_linker && is_pie(file->elf));
	return NULL;
}

/*
 * Returns the number of entries of a section that is a table. If the number is wrong, libelf
 * refuses an index beyond the section, so the callers do not read outside.
 */
static size_t entries_of(const GElf_Shdr *header)
{
	return header->sh_entsize ? header->sh_size / header->sh_entsize : 0;
}

/*
 * Returns whether only sanitizers and the code that handles exceptions call a function of this
 * name. dl_iterate_phdr() and _dl_find_object() find the tables of unwinders; libgcc uses
 * _dl_find_object() since version 12. The library of a language, such as libstdc++, calls the other
 * functions if the unwinder is in another file.
 */
static bool is_of_unwinder(const char *name)
{
	static const char *const list[] = {
		"dl_iterate_phdr", "_dl_find_object", "_Unwind_RaiseException", "_Unwind_SetIP",
	};

	for (size_t i = 0; i < sizeof(list) / sizeof(list[0]); i++)
		if (!strcmp(list[i], name))
			return true;
	return false;
}

/*
 * Returns whether an object has the name of a table of frames, with which the garbage collector of
 * OCaml finds the values on the stack. Each module of OCaml has one, such as camlList__frametable.
 * The separator differs between versions.
 */
static bool is_of_ocaml(const char *name)
{
	return !strncmp(name, "caml", 4) && text_ends_with(name, "frametable");
}

/*
 * Returns whether a symbol is an entry of the runtime of GHC, such as stg_upd_frame_info. Each file
 * with Haskell code defines such symbols, or refers to them.
 */
static bool is_of_ghc(const char *name)
{
	return !strncmp(name, "stg_", 4) && text_ends_with(name, "_info");
}

/*
 * Marks the functions of GHC. Their names end with the kind of the code, and those of the runtime
 * begin with stg_. Functions in C of such a file have other names. In a file without Haskell code,
 * a function may have any name.
 */
static void mark_haskell(struct binary_file *file)
{
	for (size_t i = 0; file->has_haskell && i < file->functions; i++) {
		const char *name = file->function[i].name;

		file->function[i].is_haskell =
			!strncmp(name, "stg_", 4) || !strncmp(name, "__stg_", 6) ||
			text_ends_with(name, "_info") || text_ends_with(name, "_entry") ||
			text_ends_with(name, "_slow");
	}
}

/*
 * Adds the functions of a symbol table whose addresses are in a segment with code. If the size of a
 * function reaches beyond the end of the segment, the size counts as unknown, and the function is
 * refused later. Returns false if memory is lacking.
 */
static bool take_symbols(struct binary_file *file, Elf *elf, Elf_Scn *section,
			 const GElf_Shdr *header)
{
	Elf_Data *data = elf_getdata(section, NULL);
	size_t count = entries_of(header);

	for (size_t i = 0; data && i < count && file->functions < FUNCTIONS_MAX; i++) {
		GElf_Sym symbol;
		const char *name;
		size_t bytes;
		int type;

		if (!gelf_getsym(data, (int)i, &symbol))
			break;
		type = GELF_ST_TYPE(symbol.st_info);
		name = elf_strptr(elf, header->sh_link, symbol.st_name);
		file->is_ocaml |= name && symbol.st_shndx != SHN_UNDEF && is_of_ocaml(name);
		file->has_haskell |= name && is_of_ghc(name);
		file->may_unwind |= name && symbol.st_shndx == SHN_UNDEF && is_of_unwinder(name);
		if ((type != STT_FUNC && type != STT_GNU_IFUNC) || !name || !*name ||
		    symbol.st_shndx == SHN_UNDEF || !binary_at(file, symbol.st_value, &bytes))
			continue;
		if (!vec_grow(&file->function, file->functions, 1))
			return false;
		file->function[file->functions++] = (struct binary_function){
			.name = name, .address = symbol.st_value,
			.size = symbol.st_size <= bytes ? symbol.st_size : 0,
			.is_resolver = type == STT_GNU_IFUNC,
		};
	}
	return true;
}

/*
 * Adds the functions of all symbol tables of the type. Sets *found if there is such a table.
 * Returns false if memory is lacking. "elf" may be the separate debug file. The addresses are
 * always compared with the segments of "file".
 */
static bool take_tables(struct binary_file *file, Elf *elf, unsigned type, bool *found)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;

	while ((section = elf_nextscn(elf, section)) != NULL)
		if (gelf_getshdr(section, &header) && header.sh_type == type) {
			*found = true;
			if (!take_symbols(file, elf, section, &header))
				return false;
		}
	return true;
}

/*
 * Opens the separate debug file that distributions install. Its symbols have the same addresses as
 * the symbols of the file. Its path contains the build-id, so the function never opens the debug
 * file of another build. After an error, file->debug remains NULL.
 */
static void open_debug(struct binary_file *file)
{
	char path[64 + 2 * SHIM_PLAN_ID], id[2 * SHIM_PLAN_ID + 1] = "";

	for (uint32_t i = 0; i < file->id_len; i++)
		snprintf(id + 2 * i, 3, "%02x", file->id[i]);
	if (file->id_len < 2)
		return;
	snprintf(path, sizeof(path), "/usr/lib/debug/.build-id/%.2s/%s.debug", id, id + 2);
	file->debug_fd = open(path, O_RDONLY | O_CLOEXEC);
	if (file->debug_fd >= 0)
		file->debug = elf_begin(file->debug_fd, ELF_C_READ_MMAP_PRIVATE, NULL);
}

/*
 * Adds the pointers that the dynamic linker sets to functions by name. So the tool knows the name
 * of a function that is called through such a pointer. Returns false if memory is lacking.
 */
static bool take_imports(struct binary_file *file)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header, table;

	while ((section = elf_nextscn(file->elf, section)) != NULL) {
		Elf_Scn *symbols;
		Elf_Data *data, *names;

		if (!gelf_getshdr(section, &header) || header.sh_type != SHT_RELA)
			continue;
		symbols = elf_getscn(file->elf, header.sh_link);
		data = elf_getdata(section, NULL);
		names = symbols ? elf_getdata(symbols, NULL) : NULL;
		if (!data || !names || !gelf_getshdr(symbols, &table))
			continue;
		/* libelf refuses an index that is out of range. */
		for (size_t i = 0, count = entries_of(&header); i < count; i++) {
			GElf_Rela rela;
			GElf_Sym symbol;

			if (!gelf_getrela(data, (int)i, &rela) ||
			    (GELF_R_TYPE(rela.r_info) != R_X86_64_JUMP_SLOT &&
			     GELF_R_TYPE(rela.r_info) != R_X86_64_GLOB_DAT) ||
			    !gelf_getsym(names, (int)GELF_R_SYM(rela.r_info), &symbol))
				continue;
			if (!vec_grow(&file->import, file->imports, 1))
				return false;
			file->import[file->imports++] = (struct binary_import){
				rela.r_offset,
				elf_strptr(file->elf, table.sh_link, symbol.st_name)
			};
		}
	}
	return true;
}

/*
 * Notes the places of the descriptions for unwinders and of the procedure linkage table. The
 * procedure linkage table has such descriptions, too, but each of its descriptions covers the
 * entries for many functions.
 */
static void take_places(struct binary_file *file)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	size_t names;

	if (elf_getshdrstrndx(file->elf, &names))
		return;
	while ((section = elf_nextscn(file->elf, section)) != NULL) {
		const char *name = gelf_getshdr(section, &header) ?
					   elf_strptr(file->elf, names, header.sh_name) :
					   NULL;

		if (name && !strcmp(name, ".eh_frame")) {
			file->frames_begin = header.sh_addr;
			file->frames_end = header.sh_addr + header.sh_size;
		}
		if (name && !strncmp(name, ".plt", 4) && file->plts < BINARY_PLTS)
			file->plt[file->plts++] = (struct binary_plt){
				header.sh_addr, header.sh_addr + header.sh_size
			};
	}
}

/* Returns the section in which the Go compiler puts its functions, or NULL if there is none. */
static Elf_Scn *go_section(Elf *elf)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	size_t names;

	if (elf_getshdrstrndx(elf, &names))
		return NULL;
	while ((section = elf_nextscn(elf, section)) != NULL) {
		const char *name = gelf_getshdr(section, &header) ?
					   elf_strptr(elf, names, header.sh_name) :
					   NULL;

		if (name && !strcmp(name, ".gopclntab"))
			return section;
	}
	return NULL;
}

bool binary_made_by_go(int fd)
{
	Elf *elf;
	bool is_go;

	elf_version(EV_CURRENT);
	/* Without a mapping, a file that another process truncates meanwhile does no harm. */
	elf = elf_begin(fd, ELF_C_READ, NULL);
	is_go = elf && elf_kind(elf) == ELF_K_ELF && go_section(elf);
	elf_end(elf);
	return is_go;
}

/* Adds the functions of a Go program that was stripped. Returns false if memory is lacking. */
static bool add_go_functions(struct binary_file *file, Elf_Scn *section)
{
	Elf_Data *data = elf_rawdata(section, NULL);
	struct go_function function;
	struct go_table table;
	size_t bytes;

	if (!data || !go_table_begin(&table, data->d_buf, data->d_size))
		return true;
	for (uint64_t i = 0; i < table.count && file->functions < FUNCTIONS_MAX; i++) {
		if (!go_table_get(&table, i, &function) || !*function.name ||
		    !binary_at(file, function.address, &bytes) || function.size > bytes)
			continue;
		if (!vec_grow(&file->function, file->functions, 1))
			return false;
		file->function[file->functions++] = (struct binary_function){
			.name = function.name, .address = function.address,
			.size = function.size,
		};
	}
	return true;
}

/*
 * The function opens the debug file only for a file without its own table. It reads the dynamic
 * symbols in any case, and binary_sort() removes symbols that are known already. All texts that the
 * function returns are constants.
 */
const char *binary_read(struct binary_file *file)
{
	const char *lack;
	bool has_table = false;
	Elf_Scn *go;

	elf_version(EV_CURRENT);
	file->elf = elf_begin(file->fd, ELF_C_READ_MMAP_PRIVATE, NULL);
	if (!file->elf || elf_kind(file->elf) != ELF_K_ELF)
		return file->probe_lack = "it is not an ELF file";
	lack = file->probe_lack = take_headers(file);
	if (lack)
		return lack;
	go = go_section(file->elf);
	file->is_go = go != NULL;
	if (!take_tables(file, file->elf, SHT_SYMTAB, &has_table))
		return "there is no memory";
	if (!has_table && go && !add_go_functions(file, go))
		return "there is no memory";
	if (!has_table && !go)
		open_debug(file);
	take_places(file);
	if (file->debug && !take_tables(file, file->debug, SHT_SYMTAB, &has_table))
		return "there is no memory";
	file->is_stripped = !has_table && !go;
	if (!take_tables(file, file->elf, SHT_DYNSYM, &has_table) || !take_imports(file))
		return "there is no memory";
	mark_haskell(file);
	binary_sort(file);
	return file->functions ? NULL :
	       "it has no symbols, and no debug file of it was found; list --probes lists its "
	       "functions by their addresses";
}

/* Searches the symbol tables of one file for an object. */
static bool object_in(Elf *elf, const char *name, size_t len, uint64_t *address)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;

	while (elf && (section = elf_nextscn(elf, section)) != NULL) {
		Elf_Data *data;

		if (!gelf_getshdr(section, &header) ||
		    (header.sh_type != SHT_SYMTAB && header.sh_type != SHT_DYNSYM) ||
		    !(data = elf_getdata(section, NULL)))
			continue;
		for (size_t i = 0, count = entries_of(&header); i < count; i++) {
			const char *text;
			GElf_Sym symbol;

			if (!gelf_getsym(data, (int)i, &symbol))
				break;
			text = elf_strptr(elf, header.sh_link, symbol.st_name);
			if (!text || symbol.st_shndx == SHN_UNDEF ||
			    GELF_ST_TYPE(symbol.st_info) != STT_OBJECT ||
			    strlen(text) != len || memcmp(text, name, len))
				continue;
			*address = symbol.st_value;
			return true;
		}
	}
	return false;
}

/* Few arguments of probes name an object, so the search is linear. */
bool binary_object(const struct binary_file *file, const char *name, size_t len,
		   uint64_t *address)
{
	return object_in(file->elf, name, len, address) ||
	       object_in(file->debug, name, len, address);
}

/* elf_end() accepts NULL. After this call, the names of functions are invalid. */
void binary_read_end(struct binary_file *file)
{
	elf_end(file->elf);
	elf_end(file->debug);
}

/*
 * Calls add() for all aligned words of 8 bytes in all segments. This function is for files in which
 * some addresses of code have no relocation. If a word is a number that only looks like an address,
 * the tool may refuse one more function, which does no harm.
 */
static bool each_word(const struct binary_file *file, bool (*add)(void *arg, uint64_t address),
		      void *arg)
{
	for (unsigned i = 0; i < file->segments; i++) {
		const struct binary_segment *segment = &file->segment[i];
		size_t at = (size_t)(-segment->address & 7);

		/*
		 * Segments with code are read, too, because older linkers put code and constants
		 * into the same segment.
		 */
		for (; at + 8 <= segment->size; at += 8) {
			uint64_t word;

			memcpy(&word, segment->bytes + at, sizeof(word));
			if (!add(arg, word))
				return false;
		}
	}
	return true;
}

bool binary_each_pointer(struct binary_file *file, bool (*add)(void *arg, uint64_t address),
			 void *arg)
{
	bool has_words = file->is_fixed;
	Elf_Scn *section = NULL;
	GElf_Shdr header;

	while ((section = elf_nextscn(file->elf, section)) != NULL) {
		Elf_Data *data;
		GElf_Rela rela;

		if (!gelf_getshdr(section, &header))
			continue;
		has_words |= header.sh_type == SECTION_RELR;
		if (header.sh_type != SHT_RELA || !(data = elf_getdata(section, NULL)))
			continue;
		for (size_t i = 0, count = entries_of(&header); i < count; i++)
			if (gelf_getrela(data, (int)i, &rela) &&
			    GELF_R_TYPE(rela.r_info) == R_X86_64_RELATIVE &&
			    !add(arg, (uint64_t)rela.r_addend))
				return false;
	}
	/*
	 * If the file has compact relocations (DT_RELR), or is linked to fixed addresses, some
	 * addresses of code are in its data and have no relocation.
	 */
	return !has_words || each_word(file, add, arg);
}

#else

bool binary_made_by_go(int fd)
{
	(void)fd;
	return false;
}

const char *binary_read(struct binary_file *file)
{
	return file->probe_lack = "posixtrace was built without libelf";
}

bool binary_object(const struct binary_file *file, const char *name, size_t len,
		   uint64_t *address)
{
	(void)file, (void)name, (void)len, (void)address;
	return false;
}

void binary_read_end(struct binary_file *file)
{
	(void)file;
}

bool binary_each_pointer(struct binary_file *file, bool (*add)(void *arg, uint64_t address),
			 void *arg)
{
	(void)file, (void)add, (void)arg;
	return true;
}

#endif
