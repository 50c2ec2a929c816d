/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * jit_map.h - the functions that processes compiled while they ran. Node, Java, Python and others
 * write them into the file /tmp/perf-PID.map, if an option asks for it. Each line has an address, a
 * number of bytes and a name.
 *
 * The file is not trusted. It is used only if it belongs to the user of the process or of the
 * recorder, and if it was written after the process began.
 */
#ifndef POSIXTRACE_LIVE_JIT_MAP_H
#define POSIXTRACE_LIVE_JIT_MAP_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct jit_function {
	uint64_t start, end;
	const char *name;  /* at most JIT_NAME_MAX bytes */
	bool is_written;   /* only callers use this member */
};

#define JIT_NAME_MAX 1000

/*
 * Returns when a process began, on CLOCK_REALTIME and rounded down. Returns INT64_MAX if it has
 * ended.
 */
int64_t jit_maps_process_begin(pid_t pid);

/*
 * The maps of all processes of a recording. outer is the number in /proc of the process with which
 * the recording began, or 0. Its events may have another number, if it is in another namespace of
 * process IDs. begin_ns is the time when this process began: all others are its descendants and
 * began later. Returns NULL if memory is lacking.
 */
struct jit_maps *jit_maps_begin(pid_t outer, int64_t begin_ns);
void jit_maps_end(struct jit_maps *maps);

/* Returns whether a process has a map. The first call for a process reads its map. */
bool jit_maps_has(struct jit_maps *maps, pid_t pid);

/*
 * Returns the function at an address of a process, or NULL. If several functions had code at the
 * address, it is the one that was written last. The result is valid until jit_maps_end().
 */
struct jit_function *jit_maps_find(struct jit_maps *maps, pid_t pid, uint64_t address);

#endif
