/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * posix/call.h - the beginning and the end of most public functions, and access to streams.
 *
 * errno belongs to the program (GEN-02). While a function runs, its thread is not cancelled
 * (SIGCAN-01 to SIGCAN-03); only the two functions that wait for an event permit cancellation, at
 * one place in getnext.c.
 *
 * A caller uses a stream in one of two ways. If the caller locks the stream, no other thread uses
 * the stream meanwhile, so the caller must unlock it soon. If the caller enters the stream, other
 * threads can use the stream, too, and the stream is not freed before the caller leaves it. So a
 * caller that has entered a stream may wait.
 *
 * Threads   all functions may run concurrently.
 */
#ifndef PTX_POSIX_CALL_H
#define PTX_POSIX_CALL_H

#include <errno.h>
#include <pthread.h>

#include "base/export.h"
#include "posix/registry.h"

/* The state of the calling thread that a function restores. */
struct ptx_call {
	int saved_errno;
	int cancel_state;
};

/*
 * A public function calls ptx_call_begin() in its first statement. POSIX does not list
 * pthread_setcancelstate() as async-signal-safe. So most functions that signal handlers may call
 * save errno themselves. The first use of a line of trace_point_np.h calls ptx_call_begin()
 * nevertheless (site.c), because glibc and musl make pthread_setcancelstate() async-signal-safe.
 * Functions that make no system call omit ptx_call_begin().
 */
static inline struct ptx_call ptx_call_begin(void)
{
	struct ptx_call call = { .saved_errno = errno };

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &call.cancel_state);
	return call;
}

/* Called in the last statement of a public function: restores the state and returns err. */
static inline int ptx_call_end(struct ptx_call call, int err)
{
	pthread_setcancelstate(call.cancel_state, NULL);
	errno = call.saved_errno;
	return err;
}

/*
 * Kinds of streams, to be combined with |. UNLOGGED: active without log; LOGGED: active with log;
 * STORED: an opened log.
 */
#define PTX_UNLOGGED (1u << PTX_STREAM_UNLOGGED)
#define PTX_LOGGED (1u << PTX_STREAM_LOGGED)
#define PTX_STORED (1u << PTX_STREAM_STORED)
#define PTX_ACTIVE   (PTX_UNLOGGED | PTX_LOGGED)
#define PTX_ANY    (PTX_ACTIVE | PTX_STORED)

/*
 * Returns the locked stream if it is of one of the kinds. Returns NULL if the identifier is invalid
 * or the stream is of another kind. The public function then returns EINVAL (LEGAL-01, LEGAL-02).
 */
static inline struct ptx_stream *ptx_stream_lock(trace_id_t trid, unsigned kinds)
{
	struct ptx_stream *stream = ptx_registry_lock(trid);

	if (stream && !(kinds >> stream->kind & 1)) {
		pthread_mutex_unlock(&stream->lock);
		return NULL;
	}
	return stream;
}

/* Ends ptx_stream_lock(). */
static inline void ptx_stream_unlock(struct ptx_stream *stream)
{
	pthread_mutex_unlock(&stream->lock);
}

/*
 * Enters the stream and returns it if it is of one of the kinds. Otherwise returns NULL. The caller
 * leaves the stream by ptx_registry_leave().
 */
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
