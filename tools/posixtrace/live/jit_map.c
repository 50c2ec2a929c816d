/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* jit_map.c - reads the files /tmp/perf-PID.map and jit-PID.dump. */
#include "live/jit_map.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/procfile.h"
#include "base/rootfile.h"
#include "base/say.h"
#include "base/vec.h"
#include "base/whole.h"
#include "live/jit_dump.h"

#define MAP_BYTES_MAX (256u << 20)
#define FUNCTIONS_MAX (4u << 20)
#define OVERLAPS_MAX  4096
#define DUMPS_MAX     1024
#define NS            INT64_C(1000000000)

/* The functions of one process, in order of their begins. */
struct jit_map {
	pid_t pid;
	char *text; /* the file perf-PID.map; names of functions are in it */
	struct entry {
		struct jit_function function;
		char *own_name; /* NULL: the name is in "text", or in another entry */
		uint64_t index; /* in jit-PID.dump */
		uint32_t line;  /* of the file, or number of the record */
	} *entry;
	size_t entries;
	uint64_t longest; /* bytes of the longest function */
	uint32_t lines;
	int64_t clock_ns; /* CLOCK_REALTIME minus CLOCK_MONOTONIC */
	bool has_times;
};

/* A file jit-PID.dump of a process. */
struct dump {
	pid_t pid;
	const char *path;
};

struct jit_maps {
	const struct jit_place *place;
	uint64_t own_ids; /* the namespace of process IDs of this process */
	struct jit_map *map;
	size_t maps;
	size_t last; /* index of the map that was used last */
	struct dump *dump;
	size_t dumps;
};

/*
 * Returns the time at which a process began, less one second for the inexact time of its file.
 * Returns INT64_MAX if the process has ended, cannot be examined or has the number 0.
 */
static int64_t process_begin(pid_t pid)
{
	struct procfile_stat stat;

	return pid && procfile_stat(pid, &stat) ? procfile_began_ns(stat.start) - NS : INT64_MAX;
}

struct jit_place jit_place_begin(pid_t pid)
{
	struct jit_place place = { .pid = pid, .begin_ns = process_begin(pid) };
	char path[64], number[16];
	struct stat process;

	snprintf(number, sizeof(number), "%d", (int)pid);
	place.ids = procfile_space(number);
	place.root = rootfile_root(pid);
	place.folder = place.root < 0 ? -1 :
		       rootfile_open_at(place.root, "/tmp", O_PATH | O_DIRECTORY);
	snprintf(path, sizeof(path), "/proc/%d", (int)pid);
	place.has_folder = place.folder >= 0 && !stat(path, &process);
	if (place.has_folder) {
		place.user = process.st_uid;
		return place;
	}
	if (place.root >= 0)
		close(place.root);
	if (place.folder >= 0)
		close(place.folder);
	return place;
}

void jit_place_end(struct jit_place *place)
{
	if (place->has_folder) {
		close(place->root);
		close(place->folder);
	}
	*place = (struct jit_place){ .pid = 0 };
}

struct jit_maps *jit_maps_begin(const struct jit_place *place)
{
	struct jit_maps *maps = calloc(1, sizeof(*maps));

	if (maps) {
		maps->place = place;
		maps->own_ids = procfile_space("self");
	}
	return maps;
}

void jit_maps_end(struct jit_maps *maps)
{
	for (size_t i = 0; maps && i < maps->maps; i++) {
		struct jit_map *map = &maps->map[i];

		for (size_t j = 0; j < map->entries; j++)
			free(map->entry[j].own_name);
		free(map->text);
		free(map->entry);
	}
	if (maps) {
		free(maps->map);
		free(maps->dump);
	}
	free(maps);
}

/* The list of mappings can have a file of a process several times. The file is added once. */
void jit_maps_add_dump(struct jit_maps *maps, pid_t pid, const char *path)
{
	for (size_t i = 0; i < maps->dumps; i++)
		if (maps->dump[i].pid == pid && !strcmp(maps->dump[i].path, path))
			return;
	if (maps->dumps < DUMPS_MAX && vec_grow(&maps->dump, maps->dumps, 1))
		maps->dump[maps->dumps++] = (struct dump){ pid, path };
}

/*
 * Converts "pid", the number of a process in the namespace of the place, to its number in /proc.
 * In the recorder's own namespace it returns "pid" and does not examine the process. In another
 * namespace it returns 0 if there is no such process, or if it cannot be examined.
 */
static pid_t outer_of(const struct jit_maps *maps, pid_t pid)
{
	const struct jit_place *place = maps->place;
	struct dirent *entry;
	pid_t found = 0;
	DIR *folder;

	if (!place->ids || place->ids == maps->own_ids)
		return pid;
	if (procfile_inner_id(place->pid, place->pid) == pid)
		return place->pid;
	folder = opendir("/proc");
	while (folder && !found && (entry = readdir(folder))) {
		pid_t outer = (pid_t)atoi(entry->d_name);

		if (outer > 0 && procfile_space(entry->d_name) == place->ids &&
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
		      off_t *bytes)
{
	const int64_t process_ns = process_begin(outer);
	struct stat file;

	if (fstat(fd, &file) || !S_ISREG(file.st_mode) || !file.st_size)
		return false;
	/*
	 * The begin of a process that has ended is not known. Such a process did not begin before
	 * the first process of the recording, so the begin of the first process is used.
	 */
	if (file.st_mtim.tv_sec * NS + file.st_mtim.tv_nsec <
	    (process_ns == INT64_MAX ? maps->place->begin_ns : process_ns))
		return false;
	if (!is_of_user(maps, &file, outer)) {
		say("%s is not used, because it belongs to user %u: the functions in it have no "
		    "names", path, (unsigned)file.st_uid);
		return false;
	}
	*bytes = file.st_size;
	return true;
}

/*
 * Opens a file of a process in the file system that the process sees. If the file is not there, or
 * if the process has ended, opens "in_folder" below a folder of the first process. If that fails,
 * opens the file with this path that the recorder sees. This last attempt is not made if the
 * processes have another namespace of process IDs, because the number in the path may belong to
 * another process there. Stores the size. On failure, returns -1.
 */
static int open_usable(const struct jit_maps *maps, pid_t pid, const char *path, int folder,
		       const char *in_folder, off_t *bytes)
{
	const int flags = O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
	const pid_t outer = outer_of(maps, pid);
	int fd = -1;

	if (outer)
		fd = rootfile_open(outer, path, flags);
	if (fd < 0 && maps->place->has_folder)
		fd = rootfile_open_at(folder, in_folder, flags);
	if (fd < 0 && (!maps->place->ids || maps->place->ids == maps->own_ids))
		fd = open(path, flags);
	if (fd >= 0 && !is_usable(maps, fd, path, outer, bytes)) {
		close(fd);
		return -1;
	}
	return fd;
}

/*
 * Opens the file perf-PID.map of a process. Returns -1 if there is no file that can be used
 * (open_usable()), and if the file is too large. It prints a message only about a file that is too
 * large.
 */
static int open_map(const struct jit_maps *maps, pid_t pid, size_t *bytes)
{
	char path[64];
	off_t size;
	int fd;

	snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)pid);
	fd = open_usable(maps, pid, path, maps->place->folder, path + sizeof("/tmp/") - 1,
			 &size);
	if (fd >= 0 && size > MAP_BYTES_MAX) {
		say("%s is not used, because it has %lld bytes: at most %u are read", path,
		    (long long)size, MAP_BYTES_MAX);
		close(fd);
		return -1;
	}
	*bytes = fd >= 0 ? (size_t)size : 0;
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
	for (char *line = map->text, *end; *line && map->entries < FUNCTIONS_MAX;
	     line = end, map->lines++) {
		struct entry *entry;

		end = line + strcspn(line, "\n");
		/* The process may still write a last line. */
		if (!*end)
			break;
		*end++ = '\0';
		if (!vec_grow(&map->entry, map->entries, 1))
			break;
		entry = &map->entry[map->entries];
		*entry = (struct entry){ .line = map->lines };
		entry->function.from_ns = INT64_MIN;
		entry->function.until_ns = INT64_MAX;
		if (parse_line(line, &entry->function))
			map->entries++;
	}
}

/* jit_dump_read() calls this function for each record. It adds the record to the functions. */
static bool take_record(void *arg, const struct jit_dump_record *record)
{
	struct jit_map *map = arg;
	struct entry entry = {
		.index = record->index, .line = map->lines++,
		.function = { .start = record->start, .end = record->end, .from_ns = INT64_MIN,
			      .until_ns = INT64_MAX },
	};

	if (map->entries == FUNCTIONS_MAX || !vec_grow(&map->entry, map->entries, 1))
		return false;
	if (record->time_ns != INT64_MIN)
		__builtin_add_overflow(record->time_ns, map->clock_ns, &entry.function.from_ns);
	if (record->name) {
		entry.own_name = strdup(record->name);
		if (!entry.own_name)
			return false;
		entry.function.name = entry.own_name;
	}
	map->entry[map->entries++] = entry;
	map->has_times = true;
	return true;
}

/* Compares two functions of a dump by their numbers there, then by their records. */
static int by_index(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	if (x->index != y->index)
		return x->index < y->index ? -1 : 1;
	return (x->line > y->line) - (x->line < y->line);
}

/*
 * Completes the entries of functions that have moved. The entry at the old addresses ends when the
 * function moves, and the entry at the new addresses gets the function's name. "first" is the first
 * entry of the dump.
 */
static void resolve_moves(struct jit_map *map, size_t first)
{
	if (first == map->entries)
		return;
	qsort(map->entry + first, map->entries - first, sizeof(*map->entry), by_index);
	for (size_t i = first + 1; i < map->entries; i++) {
		struct entry *before = &map->entry[i - 1], *entry = &map->entry[i];

		if (entry->own_name || entry->index != before->index)
			continue;
		entry->function.name = before->function.name;
		if (entry->function.from_ns != INT64_MIN)
			before->function.until_ns = entry->function.from_ns;
	}
}

/* Reads a file jit-PID.dump of the process. */
static void read_dump(const struct jit_maps *maps, struct jit_map *map, const char *path)
{
	const size_t first = map->entries;
	struct timespec realtime, monotonic;
	off_t bytes;
	int fd = open_usable(maps, map->pid, path, maps->place->root, path, &bytes);

	if (fd < 0)
		return;
	clock_gettime(CLOCK_MONOTONIC, &monotonic);
	clock_gettime(CLOCK_REALTIME, &realtime);
	map->clock_ns = (realtime.tv_sec - monotonic.tv_sec) * NS + realtime.tv_nsec -
			monotonic.tv_nsec;
	jit_dump_read(fd, JIT_NAME_MAX, take_record, map);
	resolve_moves(map, first);
	close(fd);
}

/* Sorts the functions, and drops the moves of unknown functions. */
static void complete_map(struct jit_map *map)
{
	size_t kept = 0;

	for (size_t i = 0; i < map->entries; i++) {
		const struct jit_function *function = &map->entry[i].function;

		if (!function->name)
			continue;
		if (map->longest < function->end - function->start)
			map->longest = function->end - function->start;
		map->entry[kept++] = map->entry[i];
	}
	map->entries = kept;
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
	map->text = fd < 0 ? NULL : calloc(1, bytes + 1);
	/* If the file has become shorter, the text ends there. */
	if (map->text) {
		whole_pread(fd, map->text, bytes, 0);
		parse_map(map);
	}
	if (fd >= 0)
		close(fd);
	for (size_t i = 0; i < maps->dumps; i++)
		if (maps->dump[i].pid == pid)
			read_dump(maps, map, maps->dump[i].path);
	complete_map(map);
	return map;
}

bool jit_maps_has(struct jit_maps *maps, pid_t pid, bool *has_times)
{
	const struct jit_map *map = maps ? map_of(maps, pid) : NULL;

	*has_times = map && map->has_times;
	return map && map->entries;
}

struct jit_function *jit_maps_find(struct jit_maps *maps, pid_t pid, uint64_t address,
				   int64_t time_ns)
{
	struct jit_map *map = maps ? map_of(maps, pid) : NULL;
	size_t low = 0, high = map ? map->entries : 0, least;
	struct entry *found = NULL, *later = NULL;

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
		if (address >= entry->function.end || entry->function.until_ns <= time_ns)
			continue;
		if (entry->function.from_ns > time_ns) {
			if (!later || entry->line < later->line)
				later = entry;
		} else if (!found || entry->line > found->line) {
			found = entry;
		}
	}
	if (!found)
		found = later;
	return found ? &found->function : NULL;
}
