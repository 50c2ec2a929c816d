/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * modules/mapped_other.c - a look at another process, through /proc.
 *
 * Neither that process nor its files are trusted: every number is checked, and everything is
 * bounded. The build-id is that of the mapped memory, where it may be read, else that of the file,
 * if it still is the one that is mapped. It is read once for each file that appears.
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "base/clock.h"
#include "base/io.h"
#include "modules/mapped_set.h"

#define TEXT_MAX    (8u << 20) /* of /proc/PID/maps */
#define HEADERS_MAX 64u
#define NOTES_MAX   4096u

struct line {
	uint64_t start, end, offset, device, inode;
	bool is_code;
	char *path;
};

/* The head of a file, in the process's memory or where it lies. */
struct head {
	int fd;
	bool is_memory;
	uint64_t at; /* in memory: the address of the file's beginning */
};

static bool number(char **at, int base, char behind, uint64_t *value)
{
	char *end;

	if (**at == '-' || **at == ' ' || **at == '+')
		return false;
	*value = strtoull(*at, &end, base);
	if (end == *at || *end != behind)
		return false;
	*at = end + 1;
	return true;
}

/* The kernel writes a line feed in a path as \012, and says what was deleted. */
static char *path_of(char *text)
{
	static const char deleted[] = " (deleted)";
	char *to = text, *from = text;
	size_t len;

	while (*from) {
		if (!strncmp(from, "\\012", 4)) {
			*to++ = '\n';
			from += 4;
		} else {
			*to++ = *from++;
		}
	}
	*to = '\0';
	len = strlen(text);
	if (len > sizeof deleted - 1 && !strcmp(text + len - (sizeof deleted - 1), deleted))
		text[len - (sizeof deleted - 1)] = '\0';
	return text;
}

/* START-END PERM OFFSET MAJOR:MINOR INODE   PATH */
static bool parse(char *text, struct line *line)
{
	uint64_t part_major, part_minor;

	memset(line, 0, sizeof *line);
	if (!number(&text, 16, '-', &line->start) || !number(&text, 16, ' ', &line->end) ||
	    line->start >= line->end || strnlen(text, 5) < 5 || text[4] != ' ')
		return false;
	line->is_code = text[2] == 'x';
	text += 5;
	if (!number(&text, 16, ' ', &line->offset) || !number(&text, 16, ':', &part_major) ||
	    !number(&text, 16, ' ', &part_minor))
		return false;
	line->device = makedev((unsigned)part_major, (unsigned)part_minor);
	line->inode = strtoull(text, &text, 10);
	text += strspn(text, " ");
	line->path = path_of(text);
	return true;
}

static char *read_all(uint32_t pid)
{
	size_t room = 65536, got = 0;
	char path[40], *text = NULL;
	int fd, err;

	snprintf(path, sizeof path, "/proc/%u/maps", pid);
	if (ptx_io_open(path, O_RDONLY, &fd))
		return NULL;
	do {
		char *more = room <= TEXT_MAX ? realloc(text, room) : NULL;

		err = more ? 0 : ENOMEM;
		if (more) {
			text = more;
			err = ptx_io_read_at(fd, text, room - 1, 0, &got);
		}
		room *= 2;
	} while (!err && got == room / 2 - 1);
	ptx_io_close(fd);
	if (err || !got) {
		free(text);
		return NULL;
	}
	text[got] = '\0';
	return text;
}

static bool read_head(const struct head *head, uint64_t offset, void *to, size_t bytes)
{
	size_t got;

	return offset <= INT64_MAX - head->at &&
	       !ptx_io_read_at(head->fd, to, bytes, head->at + offset, &got) && got == bytes;
}

/* The program headers; how many. */
static unsigned read_headers(const struct head *head, ElfW(Phdr) header[HEADERS_MAX])
{
	ElfW(Ehdr) elf;

	if (!read_head(head, 0, &elf, sizeof elf) || memcmp(elf.e_ident, ELFMAG, SELFMAG) ||
	    elf.e_ident[EI_CLASS] != (sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32) ||
	    elf.e_phentsize != sizeof *header || elf.e_phnum == 0 || elf.e_phnum > HEADERS_MAX ||
	    !read_head(head, elf.e_phoff, header, elf.e_phnum * sizeof *header))
		return 0;
	return elf.e_phnum;
}

static void learn_from(const struct head *head, uint64_t begins, struct ptx_mapping *mapping)
{
	ElfW(Phdr) header[HEADERS_MAX];
	unsigned count = read_headers(head, header), i = 0;
	uint8_t notes[NOTES_MAX];
	uint64_t shift;

	while (i < count && (header[i].p_type != PT_LOAD || header[i].p_offset >= 4096))
		i++;
	if (i >= count)
		return;
	shift = header[i].p_vaddr - header[i].p_offset; /* of the file's beginning */
	mapping->base = begins - shift;
	for (i = 0; !mapping->id_bytes && i < count; i++) {
		uint64_t at = head->is_memory ? header[i].p_vaddr - shift : header[i].p_offset;

		if (header[i].p_type == PT_NOTE && header[i].p_filesz <= sizeof notes &&
		    read_head(head, at, notes, header[i].p_filesz))
			mapping->id_bytes = (uint32_t)ptx_mapping_build_id(
				notes, header[i].p_filesz, mapping->id);
	}
}

static bool open_memory(uint32_t pid, uint64_t begins, struct head *head)
{
	char path[40], probe[SELFMAG];

	snprintf(path, sizeof path, "/proc/%u/mem", pid);
	head->is_memory = true;
	head->at = begins;
	if (begins > INT64_MAX || ptx_io_open(path, O_RDONLY, &head->fd))
		return false;
	if (read_head(head, 0, probe, sizeof probe))
		return true;
	ptx_io_close(head->fd);
	return false;
}

static bool open_file(uint32_t pid, const struct line *line, struct head *head)
{
	char path[PATH_MAX + 40];
	struct stat st;

	head->is_memory = false;
	head->at = 0;
	if (*line->path != '/' ||
	    snprintf(path, sizeof path, "/proc/%u/root%s", pid, line->path) >= (int)sizeof path ||
	    ptx_io_open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY, &head->fd))
		return false;
	/* Some file systems have other devices in maps than stat() tells; none has other inodes. */
	if (fstat(head->fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_ino == line->inode)
		return true;
	ptx_io_close(head->fd);
	return false;
}

/* Where the file of line i begins in memory: the nearest before it that is mapped from 0 on. */
static const struct line *beginning(const struct line *lines, size_t i)
{
	for (size_t back = 0; back <= i && back < HEADERS_MAX; back++) {
		const struct line *line = &lines[i - back];

		if (line->offset == 0 && line->inode == lines[i].inode &&
		    line->device == lines[i].device && !strcmp(line->path, lines[i].path))
			return line;
	}
	return NULL;
}

static void learn(uint32_t pid, const struct line *lines, size_t i, struct ptx_mapping *mapping)
{
	const struct line *begins = beginning(lines, i);
	uint64_t at = begins ? begins->start : lines[i].start - lines[i].offset;
	struct head head;

	mapping->base = at;
	if ((begins && open_memory(pid, at, &head)) || open_file(pid, &lines[i], &head)) {
		learn_from(&head, at, mapping);
		ptx_io_close(head.fd);
	}
}

static struct line *split(char *text, size_t *count)
{
	struct line *line;
	size_t room = 1;
	char *next;

	*count = 0;
	for (const char *c = text; *c; c++)
		room += *c == '\n';
	line = malloc(room * sizeof *line);
	for (; line && text && *text && *count < room; text = next) {
		next = strchr(text, '\n');
		if (next)
			*next++ = '\0';
		*count += parse(text, &line[*count]);
	}
	return line;
}

static bool is_ours(const struct ptx_arena *arena, const struct line *line, size_t lines)
{
	for (size_t i = 0; arena->inode && i < lines; i++)
		if (line[i].device == arena->device && line[i].inode == arena->inode)
			return true;
	return false;
}

static bool is_wanted(const struct line *line)
{
	return line->is_code &&
	       ((line->inode && *line->path == '/') || !strcmp(line->path, "[vdso]"));
}

/* The process said that this part of a file is there, where the system shows whole pages of one. */
static bool may_be(const struct ptx_mapped_range *told, const struct line *line)
{
	const struct ptx_mapping *part = &told->mapping;

	return told->is_told && part->start >= line->start && part->start < line->end &&
	       part->offset >= line->offset &&
	       part->offset - line->offset == part->start - line->start &&
	       (!told->inode || (told->inode == line->inode && told->device == line->device));
}

/* What was told may have been replaced by another file since: it is looked at once. */
static const struct ptx_mapped_range *as_told(const struct ptx_mapped_set *old, uint32_t pid,
					      const struct line *lines, size_t i)
{
	struct ptx_mapping seen = { .kind = PTX_MAPPING_FILE };

	for (size_t k = 0; old && k < old->count; k++) {
		const struct ptx_mapped_range *told = &old->range[k];

		if (!may_be(told, &lines[i]))
			continue;
		if (!told->inode)
			learn(pid, lines, i, &seen);
		if (told->inode || !seen.id_bytes || !told->mapping.id_bytes ||
		    (seen.id_bytes == told->mapping.id_bytes &&
		     !memcmp(seen.id, told->mapping.id, seen.id_bytes)))
			return told;
	}
	return NULL;
}

static void take(const struct ptx_mapped_set *old, uint32_t pid, const struct line *lines, size_t i,
		 struct ptx_mapped_range *range)
{
	const struct ptx_mapped_range *known;

	memset(range, 0, sizeof *range);
	range->device = lines[i].device;
	range->inode = lines[i].inode;
	range->mapping.kind = PTX_MAPPING_FILE;
	range->mapping.pid = pid;
	range->mapping.start = lines[i].start;
	range->mapping.end = lines[i].end;
	range->mapping.offset = lines[i].offset;
	range->mapping.path = lines[i].path;
	known = as_told(old, pid, lines, i);
	range->is_told = known != NULL;
	if (!known && old)
		known = ptx_mapped_twin(old, range);
	if (known) {
		range->mapping = known->mapping;
		range->mapping.path = lines[i].path;
	} else {
		learn(pid, lines, i, &range->mapping);
	}
}

static enum ptx_mapped_found fill(const struct ptx_mapped_set *old, uint32_t pid,
				  const struct line *line, size_t lines, struct ptx_mapped_set *set)
{
	size_t wanted = 0;

	for (size_t i = 0; i < lines; i++)
		wanted += is_wanted(&line[i]);
	if (wanted > PTX_MAPPED_RANGES)
		return PTX_MAPPED_TOO_MUCH;
	set->range = wanted ? malloc(wanted * sizeof *set->range) : NULL;
	if (!set->range)
		return PTX_MAPPED_NOTHING;
	for (size_t i = 0; i < lines; i++)
		if (is_wanted(&line[i]) && strlen(line[i].path) < PTX_MAPPING_PATH_BYTES)
			take(old, pid, line, i, &set->range[set->count++]);
	return PTX_MAPPED_NEW;
}

enum ptx_mapped_found ptx_mapped_other(const struct ptx_mapped_set *old,
				       const struct ptx_arena *arena, uint32_t pid,
				       struct ptx_mapped_set *set)
{
	enum ptx_mapped_found found = PTX_MAPPED_NOTHING;
	struct line *line;
	size_t lines;

	memset(set, 0, sizeof *set);
	set->before_ns = ptx_clock_realtime();
	set->text = read_all(pid);
	set->after_ns = ptx_clock_realtime();
	if (!set->text)
		return PTX_MAPPED_NOTHING;
	line = split(set->text, &lines);
	if (line && is_ours(arena, line, lines))
		found = fill(old, pid, line, lines, set);
	free(line);
	if (found != PTX_MAPPED_NEW)
		ptx_mapped_set_fini(set);
	return found;
}
