/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * drain/synthetic.h - synthetic events: the drain makes them from marks and from gaps. They wait in
 * drain->queue, are delivered before the next record, and are subject to the filter.
 *
 * Threads   the caller holds the stream's lock.
 */
#ifndef PTX_DRAIN_SYNTHETIC_H
#define PTX_DRAIN_SYNTHETIC_H

#include "drain/drain.h"

/*
 * Called when delivery has reached the first mark. Removes the mark, changes the drain's state, and
 * queues the events that report the mark. A START or STOP by a call needs none, because the
 * controller has recorded it. If `silent` is true, queues no event, because the events around the
 * mark are lost or cleared.
 */
void ptx_synthetic_mark(struct ptx_drain *drain, const struct ptx_mark *first, bool silent);

/*
 * Queues OVERFLOW at the time of the first lost event, and RESUME at after_gap: the time of the
 * survivor, which is the first event that was not lost.
 */
void ptx_synthetic_gap(struct ptx_drain *drain, uint64_t after_gap);

/*
 * Removes the first event of the queue. Counts it as delivered if `cause` is PTX_LOST_CAUSES,
 * otherwise as lost for this cause.
 */
void ptx_synthetic_consume(struct ptx_drain *drain, enum ptx_lost cause);

#endif
