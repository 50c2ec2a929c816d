/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * base/proc.h - the state and the ids of a process, from /proc.
 *
 * /proc shows the ids that processes have in the namespace for which /proc was mounted. This
 * process may be in another namespace. A process therefore has two ids here: its pid, which system
 * calls use, and its number in /proc. PTX_PROC_SELF means this process, whatever its number is.
 *
 * Threads   all functions may run concurrently.
 * Errors    0 or an error number; errno is preserved. ENOENT: /proc shows no such process. The
 *           process may still exist.
 * Signals   async-signal-safe, without stdio.
 */
#ifndef PTX_BASE_PROC_H
#define PTX_BASE_PROC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The number that means this process. */
#define PTX_PROC_SELF 0u
#define PTX_PROC_PATH 64

/*
 * Makes "/proc/NUMBER/file" or "/proc/self/file" in `path` and returns `path`. `file` is a short
 * constant.
 */
const char *ptx_proc_path(char path[PTX_PROC_PATH], uint32_t number, const char *file);

/* From /proc/NUMBER/stat. */
struct ptx_proc {
	/* field 22: clock ticks after boot, as the time namespace of the reader counts them */
	uint64_t start;
	uint32_t parent; /* field 4: the parent's number in /proc */
	bool runs;       /* false: it has ended, and its parent has not waited for it */
	bool headless;   /* its first thread has ended, other threads run */
};

/*
 * Reads /proc/NUMBER/stat. Returns 0, EIO if the file does not have the expected form, or the error
 * of opening or reading the file.
 */
int ptx_proc_read(uint32_t number, struct ptx_proc *proc);

/*
 * Like ptx_proc_read(), for a file with the same fields: `file` is "stat", or "task/TID/stat" for
 * one thread.
 */
int ptx_proc_read_file(uint32_t number, const char *file, struct ptx_proc *proc);

/* Returns the length of a clock tick, the unit of ptx_proc.start, in nanoseconds. */
int64_t ptx_proc_tick_ns(void);

/* The ids of one process. */
struct ptx_proc_ids {
	uint32_t number;   /* in /proc */
	uint32_t inner;    /* its pid, as the process itself knows it */
	/* number of namespaces from the namespace of /proc to its own; 1 if they are the same */
	unsigned spaces;
};

/*
 * Stores the ids of the process with this number. EIO: the status file does not show them, for
 * instance because the kernel is older than 4.1.
 */
int ptx_proc_ids(uint32_t number, struct ptx_proc_ids *ids);

/*
 * Stores the ids of the process that a pidfd refers to. ESRCH: it has ended and its parent has
 * waited for it. ENXIO: /proc does not show it, because /proc is not mounted or belongs to a
 * namespace that does not contain the process. EIO: the fdinfo file does not show the ids, for
 * instance because the kernel is older than 5.3.
 */
int ptx_proc_ids_of(int pidfd, struct ptx_proc_ids *ids);

/*
 * Returns the inode of the pid namespace of the process with this number, or 0 if the inode cannot
 * be determined: the process has ended, the caller may not examine the process, /proc is not
 * mounted, or the kernel has no such namespaces.
 */
uint32_t ptx_proc_space(uint32_t number);

/*
 * Returns getpid(). If a seccomp filter refuses that call, returns the id from /proc. If /proc does
 * not have the id, returns the id of the calling thread, which is the same number in the first
 * thread of a process. errno is unchanged.
 */
uint32_t ptx_proc_own(void);

/*
 * Returns 0 if /proc numbers processes as this process does. Returns ENXIO if /proc belongs to
 * another namespace or is not mounted, or the error of reading /proc/self/status.
 */
int ptx_proc_is_ours(void);

#endif
