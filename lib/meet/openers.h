/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * meet/openers.h - lists the processes that have a file open that may be an arena. Processes that
 * this process may not examine are not in the list.
 *
 * Traced processes have their arena open, and so have their controllers. Processes begin and end at
 * any time, so the result may be out of date when the function returns.
 *
 * Threads   any. A list has one caller at a time.
 */
#ifndef PTX_MEET_OPENERS_H
#define PTX_MEET_OPENERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ptx_opener {
	uint64_t device, inode;
	uint32_t pid; /* here and below: the number of the process in /proc */
	uint32_t fd;
};

/* Entries are ordered by file, then by process. Each pair of file and process occurs once. */
struct ptx_openers {
	struct ptx_opener *opener;
	size_t count, room;
};

/*
 * Find the openers among all processes, or only in the process `pid`. Return 0, ENOMEM, EMFILE,
 * ENFILE, or the error of opening /proc.
 */
int ptx_openers_find(struct ptx_openers *openers);
int ptx_openers_find_of(uint32_t pid, struct ptx_openers *openers);
void ptx_openers_free(struct ptx_openers *openers);

/* Returns the number of entries that have the same file as the entry `index`, from `index` on. */
size_t ptx_openers_same(const struct ptx_openers *openers, size_t index);

/*
 * Stores in lives[i] whether a process is in the pid namespace with the inode inode[i], for each i
 * below `count`. Returns false if this is not certain, because the caller may not examine all
 * processes. The caller's /proc must belong to the initial pid namespace, so that it shows the
 * processes of all namespaces.
 */
bool ptx_openers_find_spaces(const uint32_t *inode, bool *lives, size_t count);

#define PTX_OPENER_PATH 64

/*
 * Writes the path of the folder of a process's descriptors, /proc/PID/fd. If the first thread of
 * the process has ended, this folder is empty, and the function writes the path of another thread's
 * folder.
 */
void ptx_openers_files(uint32_t pid, char *path, size_t room);

/* Writes the path in /proc of the file that the opener has open, at most PTX_OPENER_PATH bytes. */
void ptx_openers_path(const struct ptx_opener *opener, char *path, size_t room);

/* Returns true if the entry `name` of a folder /proc/PID/fd may be an arena. */
bool ptx_openers_is_candidate(int folder, const char *name);

#endif
