/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * soak/estate.h - the resources of a process: descriptors, mappings, memory.
 */
#ifndef PTX_TESTS_SOAK_ESTATE_H
#define PTX_TESTS_SOAK_ESTATE_H

#include <stdbool.h>
#include <sys/types.h>

#define MEMORY_BOUND 64 /* tolerance in pages: a heap and page tables vary */
#define ARENA_BOUND  16 /* the same for the arena, in which only streams that exist have memory */

struct estate {
	unsigned descriptors, mappings;
	unsigned long size, resident, arena; /* in pages of 4096 bytes; arena: the pages of the
					      * memory file */
};

struct estate estate_of(pid_t pid);

/*
 * Checks that descriptors and mappings are equal, and memory nearly so. heap: this many pages may
 * have been allocated.
 */
bool estate_is_as_before(const struct estate *before, const struct estate *after,
			 unsigned long heap);

/* Finds a part of a line. */
void estate_tell(const char *whose, const struct estate *before, const struct estate *after);

#endif
