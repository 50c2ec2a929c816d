/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * meet/family.h - one arena for a traced process and the processes that inherit its streams.
 *
 * If a process is traced by an INHERITED stream, its child keeps the parent's arena, with the names
 * and the control page. So the controller reaches all processes of the family with one change of
 * the arena. The child remembers the generations of the streams that it has inherited, and so
 * recognizes their attachments. When a process of the family executes a program, its private memory
 * is lost. So the arena has a table of members, and the new program finds in this table which
 * streams it has inherited. As long as a stream can be inherited, the arena's descriptor stays open
 * at execve(). So the new program finds the arena by this descriptor.
 *
 * Threads   ptx_family_begin(), _keep(), _find(), _join(), _rejoin() and _store_executed() are
 *           called while the process is set up. Any thread may call the other functions.
 * Signals   all functions are async-signal-safe.
 */
#ifndef PTX_MEET_FAMILY_H
#define PTX_MEET_FAMILY_H

#include "arena/arena.h"
#include "base/life.h"

/*
 * Returns whether the stream at the place `bit` traces this process. Another process has created
 * the stream. The result is PTX_SAME_UNKNOWN if this process has the target's process id, but it is
 * unknown whether this process is the target.
 */
enum ptx_same ptx_family_traces_self(unsigned bit, uint64_t generation);

/*
 * Asks the kernel for the identity of this process, unless an earlier call has got the answer.
 * Called before a new program makes its own arena, when a stream names the id of this process as
 * the target, and before the process becomes quiet, because a seccomp filter may forbid the system
 * calls later. A program that inherits an arena usually never needs its identity.
 */
void ptx_family_identify_self(void);

/* Called in a child that is not set up yet. Returns true if the child keeps its parent's arena. */
bool ptx_family_keep(struct ptx_arena *arena, uint32_t pid);

/*
 * Called when a program starts. Searches the inherited descriptors for an arena in which this
 * program is traced, and maps the control page of that arena. Returns the descriptor, or -1.
 */
int ptx_family_find(void);

/*
 * Returns true if this new program is traced in the arena with this control page. The arena belongs
 * to another process.
 */
bool ptx_family_join(struct ptx_control *control);

/*
 * Like ptx_family_join(), for an arena that this process has found by a link for another process
 * (rendezvous.h). The process id of a member may belong to another process by now, so start times
 * are compared, too. `space` is the inode of the pid namespace of the members, or 0 if the inode is
 * not known. A process that is certainly in another namespace is no member.
 */
bool ptx_family_rejoin(struct ptx_control *control, uint32_t space);

/*
 * Stores the present time in the attachments of the streams whose target is the process of this new
 * program. Returns true if there is such a stream.
 */
bool ptx_family_store_executed(struct ptx_control *control);

/*
 * Returns the time when this traced process began to run its program, CLOCK_REALTIME in ns. Returns
 * 0 if it has run this program since before it was traced.
 */
int64_t ptx_family_since(void);

/*
 * Returns true if rings that name this process as their holder can only be rings of the program
 * that the process ran before. execve() has ended all threads of that program. But a child of
 * vfork(), or another child in the memory of that program, may still use the ring of its parent's
 * thread. So the result is false if the process has any child. It is also false if another process
 * may have the same id in another pid namespace, and in a quiet process.
 */
bool ptx_family_may_have_former(void);

/* Called when this process makes an arena of its own. */
void ptx_family_begin(void);

/*
 * Lets execve() keep the arena's descriptor open if the executed program can inherit a stream, and
 * else close it.
 */
void ptx_family_update_cloexec(void);

/* Returns true if a process of the family has certainly ended, and its parent has waited for it. */
bool ptx_family_is_dead(uint32_t pid);

/* Returns true if the process is a member. */
bool ptx_family_has(struct ptx_control *control, uint32_t pid);

#endif
