/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core.c - finds the arenas in a core dump by libelf.
 *
 * The notes of a dump list the mapped files and their addresses. The segments of the dump contain
 * the memory. This file finds an arena by the name of the arena's file, and looks up the arena's
 * mappings in the segments. It copies these parts into a file in memory, at their offsets in the
 * arena. The library then reads that file as it reads a backing file.
 */
#include "live/core.h"

#include <elf.h>
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * Reads bytes at an offset. Returns how many bytes were read. The number is less than requested at
 * the end of an incomplete dump, or after a read error. The caller gets no error in these two
 * cases.
 */
static size_t read_some(int fd, void *to, size_t bytes, uint64_t at)
{
	size_t done = 0;

	while (done < bytes) {
		ssize_t got = pread(fd, (unsigned char *)to + done, bytes - done,
				    (off_t)(at + done));

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			break;
		done += (size_t)got;
	}
	return done;
}

bool core_is_dump(int fd)
{
	Elf64_Half type; /* e_type has the same offset in ELF files of 32 bits */
	unsigned char ident[EI_NIDENT];

	return read_some(fd, ident, sizeof(ident), 0) == sizeof(ident) &&
	       memcmp(ident, ELFMAG, SELFMAG) == 0 &&
	       read_some(fd, &type, sizeof(type), EI_NIDENT) == sizeof(type) && type == ET_CORE;
}

#ifdef HAVE_LIBELF

#include <gelf.h>

#include "base/memory_file.h"
#include "base/whole.h"
#include "live/process.h"

#define NOTES_MAX   (64u << 20) /* bytes: a list of some 500,000 mapped files */
#define PARTS_MAX   4096
#define ARENAS_MAX  64
#define ARENA_BYTES (UINT64_C(1) << 46) /* limit for a mapping's length and offset */
#define PIECE       65536

/*
 * A part of an arena: its offset in the arena's file and its place in the dump. "name" is in
 * libelf's memory, and parts with the same name belong to one arena.
 */
struct part {
	uint64_t offset;
	uint64_t bytes;
	uint64_t at;
	const char *name;
};

struct core {
	int fd;
	uint64_t budget; /* bytes that may still be copied; at first the size of the dump */
	Elf *elf;
	size_t segments;
	struct part part[PARTS_MAX];
	unsigned parts;
	const char *arena[ARENAS_MAX]; /* their names, in libelf's memory */
	unsigned arenas;
};

/*
 * Returns how many bytes the dump has from "address" on, at most "wanted", and stores their place
 * in the dump in *at. Returns 0 if the memory was not dumped. Segments whose size or offset exceeds
 * INT64_MAX are skipped, so that sums of offsets do not overflow.
 */
static uint64_t find_memory(const struct core *core, uint64_t address, uint64_t wanted,
			    uint64_t *at)
{
	for (size_t i = 0; i < core->segments; i++) {
		GElf_Phdr segment;
		uint64_t into;

		if (!gelf_getphdr(core->elf, (int)i, &segment) || segment.p_type != PT_LOAD ||
		    address < segment.p_vaddr)
			continue;
		into = address - segment.p_vaddr;
		if (into >= segment.p_filesz || segment.p_offset > INT64_MAX ||
		    segment.p_filesz > INT64_MAX)
			continue;
		*at = segment.p_offset + into;
		return segment.p_filesz - into < wanted ? segment.p_filesz - into : wanted;
	}
	return 0;
}

/*
 * Adds the parts of the dump that have the memory from "begin" to "end". This memory is a mapping
 * of the arena's file, from "offset" on. One mapping may be in several segments of the dump.
 * The function ignores parts and arenas beyond the limits.
 */
static void add_parts(struct core *core, uint64_t begin, uint64_t end, uint64_t offset,
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

/*
 * Reads a note NT_FILE. The note has the number of files and the page size, then for each file its
 * begin, its end and its offset in pages, then the names of all files. All numbers are hostile. The
 * function limits the count by the size of the note, and the numbers of a file by the size of the
 * greatest arena. So products of these numbers do not overflow.
 */
static void read_files(struct core *core, const char *note, size_t bytes)
{
	uint64_t count, page, name_at, word[3];

	if (bytes < 2 * sizeof(count))
		return;
	memcpy(&count, note, sizeof(count));
	memcpy(&page, note + sizeof(count), sizeof(page));
	if (count > (bytes - 2 * sizeof(count)) / sizeof(word) || page == 0 || page > (1u << 30))
		return;
	name_at = 2 * sizeof(count) + count * sizeof(word);
	for (uint64_t i = 0; i < count && name_at < bytes; i++) {
		const char *name = note + name_at;
		size_t length = strnlen(name, bytes - name_at);

		if (length == bytes - name_at)
			return; /* the note ends within this name */
		name_at += length + 1;
		memcpy(word, note + 2 * sizeof(count) + i * sizeof(word), sizeof(word));
		if (strncmp(name, PROCESS_ARENA, sizeof(PROCESS_ARENA) - 1) == 0 &&
		    word[0] < word[1] && word[1] - word[0] <= ARENA_BYTES &&
		    word[2] <= ARENA_BYTES / page)
			add_parts(core, word[0], word[1], word[2] * page, name);
	}
}

/*
 * Reads the notes of a segment. Returns 0 or EINVAL. A segment that is too large is ignored, since
 * libelf would allocate memory for all of it.
 */
static int read_notes(struct core *core, const GElf_Phdr *segment)
{
	size_t at = 0, name_at, text_at;
	Elf_Data *notes;
	GElf_Nhdr note;

	if (segment->p_filesz > NOTES_MAX)
		return 0;
	notes = elf_getdata_rawchunk(core->elf, (int64_t)segment->p_offset, segment->p_filesz,
				     ELF_T_NHDR);
	if (!notes)
		return EINVAL;
	while ((at = gelf_getnote(notes, at, &note, &name_at, &text_at)) > 0)
		if (note.n_type == NT_FILE)
			read_files(core, (const char *)notes->d_buf + text_at, note.n_descsz);
	return 0;
}

/*
 * Finds all arenas. Returns 0 or EINVAL. EINVAL means that the file is not an ELF file, is damaged,
 * or is from another kind of machine, whose arenas have another layout.
 */
static int read_dump(struct core *core)
{
	const unsigned char order = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? ELFDATA2LSB :
										ELFDATA2MSB;
	const char *ident;
	int err = 0;

	elf_version(EV_CURRENT);
	/*
	 * With ELF_C_READ libelf does not map the file. If the file were mapped and then truncated,
	 * an access would raise SIGBUS.
	 */
	core->elf = elf_begin(core->fd, ELF_C_READ, NULL);
	ident = core->elf && elf_kind(core->elf) == ELF_K_ELF ? elf_getident(core->elf, NULL) :
								 NULL;
	if (!ident || ident[EI_CLASS] != ELFCLASS64 || ident[EI_DATA] != order ||
	    elf_getphdrnum(core->elf, &core->segments) != 0)
		return EINVAL;
	for (size_t i = 0; !err && i < core->segments; i++) {
		GElf_Phdr segment;

		if (!gelf_getphdr(core->elf, (int)i, &segment))
			return EINVAL;
		if (segment.p_type == PT_NOTE)
			err = read_notes(core, &segment);
	}
	return err;
}

/*
 * Copies at most PIECE bytes. A piece of zeros is not written, since a hole of the copy reads as
 * zeros. Bytes behind the end of an incomplete dump are not copied. Returns 0 or an error number.
 */
static int copy_piece(struct core *core, int to, uint64_t at, uint64_t offset, size_t bytes)
{
	static const unsigned char zeros[PIECE];
	static unsigned char piece[PIECE];

	bytes = read_some(core->fd, piece, bytes, at);
	if (memcmp(piece, zeros, bytes) == 0)
		return 0;
	return whole_pwrite(to, piece, bytes, offset);
}

/*
 * Copies a part of an arena. The copy ends when the budget is used up, because the mappings of a
 * hostile dump may name the same bytes many times.
 */
static int copy_part(struct core *core, const struct part *part, int to)
{
	for (uint64_t done = 0; done < part->bytes; done += PIECE) {
		uint64_t bytes = part->bytes - done < PIECE ? part->bytes - done : PIECE;
		int err;

		if (bytes > core->budget)
			return 0;
		core->budget -= bytes;
		err = copy_piece(core, to, part->at + done, part->offset + done, (size_t)bytes);
		if (err)
			return err;
	}
	return 0;
}

/*
 * Returns a descriptor of the copy, or an error number below 0. The copy ends with the last part
 * that the dump has. If the copy is shorter than the size in the control page, the library reports
 * this when it reads the copy.
 */
static int copy_arena(struct core *core, const char *name)
{
	int fd = memory_file("posixtrace-core"), err = 0;
	uint64_t end = 0;

	if (fd < 0)
		return -errno;
	for (unsigned i = 0; !err && i < core->parts; i++) {
		const struct part *part = &core->part[i];

		if (strcmp(part->name, name) != 0)
			continue;
		end = part->offset + part->bytes > end ? part->offset + part->bytes : end;
		err = copy_part(core, part, fd);
	}
	if (!err && ftruncate(fd, (off_t)end) != 0)
		err = errno;
	if (err) {
		close(fd);
		return -err;
	}
	return fd;
}

int core_arenas(int fd, int (*take)(void *arg, int fd), void *arg, unsigned *arenas)
{
	struct core *core = calloc(1, sizeof(*core));
	struct stat st;
	int err;

	*arenas = 0;
	if (!core)
		return ENOMEM;
	core->fd = fd;
	err = fstat(fd, &st) == 0 ? 0 : errno;
	if (!err) {
		core->budget = (uint64_t)st.st_size;
		err = read_dump(core);
	}
	for (unsigned i = 0; !err && i < core->arenas; i++) {
		int copy = copy_arena(core, core->arena[i]);

		if (copy < 0) {
			err = -copy;
			break;
		}
		++*arenas;
		err = take(arg, copy);
		close(copy);
	}
	elf_end(core->elf);
	free(core);
	return err;
}

#else

int core_arenas(int fd, int (*take)(void *arg, int fd), void *arg, unsigned *arenas)
{
	(void)fd;
	(void)take;
	(void)arg;
	*arenas = 0;
	return ENOTSUP;
}

#endif
