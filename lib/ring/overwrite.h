/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * ring/overwrite.h - how a writer of a LOOP stream overwrites a closed chunk.
 *
 * Threads   writers, any number. Signals: async-signal-safe.
 */
#ifndef PTX_RING_OVERWRITE_H
#define PTX_RING_OVERWRITE_H

#include "ring/ring.h"

/*
 * Takes the chunk with this number for the ring, if the chunk is CLOSED and its generation has
 * these low 16 bits (PTX_NONE: any generation). Raises the cut, and counts as lost the
 * records that the reader had not claimed. Returns false if it did not take the chunk.
 */
bool ptx_overwrite(struct ptx_rings *rings, uint32_t number, uint32_t generation, uint32_t ring);

/* Counts the records that an interrupted ptx_overwrite() of the chunk left uncounted. */
void ptx_overwrite_finish(struct ptx_rings *rings, uint32_t number);

#endif
