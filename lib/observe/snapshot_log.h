/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * observe/snapshot_log.h - the log of a stream that was copied: observe/snapshot.h.
 *
 * The account is of what the copy holds and what was lost before it: what readers had taken is not
 * in it. Its equation holds whatever the copy says; losses of which the type or the thread is not
 * known are in the lines of type 0 and of pid 0.
 */
#ifndef PTX_OBSERVE_SNAPSHOT_LOG_H
#define PTX_OBSERVE_SNAPSHOT_LOG_H

#include "observe/snapshot.h"

/* Writes the log to fd, which stays open. As ptx_log_create() and ptx_log_complete(). */
int ptx_snapshot_log(struct ptx_snapshot *snapshot, int fd);

#endif
