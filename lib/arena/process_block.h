/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * arena/process_block.h - the data that a process keeps for itself, hidden from its children. The
 * kernel zeroes the block in a child (MADV_WIPEONFORK), however it was forked. So a child begins as
 * a process that never traced, even if no fork handler ran in it.
 */
#ifndef PTX_ARENA_PROCESS_BLOCK_H
#define PTX_ARENA_PROCESS_BLOCK_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* active streams of one traced process; each has one bit in the member `attached` */
#define PTX_STREAMS 64
#define PTX_HANDLES 1024 /* identifiers of one process: active streams and opened logs */

#define PTX_THREAD_POOLS 2

struct ptx_view;
struct ptx_thread;
struct ptx_stream;

struct ptx_private {
	_Atomic uint32_t pid; /* 0: a child that has not been set up yet */
	_Atomic uint32_t attempt; /* number of the latest call that sets up the child */
	_Atomic(struct ptx_thread *) threads; /* all thread objects ever made */
	/* list of the objects that no thread uses: 16 bits of tag above 48 bits of address */
	_Atomic uint64_t free_threads;
	_Atomic uint32_t pool_used[PTX_THREAD_POOLS]; /* objects of each pool, point/object.c */
	_Atomic(struct ptx_view *) view[PTX_STREAMS];
	_Atomic uint32_t streams; /* identifiers of active streams */
	bool has_quota; /* the places in meet/quota.c are locked by this process itself */
	struct ptx_stream *unused; /* free memory of streams, under the lock of posix/registry.c */
	_Atomic(struct ptx_stream *) handle[PTX_HANDLES];
};

union ptx_private_block {
	struct ptx_private is;
	unsigned char bytes[3 * 4096];
};

extern union ptx_private_block ptx_private_block;
#define ptx_private (ptx_private_block.is)

/* Returns true if this process is a child whose block is not set up yet. Async-signal-safe. */
static inline bool ptx_process_is_child(void)
{
	return atomic_load_explicit(&ptx_private.pid, memory_order_relaxed) == 0;
}

#endif
