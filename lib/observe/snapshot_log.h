/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * observe/snapshot_log.h - writes the log of a stream that was copied (observe/snapshot.h).
 *
 * The account has the events of the copy and the losses before it; events that readers had
 * delivered are not in it. Its equation holds whatever the copy contains; losses of which the type
 * or the thread is not known are in the lines of type 0 and of pid 0.
 */
#ifndef PTX_OBSERVE_SNAPSHOT_LOG_H
#define PTX_OBSERVE_SNAPSHOT_LOG_H

#include "observe/snapshot.h"

/* Writes the log to fd, which stays open. Errors of ptx_log_create() and ptx_log_complete(). */
int ptx_snapshot_log(struct ptx_snapshot *snapshot, int fd);

#endif
