/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * arena/process_block.h - the private data of a process, which its children do not inherit. The
 * kernel zeroes the block in each forked child (MADV_WIPEONFORK). So a child begins like a process
 * that has never traced, even if no fork handler has run in the child.
 */
#ifndef PTX_ARENA_PROCESS_BLOCK_H
#define PTX_ARENA_PROCESS_BLOCK_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * greatest number of active streams of one traced process; each has a bit in the member `attached`
 * of the control page
 */
#define PTX_STREAMS 64
/* greatest number of identifiers (trace_id_t) of one process: active streams and opened logs */
#define PTX_HANDLES 1024

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
	/* objects in use in each pool (point/object.c) */
	_Atomic uint32_t pool_used[PTX_THREAD_POOLS];
	_Atomic(struct ptx_view *) view[PTX_STREAMS];
	_Atomic uint32_t streams; /* number of identifiers of active streams */
	/*
	 * Streams in which the former program of this process may have left rings (point/adopt.c).
	 * `former` has the bit of such a stream until a thread begins to take these rings. `fresh`
	 * has the bit until a thread of this program may claim a ring of the stream.
	 */
	_Atomic uint64_t former, fresh;
	atomic_bool has_own_table; /* a table of descriptors of its own (arena/descriptors.h) */
	bool has_quota; /* this process has locked its places of meet/quota.c itself */
	struct ptx_stream *unused; /* free memory of streams, under the lock of posix/registry.c */
	_Atomic(struct ptx_stream *) handle[PTX_HANDLES];
};

union ptx_private_block {
	struct ptx_private is;
	unsigned char bytes[3 * 4096];
};

extern union ptx_private_block ptx_private_block;
#define ptx_private (ptx_private_block.is)

/*
 * Returns true if this process is a forked child whose block is not set up yet. Async-signal-safe.
 */
static inline bool ptx_process_is_child(void)
{
	return atomic_load_explicit(&ptx_private.pid, memory_order_relaxed) == 0;
}

#endif
