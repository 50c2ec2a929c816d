/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * jit_map.h - the functions that processes compiled while they ran. Node, Java, Python and others
 * write them into the file /tmp/perf-PID.map, if an option asks for it. Each line has an address, a
 * number of bytes and a name. A file jit-PID.dump (jit_dump.h) also has the times.
 *
 * The files are not trusted. They are used only if they belong to the user of the process or of the
 * recorder, and if they were written after the process began. The files of a container are found by
 * the root folder and the folder /tmp of the first process, also after the end of the container.
 */
#ifndef POSIXTRACE_LIVE_JIT_MAP_H
#define POSIXTRACE_LIVE_JIT_MAP_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct jit_function {
	uint64_t start, end;
	const char *name;  /* at most JIT_NAME_MAX bytes */
	/* When the function was at these addresses. INT64_MIN, INT64_MAX: unknown */
	int64_t from_ns, until_ns;
	bool is_written;   /* only callers use this member */
};

#define JIT_NAME_MAX 1000

/*
 * The process with which a recording begins. All others are its descendants and began later. The
 * facts are needed when the process may have ended, and with it its container. A place of zeros is
 * valid and has no process.
 */
struct jit_place {
	pid_t pid;        /* its number in /proc, or 0 */
	int64_t begin_ns; /* CLOCK_REALTIME, rounded down; INT64_MAX: unknown */
	uint64_t ids;     /* the inode of its namespace of process IDs; 0: unknown */
	uid_t user;       /* only valid if has_folder */
	int root, folder; /* its root folder and its folder /tmp */
	bool has_folder;  /* both exist */
};

/* Returns the place of a running process. jit_place_end() must be called in any case. */
struct jit_place jit_place_begin(pid_t pid);
void jit_place_end(struct jit_place *place);

/*
 * The maps of all processes of a recording, whose events have the numbers of the processes in their
 * own namespace. The place must exist until jit_maps_end(). Returns NULL if memory is lacking.
 */
struct jit_maps *jit_maps_begin(const struct jit_place *place);
void jit_maps_end(struct jit_maps *maps);

/*
 * Notes a file jit-PID.dump that a process has mapped. The path is as the process sees it, and must
 * remain valid. All calls precede the first call of the functions below. If memory is lacking, the
 * file is ignored.
 */
void jit_maps_add_dump(struct jit_maps *maps, pid_t pid, const char *path);

/*
 * Returns whether a process has functions. The first call for a process reads its files. *has_times
 * becomes true if an address may have had several functions at different times.
 */
bool jit_maps_has(struct jit_maps *maps, pid_t pid, bool *has_times);

/*
 * Returns the function that was at an address of a process at a time, or NULL. If several functions
 * had code at the address, it is the one that was written last before the time. If all of them were
 * written later, it is the first one, because the clocks may differ a little. The result is valid
 * until jit_maps_end().
 */
struct jit_function *jit_maps_find(struct jit_maps *maps, pid_t pid, uint64_t address,
				   int64_t time_ns);

#endif
