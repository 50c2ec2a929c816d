/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * ring/spare.h - which chunks a LOOP stream can spare while its pool can still grow.
 *
 * A chunk is spare if the stream holds its capacity in events that are younger than all events of
 * the chunk. A spare chunk stays spare; DESIGN 7 has the reason. So the result of a search is one
 * time, region->spare, which only grows. Writers need no agreement, and a writer that is killed or
 * leaves by longjmp() leaves nothing to repair.
 *
 * Threads   writers.
 * Signals   async-signal-safe.
 */
#ifndef PTX_RING_SPARE_H
#define PTX_RING_SPARE_H

#include "ring/ring.h"

/*
 * Overwrites a spare chunk for the ring. The open chunk of this ring, if there is one, has no room
 * for the next record. Returns the number of the overwritten chunk, which is then OPENING, or
 * PTX_NONE if no chunk was overwritten.
 */
uint32_t ptx_spare_take(struct ptx_rings *rings, uint32_t ring);

#endif
