/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * posix/status.h - the status of a locked active stream.
 *
 * Threads   the caller holds the stream's lock.
 */
#ifndef PTX_POSIX_STATUS_H
#define PTX_POSIX_STATUS_H

#include "posix/stream.h"

/* Stores the status. If `reset` is true, also resets what posix_trace_get_status() resets. */
void ptx_posix_status(struct ptx_stream *stream, struct posix_trace_status_info *info, bool reset);

#endif
