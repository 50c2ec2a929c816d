/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * stream/registry.h - from identifiers to streams.
 *
 * An identifier is a place and a generation. A lookup is a few loads under RCU; a stream is freed
 * a grace period after its identifier became invalid. Identifiers of a parent mean nothing in its
 * child: the table is wiped at fork.
 *
 * Threads   all; a call brackets its use of the stream with enter and leave. One that may sleep
 *           holds the stream instead, so that nobody waits for a grace period that long.
 */
#ifndef PTX_STREAM_REGISTRY_H
#define PTX_STREAM_REGISTRY_H

/* The short functions of liburcu inline, as its licence allows us; its readers lie in memory that
 * is less aligned than they say, which UBSan would report as ours. */
#if !defined __SANITIZE_ADDRESS__
#define _LGPL_SOURCE
#endif
#include <urcu/urcu-bp.h>

#include "arena/process.h"
#include "stream/stream.h"

/* liburcu orders what a call did before its stream is freed, which ThreadSanitizer cannot see. */
#if defined __SANITIZE_THREAD__
void __tsan_acquire(void *address);
void __tsan_release(void *address);
#define ptx_registry_tell_acquire() __tsan_acquire(&ptx_private)
#define ptx_registry_tell_release() __tsan_release(&ptx_private)
#else
#define ptx_registry_tell_acquire() ((void)0)
#define ptx_registry_tell_release() ((void)0)
#endif

static inline void ptx_registry_leave(void)
{
	ptx_registry_tell_release();
	urcu_bp_read_unlock();
}

/*
 * Whether this process has ever had a stream. Until then nobody enters RCU, and a fork need not block all
 * signals for it. Set with the lock that a fork holds.
 */
extern atomic_bool ptx_registry_is_used;

/* The stream and the right to use it until leave, or NULL. */
static inline struct ptx_stream *ptx_registry_enter(trace_id_t id)
{
	struct ptx_stream *stream;

	if (!atomic_load_explicit(&ptx_registry_is_used, memory_order_acquire))
		return NULL;
	urcu_bp_read_lock();
	stream = atomic_load_explicit(&ptx_private.handle[id % PTX_HANDLES], memory_order_acquire);
	if (stream && stream->id == id)
		return stream;
	ptx_registry_leave();
	return NULL;
}

/* Between enter and leave: makes the stream stay after leave, until let_go. */
void ptx_registry_hold(struct ptx_stream *stream);
void ptx_registry_let_go(struct ptx_stream *stream);

/* EMFILE when there are too many. */
int ptx_registry_add(struct ptx_stream *stream);

/*
 * Ends the identifier: true for the one caller that succeeds. When it returns, no call is inside
 * but those that hold the stream; ptx_registry_settle() waits for them.
 */
bool ptx_registry_remove(struct ptx_stream *stream);
void ptx_registry_settle(struct ptx_stream *stream);

/* The streams of kind LIVE or LOGGED that exist, at most room of them. */
unsigned ptx_registry_active(trace_id_t *ids, unsigned room);

/* From before a stream has a log's descriptor until it has none: a child closes it. */
void ptx_registry_enlist(struct ptx_stream *stream);
void ptx_registry_delist(struct ptx_stream *stream);
void ptx_registry_note_log(struct ptx_stream *stream, int fd);

/* From the fork handlers. A child closes its parent's logs and never touches the streams. */
void ptx_registry_before_fork(void);
void ptx_registry_after_fork(bool child);

#endif
