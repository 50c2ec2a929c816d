/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * memory.h - the memory of another process: its bytes and its mappings.
 *
 * All data that these functions read is hostile until the caller has checked it.
 */
#ifndef POSIXTRACE_INJECT_MEMORY_H
#define POSIXTRACE_INJECT_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * Opens the memory of a process by the number of one of its threads. Returns a descriptor, or -1
 * with errno.
 */
int memory_open(pid_t pid, pid_t tid);

/*
 * These functions copy bytes from or to an address of the process. They return false if not all
 * bytes could be transferred.
 */
bool memory_read(int memory, uint64_t address, void *buffer, size_t bytes);
bool memory_write(int memory, uint64_t address, const void *buffer, size_t bytes);

struct mapping;

/*
 * Reads a stack from an address up to its end, in memory that the caller frees. "mapping" contains
 * the address. Since glibc 2.42 a mapping may have the stacks of several threads, with guards
 * between them, which cannot be read. So the stack ends with the mapping or before the first page
 * that cannot be read. Returns the number of bytes, a multiple of 8. Returns 0 if the stack has
 * more than "most" bytes, if nothing can be read, or if memory is lacking.
 */
size_t memory_stack(int memory, uint64_t address, const struct mapping *mapping, size_t most,
		    uint64_t **word);

/*
 * Reads a string. The part that does not fit into the buffer is dropped. If the address cannot be
 * read, the string is empty.
 */
void memory_string(int memory, uint64_t address, char *text, size_t bytes);

/* A line of /proc/PID/maps. "path" is empty for memory without a file. */
struct mapping {
	uint64_t begin, end, offset;
	bool is_readable, is_writable, is_executable;
	unsigned long inode;
	char *path;
};

struct mappings {
	struct mapping *mapping;
	size_t count;
};

/*
 * Reads the mappings of a process. Returns 0 or an error number. The caller calls mappings_fini()
 * also after an error.
 */
int mappings_read(struct mappings *mappings, pid_t pid);
void mappings_fini(struct mappings *mappings);

/* Returns the path of the first mapped file whose path contains a text, or NULL. */
const char *mappings_path_with(const struct mappings *mappings, const char *text);

/* Returns the mapping that contains an address, or NULL. */
const struct mapping *mappings_at(const struct mappings *mappings, uint64_t address);

#endif
