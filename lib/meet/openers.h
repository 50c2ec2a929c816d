/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * meet/openers.h - which processes have files open that may be arenas, as far as this one may
 * know.
 *
 * Traced processes hold their arena, and so does whoever traces them. Processes come and go: what
 * is told here was so a moment ago.
 */
#ifndef PTX_MEET_OPENERS_H
#define PTX_MEET_OPENERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ptx_opener {
	uint64_t device, inode;
	uint32_t pid; /* here and below: its number in /proc */
	uint32_t fd;
};

/* Ordered by file, then by process; each pair once. */
struct ptx_openers {
	struct ptx_opener *opener;
	size_t count, room;
};

/* ENOMEM, EMFILE, or why /proc cannot be read. Processes that may not be looked at are left out. */
int ptx_openers_find(struct ptx_openers *openers);
int ptx_openers_find_of(uint32_t pid, struct ptx_openers *openers); /* in this process alone */
void ptx_openers_free(struct ptx_openers *openers);

/* How many from index on hold the same file. */
size_t ptx_openers_same(const struct ptx_openers *openers, size_t index);

#define PTX_OPENER_PATH 64

/*
 * The folder of a process's descriptors, /proc/PID/fd. That of a process whose first thread has
 * ended is empty: then the one of another thread of it.
 */
void ptx_openers_files(uint32_t pid, char *path, size_t room);

/* Writes the path of the file that the holder has open: at most PTX_OPENER_PATH bytes. */
void ptx_openers_path(const struct ptx_opener *opener, char *path, size_t room);

/* An entry of a folder /proc/PID/fd may be an arena. */
bool ptx_openers_is_candidate(int folder, const char *name);

#endif
