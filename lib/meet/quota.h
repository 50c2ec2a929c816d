/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * meet/quota.h - TRACE_SYS_MAX: how many streams a user may have on a host.
 *
 * For each stream, its creator has a record lock on one of TRACE_SYS_MAX bytes of a file in the
 * runtime folder (folder.h). Such a byte is a place. The kernel releases the lock when the creator
 * exits, is killed or executes another program, and a child does not inherit the lock. The file is
 * empty, because only the kernel's locks are used. So no wrong content can make the count wrong. A
 * process has the file open as long as it has streams.
 *
 * Record locks belong to a process and not to a thread. When the process closes any descriptor of
 * the file, the kernel releases all locks of that process on the file. So a process keeps one
 * descriptor, and an account of its own places. If there is no file, or the file system has no
 * locks, the limit applies only to the streams of each process.
 *
 * Threads   all.
 */
#ifndef PTX_MEET_QUOTA_H
#define PTX_MEET_QUOTA_H

/* Acquires a place for a stream. Returns 0, or EAGAIN if all places are in use. */
int ptx_quota_acquire(unsigned *place);
void ptx_quota_release(unsigned place);

/* Called in a child, which has one thread: forgets the places of the parent. */
void ptx_quota_after_fork(void);

#endif
