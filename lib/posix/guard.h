/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * posix/guard.h - a stream's log is completed even if its creator is killed (EXIT-01, EXIT-02).
 *
 * Beside each stream that has a log in a file a guardian runs: a small process that sleeps until
 * the kernel takes the creator's lock from it. Then it stops the stream, moves to the log what the
 * stream still holds, completes the log and goes; it also goes when the stream is shut down. It is
 * no child that wait() would tell of; it is in a session of its own, with the two files and nothing
 * else open. Where it cannot be had everything works but that: the log of a killed creator is what
 * was flushed.
 *
 * Not where the log is a pipe, which cannot be looked at.
 */
#ifndef PTX_POSIX_GUARD_H
#define PTX_POSIX_GUARD_H

#include "posix/stream.h"

/* Starts a guardian for a stream that is attached. */
void ptx_guard_start(struct ptx_stream *stream);

/* What the guardian's program does: 0, or an error number. */
int ptx_guard_run(int arena_fd, int log_fd, unsigned bit, uint64_t generation);

#endif
