/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "observe/core.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "arena/arena.h"
#include "base/io.h"

#define NOTES_MAX  (64u << 20) /* bytes: a list of some 500,000 mapped files */
#define PARTS_MAX  4096
#define ARENAS_MAX 64
#define ARENA_NAME "/memfd:posix-trace"

/* Of an arena: where in the file of the arena, and where in the core. */
struct part {
	uint64_t offset;
	uint64_t bytes;
	uint64_t at;
	const char *name;
};

struct ptx_core {
	int fd;
	Elf64_Phdr *segment;
	unsigned segments;
	char *notes; /* the parts' names stand in it */
	struct part part[PARTS_MAX];
	unsigned parts;
	const char *arena[ARENAS_MAX]; /* their names */
	unsigned arenas;
};

static bool read_all(int fd, void *to, size_t bytes, uint64_t at)
{
	size_t got;

	return ptx_io_read_at(fd, to, bytes, at, &got) == 0 && got == bytes;
}

static int read_header(struct ptx_core *core)
{
	const unsigned char order = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? ELFDATA2LSB
									       : ELFDATA2MSB;
	Elf64_Ehdr header;
	size_t bytes;

	if (!read_all(core->fd, &header, sizeof header, 0) ||
	    memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_type != ET_CORE)
		return ENOEXEC;
	if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != order ||
	    header.e_phentsize != sizeof(Elf64_Phdr) || header.e_phnum == PN_XNUM)
		return EINVAL;
	core->segments = header.e_phnum;
	bytes = core->segments * sizeof(Elf64_Phdr);
	core->segment = malloc(bytes + 1);
	if (!core->segment)
		return ENOMEM;
	return read_all(core->fd, core->segment, bytes, header.e_phoff) ? 0 : EINVAL;
}

/* What the dump has from address on: how many bytes, at most wanted, and where. */
static uint64_t find_memory(const struct ptx_core *core, uint64_t address, uint64_t wanted,
			    uint64_t *at)
{
	for (unsigned i = 0; i < core->segments; i++) {
		const Elf64_Phdr *segment = &core->segment[i];
		uint64_t into = address - segment->p_vaddr;

		if (segment->p_type != PT_LOAD || address < segment->p_vaddr ||
		    into >= segment->p_filesz || segment->p_offset > INT64_MAX ||
		    segment->p_filesz > INT64_MAX)
			continue;
		*at = segment->p_offset + into;
		return segment->p_filesz - into < wanted ? segment->p_filesz - into : wanted;
	}
	return 0;
}

static void add_part(struct ptx_core *core, uint64_t begin, uint64_t end, uint64_t offset,
		     const char *name)
{
	unsigned arena = 0;

	while (begin < end && core->parts < PARTS_MAX) {
		struct part *part = &core->part[core->parts];

		part->bytes = find_memory(core, begin, end - begin, &part->at);
		if (part->bytes == 0)
			return; /* not dumped */
		part->offset = offset;
		part->name = name;
		core->parts++;
		begin += part->bytes;
		offset += part->bytes;
	}
	while (arena < core->arenas && strcmp(core->arena[arena], name) != 0)
		arena++;
	if (arena == core->arenas && arena < ARENAS_MAX)
		core->arena[core->arenas++] = name;
}

/* NT_FILE: count, page size; begin, end and offset in pages of each; then their names. */
static void read_files(struct ptx_core *core, const char *note, size_t bytes)
{
	uint64_t count, page, name_at, word[3];

	if (bytes < 2 * sizeof count)
		return;
	memcpy(&count, note, sizeof count);
	memcpy(&page, note + sizeof count, sizeof page);
	if (count > (bytes - 2 * sizeof count) / sizeof word || page == 0 || page > (1u << 30))
		return;
	name_at = 2 * sizeof count + count * sizeof word;
	for (uint64_t i = 0; i < count && name_at < bytes; i++) {
		const char *name = note + name_at;
		size_t length = strnlen(name, bytes - name_at);

		if (length == bytes - name_at)
			return; /* the list is cut here */
		name_at += length + 1;
		memcpy(word, note + 2 * sizeof count + i * sizeof word, sizeof word);
		if (strncmp(name, ARENA_NAME, sizeof ARENA_NAME - 1) == 0 && word[0] < word[1] &&
		    word[2] <= PTX_ARENA_BYTES / page)
			add_part(core, word[0], word[1], word[2] * page, name);
	}
}

static int read_notes(struct ptx_core *core, const Elf64_Phdr *segment)
{
	const size_t bytes = segment->p_filesz;
	size_t at = 0;

	if (core->notes || bytes > NOTES_MAX)
		return 0;
	core->notes = malloc(bytes + 1);
	if (!core->notes)
		return ENOMEM;
	if (!read_all(core->fd, core->notes, bytes, segment->p_offset))
		return EINVAL;
	while (bytes - at >= sizeof(Elf64_Nhdr)) {
		Elf64_Nhdr note;
		size_t name, text;

		memcpy(&note, core->notes + at, sizeof note);
		at += sizeof note;
		name = ((size_t)note.n_namesz + 3) & ~(size_t)3;
		text = ((size_t)note.n_descsz + 3) & ~(size_t)3;
		if (name > bytes - at || text > bytes - at - name)
			return 0; /* the last one is cut */
		if (note.n_type == NT_FILE)
			read_files(core, core->notes + at + name, note.n_descsz);
		at += name + text;
	}
	return 0;
}

int ptx_core_open(int fd, struct ptx_core **result)
{
	struct ptx_core *core = calloc(1, sizeof *core);
	int err;

	if (!core)
		return ENOMEM;
	core->fd = fd;
	err = read_header(core);
	for (unsigned i = 0; !err && i < core->segments; i++)
		if (core->segment[i].p_type == PT_NOTE)
			err = read_notes(core, &core->segment[i]);
	if (err) {
		ptx_core_close(core);
		return err;
	}
	*result = core;
	return 0;
}

void ptx_core_close(struct ptx_core *core)
{
	free(core->segment);
	free(core->notes);
	free(core);
}

unsigned ptx_core_arenas(const struct ptx_core *core)
{
	return core->arenas;
}

static bool copy(const struct ptx_image *image, void *to, size_t bytes, uint64_t offset)
{
	const struct ptx_core *core = image->source;
	const char *name = core->arena[image->fd];
	unsigned char *into = to;

	while (bytes > 0) {
		const struct part *part = NULL;
		uint64_t n;

		for (unsigned i = 0; i < core->parts && !part; i++)
			if (core->part[i].offset <= offset &&
			    offset - core->part[i].offset < core->part[i].bytes &&
			    strcmp(core->part[i].name, name) == 0)
				part = &core->part[i];
		if (!part)
			return false;
		n = part->bytes - (offset - part->offset);
		if (n > bytes)
			n = bytes;
		if (!read_all(core->fd, into, n, part->at + (offset - part->offset)))
			return false;
		into += n;
		offset += n;
		bytes -= n;
	}
	return true;
}

void ptx_image_of_core(struct ptx_image *image, const struct ptx_core *core, unsigned arena)
{
	*image = (struct ptx_image){ .copy = copy, .fd = (int)arena, .source = core };
	for (unsigned i = 0; i < core->parts; i++) {
		const struct part *part = &core->part[i];

		if (strcmp(part->name, core->arena[arena]) != 0)
			continue;
		if (part->offset + part->bytes > image->bytes)
			image->bytes = part->offset + part->bytes;
		image->memory += part->bytes;
	}
}
