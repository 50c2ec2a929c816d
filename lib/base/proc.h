/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * base/proc.h - what /proc says of a process.
 *
 * /proc numbers processes as the name space does for which it was mounted. That need not be the
 * name space of this process, so a process has two ids here: its pid, which system calls take, and
 * its number in /proc. PTX_PROC_SELF stands for this process, whatever its number is.
 *
 * Errors    0 or an error number; errno stays as it was. ENOENT: /proc shows no such process, which
 *           may exist all the same.
 * Signals   async-signal-safe, without stdio.
 */
#ifndef PTX_BASE_PROC_H
#define PTX_BASE_PROC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PTX_PROC_SELF 0u
#define PTX_PROC_PATH 64

/* "/proc/NUMBER/file" or "/proc/self/file"; file is a short constant. */
const char *ptx_proc_path(char path[PTX_PROC_PATH], uint32_t number, const char *file);

/* What /proc/NUMBER/stat says. */
struct ptx_proc {
	/* field 22: clock ticks after boot, as the time name space of the reader counts them */
	uint64_t start;
	uint32_t parent; /* field 4, its number */
	bool runs;       /* false: it has ended, and its parent has not waited for it */
	bool headless;   /* its first thread has ended, and others run */
};

int ptx_proc_read(uint32_t number, struct ptx_proc *proc);

/* The ids of one process. */
struct ptx_proc_ids {
	uint32_t number;   /* in /proc */
	uint32_t inner;    /* its pid, as the process itself knows it */
	unsigned spaces;   /* name spaces from that of /proc to its own: 1 if they are the same */
};

int ptx_proc_ids(uint32_t number, struct ptx_proc_ids *ids);

/*
 * The same of the process that a pidfd refers to. ESRCH: it has ended and was waited for. ENXIO:
 * /proc does not show it: it is not mounted, or belongs to a name space of processes where that one
 * is not.
 */
int ptx_proc_ids_of(int pidfd, struct ptx_proc_ids *ids);

/* 0 if /proc numbers processes as this process does, ENXIO if not. */
int ptx_proc_is_ours(void);

#endif
