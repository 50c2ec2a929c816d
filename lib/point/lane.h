/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * point/lane.h - fills a thread's lanes: copies of those facts of the streams that the thread's
 * next event needs.
 *
 * Threads   only the thread that owns the lanes.
 * Signals   async-signal-safe, with level 0 of the thread claimed.
 */
#ifndef PTX_POINT_LANE_H
#define PTX_POINT_LANE_H

#include "point/thread.h"

/*
 * Makes the lanes valid after an event that record.c has recorded. Most often only the chunk has
 * changed. The function also frees views that are no longer used.
 */
void ptx_lanes_mend(struct ptx_thread *thread);

#endif
