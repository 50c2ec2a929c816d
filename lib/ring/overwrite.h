/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * ring/overwrite.h - a LOOP stream's oldest chunk is taken from the reader.
 */
#ifndef PTX_RING_OVERWRITE_H
#define PTX_RING_OVERWRITE_H

#include "ring/ring.h"

/*
 * Takes chunk number for ring if it is CLOSED and of that generation (its low 16 bits; PTX_NONE:
 * of any), counts what the reader had not claimed, and raises the cut. False: it is not to be had.
 */
bool ptx_overwrite(struct ptx_rings *rings, uint32_t number, uint32_t generation, uint32_t ring);

/* Counts the records that an interrupted ptx_overwrite() of the chunk left uncounted. */
void ptx_overwrite_finish(struct ptx_rings *rings, uint32_t number);

#endif
