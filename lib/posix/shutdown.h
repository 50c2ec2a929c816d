/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * posix/shutdown.h - shuts down streams: all of the process at its exit, or one of a dead
 * creator.
 *
 * Threads   ptx_posix_shutdown_all() may run beside other calls, and preserves errno.
 */
#ifndef PTX_POSIX_SHUTDOWN_H
#define PTX_POSIX_SHUTDOWN_H

#include "flush/flush.h"

/* Shuts down all active streams of this process, and completes their logs. */
void ptx_posix_shutdown_all(void);

/*
 * Moves all events of a stopped stream to its log, and completes the log. Returns 0 or an error
 * number; the log is closed in any case. The stream must not be used by other threads.
 */
int ptx_posix_complete_log(struct ptx_stream *stream, const struct ptx_flush_caller *who);

/* Returns the calling thread, for the FLUSH events of a flush by the call at this address. */
struct ptx_flush_caller ptx_posix_caller(const void *address);

/*
 * Stores the status for a completed log. The caller holds the stream's lock. The call does not
 * reset the status.
 */
void ptx_posix_last_status(struct ptx_stream *stream, struct ptx_log_status *status);

#endif
