/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * soak/estate.h - what a process has: descriptors, mappings, memory.
 */
#ifndef PTX_TESTS_SOAK_ESTATE_H
#define PTX_TESTS_SOAK_ESTATE_H

#include <stdbool.h>
#include <sys/types.h>

#define MEMORY_BOUND 64 /* pages: what late writers touch, and how a heap lies */

struct estate {
	unsigned descriptors, mappings;
	unsigned long size, resident, arena; /* in pages of 4096 bytes; arena: what the file has */
};

struct estate estate_of(pid_t pid);

/*
 * As many descriptors and mappings, and hardly more memory; heap: so many pages may have been
 * allocated.
 */
bool estate_is_as_before(const struct estate *before, const struct estate *after,
			 unsigned long heap);

/* A part of a line. */
void estate_tell(const char *whose, const struct estate *before, const struct estate *after);

#endif
