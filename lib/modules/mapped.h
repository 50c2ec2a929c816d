/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * modules/mapped.h - which files the processes of a stream have mapped executable, for its log.
 *
 * Whoever flushes the stream looks, never the threads that trace: at this process by
 * dl_iterate_phdr(), which tells whether anything changed, also what came and went in between; at
 * others, where the system lets it, by /proc/PID/maps. Others also tell by themselves, at a few
 * moments, what they see of themselves (arena/maps.h): so there is something of those that were
 * gone before the first look. What is noted is what was seen: where two files may have had a range
 * between two looks, neither has it.
 *
 * Owner     a flush; one look at a time, further callers go away.
 * Threads   look from any thread, with no lock of the stream held: the dynamic linker has one of
 *           its own. give with the stream's lock.
 * Errors    none: where it cannot be found out, the log is without it.
 */
#ifndef PTX_MODULES_MAPPED_H
#define PTX_MODULES_MAPPED_H

#include "arena/arena.h"
#include "log/log.h"

struct ptx_mapped;

/* For the stream at that attachment of an arena, whose target is process pid; NULL without memory.
 * same_ids: ids of its processes are the same here. */
struct ptx_mapped *ptx_mapped_create(const struct ptx_arena *arena, unsigned bit, uint32_t pid,
				     bool same_ids);
void ptx_mapped_destroy(struct ptx_mapped *mapped);

/* patient: others are left alone if that was done a moment ago. */
void ptx_mapped_look(struct ptx_mapped *mapped, bool patient);

/* What was noted since the last time goes to the log. */
void ptx_mapped_give(struct ptx_mapped *mapped, struct ptx_log *log);

/*
 * This process says what it has mapped, for those who trace it; nothing if nobody does. is_start:
 * its program starts. ENOSPC: the rest is left to who looks from outside. In a child of fork() it
 * has what its parent had.
 */
int ptx_mapped_report(bool is_start);
void ptx_mapped_report_child(void);

/*
 * This is a child of a program with threads: one that it has not may have had the dynamic linker's
 * lock at the fork, which nobody lets go of in the child. It is looked at from outside, also by
 * itself.
 */
bool ptx_mapped_linker_may_hang(void);

/* The process ends by exit(). Where the linker may hang it says nothing then. */
void ptx_mapped_report_end(void);

/*
 * From the fork handlers, one fork at a time: a child would inherit the dynamic linker's lock from
 * a look in progress, and nobody would ever let go of it.
 */
void ptx_mapped_before_fork(void);
void ptx_mapped_after_fork(void);

#endif
