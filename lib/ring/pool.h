/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * ring/pool.h - the chunks of a stream, and how much of each is present memory.
 *
 * The pool begins with the chunks that the stream's size requires, and grows with the rings. A
 * chunk that was never used is address space only. Its writer makes the chunk present, from its
 * beginning on, before the first record that needs the memory. The memory stays present for all
 * later writers. So the memory of a stream follows its use. A writer that uses old chunks makes no
 * system call and causes no page fault.
 *
 * Threads   writers. Only the holder of a chunk makes parts of it present.
 * Signals   all functions are async-signal-safe.
 */
#ifndef PTX_RING_POOL_H
#define PTX_RING_POOL_H

#include "ring/ring.h"

#define PTX_POOL_PAGE 4096u

/*
 * Adds a chunk to the pool, in state OPENING for the ring. Returns PTX_NONE if the pool already has
 * all chunks that its rings allow or that the size of the stream requires. Also returns PTX_NONE if
 * there is no memory; *loss is then PTX_WRITER_NO_MEMORY.
 */
uint32_t ptx_pool_grow(struct ptx_rings *rings, uint32_t ring, enum ptx_writer_loss *loss);

/*
 * Turns a number of the pool without a chunk, state ABSENT, into a chunk in state OPENING for the
 * ring. Returns false if another writer was faster.
 */
bool ptx_pool_add(struct ptx_rings *rings, uint32_t number, uint32_t ring);

/*
 * Returns true if closed chunks occupy at least 1/part of the stream's size. Open chunks do not
 * count, since each ring keeps one.
 */
bool ptx_pool_is_filling(const struct ptx_rings *rings, uint32_t part);

/*
 * Returns true if the pool has fewer chunks than its rings allow. A writer calls this function at
 * each change of chunks, and omits the further checks if the result is false.
 */
bool ptx_pool_can_grow(const struct ptx_rings *rings);

/*
 * Returns true if one more chunk would exceed the memory that the stream's attributes ask for.
 * Returns false if the pool cannot grow.
 */
bool ptx_pool_has_its_memory(const struct ptx_rings *rings);

/*
 * Returns true if a stream without policy LOOP is full: it holds as many bytes as its size
 * promises. Returns false for a LOOP stream, and if the pool has too many chunks for a search.
 */
bool ptx_pool_is_enough(const struct ptx_rings *rings);

/*
 * Makes the first bytes of the chunk, with its header, present. Returns false if memory is lacking.
 */
bool ptx_pool_present(struct ptx_rings *rings, uint32_t number, size_t bytes);

/*
 * Makes one entry of a table present, or several entries in a row. The parameter `entry` is the
 * address of the first of these entries, `bytes` is their size together, and `index` is the index
 * of the last of them. Entries whose index is below `first` are present already. Returns false if
 * there is no memory.
 */
bool ptx_pool_entry(struct ptx_rings *rings, enum ptx_table table, uint32_t index, uint32_t first,
		    const volatile void *entry, size_t bytes);

/*
 * Makes the queues of hints present that the stream needs from the ring with this number on.
 * Returns false if memory is lacking.
 */
bool ptx_pool_hints(struct ptx_rings *rings, uint32_t ring);

#endif
