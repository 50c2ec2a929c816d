/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * posix/registry.h - from identifiers to streams.
 *
 * An identifier is a place and a generation. Streams are type-stable: their memory is used for
 * other streams, and never for anything else. A call that finds a stream by its place may
 * therefore lock it, or count itself as its user, and looks then whether it is still the one that
 * the identifier names. Neither needs more than the lock or the count, and no membarrier(2), which
 * a sandbox may forbid.
 *
 * Identifiers of a parent mean nothing in its child: the table is wiped at fork, and so is the
 * list of memory for new streams. A call that the fork interrupted ends with its parent's stream,
 * in the copy of it.
 *
 * Threads   all; a call locks its stream, or enters and leaves it where it may sleep or do I/O.
 */
#ifndef PTX_POSIX_REGISTRY_H
#define PTX_POSIX_REGISTRY_H

#include "arena/process_block.h"
#include "posix/stream.h"

static inline bool ptx_registry_is(struct ptx_stream *stream, trace_id_t id)
{
	return atomic_load_explicit(&stream->id, memory_order_seq_cst) == id;
}

/* The stream or NULL. Another thread may end it at any time. */
static inline struct ptx_stream *ptx_registry_find(trace_id_t id)
{
	struct ptx_stream *stream = atomic_load_explicit(&ptx_private.handle[id % PTX_HANDLES],
							 memory_order_acquire);

	return stream && ptx_registry_is(stream, id) ? stream : NULL;
}

/* The stream, locked, or NULL. After the unlock the caller must not use it. */
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

/* The stream and the right to use it until leave, or NULL. */
struct ptx_stream *ptx_registry_enter(trace_id_t id);
void ptx_registry_leave(struct ptx_stream *stream);

/* Of a stream that the caller has locked: makes it stay after the unlock, until leave. */
void ptx_registry_hold(struct ptx_stream *stream);

/*
 * A stream that has no identifier yet, zeroed but for its lock, which is open; NULL without
 * memory. drop takes it back when no call uses it. In between a child knows of its log and closes
 * it.
 */
struct ptx_stream *ptx_registry_new(void);
void ptx_registry_drop(struct ptx_stream *stream);
void ptx_registry_note_log(struct ptx_stream *stream, int fd);

/* Gives it an identifier; EMFILE when there are too many. */
int ptx_registry_add(struct ptx_stream *stream);

/*
 * Ends the identifier: true for the one caller that succeeds, who has entered the stream and
 * leaves it before ptx_registry_settle(). That returns when no call uses the stream.
 */
bool ptx_registry_remove(struct ptx_stream *stream);
void ptx_registry_settle(struct ptx_stream *stream);

/* The streams of kind LIVE or LOGGED that exist, at most room of them. */
unsigned ptx_registry_active(trace_id_t *ids, unsigned room);

/* From the fork handlers. A child closes its parent's logs and never touches the streams. */
void ptx_registry_before_fork(void);
void ptx_registry_after_fork(bool child);

#endif
