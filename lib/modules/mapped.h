/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * modules/mapped.h - finds which files the processes of a stream have mapped executable, for the
 * stream's log.
 *
 * The thread that creates or flushes the stream makes the looks; a trace point makes none. The
 * thread looks at its own process by dl_iterate_phdr(), which also counts the libraries that were
 * loaded and unloaded. It looks at other processes by /proc/PID/maps, if the system permits this.
 * Other processes also report their mappings themselves at some moments (arena/maps.h). So the
 * mappings of a process that ended before the first look are known, too. The notes contain only
 * what was seen: if several files may have been in a range between two looks, the notes name none
 * of these files for that time.
 *
 * Owner     a flush. One look at a time; a second caller returns immediately.
 * Threads   ptx_mapped_look() from any thread, without a lock of the stream, because the dynamic
 *           linker has a lock of its own. ptx_mapped_store() with the stream's lock.
 * Errors    none: mappings that cannot be found are missing in the log. errno is unchanged.
 */
#ifndef PTX_MODULES_MAPPED_H
#define PTX_MODULES_MAPPED_H

#include "arena/arena.h"
#include "log/log.h"

struct ptx_mapped;

/*
 * Makes the object for the stream at the place `bit` of an arena. The target of the stream is
 * process pid, and its number in /proc is `number`. same_ids is true if the processes of the stream
 * have the same ids in this process's namespace. Returns NULL if memory is lacking.
 */
struct ptx_mapped *ptx_mapped_create(const struct ptx_arena *arena, unsigned bit, uint32_t pid,
				     uint32_t number, bool same_ids);
void ptx_mapped_destroy(struct ptx_mapped *mapped);

/*
 * Looks at all processes. If `may_skip_others` is true and the last look at other processes was
 * less than 250 ms ago, looks only at this process.
 */
void ptx_mapped_look(struct ptx_mapped *mapped, bool may_skip_others);

/* Gives the log the notes that were made since the last call. */
void ptx_mapped_store(struct ptx_mapped *mapped, struct ptx_log *log);

/*
 * This process reports its mappings in its arena, if other processes trace it. is_start: the
 * program has just started. Returns 0, or ENOSPC if the arena has no room; observers must then look
 * at this process through /proc. In a child of fork(), ptx_mapped_report_child() reports that the
 * child has the mappings of its parent.
 */
int ptx_mapped_report(bool is_start);
void ptx_mapped_report_child(void);

/*
 * Returns true if this process is a child of a program with threads. Some thread of the parent may
 * have had the dynamic linker's lock at the fork, and in the child no thread releases it. So such a
 * process looks at itself through /proc, as other processes do.
 */
bool ptx_mapped_linker_may_hang(void);

/* Reports at exit(), unless the linker's lock may be held for ever. */
void ptx_mapped_report_end(void);

/*
 * The fork handlers call these functions, for one fork at a time. ptx_mapped_before_fork() waits,
 * for a limited time, until no look of another thread is in progress: otherwise the child could
 * inherit the dynamic linker's lock, held by that look.
 */
void ptx_mapped_before_fork(void);
void ptx_mapped_after_fork(void);

#endif
