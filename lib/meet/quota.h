/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * meet/quota.h - TRACE_SYS_MAX: how many streams a user may have on a host.
 *
 * A stream has a record lock on one of TRACE_SYS_MAX bytes of a file in the runtime folder. The
 * kernel releases the lock of a creator that exits, is killed or executes another program, and
 * gives it to no child. The file is empty: only the kernel has the owner of a byte, so no content
 * can be wrong. A process has the file open from its first stream to its last.
 *
 * Record locks belong to a process and not to a thread. When the process closes any descriptor of
 * the file, the kernel releases all locks of that process on the file. So a process keeps one
 * descriptor, and an account of its own places. Without the file (no folder, or one without locks)
 * the limit counts the streams of that account only.
 *
 * Threads   all.
 */
#ifndef PTX_MEET_QUOTA_H
#define PTX_MEET_QUOTA_H

/* Acquires a place for a stream. EAGAIN: all are in use. */
int ptx_quota_acquire(unsigned *place);
void ptx_quota_release(unsigned place);

/* Called in a child, which has one thread: forgets its parent's places. */
void ptx_quota_after_fork(void);

#endif
