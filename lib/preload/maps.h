/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * preload/maps.h - reads /proc/self/maps.
 *
 * Threads   all functions may run concurrently. Other threads may change the mappings meanwhile.
 * Signals   async-signal-safe. The functions use raw system calls, because a program may have
 *           replaced open() and read(). A walk needs 5 KiB of the stack.
 * Errors    errno may change.
 */
#ifndef PTX_PRELOAD_MAPS_H
#define PTX_PRELOAD_MAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct shim_map {
	uintptr_t begin, end;
	int protection;   /* PROT_... */
	const char *name; /* of the file, without a NUL; empty for anonymous memory */
	size_t name_bytes;
};

/*
 * Calls `visit` with each mapping in order of the addresses, until `visit` returns false. Returns
 * whether the file was read up to its end, or up to that mapping. If a line is longer than the
 * buffer, the walk ends and the result is false.
 */
bool shim_maps_walk(bool (*visit)(void *arg, const struct shim_map *map), void *arg);

/*
 * These functions do the same for several walks with one descriptor. After shim_maps_open() has
 * succeeded, no walk fails for lack of a descriptor. shim_maps_open() returns the descriptor, or a
 * negative number. Each walk begins at the first mapping, and shows the mappings that exist then.
 */
int shim_maps_open(void);
bool shim_maps_walk_in(int fd, bool (*visit)(void *arg, const struct shim_map *map), void *arg);
void shim_maps_close(int fd);

#endif
