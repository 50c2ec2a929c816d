/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * module_frame.c - finds the begin of a function in a file without symbols.
 *
 * Compilers describe each function in .eh_frame, for unwinders. strip(1) does not remove this
 * section. The section .eh_frame_hdr has a table of the begins of all functions, in order. Only one
 * form of the table is read, because no linker writes another form: its numbers have 4 bytes and
 * count from the begin of the table. The ELF file may be hostile. libelf checks the offsets, and
 * module_frame.c checks the numbers.
 */
#include "symbols/module_part.h"

#include <string.h>

#ifdef HAVE_LIBDW

#include <elfutils/libdwfl.h>

#define FORM_BYTES 4         /* the version and three encodings */
#define FORM       "\1\33\3\73"
#define HEAD_BYTES 12        /* the form, the place of .eh_frame, the number of entries */
#define ENTRY_BYTES 8        /* the begin of a function, and the place of its description */
#define RANGE_AT   12        /* in a description: the number of bytes of the function */

/*
 * Returns the bytes of the file at an address. Returns NULL if no segment of the file has all these
 * bytes.
 */
static const uint8_t *frame_bytes(Elf *elf, uint64_t address, uint64_t bytes)
{
	size_t count;

	if (elf_getphdrnum(elf, &count))
		return NULL;
	for (size_t i = 0; i < count; i++) {
		GElf_Phdr part;
		Elf_Data *data;

		if (!gelf_getphdr(elf, (int)i, &part) || part.p_type != PT_LOAD ||
		    address < part.p_vaddr || address - part.p_vaddr > part.p_filesz ||
		    bytes > part.p_filesz - (address - part.p_vaddr))
			continue;
		data = elf_getdata_rawchunk(elf, (int64_t)(part.p_offset + address - part.p_vaddr),
					    bytes, ELF_T_BYTE);
		return data ? data->d_buf : NULL;
	}
	return NULL;
}

/* Returns the address of the table, or 0 if the file has none. */
static uint64_t frame_table(Elf *elf)
{
	size_t count;

	if (elf_getphdrnum(elf, &count))
		return 0;
	for (size_t i = 0; i < count; i++) {
		GElf_Phdr part;

		if (gelf_getphdr(elf, (int)i, &part) && part.p_type == PT_GNU_EH_FRAME)
			return part.p_vaddr;
	}
	return 0;
}

static int32_t signed_at(const uint8_t *from)
{
	int32_t value;

	memcpy(&value, from, sizeof(value));
	return value;
}

/*
 * Reads the whole table once. Afterwards module->frame is NULL if the file has no table of this
 * form.
 */
static void frame_load(struct module *module)
{
	Dwarf_Addr bias;
	Elf *elf = dwfl_module_getelf(module->elf, &bias);
	uint64_t table = elf ? frame_table(elf) : 0;
	const uint8_t *head = table ? frame_bytes(elf, table, HEAD_BYTES) : NULL;

	module->has_frames = true;
	if (!head || memcmp(head, FORM, FORM_BYTES) != 0)
		return;
	module->frames = (uint32_t)signed_at(head + HEAD_BYTES - 4);
	module->frame = frame_bytes(elf, table + HEAD_BYTES,
				    (uint64_t)module->frames * ENTRY_BYTES);
	module->frame_table = table;
}

bool module_begin(struct module *module, uint64_t address, uint64_t *begin)
{
	const uint8_t *entry, *range;
	Dwarf_Addr bias;
	uint32_t low = 0, high;

	if (module->lack || !module->elf)
		return false;
	if (!module->has_frames)
		frame_load(module);
	if (!module->frame)
		return false;
	for (high = module->frames; low < high;) {
		uint32_t middle = low + (high - low) / 2;

		entry = module->frame + middle * (size_t)ENTRY_BYTES;
		if (module->frame_table + (uint64_t)(int64_t)signed_at(entry) <= address)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low)
		return false;
	entry = module->frame + (low - 1) * (size_t)ENTRY_BYTES;
	*begin = module->frame_table + (uint64_t)(int64_t)signed_at(entry);
	/*
	 * The address may be behind the end of the function, in code that has no description. An
	 * example is the begin of .plt.
	 */
	range = frame_bytes(dwfl_module_getelf(module->elf, &bias),
			    module->frame_table + (uint64_t)(int64_t)signed_at(entry + 4) +
			    RANGE_AT, sizeof(int32_t));
	return range && address - *begin < (uint32_t)signed_at(range);
}

#else

bool module_begin(struct module *module, uint64_t address, uint64_t *begin)
{
	(void)module, (void)address, (void)begin;
	return false;
}

#endif
