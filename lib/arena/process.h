/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * arena/process.h - what a process keeps for itself and its children must not see.
 *
 * The block is zeroed in a child by the kernel (MADV_WIPEONFORK), whichever way it was forked:
 * a child starts as a process that never traced, even if no fork handler ran in it.
 */
#ifndef PTX_ARENA_PROCESS_H
#define PTX_ARENA_PROCESS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define PTX_STREAMS 64  /* active streams of one traced process; one bit each in attached */
#define PTX_HANDLES 1024 /* identifiers of one process: active streams and opened logs */

#define PTX_THREAD_POOLS 2

struct ptx_view;
struct ptx_thread;
struct ptx_stream;

struct ptx_private {
	_Atomic uint32_t pid; /* 0: a child that has not been set up yet */
	_Atomic uint32_t attempt; /* the last one of ptx_process_child() to set it up */
	_Atomic(struct ptx_thread *) threads; /* all there ever were */
	_Atomic uint64_t free_threads;        /* those that no thread has: tag 16 | address 48 */
	_Atomic uint32_t pool_used[PTX_THREAD_POOLS]; /* of the objects in point/object.c's pools */
	_Atomic(struct ptx_view *) view[PTX_STREAMS];
	_Atomic uint32_t streams; /* identifiers of active ones */
	bool has_quota; /* the account in quota.c is of this process */
	struct ptx_stream *unused; /* memory for streams, under the lock of stream/registry.c */
	_Atomic(struct ptx_stream *) handle[PTX_HANDLES];
};

union ptx_private_block {
	struct ptx_private is;
	unsigned char bytes[3 * 4096];
};

extern union ptx_private_block ptx_private_block;
#define ptx_private (ptx_private_block.is)

/* From the library's constructor, or from the first call of all if that comes before it. */
void ptx_process_init(void);

/*
 * In a child: gives it an arena of its own with a copy of the event names. From the fork handler,
 * ptx_process_forked(), or from the first call that finds pid 0. Async-signal-safe.
 */
void ptx_process_child(void);

/* The process's id, which it asked for when it began. */
uint32_t ptx_process_pid(void);

/*
 * The same as ptx_process_child(), of the fork handler in a child: zeroes the block itself where
 * the advice was without effect, in an emulator that takes it and does nothing, or with Linux
 * before 4.14.
 */
void ptx_process_forked(void);

/* Called by ptx_process_child() first. */
extern void (*ptx_process_before_child)(void);

/* Where a child learns its own id, without a system call where that can be. */
extern uint32_t (*ptx_process_pid_of_child)(void);

static inline bool ptx_process_is_child(void)
{
	return atomic_load_explicit(&ptx_private.pid, memory_order_relaxed) == 0;
}

#endif
