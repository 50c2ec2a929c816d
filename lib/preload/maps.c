/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* preload/maps.c - reads /proc/self/maps. */
#include "preload/maps.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define LINE_BYTES 4608 /* the longest path, and the numbers before it */

/* Reads a hexadecimal number, and returns a pointer to the character behind it. */
static const char *read_number(const char *text, const char *end, uintptr_t *value)
{
	*value = 0;
	for (; text < end; text++) {
		unsigned digit = *text >= '0' && *text <= '9' ? (unsigned)(*text - '0') :
				 *text >= 'a' && *text <= 'f' ? (unsigned)(*text - 'a') + 10 : 16;

		if (digit > 15)
			break;
		*value = *value << 4 | digit;
	}
	return text;
}

/* Reads "begin-end rwxp offset device inode   name". Returns false if the line is too short. */
static bool read_line(const char *line, const char *end, struct shim_map *map)
{
	line = read_number(line, end, &map->begin);
	if (line < end)
		line = read_number(line + 1, end, &map->end);
	if (end - line < 5)
		return false;
	map->protection = (line[1] == 'r' ? PROT_READ : 0) | (line[2] == 'w' ? PROT_WRITE : 0) |
			  (line[3] == 'x' ? PROT_EXEC : 0);
	/* A blank ends each field. Further blanks precede the name. */
	line++;
	for (int field = 0; field < 4 && line; field++) {
		line = memchr(line, ' ', (size_t)(end - line));
		line = line ? line + 1 : NULL;
	}
	while (line && line < end && *line == ' ')
		line++;
	map->name = line ? line : end;
	map->name_bytes = (size_t)(end - map->name);
	return true;
}

int shim_maps_open(void)
{
	return (int)syscall(SYS_openat, AT_FDCWD, "/proc/self/maps", O_RDONLY | O_CLOEXEC);
}

void shim_maps_close(int fd)
{
	if (fd >= 0)
		syscall(SYS_close, fd);
}

bool shim_maps_walk_in(int fd, bool (*visit)(void *arg, const struct shim_map *map), void *arg)
{
	char buffer[LINE_BYTES];
	bool is_over = false, is_whole = false;
	size_t used = 0;

	/* The seek makes the kernel generate the text again, from the first mapping on. */
	if (fd < 0 || syscall(SYS_lseek, fd, 0, SEEK_SET) != 0)
		return false;
	while (!is_over && used < sizeof buffer) {
		long n = syscall(SYS_read, fd, buffer + used, sizeof buffer - used);
		const char *line = buffer, *end;
		struct shim_map map;

		if (n <= 0) {
			is_whole = n == 0;
			break;
		}
		used += (size_t)n;
		/* Only whole lines are examined. The next read completes the last line. */
		while (!is_over && (end = memchr(line, '\n', used - (size_t)(line - buffer)))) {
			is_over = read_line(line, end, &map) && !visit(arg, &map);
			line = end + 1;
		}
		used -= (size_t)(line - buffer);
		memmove(buffer, line, used);
	}
	return is_over || is_whole;
}

bool shim_maps_walk(bool (*visit)(void *arg, const struct shim_map *map), void *arg)
{
	const int fd = shim_maps_open();
	const bool is_whole = shim_maps_walk_in(fd, visit, arg);

	shim_maps_close(fd);
	return is_whole;
}
