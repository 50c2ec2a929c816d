/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * meet/family.h - one arena for a traced process and the processes that inherit its streams.
 *
 * A child of a process that is traced into an INHERITED stream keeps its parent's arena, with the
 * names and the control page. So the controller reaches all processes of the family with one
 * change. The child recognizes its own attachments by their generations. The arena's table of
 * members has the facts that the next executed program needs. While a stream can be inherited, the
 * arena's descriptor stays open when programs are executed. So a program that a shell executes
 * finds the arena, too.
 *
 * Signals   all functions are async-signal-safe.
 */
#ifndef PTX_MEET_FAMILY_H
#define PTX_MEET_FAMILY_H

#include "arena/arena.h"
#include "base/life.h"

/*
 * Returns whether the stream of that attachment, which another process created, traces this
 * process. The result is PTX_SAME_UNKNOWN if this process has the target's id, but it is unknown
 * whether it is the target.
 */
enum ptx_same ptx_family_traces_self(unsigned bit, uint64_t generation);

/*
 * Called when the program starts: asks the kernel for the identity of the process, because a
 * seccomp filter may forbid these calls later.
 */
void ptx_family_identify_self(void);

/* Called in a child that is not set up yet: returns true if it keeps its parent's arena. */
bool ptx_family_keep(struct ptx_arena *arena, uint32_t pid);

/* Returns an inherited descriptor of an arena in which this new program is traced, or -1. */
int ptx_family_find(void);

/*
 * Returns whether this new program is traced in the arena of that control page. The arena is
 * another process's.
 */
bool ptx_family_join(struct ptx_control *control);

/*
 * Does the same for an arena that this process has found among the arenas of all processes. The id
 * of a member may have been given to another process since, so start times are compared, too.
 */
bool ptx_family_rejoin(struct ptx_control *control);

/*
 * Stores the present time in the streams of which this new program's process is the target. Returns
 * whether there are any.
 */
bool ptx_family_store_executed(struct ptx_control *control);

/*
 * Returns the time at which this traced process began to run its program, CLOCK_REALTIME in ns. 0:
 * it ran this program already before it was traced.
 */
int64_t ptx_family_since(void);

/* Called when this process makes an arena of its own. */
void ptx_family_begin(void);

/* Lets programs that are executed inherit the arena's descriptor if they can inherit a stream. */
void ptx_family_update_cloexec(void);

/*
 * Returns true if a process of the family is certainly gone: it has ended and its parent has waited
 * for it.
 */
bool ptx_family_is_dead(uint32_t pid);

/* Returns true if the process is a member. */
bool ptx_family_has(struct ptx_control *control, uint32_t pid);

#endif
