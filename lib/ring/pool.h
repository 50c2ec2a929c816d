/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * ring/pool.h - which chunks a stream has, and how much of each is memory.
 *
 * The pool begins with what the stream's size asks for and grows with the rings. A chunk that was
 * never used is address space: its writer makes it present from the beginning on, before the first
 * record that needs it, and it stays present for all later writers. So a stream's memory follows
 * its use, and a writer that goes over chunks that were used before makes no system call and meets
 * no page fault.
 *
 * Threads   writers. What is present of a chunk is changed by the one that holds the chunk.
 * Signals   all functions are async-signal-safe.
 */
#ifndef PTX_RING_POOL_H
#define PTX_RING_POOL_H

#include "ring/ring.h"

#define PTX_POOL_PAGE 4096u

/*
 * Adds a chunk to the pool, in state OPENING for ring. PTX_NONE: the pool has as many as its rings
 * allow or as the stream's promise needs, or *loss is PTX_WRITER_NO_MEMORY.
 */
uint32_t ptx_pool_grow(struct ptx_rings *rings, uint32_t ring, enum ptx_writer_loss *loss);

/*
 * Makes a number of the pool that has no chunk yet, state ABSENT, a chunk in state OPENING for
 * ring. False: another writer was quicker.
 */
bool ptx_pool_add(struct ptx_rings *rings, uint32_t number, uint32_t ring);

/*
 * At least one part-th of what the stream's size asks for is taken by closed chunks. Each ring has
 * one that is open, and keeps it.
 */
bool ptx_pool_is_filling(const struct ptx_rings *rings, uint32_t part);

/*
 * A LOOP stream has so many chunks that one more would exceed the memory that its attributes ask
 * for. False if the pool cannot grow.
 */
bool ptx_pool_has_its_memory(const struct ptx_rings *rings);

/*
 * A stream without policy LOOP holds all that its size promises, so that it need not grow for one
 * more chunk: it is full. False also where it takes long to find out.
 */
bool ptx_pool_is_enough(const struct ptx_rings *rings);

/* Makes the first bytes of the chunk present, header included; false without memory. */
bool ptx_pool_present(struct ptx_rings *rings, uint32_t number, size_t bytes);

/* Makes the part of a table that an entry lies in present; false without memory. */
bool ptx_pool_entry(struct ptx_rings *rings, uint32_t index, uint32_t first,
		    const volatile void *entry, size_t bytes);

/* The queues of hints for more rings, before there are so many; false without memory. */
bool ptx_pool_hints(struct ptx_rings *rings, uint32_t ring);

#endif
