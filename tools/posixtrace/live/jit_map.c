/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* jit_map.c - reads the files /tmp/perf-PID.map. */
#include "live/jit_map.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/procfile.h"
#include "base/rootfile.h"
#include "base/say.h"
#include "base/vec.h"
#include "base/whole.h"

#define MAP_BYTES_MAX (256u << 20)
#define FUNCTIONS_MAX (4u << 20)
#define OVERLAPS_MAX  4096
#define NS            INT64_C(1000000000)

/* The map of one process. The functions are in order of their begins. */
struct jit_map {
	pid_t pid;
	char *text; /* the file; the names of the functions are in it */
	struct entry {
		struct jit_function function;
		uint32_t line; /* its line in the file */
	} *entry;
	size_t entries;
	uint64_t longest; /* bytes of the longest function */
};

struct jit_maps {
	const struct jit_place *place;
	uint64_t own_ids; /* the namespace of process IDs of this process */
	struct jit_map *map;
	size_t maps;
	size_t last; /* index of the map that was used last */
};

/* Returns when a process began, or INT64_MAX if it has ended. */
static int64_t process_begin(pid_t pid)
{
	struct procfile_stat stat;

	return pid && procfile_stat(pid, &stat) ? procfile_began_ns(stat.start) - NS : INT64_MAX;
}

/* Returns the inode of the namespace of process IDs of a process, 0 if it is unknown. */
static uint64_t ids_of(const char *process)
{
	char path[320];
	struct stat space;

	snprintf(path, sizeof(path), "/proc/%s/ns/pid", process);
	return stat(path, &space) ? 0 : (uint64_t)space.st_ino;
}

struct jit_place jit_place_begin(pid_t pid)
{
	struct jit_place place = { .pid = pid, .begin_ns = process_begin(pid) };
	char path[64], number[16];
	struct stat process;

	snprintf(number, sizeof(number), "%d", (int)pid);
	place.ids = ids_of(number);
	place.folder = rootfile_open(pid, "/tmp", O_PATH | O_DIRECTORY);
	snprintf(path, sizeof(path), "/proc/%d", (int)pid);
	place.has_folder = place.folder >= 0 && !stat(path, &process);
	if (place.has_folder)
		place.user = process.st_uid;
	else if (place.folder >= 0)
		close(place.folder);
	return place;
}

void jit_place_end(struct jit_place *place)
{
	if (place->has_folder)
		close(place->folder);
	*place = (struct jit_place){ .pid = 0 };
}

struct jit_maps *jit_maps_begin(const struct jit_place *place)
{
	struct jit_maps *maps = calloc(1, sizeof(*maps));

	if (maps) {
		maps->place = place;
		maps->own_ids = ids_of("self");
	}
	return maps;
}

void jit_maps_end(struct jit_maps *maps)
{
	for (size_t i = 0; maps && i < maps->maps; i++) {
		free(maps->map[i].text);
		free(maps->map[i].entry);
	}
	if (maps)
		free(maps->map);
	free(maps);
}

/*
 * Returns the number in /proc of the process that has the number `pid` in the namespace of the
 * place, or 0 if there is none or if it cannot be examined.
 */
static pid_t outer_of(const struct jit_maps *maps, pid_t pid)
{
	const struct jit_place *place = maps->place;
	struct dirent *entry;
	pid_t found = 0;
	DIR *folder;

	/* In the same namespace, the number is that in /proc. */
	if (!place->ids || place->ids == maps->own_ids)
		return pid;
	if (procfile_inner_id(place->pid, place->pid) == pid)
		return place->pid;
	folder = opendir("/proc");
	while (folder && !found && (entry = readdir(folder))) {
		pid_t outer = (pid_t)atoi(entry->d_name);

		if (outer > 0 && ids_of(entry->d_name) == place->ids &&
		    procfile_inner_id(outer, outer) == pid)
			found = outer;
	}
	if (folder)
		closedir(folder);
	return found;
}

/*
 * Returns whether the file belongs to the user of this process or of the traced process. A file of
 * another user could have false names.
 */
static bool is_of_user(const struct jit_maps *maps, const struct stat *file, pid_t outer)
{
	char folder[32];
	struct stat process;

	snprintf(folder, sizeof(folder), "/proc/%d", (int)outer);
	return file->st_uid == geteuid() ||
	       (maps->place->has_folder && file->st_uid == maps->place->user) ||
	       (outer && !stat(folder, &process) && process.st_uid == file->st_uid);
}

/*
 * Returns whether the open file may be used, and stores its size. A file that was written before
 * the process began belongs to a former process with the same number.
 */
static bool is_usable(const struct jit_maps *maps, int fd, const char *path, pid_t outer,
		      size_t *bytes)
{
	const int64_t process_ns = process_begin(outer);
	struct stat file;

	if (fstat(fd, &file) || !S_ISREG(file.st_mode) || !file.st_size)
		return false;
	/* An ended process did not begin before the first one. */
	if (file.st_mtim.tv_sec * NS + file.st_mtim.tv_nsec <
	    (process_ns == INT64_MAX ? maps->place->begin_ns : process_ns))
		return false;
	if (!is_of_user(maps, &file, outer)) {
		say("%s is not used, because it belongs to user %u: the functions in it have no "
		    "names", path, (unsigned)file.st_uid);
		return false;
	}
	if (file.st_size > MAP_BYTES_MAX) {
		say("%s is not used, because it has %lld bytes: at most %u are read", path,
		    (long long)file.st_size, MAP_BYTES_MAX);
		return false;
	}
	*bytes = (size_t)file.st_size;
	return true;
}

/*
 * Opens the file of a process in the file system that the process sees. If the file is not there,
 * or if the process has ended, opens the file in the folder /tmp of the first process, and then in
 * that of this process. But with another namespace of process IDs, the latter would be the file of
 * another process with this number. Stores the size.
 */
static int open_map(const struct jit_maps *maps, pid_t pid, size_t *bytes)
{
	const int flags = O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
	const pid_t outer = outer_of(maps, pid);
	char path[64];
	int fd = -1;

	snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)pid);
	if (outer)
		fd = rootfile_open(outer, path, flags);
	if (fd < 0 && maps->place->has_folder)
		fd = openat(maps->place->folder, path + sizeof("/tmp/") - 1, flags);
	if (fd < 0 && (!maps->place->ids || maps->place->ids == maps->own_ids))
		fd = open(path, flags);
	if (fd >= 0 && !is_usable(maps, fd, path, outer, bytes)) {
		close(fd);
		return -1;
	}
	return fd;
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

/* Compares two functions by their begins, then by their lines. */
static int by_start(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	if (x->function.start != y->function.start)
		return x->function.start < y->function.start ? -1 : 1;
	return (x->line > y->line) - (x->line < y->line);
}

/*
 * Parses a map. If memory is lacking, or after FUNCTIONS_MAX functions, the last ones are missing.
 */
static void parse_map(struct jit_map *map)
{
	uint32_t number = 0;

	for (char *line = map->text, *end; *line && map->entries < FUNCTIONS_MAX;
	     line = end, number++) {
		struct entry *entry;

		end = line + strcspn(line, "\n");
		/* The process may still write a last line. */
		if (!*end)
			break;
		*end++ = '\0';
		if (!vec_grow(&map->entry, map->entries, 1))
			break;
		entry = &map->entry[map->entries];
		*entry = (struct entry){ .line = number };
		if (!parse_line(line, &entry->function))
			continue;
		map->entries++;
		if (map->longest < entry->function.end - entry->function.start)
			map->longest = entry->function.end - entry->function.start;
	}
	if (map->entries)
		qsort(map->entry, map->entries, sizeof(*map->entry), by_start);
}

/* Returns the map of a process, which has no functions if there is no file; NULL: no memory. */
static struct jit_map *map_of(struct jit_maps *maps, pid_t pid)
{
	struct jit_map *map;
	size_t bytes;
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
	fd = open_map(maps, pid, &bytes);
	if (fd < 0)
		return map;
	map->text = calloc(1, bytes + 1);
	/* If the file has become shorter, the text ends there. */
	if (map->text) {
		whole_pread(fd, map->text, bytes, 0);
		parse_map(map);
	}
	close(fd);
	return map;
}

bool jit_maps_has(struct jit_maps *maps, pid_t pid)
{
	const struct jit_map *map = maps ? map_of(maps, pid) : NULL;

	return map && map->entries;
}

struct jit_function *jit_maps_find(struct jit_maps *maps, pid_t pid, uint64_t address)
{
	struct jit_map *map = maps ? map_of(maps, pid) : NULL;
	size_t low = 0, high = map ? map->entries : 0, least;
	struct entry *found = NULL;

	/* the first function that begins behind the address */
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (map->entry[middle].function.start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	/* In a map of a hostile program, all functions may overlap. */
	least = low > OVERLAPS_MAX ? low - OVERLAPS_MAX : 0;
	for (size_t i = low; i > least; i--) {
		struct entry *entry = &map->entry[i - 1];

		if (address - entry->function.start >= map->longest)
			break;
		if (address < entry->function.end && (!found || entry->line > found->line))
			found = entry;
	}
	return found ? &found->function : NULL;
}
