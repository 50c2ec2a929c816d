/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * posix/registry.h - from identifiers to streams.
 *
 * An identifier is a place in a table and a generation. Streams are type-stable: their memory is
 * used again for other streams, and for nothing else. A call that finds a stream by its place may
 * therefore lock the stream, or count itself as its user. Then the call checks whether this stream
 * is still the stream of the identifier. The lock or the count alone protects the stream. So the
 * registry needs no membarrier(2), which a sandbox may refuse.
 *
 * Identifiers of a parent are invalid in its child: at the fork the kernel zeroes the table and the
 * list of memory for new streams. If a call is interrupted by a fork, it continues in the child
 * with the child's copy of the parent's stream.
 *
 * Threads   all functions may run concurrently. A call locks its stream, or enters and leaves it
 *           if it may sleep or write to a log.
 * Errors    errno may change; the public functions restore it.
 */
#ifndef PTX_POSIX_REGISTRY_H
#define PTX_POSIX_REGISTRY_H

#include "arena/process_block.h"
#include "posix/stream.h"

static inline bool ptx_registry_is(struct ptx_stream *stream, trace_id_t id)
{
	return atomic_load_explicit(&stream->id, memory_order_seq_cst) == id;
}

/* Returns the stream or NULL. Another thread may remove it at any time. */
static inline struct ptx_stream *ptx_registry_find(trace_id_t id)
{
	struct ptx_stream *stream = atomic_load_explicit(&ptx_private.handle[id % PTX_HANDLES],
							 memory_order_acquire);

	return stream && ptx_registry_is(stream, id) ? stream : NULL;
}

/* Returns the stream, locked, or NULL. The caller must not use it after the unlock. */
static inline struct ptx_stream *ptx_registry_lock(trace_id_t id)
{
	struct ptx_stream *stream = ptx_registry_find(id);

	if (!stream)
		return NULL;
	pthread_mutex_lock(&stream->lock);
	if (ptx_registry_is(stream, id))
		return stream;
	pthread_mutex_unlock(&stream->lock);
	return NULL;
}

/* Returns the stream, which is not freed until ptx_registry_leave(), or NULL. */
struct ptx_stream *ptx_registry_enter(trace_id_t id);
void ptx_registry_leave(struct ptx_stream *stream);

/*
 * Enters a stream that the caller has locked. The stream is not freed before the caller has called
 * ptx_registry_leave(), although the caller unlocks the stream before.
 */
void ptx_registry_hold(struct ptx_stream *stream);

/*
 * ptx_registry_new() returns a stream without identifier, or NULL if memory is lacking. All members
 * are 0, with three exceptions: the lock is free, log_fd and other_fd are -1, and `users` may count
 * late calls with an old identifier. The caller passes the stream to ptx_registry_drop() when no
 * call uses it. ptx_registry_note_log() records the descriptor of the stream's log, which a child
 * closes. ptx_registry_note_other() does this for a second log; -1: none. ptx_registry_swap_logs()
 * exchanges the two logs.
 */
struct ptx_stream *ptx_registry_new(void);
void ptx_registry_drop(struct ptx_stream *stream);
void ptx_registry_note_log(struct ptx_stream *stream, int fd);
void ptx_registry_note_other(struct ptx_stream *stream, int fd);
void ptx_registry_swap_logs(struct ptx_stream *stream);

/* Gives the stream an identifier. EMFILE: the table is full. */
int ptx_registry_add(struct ptx_stream *stream);

/*
 * Makes the identifier invalid. If several threads call ptx_registry_remove() for one stream, it
 * returns true to one of them only. The caller has entered the stream and must leave it before it
 * calls ptx_registry_wait_unused(), which returns when no call uses the stream any more.
 */
bool ptx_registry_remove(struct ptx_stream *stream);
void ptx_registry_wait_unused(struct ptx_stream *stream);

/*
 * Stores the identifiers of all streams of kind UNLOGGED or LOGGED, at most `room` of them, and
 * returns their number.
 */
unsigned ptx_registry_active(trace_id_t *ids, unsigned room);

/*
 * Called by the fork handlers. A child closes its parent's logs and does not use its streams. From
 * ptx_registry_before_fork() to ptx_registry_after_fork(), no other thread forks. So a function may
 * also put these two calls around steps that a fork must not separate. It then passes false to
 * ptx_registry_after_fork().
 */
void ptx_registry_before_fork(void);
void ptx_registry_after_fork(bool child);

#endif
