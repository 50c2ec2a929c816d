/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * observe/snapshot_log.h - writes a log of a stream that was copied (observe/snapshot.h).
 *
 * The ledger of the log counts the events of the copy and the losses before the copy. It does not
 * count the events that readers had delivered before. The equation of the ledger (called = reported
 * + unread + lost) holds even if the copy is damaged. Losses whose type is not known are in the
 * line of type 0, and losses whose thread is not known in the line of pid 0.
 *
 * Threads   any, each with a copy of its own.
 */
#ifndef PTX_OBSERVE_SNAPSHOT_LOG_H
#define PTX_OBSERVE_SNAPSHOT_LOG_H

#include "observe/snapshot.h"

/*
 * Writes the log to fd, which stays open. The log begins with the first event that is not before
 * since_ns, in nanoseconds of CLOCK_REALTIME. The events in front of it are omitted from the log
 * and from its ledger; *older becomes their number, which includes synthetic events. With INT64_MIN
 * no event is omitted. Returns 0, ENOMEM, an error of ptx_log_create_beside(), or the first error
 * of writing to the log. After an error of writing, the log is completed as far as possible.
 */
int ptx_snapshot_log(struct ptx_snapshot *snapshot, int fd, int64_t since_ns, uint64_t *older);

#endif
