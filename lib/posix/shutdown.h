/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * posix/shutdown.h - shutting down streams: every one of the process, when it exits, or one whose
 * creator died.
 */
#ifndef PTX_POSIX_SHUTDOWN_H
#define PTX_POSIX_SHUTDOWN_H

#include "flush/flush.h"

void ptx_posix_shutdown_all(void);

/* Everything that the stopped stream holds goes to its log, which is closed. */
int ptx_posix_complete_log(struct ptx_stream *stream, const struct ptx_flush_caller *who);

#endif
