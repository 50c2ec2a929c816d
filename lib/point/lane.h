/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * point/lane.h - fills a thread's copy of the streams' state, from which its next event is
 * recorded.
 *
 * Threads   the thread itself.
 * Signals   async-signal-safe, with level 0 of the thread claimed.
 */
#ifndef PTX_POINT_LANE_H
#define PTX_POINT_LANE_H

#include "point/thread.h"

/*
 * Makes the lanes valid after an event that record.c has recorded. Most often only the chunk has
 * changed. It also frees views that are no longer used.
 */
void ptx_lanes_mend(struct ptx_thread *thread);

#endif
