/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * posix/linger.c - how long a stream outlives its creator.
 *
 * The time is in the stream's attachment, which the guardian reads when the creator has ended. So
 * the controller can set the time whenever the stream exists, without a message to the guardian.
 */
#include <trace_np.h>

#include "point/view.h"
#include "posix/call.h"
#include "posix/guard.h"

/*
 * Refuses a stream without a log: no guardian waits for its creator, so the time would have no
 * effect.
 */
PTX_EXPORT int posix_trace_set_linger_np(trace_id_t trid, int milliseconds)
{
	struct ptx_call call = ptx_call_begin();
	struct ptx_stream *stream;
	struct ptx_view *view;

	if (milliseconds < 0 || (unsigned)milliseconds > PTX_LINGER_MAX_MS)
		return ptx_call_end(call, EINVAL);
	stream = ptx_stream_lock(trid, PTX_LOGGED);
	if (!stream)
		return ptx_call_end(call, EINVAL);
	view = stream->view;
	/* The kernel orders this store before the release of the creator's lock. */
	atomic_store_explicit(&view->arena->control->attachment[view->bit].linger_ms,
			      (uint32_t)milliseconds, memory_order_relaxed);
	ptx_stream_unlock(stream);
	return ptx_call_end(call, 0);
}
