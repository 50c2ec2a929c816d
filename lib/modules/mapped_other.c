/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * modules/mapped_other.c - looks at another process through /proc.
 *
 * That process and its files are not trusted: every number is checked, and every loop is bounded.
 * The build-id is read from the mapped memory if that is permitted. Otherwise it is read from the
 * file, if the path still leads to the mapped file. The build-id is read once for each file that
 * appears.
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

#define TEXT_MAX    (8u << 20) /* bytes of /proc/PID/maps */
#define HEADERS_MAX 64u
#define NOTES_MAX   4096u

/* One line of /proc/PID/maps; `path` points into the text. */
struct line {
	uint64_t start, end, offset, device, inode;
	bool is_code;
	char *path;
};

/* The beginning of an ELF file, in the process's memory or in the file itself. */
struct head {
	int fd;
	bool is_memory;
	uint64_t at; /* in memory: the address of the file's beginning */
};

/*
 * Parses a number with the character `behind` after it, and moves *at behind this character.
 * Returns false if the text has another form. A sign is an error here, although strtoull() accepts
 * it.
 */
static bool mapped_other_number(char **at, int base, char behind, uint64_t *value)
{
	char *end;

	/* strtoull() would skip spaces and accept a sign, so these are excluded here. */
	if (**at == '-' || **at == ' ' || **at == '+')
		return false;
	*value = strtoull(*at, &end, base);
	/* There are no digits, or the character behind the digits is not `behind`. */
	if (end == *at || *end != behind)
		return false;
	/* *at moves past the character behind the number. */
	*at = end + 1;
	return true;
}

/*
 * Restores a path in place, as it was before the kernel changed it, and returns `text`: the kernel
 * writes \012 for a line feed, and adds a mark to the path of a deleted file.
 */
static char *path_of(char *text)
{
	static const char deleted[] = " (deleted)";
	char *to = text, *from = text;
	size_t len;

	while (*from) {
		/* Four characters become one, so the text can be changed in place. */
		if (!strncmp(from, "\\012", 4)) {
			*to++ = '\n';
			from += 4;
		} else {
			*to++ = *from++;
		}
	}
	*to = '\0';
	/*
	 * A file name may itself end with the text of the mark. Such a name is shortened by
	 * mistake, which is rare and harmless.
	 */
	len = strlen(text);
	if (len > sizeof deleted - 1 && !strcmp(text + len - (sizeof deleted - 1), deleted))
		text[len - (sizeof deleted - 1)] = '\0';
	return text;
}

/*
 * Parses a line: START-END PERM OFFSET MAJOR:MINOR INODE PATH. Returns false if the line has
 * another form.
 */
static bool mapped_other_parse(char *text, struct line *line)
{
	/* The kernel prints the device in two parts. */
	uint64_t part_major, part_minor;

	/* A member that the function does not reach is 0. */
	memset(line, 0, sizeof *line);
	/* An empty or reversed range would break the search for an address. */
	if (!mapped_other_number(&text, 16, '-', &line->start) ||
	    !mapped_other_number(&text, 16, ' ', &line->end) || line->start >= line->end ||
	    strnlen(text, 5) < 5 || text[4] != ' ')
		return false;
	/* PERM has four characters, such as "r-xp"; the third is the permission to execute. */
	line->is_code = text[2] == 'x';
	/* `text` moves past the permissions and the space. */
	text += 5;
	if (!mapped_other_number(&text, 16, ' ', &line->offset) ||
	    !mapped_other_number(&text, 16, ':', &part_major) ||
	    !mapped_other_number(&text, 16, ' ', &part_minor))
		return false;
	/* The numbers of the file's device, in the form of stat(). */
	line->device = makedev((unsigned)part_major, (unsigned)part_minor);
	/* The inode is 0 if there is no file, as for the stack and anonymous memory. */
	line->inode = strtoull(text, &text, 10);
	/* The path is the rest of the line; it may be empty, and may contain spaces. */
	text += strspn(text, " ");
	line->path = path_of(text);
	return true;
}

/*
 * Reads the whole of /proc/PID/maps. The text should show the mappings of one moment, as nearly as
 * the kernel allows. So if the buffer was too small, it is enlarged and everything is read again.
 * Returns NULL if reading is not permitted, or if the text is too long.
 */
static char *read_all(uint32_t number)
{
	size_t room = 65536, got = 0;
	char path[40], *text = NULL;
	int fd, err;

	/*
	 * To open the file, this process needs the rights of ptrace (PRIV-02). Without them nothing
	 * is known.
	 */
	snprintf(path, sizeof path, "/proc/%u/maps", number);
	/*
	 * If the file cannot be opened, the process has ended or belongs to another user, for
	 * example.
	 */
	if (ptx_io_open(path, O_RDONLY, &fd))
		return NULL;
	do {
		/* The other process determines the size of the text, so the size is bounded. */
		char *more = room <= TEXT_MAX ? realloc(text, room) : NULL;

		err = more ? 0 : ENOMEM;
		if (more) {
			text = more;
			err = ptx_io_read_at(fd, text, room - 1, 0, &got);
		}
		/* The buffer doubles, so there are few rounds. Each round reads everything anew. */
		room *= 2;
	/* If the text is shorter than the buffer, it is complete. */
	} while (!err && got == room / 2 - 1);
	/* The file is open during all rounds, so a reused id cannot lead to another process. */
	ptx_io_close(fd);
	/* A kernel thread, or a process that is ending, has an empty list. */
	if (err || !got) {
		free(text);
		return NULL;
	}
	/* mapped_other_split() and mapped_other_parse() work on a string. */
	text[got] = '\0';
	return text;
}

/* Reads the bytes at this offset of the file. Returns false if not all of them are there. */
static bool read_head(const struct head *head, uint64_t offset, void *to, size_t bytes)
{
	size_t got;

	/* The sum of the offsets cannot overflow. A short read counts as a failure. */
	return offset <= INT64_MAX - head->at &&
	       !ptx_io_read_at(head->fd, to, bytes, head->at + offset, &got) && got == bytes;
}

/*
 * Reads the program headers. Returns how many there are, or 0 if this is no ELF file of this
 * machine, or if it has more than HEADERS_MAX headers.
 */
static unsigned read_headers(const struct head *head, ElfW(Phdr) header[HEADERS_MAX])
{
	ElfW(Ehdr) elf;

	/* The class, the sizes and the count are checked before a header is read. */
	if (!read_head(head, 0, &elf, sizeof elf) || memcmp(elf.e_ident, ELFMAG, SELFMAG) ||
	    elf.e_ident[EI_CLASS] != (sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32) ||
	    elf.e_phentsize != sizeof *header || elf.e_phnum == 0 || elf.e_phnum > HEADERS_MAX ||
	    !read_head(head, elf.e_phoff, header, elf.e_phnum * sizeof *header))
		return 0;
	/* The count is at least 1, because 0 was rejected. */
	return elf.e_phnum;
}

/*
 * Finds the base address and the build-id. The segment with the beginning of the file shows how far
 * addresses in the file are from those in memory. Every offset comes from the file, which is not
 * trusted; read_head() checks each offset.
 */
static void read_base_and_id(const struct head *head, uint64_t begins, struct ptx_mapping *mapping)
{
	/* These headers are on the stack: at most 64 headers of 56 bytes. */
	ElfW(Phdr) header[HEADERS_MAX];
	unsigned count = read_headers(head, header), i = 0;
	uint8_t notes[NOTES_MAX];
	uint64_t shift;

	/* Finds the segment with the beginning of the file. */
	while (i < count && (header[i].p_type != PT_LOAD || header[i].p_offset >= 4096))
		i++;
	/* If no segment has the file's beginning, the base stays as the caller has set it. */
	if (i >= count)
		return;
	/* The arithmetic is modulo 2^64. A hostile file can only cause a wrong base. */
	shift = header[i].p_vaddr - header[i].p_offset; /* of the file's beginning */
	/* An address less the base is an address in the file (FORMAT 3.12). */
	mapping->base = begins - shift;
	for (i = 0; !mapping->id_bytes && i < count; i++) {
		/* In memory a note is at its address, and in the file at its offset. */
		uint64_t at = head->is_memory ? header[i].p_vaddr - shift : header[i].p_offset;

		/* A larger note is no build-id; the buffer is bounded. */
		if (header[i].p_type == PT_NOTE && header[i].p_filesz <= sizeof notes &&
		    read_head(head, at, notes, header[i].p_filesz))
			/* An id of more than PTX_MAPPING_ID_BYTES counts as none. */
			mapping->id_bytes = (uint32_t)ptx_mapping_build_id(
				notes, header[i].p_filesz, mapping->id);
	}
}

/*
 * Opens the process's memory. Reading it may be forbidden although the list of mappings can be
 * read, so the function tries to read a few bytes. Returns false if the memory cannot be read.
 */
static bool open_memory(uint32_t number, uint64_t begins, struct head *head)
{
	char path[40], probe[SELFMAG];

	snprintf(path, sizeof path, "/proc/%u/mem", number);
	head->is_memory = true;
	/* Offsets in /proc/PID/mem are addresses. */
	head->at = begins;
	/* Addresses above this cannot be file offsets of pread(). */
	if (begins > INT64_MAX || ptx_io_open(path, O_RDONLY, &head->fd))
		return false;
	/* Opening may succeed although reading is not permitted. */
	if (read_head(head, 0, probe, sizeof probe))
		return true;
	/* This process has no permission to read the memory. The caller tries the file. */
	ptx_io_close(head->fd);
	return false;
}

/*
 * Opens the file below the root of the process. Returns false if the path does not lead to the
 * mapped file. O_NONBLOCK and O_NOCTTY are set, because the path may lead to a pipe or a terminal
 * by now.
 */
static bool open_file(uint32_t number, const struct line *line, struct head *head)
{
	char path[PATH_MAX + 40];
	struct stat st;

	/* Offsets are those of the file. */
	head->is_memory = false;
	head->at = 0;
	/*
	 * Names in brackets are no files. The path begins at the root of that process, which may
	 * differ from the root of this process.
	 */
	if (*line->path != '/' ||
	    snprintf(path, sizeof path, "/proc/%u/root%s", number, line->path) >=
		    (int)sizeof path ||
	    ptx_io_open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY, &head->fd))
		return false;
	/*
	 * Some file systems show other devices in /proc/PID/maps than stat() returns; inodes are
	 * equal.
	 */
	if (fstat(head->fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_ino == line->inode)
		return true;
	/* Another file is at this path now. */
	ptx_io_close(head->fd);
	return false;
}

/* Returns the line where the file of line i begins: the nearest line up to i with offset 0. */
static const struct line *mapped_other_beginning(const struct line *lines, size_t i)
{
	/* Parts of a file are mapped closely together, so few lines are enough. */
	for (size_t back = 0; back <= i && back < HEADERS_MAX; back++) {
		const struct line *line = &lines[i - back];

		/* The line must be of the same file, by identity and by name. */
		if (line->offset == 0 && line->inode == lines[i].inode &&
		    line->device == lines[i].device && !strcmp(line->path, lines[i].path))
			return line;
	}
	return NULL;
}

/* Without a readable file the base is the address at which offset 0 would be mapped. */
static void find_base_and_id(uint32_t number, const struct line *lines, size_t i,
			     struct ptx_mapping *mapping)
{
	const struct line *begins = mapped_other_beginning(lines, i);
	/* If the offset is greater than the address, the difference is modulo 2^64. */
	uint64_t at = begins ? begins->start : lines[i].start - lines[i].offset;
	struct head head;

	/* Replaced by read_base_and_id(), if the headers can be read. */
	mapping->base = at;
	/* The memory is tried first, because it is what the process executes. */
	if ((begins && open_memory(number, at, &head)) || open_file(number, &lines[i], &head)) {
		read_base_and_id(&head, at, mapping);
		ptx_io_close(head.fd);
	}
}

/*
 * Splits the text into lines, and omits the lines that cannot be parsed. Returns NULL if there is
 * no memory.
 */
static struct line *mapped_other_split(char *text, size_t *count)
{
	struct line *line;
	size_t room = 1;
	char *next;

	/* *count is 0 also if there is no memory for the lines. */
	*count = 0;
	for (const char *c = text; *c; c++)
		/*
		 * The lines are counted first, because the other process determines their number.
		 */
		room += *c == '\n';
	/* The text has at most TEXT_MAX bytes, which bounds this memory. */
	line = malloc(room * sizeof *line);
	for (; line && text && *text && *count < room; text = next) {
		/* The last line may lack its line feed. */
		next = strchr(text, '\n');
		if (next)
			*next++ = '\0';
		/* If a line is not valid, the next line overwrites its element. */
		*count += mapped_other_parse(text, &line[*count]);
	}
	return line;
}

/*
 * Returns true if the process has the arena mapped. Otherwise the id belongs to another process
 * now.
 */
static bool has_arena(const struct ptx_arena *arena, const struct line *line, size_t lines)
{
	/*
	 * If the arena has no file, it cannot be recognized in the lines, so the result is false.
	 */
	for (size_t i = 0; arena->inode && i < lines; i++)
		/* The arena is mapped by every process of the stream. */
		if (line[i].device == arena->device && line[i].inode == arena->inode)
			return true;
	return false;
}

/*
 * Returns true for executable mappings of files, and for the vdso, which has functions and no file.
 */
static bool is_code_mapping(const struct line *line)
{
	return line->is_code &&
	       ((line->inode && *line->path == '/') || !strcmp(line->path, "[vdso]"));
}

/*
 * Returns true if a reported part of a file may be the part in this line. The line has whole pages.
 */
static bool may_match(const struct ptx_mapped_range *report, const struct line *line)
{
	const struct ptx_mapping *part = &report->mapping;

	/*
	 * The report has the addresses of segments, and the line has the addresses of the pages
	 * around them.
	 */
	return report->is_reported && part->start >= line->start && part->start < line->end &&
	       part->offset >= line->offset &&
	       part->offset - line->offset == part->start - line->start &&
	       (!report->inode || (report->inode == line->inode && report->device == line->device));
}

/*
 * Returns the reported range for line i, or NULL. Another file may have replaced the reported file
 * since the report, so the build-ids are compared once.
 */
static const struct ptx_mapped_range *find_reported(const struct ptx_mapped_set *old,
						    uint32_t number, const struct line *lines,
						    size_t i)
{
	/*
	 * `seen` is filled only if a report must be compared, since find_base_and_id() reads
	 * files.
	 */
	struct ptx_mapping seen = { .kind = PTX_MAPPING_FILE };

	for (size_t k = 0; old && k < old->count; k++) {
		const struct ptx_mapped_range *report = &old->range[k];

		/* The report is for other addresses or another file. */
		if (!may_match(report, &lines[i]))
			continue;
		/* The file of this report was not compared yet. */
		if (!report->inode)
			find_base_and_id(number, lines, i, &seen);
		/* If one of the two build-ids is missing, the report counts as right. */
		if (report->inode || !seen.id_bytes || !report->mapping.id_bytes ||
		    (seen.id_bytes == report->mapping.id_bytes &&
		     !memcmp(seen.id, report->mapping.id, seen.id_bytes)))
			return report;
	}
	return NULL;
}

/*
 * Fills a range from line i, except its process. A file that is known already need not be read
 * again.
 */
static void fill_range(const struct ptx_mapped_set *old, uint32_t number, const struct line *lines,
		       size_t i, struct ptx_mapped_range *range)
{
	const struct ptx_mapped_range *known;

	memset(range, 0, sizeof *range);
	range->device = lines[i].device;
	range->inode = lines[i].inode;
	range->mapping.kind = PTX_MAPPING_FILE;
	range->mapping.start = lines[i].start;
	range->mapping.end = lines[i].end;
	range->mapping.offset = lines[i].offset;
	/* The path points into the text of the set, which lives as long as the range. */
	range->mapping.path = lines[i].path;
	/* A report is more exact than a line: it has the program headers' addresses. */
	known = find_reported(old, number, lines, i);
	/* is_reported makes the next look compare the addresses of the report again. */
	range->is_reported = known != NULL;
	if (!known && old)
		known = ptx_mapped_find_same(old, range);
	if (known) {
		/* Copies base, build-id and the time from which on the file is known. */
		range->mapping = known->mapping;
		range->mapping.path = lines[i].path;
	} else {
		/* The file was not there at the last look. */
		find_base_and_id(number, lines, i, &range->mapping);
	}
}

/*
 * Makes the set of all wanted lines, and returns NEW. Returns TOO_MANY if there are more lines than
 * are kept for a process, and UNREADABLE if there is no wanted line or no memory.
 */
static enum ptx_mapped_found mapped_other_fill(const struct ptx_mapped_set *old, uint32_t number,
					       const struct line *line, size_t lines,
					       struct ptx_mapped_set *set)
{
	size_t wanted = 0;

	for (size_t i = 0; i < lines; i++)
		/* The wanted lines are counted first, so that one allocation is enough. */
		wanted += is_code_mapping(&line[i]);
	/* The log then states that nothing is known of this process. */
	if (wanted > PTX_MAPPED_RANGES)
		return PTX_MAPPED_TOO_MANY;
	set->range = wanted ? malloc(wanted * sizeof *set->range) : NULL;
	if (!set->range)
		return PTX_MAPPED_UNREADABLE;
	for (size_t i = 0; i < lines; i++)
		/* A path that is too long has no place in a log (FORMAT M2). */
		if (is_code_mapping(&line[i]) && strlen(line[i].path) < PTX_MAPPING_PATH_BYTES)
			fill_range(old, number, line, i, &set->range[set->count++]);
	return PTX_MAPPED_NEW;
}

/*
 * The function finds the arena and the mappings in the same text. So both belong to one process,
 * even if the id is reused.
 */
enum ptx_mapped_found ptx_mapped_other(const struct ptx_mapped_set *old,
				       const struct ptx_arena *arena, uint32_t number, uint32_t pid,
				       struct ptx_mapped_set *set)
{
	enum ptx_mapped_found found = PTX_MAPPED_UNREADABLE;
	struct line *line;
	size_t lines;

	memset(set, 0, sizeof *set);
	/* The two times bound the moment of the look. */
	set->before_ns = ptx_clock_realtime();
	set->text = read_all(number);
	set->after_ns = ptx_clock_realtime();
	if (!set->text)
		return PTX_MAPPED_UNREADABLE;
	/* The text is changed in place; the set keeps it for the paths. */
	line = mapped_other_split(set->text, &lines);
	if (line && has_arena(arena, line, lines))
		/* has_arena() has shown that the list belongs to the right process. */
		found = mapped_other_fill(old, number, line, lines, set);
	/* A range that was known before has the id already. */
	for (size_t i = 0; i < set->count; i++)
		set->range[i].mapping.pid = pid;
	/* The paths are in the text, not in the lines. */
	free(line);
	/* If the set is not used, it must be empty and own no memory. */
	if (found != PTX_MAPPED_NEW)
		ptx_mapped_set_fini(set);
	return found;
}
