/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * posix/status.h - the status of a locked active stream; reset: as posix_trace_get_status() does.
 */
#ifndef PTX_POSIX_STATUS_H
#define PTX_POSIX_STATUS_H

#include "posix/stream.h"

void ptx_posix_status(struct ptx_stream *stream, struct posix_trace_status_info *info, bool reset);

#endif
