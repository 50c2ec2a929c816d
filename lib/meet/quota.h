/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * meet/quota.h - TRACE_SYS_MAX: how many streams a user may have on a host.
 *
 * A stream holds a record lock on a byte of a file in the runtime folder, one of TRACE_SYS_MAX. The
 * kernel takes the lock from a creator that exits, is killed or executes another program, and gives
 * it to no child. The file is empty: who holds a byte says the kernel, and there is nothing to
 * believe. It is open from a process's first stream to its last.
 *
 * Record locks are a process's, not a thread's, and all go when it closes any descriptor of the
 * file: so a process keeps one, and an account of its own of what it holds. Without the file (no
 * folder, or one without locks) that account is the limit.
 *
 * Threads   all.
 */
#ifndef PTX_MEET_QUOTA_H
#define PTX_MEET_QUOTA_H

/* A place for a stream: EAGAIN when all are taken. */
int ptx_quota_take(unsigned *place);
void ptx_quota_give(unsigned place);

/* In a child, with one thread: its parent's places are not its own. */
void ptx_quota_after_fork(void);

#endif
