/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * point/lane.h - what a thread remembers of its streams, so that its next event need not ask them.
 *
 * Signals   async-signal-safe, with level 0 of the thread claimed.
 */
#ifndef PTX_POINT_LANE_H
#define PTX_POINT_LANE_H

#include "point/thread.h"

/* After an event by the long way: most often only the chunk is another. */
void ptx_lanes_mend(struct ptx_thread *thread);

#endif
