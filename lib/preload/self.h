/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * preload/self.h - facts about the process and the thread that the shim usually finds without a
 * system call.
 *
 * Threads   all functions may be called by any thread.
 * Signals   everything here is async-signal-safe.
 */
#ifndef PTX_PRELOAD_SELF_H
#define PTX_PRELOAD_SELF_H

#include <stdatomic.h>
#include <stdbool.h>
#include <sys/types.h>

/*
 * shim_self_begin() is called at the program's start, and shim_self_forked() in a child of fork().
 * shim_self_copied() is called in a child with a copy of the memory, if a fork handler or a wrapper
 * of the shim notices the child.
 */
void shim_self_begin(void);
void shim_self_forked(void);
void shim_self_copied(void);

/*
 * Returns the id of this process. In a child of vfork(), which shares its parent's memory, the
 * result is the child's own id. If the process is quiet, the result is 0 in a child of vfork() and
 * in a child for which no fork handler has run, because only a system call could find that id.
 */
pid_t shim_pid(void);

/* Returns the id of the process that forked this process, or 0. */
pid_t shim_parent(void);

/*
 * shim_self_vforked() is called in a new child of vfork(), which uses the memory of its parent's
 * thread. shim_self_vfork_ends() is called later in the parent.
 */
void shim_self_vforked(void);
void shim_self_vfork_ends(void);

/*
 * A child of clone(2) with CLONE_VM and without CLONE_VFORK and CLONE_SETTLS uses the thread-local
 * memory of the thread that made it, while that thread continues. The library has the thread's
 * rings there, in which only one task may write. The thread calls shim_share_memory() before such a
 * call. The function notes the thread as the owner of the memory.
 */
void shim_share_memory(void);

/*
 * Returns whether the caller is such a child, which must record no event. It asks the kernel only
 * if the memory has an owner. A quiet process must not ask. The result is then true for the owner,
 * too, so that neither of the two damages the rings of the other.
 */
bool shim_is_guest(void);

/*
 * Returns whether the caller is another process than the one whose memory it uses, such as a child
 * of vfork(). The function may make a system call. In a quiet process it makes none, and the result
 * is true only for children that wrappers have made.
 */
bool shim_is_borrower(void);

/*
 * shim_quiet is true if a seccomp filter is or will soon be installed. The shim then makes no
 * system call of its own. shim_quiet_lent is true if the filter belongs to a child in this thread's
 * memory. If a wrapper of vfork() has made the child, the variable becomes false when the parent
 * continues.
 */
extern atomic_bool shim_quiet;
extern _Thread_local bool shim_quiet_lent __attribute__((tls_model("initial-exec")));

static inline bool shim_is_quiet(void)
{
	return atomic_load_explicit(&shim_quiet, memory_order_relaxed) || shim_quiet_lent;
}

/*
 * If true, this thread must not read the clock and records no events. shim_blind() sets this
 * variable and informs the library.
 */
extern _Thread_local bool shim_is_blind __attribute__((tls_model("initial-exec")));
void shim_blind(bool is_blind);

#endif
