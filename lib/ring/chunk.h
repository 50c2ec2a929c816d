/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * ring/chunk.h - a chunk for a ring, between ring_write.c, spare.c and claim.c.
 */
#ifndef PTX_RING_CHUNK_H
#define PTX_RING_CHUNK_H

#include "ring/ring.h"

/*
 * Takes a chunk of the pool, overwriting one where that is the stream's policy, and opens it;
 * before are the ring's records before it. It is not yet the ring's: *link is what the ring's
 * current is to be. NULL when there is none: the pool has none, or *loss is PTX_WRITER_NO_MEMORY.
 */
struct ptx_chunk *ptx_chunk_open(struct ptx_rings *rings, uint32_t ring,
				 const struct ptx_ident *ident, uint32_t before, uint64_t *link,
				 enum ptx_writer_loss *loss);

/*
 * The closed chunk with the oldest last record, the record's time, and the low 16 bits of the
 * chunk's generation; PTX_NONE: there is none.
 */
uint32_t ptx_chunk_oldest(const struct ptx_rings *rings, uint64_t *time, uint32_t *generation);

#endif
