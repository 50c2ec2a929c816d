/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * observe/snapshot_log.h - the log of a stream that was copied: observe/snapshot.h.
 *
 * The account is of what the copy holds and what was lost before it: what readers had taken is not
 * in it. Its equation closes whatever the copy says; what cannot be told apart is nobody's and of
 * the unnamed type.
 */
#ifndef PTX_OBSERVE_SNAPSHOT_LOG_H
#define PTX_OBSERVE_SNAPSHOT_LOG_H

#include "observe/snapshot.h"

/* Writes the log to fd, which stays open. As ptx_log_create() and ptx_log_complete(). */
int ptx_snapshot_log(struct ptx_snapshot *snapshot, int fd);

#endif
