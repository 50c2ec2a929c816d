/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * futex_lock.h - finds the object for which a thread is blocked in futex(2): a lock of glibc, or
 * the end of another thread.
 *
 * Any program may use futexes of its own, with any values. So a lock is certain only if glibc
 * itself made the system call, and all members of the lock agree with its state. Otherwise the
 * result has a doubt. The memory of the process is hostile, and may change meanwhile.
 */
#ifndef POSIXTRACE_LIVE_FUTEX_LOCK_H
#define POSIXTRACE_LIVE_FUTEX_LOCK_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/procfile.h"

struct futex_lock {
	uint64_t lock;       /* the address of the lock, or of the futex if the lock is unknown */
	pid_t owner;         /* the holder of the lock, or the awaited thread; 0: unknown */
	const char *kind;    /* "mutex", "rwlock", "thread", or "futex": not recognized */
	const char *doubt;   /* why this is not certain, or NULL */
};

/*
 * Examines the call of futex() in which a thread of a process is blocked. The process must have the
 * same word size as this process. If has_numbers is false, the process uses other numbers of
 * threads than this process does, and the owner remains unknown.
 */
struct futex_lock futex_lock_find(pid_t pid, const struct procfile_call *call, bool has_numbers);

#endif
