/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * ring/chunk.h - opens a chunk for a ring; ring_write.c, spare.c and claim.c use it.
 *
 * Threads   writers, any number. Signals: async-signal-safe.
 */
#ifndef PTX_RING_CHUNK_H
#define PTX_RING_CHUNK_H

#include "ring/ring.h"

/*
 * Takes a chunk of the pool and opens it. In a LOOP stream it may overwrite a closed chunk. The
 * parameter `before` is the number of the ring's records before this chunk. The chunk is not in the
 * ring yet: the caller stores *link as the ring's member `current`. Returns NULL if the pool has no
 * chunk. Also returns NULL if there is no memory; *loss is then PTX_WRITER_NO_MEMORY.
 */
struct ptx_chunk *ptx_chunk_open(struct ptx_rings *rings, uint32_t ring,
				 const struct ptx_ident *ident, uint32_t before, uint64_t *link,
				 enum ptx_writer_loss *loss);

/*
 * Returns the number of the closed chunk whose last record is the oldest, or PTX_NONE if there is
 * none. Stores the time of that record in *time, and the low 16 bits of the chunk's generation in
 * *generation.
 */
uint32_t ptx_chunk_oldest(const struct ptx_rings *rings, uint64_t *time, uint32_t *generation);

#endif
