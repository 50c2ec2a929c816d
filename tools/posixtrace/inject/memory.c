/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * memory.c - reads and writes the memory of another process by /proc/PID/mem.
 *
 * Unlike process_vm_writev(2), /proc/PID/mem also permits writing pages that the process itself may
 * not write, such as the page of the stub's code.
 */
#include "inject/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/vec.h"
#include "base/whole.h"

int memory_open(pid_t pid, pid_t tid)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/task/%d/mem", (int)pid, (int)tid);
	return open(path, O_RDWR | O_CLOEXEC);
}

/*
 * Returns whether "err" is 0. If it is not 0, stores it in errno for callers that report the error.
 */
static bool is_done(int err)
{
	if (err)
		errno = err;
	return !err;
}

/*
 * An address from 2^63 on is negative as an offset, so a read there fails. A read may also fail in
 * the middle, because the process may unmap pages meanwhile.
 */
bool memory_read(int memory, uint64_t address, void *buffer, size_t bytes)
{
	return is_done(whole_pread(memory, buffer, bytes, address));
}

bool memory_write(int memory, uint64_t address, const void *buffer, size_t bytes)
{
	return is_done(whole_pwrite(memory, buffer, bytes, address));
}

/*
 * A read of several pages returns the bytes before the first page that cannot be read. An address
 * behind the last page of the process cannot be read either.
 */
size_t memory_stack(int memory, uint64_t address, const struct mapping *mapping, size_t most,
		    uint64_t **word)
{
	const size_t step = (size_t)64 << 10;
	size_t count = 0, room = mapping->end - address;
	ssize_t got = 1;

	*word = NULL;
	room = (room <= most ? room : most + sizeof(**word)) & ~(sizeof(**word) - 1);
	while (count < room && got > 0) {
		const size_t bytes = room - count < step ? room - count : step;
		uint64_t *more = realloc(*word, count + bytes);

		if (!more)
			return 0;
		*word = more;
		do
			got = pread(memory, (char *)more + count, bytes, (off_t)(address + count));
		while (got < 0 && errno == EINTR);
		count += got > 0 ? (size_t)got : 0;
	}
	return count > most ? 0 : count & ~(sizeof(**word) - 1);
}

/*
 * The function reads byte by byte, because the string may end just before memory that cannot be
 * read.
 */
void memory_string(int memory, uint64_t address, char *text, size_t bytes)
{
	size_t i = 0;

	while (i + 1 < bytes && memory_read(memory, address + i, text + i, 1) && text[i])
		i++;
	text[i] = '\0';
}

/*
 * Parses a line of maps. Returns 0, EINVAL, or ENOMEM. The path may contain spaces, so it is the
 * whole rest of the line. The path is "" for anonymous memory. mappings_fini() frees the path.
 */
static int parse_line(struct mapping *mapping, const char *line)
{
	unsigned long long begin, end, offset;
	unsigned long inode;
	char rights[5];
	int path = 0;

	if (sscanf(line, "%llx-%llx %4s %llx %*x:%*x %lu %n", &begin, &end, rights, &offset,
		   &inode, &path) < 5)
		return EINVAL;
	*mapping = (struct mapping){
		.begin = begin, .end = end, .offset = offset, .inode = inode,
		.is_readable = rights[0] == 'r', .is_writable = rights[1] == 'w',
		.is_executable = rights[2] == 'x',
		.path = strndup(line + path, strcspn(line + path, "\n")),
	};
	return mapping->path ? 0 : ENOMEM;
}

/*
 * Each line that the kernel returns is consistent. But the kernel returns the lines in blocks, and
 * the mappings may change between two blocks and after the call. So a caller that reads at an
 * address of a mapping must check whether the read succeeded.
 */
int mappings_read(struct mappings *mappings, pid_t pid)
{
	char path[40], *line = NULL;
	size_t bytes = 0;
	FILE *file;
	int err = 0;

	*mappings = (struct mappings){ .count = 0 };
	snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	file = fopen(path, "re");
	if (!file)
		return errno;
	while (!err && getline(&line, &bytes, file) > 0) {
		if (!vec_grow(&mappings->mapping, mappings->count, 1))
			err = ENOMEM;
		else
			err = parse_line(&mappings->mapping[mappings->count], line);
		mappings->count += !err;
	}
	free(line);
	fclose(file);
	return err;
}

void mappings_fini(struct mappings *mappings)
{
	for (size_t i = 0; i < mappings->count; i++)
		free(mappings->mapping[i].path);
	free(mappings->mapping);
	*mappings = (struct mappings){ .count = 0 };
}

const char *mappings_path_with(const struct mappings *mappings, const char *text)
{
	for (size_t i = 0; i < mappings->count; i++)
		if (strstr(mappings->mapping[i].path, text))
			return mappings->mapping[i].path;
	return NULL;
}

const struct mapping *mappings_at(const struct mappings *mappings, uint64_t address)
{
	for (size_t i = 0; i < mappings->count; i++)
		if (address >= mappings->mapping[i].begin && address < mappings->mapping[i].end)
			return &mappings->mapping[i];
	return NULL;
}
