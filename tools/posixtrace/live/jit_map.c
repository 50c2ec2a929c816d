/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* jit_map.c - reads the files /tmp/perf-PID.map. */
#include "live/jit_map.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/procfile.h"
#include "base/say.h"
#include "base/vec.h"

#define MAP_BYTES_MAX (256u << 20)
#define FUNCTIONS_MAX (4u << 20)
#define OVERLAPS_MAX  4096
#define NS            INT64_C(1000000000)

/* The map of one process. The functions are in order of their begins. */
struct jit_map {
	pid_t pid;
	char *text; /* the file; the names of the functions are in it */
	struct jit_function *function;
	uint32_t *line; /* of each function: its line in the file */
	size_t functions;
	uint64_t longest; /* bytes of the longest function */
};

struct jit_maps {
	pid_t outer;
	int64_t begin_ns;
	struct jit_map *map;
	size_t maps;
	size_t last; /* index of the map that was used last */
};

struct jit_maps *jit_maps_begin(pid_t outer, int64_t begin_ns)
{
	struct jit_maps *maps = calloc(1, sizeof(*maps));

	if (maps) {
		maps->outer = outer;
		maps->begin_ns = begin_ns;
	}
	return maps;
}

void jit_maps_end(struct jit_maps *maps)
{
	for (size_t i = 0; maps && i < maps->maps; i++) {
		free(maps->map[i].text);
		free(maps->map[i].function);
		free(maps->map[i].line);
	}
	if (maps)
		free(maps->map);
	free(maps);
}

int64_t jit_maps_process_begin(pid_t pid)
{
	struct procfile_stat stat;

	return procfile_stat(pid, &stat) ? procfile_began_ns(stat.start) - NS : INT64_MAX;
}

/*
 * Returns whether the open file may be used. /proc/PID belongs to the user of the process. A file
 * of another user could have false names. A file that was written before the process began belongs
 * to a former process with the same number.
 */
static bool is_usable(int fd, const char *path, pid_t outer, int64_t begin_ns)
{
	const int64_t process_ns = jit_maps_process_begin(outer);
	char folder[32];
	struct stat file, process;

	if (fstat(fd, &file) || !S_ISREG(file.st_mode) || !file.st_size)
		return false;
	/* If the process has ended, it is known only that it did not begin before begin_ns. */
	if (file.st_mtim.tv_sec * NS + file.st_mtim.tv_nsec <
	    (process_ns == INT64_MAX ? begin_ns : process_ns))
		return false;
	snprintf(folder, sizeof(folder), "/proc/%d", (int)outer);
	if (file.st_uid != geteuid() && (stat(folder, &process) || process.st_uid != file.st_uid)) {
		say("%s is not used, because it belongs to user %u: the functions in it have no "
		    "names", path, (unsigned)file.st_uid);
		return false;
	}
	if (file.st_size > MAP_BYTES_MAX) {
		say("%s is not used, because it has %lld bytes: at most %u are read", path,
		    (long long)file.st_size, MAP_BYTES_MAX);
		return false;
	}
	return true;
}

/*
 * Opens the file of a process in the file system that the process sees. If the file is not there,
 * or if the process has ended, opens the file in the file system of this process.
 */
static int open_map(const struct jit_maps *maps, pid_t pid)
{
	const pid_t outer = maps->outer && procfile_inner_id(maps->outer, maps->outer) == pid ?
			    maps->outer : pid;
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/root/tmp/perf-%d.map", (int)outer, (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd < 0) {
		snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)pid);
		fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	}
	if (fd >= 0 && !is_usable(fd, path, outer, maps->begin_ns)) {
		close(fd);
		return -1;
	}
	return fd;
}

/* Reads the open file, at most the bytes that it has now. Returns the text, or NULL. */
static char *read_map(int fd)
{
	struct stat file;
	size_t size, len = 0;
	ssize_t got = 1;
	char *text;

	if (fstat(fd, &file) || file.st_size <= 0 || file.st_size > MAP_BYTES_MAX)
		return NULL;
	size = (size_t)file.st_size;
	text = malloc(size + 1);
	while (text && len < size && got > 0) {
		do
			got = read(fd, text + len, size - len);
		while (got < 0 && errno == EINTR);
		if (got > 0)
			len += (size_t)got;
	}
	if (text)
		text[len] = '\0';
	return text;
}

/*
 * Reads "ADDRESS BYTES NAME", with hexadecimal numbers. Returns false for a line of another form.
 */
static bool parse_line(char *line, struct jit_function *function)
{
	char *at, *end;
	uint64_t bytes;

	errno = 0;
	function->start = strtoull(line, &at, 16);
	if (at == line || *at != ' ')
		return false;
	bytes = strtoull(at + 1, &end, 16);
	if (end == at + 1 || *end != ' ' || !end[1] || errno || !bytes ||
	    bytes > UINT64_MAX - function->start)
		return false;
	function->end = function->start + bytes;
	function->name = end + 1;
	if (strlen(function->name) > JIT_NAME_MAX)
		end[1 + JIT_NAME_MAX] = '\0';
	return true;
}

/* A function and the number of its line. */
struct entry {
	struct jit_function function;
	uint32_t line;
};

/* Compares two functions by their begins, then by their lines. */
static int by_start(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	if (x->function.start != y->function.start)
		return x->function.start < y->function.start ? -1 : 1;
	return (x->line > y->line) - (x->line < y->line);
}

/* Parses a map. Without memory, or after FUNCTIONS_MAX functions, the last ones are missing. */
static void parse_map(struct jit_map *map)
{
	struct entry *entry = NULL;
	size_t entries = 0;
	uint32_t number = 0;

	for (char *line = map->text, *end; *line && entries < FUNCTIONS_MAX; line = end, number++) {
		end = line + strcspn(line, "\n");
		/* The process may still write a last line. */
		if (!*end)
			break;
		*end++ = '\0';
		if (!vec_grow(&entry, entries, 1))
			break;
		entry[entries] = (struct entry){ .line = number };
		if (parse_line(line, &entry[entries].function))
			entries++;
	}
	if (entries)
		qsort(entry, entries, sizeof(*entry), by_start);
	map->function = calloc(entries + 1, sizeof(*map->function));
	map->line = calloc(entries + 1, sizeof(*map->line));
	if (map->function && map->line)
		map->functions = entries;
	for (size_t i = 0; i < map->functions; i++) {
		map->function[i] = entry[i].function;
		map->line[i] = entry[i].line;
		if (map->longest < map->function[i].end - map->function[i].start)
			map->longest = map->function[i].end - map->function[i].start;
	}
	free(entry);
}

/* Returns the map of a process, which has no functions if there is no file; NULL: no memory. */
static struct jit_map *map_of(struct jit_maps *maps, pid_t pid)
{
	struct jit_map *map;
	int fd;

	if (maps->last < maps->maps && maps->map[maps->last].pid == pid)
		return &maps->map[maps->last];
	for (maps->last = 0; maps->last < maps->maps; maps->last++)
		if (maps->map[maps->last].pid == pid)
			return &maps->map[maps->last];
	if (!vec_grow(&maps->map, maps->maps, 1))
		return NULL;
	map = &maps->map[maps->maps++];
	*map = (struct jit_map){ .pid = pid };
	fd = open_map(maps, pid);
	if (fd < 0)
		return map;
	map->text = read_map(fd);
	close(fd);
	if (map->text)
		parse_map(map);
	return map;
}

bool jit_maps_has(struct jit_maps *maps, pid_t pid)
{
	const struct jit_map *map = maps ? map_of(maps, pid) : NULL;

	return map && map->functions;
}

struct jit_function *jit_maps_find(struct jit_maps *maps, pid_t pid, uint64_t address)
{
	struct jit_map *map = maps ? map_of(maps, pid) : NULL;
	size_t low = 0, high = map ? map->functions : 0, found = SIZE_MAX, least;

	/* the first function that begins behind the address */
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (map->function[middle].start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	/* In a map of a hostile program, all functions may overlap. */
	least = low > OVERLAPS_MAX ? low - OVERLAPS_MAX : 0;
	for (size_t i = low; i > least && address - map->function[i - 1].start < map->longest; i--)
		if (address < map->function[i - 1].end &&
		    (found == SIZE_MAX || map->line[i - 1] > map->line[found]))
			found = i - 1;
	return found == SIZE_MAX ? NULL : &map->function[found];
}
