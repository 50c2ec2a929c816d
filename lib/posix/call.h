/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * posix/call.h - what every function does first and last.
 *
 * errno belongs to the program (GEN-02), and nothing inside may act on a cancellation request
 * (SIGCAN-03): the two readers that wait open their own window for that.
 */
#ifndef PTX_POSIX_CALL_H
#define PTX_POSIX_CALL_H

#include <errno.h>
#include <pthread.h>

#include "base/export.h"
#include "posix/registry.h"

struct ptx_call {
	int saved_errno;
	int cancel_state;
};

static inline struct ptx_call ptx_call_begin(void)
{
	struct ptx_call call = { .saved_errno = errno };

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &call.cancel_state);
	return call;
}

static inline int ptx_call_end(struct ptx_call call, int err)
{
	pthread_setcancelstate(call.cancel_state, NULL);
	errno = call.saved_errno;
	return err;
}

/* Kinds of streams, to be or'ed. */
#define PTX_LIVE   (1u << PTX_STREAM_LIVE)
#define PTX_LOGGED (1u << PTX_STREAM_LOGGED)
#define PTX_STORED (1u << PTX_STREAM_STORED)
#define PTX_ACTIVE (PTX_LIVE | PTX_LOGGED)
#define PTX_ANY    (PTX_ACTIVE | PTX_STORED)

/* The locked stream if it is of one of kinds, or NULL: EINVAL (LEGAL-01). */
static inline struct ptx_stream *ptx_stream_lock(trace_id_t trid, unsigned kinds)
{
	struct ptx_stream *stream = ptx_registry_lock(trid);

	if (stream && !(kinds >> stream->kind & 1)) {
		pthread_mutex_unlock(&stream->lock);
		return NULL;
	}
	return stream;
}

static inline void ptx_stream_unlock(struct ptx_stream *stream)
{
	pthread_mutex_unlock(&stream->lock);
}

/* The entered stream if it is of one of kinds, or NULL. */
static inline struct ptx_stream *ptx_stream_enter(trace_id_t trid, unsigned kinds)
{
	struct ptx_stream *stream = ptx_registry_enter(trid);

	if (stream && !(kinds >> stream->kind & 1)) {
		ptx_registry_leave(stream);
		return NULL;
	}
	return stream;
}

#endif
