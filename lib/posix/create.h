/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * posix/create.h - prepares a log of a stream, for posix/create.c and posix/rotate.c.
 *
 * Threads   all functions may run concurrently for different files.
 * Errors    0 or an error number; errno may change, the public functions restore it.
 */
#ifndef PTX_POSIX_CREATE_H
#define PTX_POSIX_CREATE_H

#include "log/log.h"
#include "posix/stream.h"

/*
 * Prepares a log with the attributes of the stream in the file of a descriptor. The caller keeps
 * the descriptor. Returns the errors of ptx_log_prepare_beside().
 */
int ptx_posix_prepare_log(const struct ptx_stream *stream, int file_desc, struct ptx_log **log);

/*
 * Ends a log that has a header but no events, because a later step has failed. A file becomes
 * empty, so it has no log. A pipe cannot be truncated, so its reader gets the header of the log.
 */
void ptx_posix_abandon_log(struct ptx_log *log);

#endif
