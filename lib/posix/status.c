/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "cursor/stored.h"
#include "flush/flush.h"
#include "point/view.h"
#include "posix/call.h"
#include "posix/status.h"

static void stored_status(const struct ptx_log_status *from, struct posix_trace_status_info *to)
{
	to->posix_stream_status = from->stream_status;
	to->posix_stream_full_status = from->stream_full;
	to->posix_stream_overrun_status = from->stream_overrun;
	to->posix_stream_flush_status = from->flush_status;
	to->posix_stream_flush_error = from->flush_error;
	to->posix_log_overrun_status = from->log_overrun;
	to->posix_log_full_status = from->log_full;
}

static bool take_overrun(struct ptx_region *region, bool reset)
{
	/* An exchange: a loss at this moment is told by this call or by the next (STATUS-09). */
	return reset ? atomic_exchange_explicit(&region->overrun, 0, memory_order_relaxed)
		     : atomic_load_explicit(&region->overrun, memory_order_relaxed);
}

void ptx_posix_status(struct ptx_stream *stream, struct posix_trace_status_info *info, bool reset)
{
	struct ptx_region *region = stream->view->rings.region;
	enum ptx_state kind;

	/*
	 * A reader must take from a LOOP stream what it looks at. Of a stream with a log that is
	 * left to the flush: what a killed controller has taken and not written is lost.
	 */
	if (!stream->view->rings.loop || !stream->flush)
		ptx_drain_pass(stream->drain);
	memset(info, 0, sizeof *info);
	if (stream->flush) {
		struct ptx_flush_status flush;
		bool append = stream->attr.log_policy == POSIX_TRACE_APPEND;

		ptx_flush_status(stream->flush, &flush, reset);
		info->posix_stream_flush_status =
			flush.flushing ? POSIX_TRACE_FLUSHING : POSIX_TRACE_NOT_FLUSHING;
		info->posix_stream_flush_error = flush.error;
		info->posix_log_overrun_status =
			flush.log_overrun ? POSIX_TRACE_OVERRUN : POSIX_TRACE_NO_OVERRUN;
		info->posix_log_full_status =
			flush.log_full && !append ? POSIX_TRACE_FULL : POSIX_TRACE_NOT_FULL;
	}
	kind = ptx_state_kind(atomic_load_explicit(&region->state, memory_order_acquire));
	info->posix_stream_status =
		kind == PTX_RUNNING ? POSIX_TRACE_RUNNING : POSIX_TRACE_SUSPENDED;
	info->posix_stream_full_status =
		kind == PTX_FULL || kind == PTX_HELD ||
				(stream->view->rings.loop &&
				 atomic_load_explicit(&region->looped, memory_order_relaxed))
			? POSIX_TRACE_FULL
			: POSIX_TRACE_NOT_FULL;
	info->posix_stream_overrun_status =
		take_overrun(region, reset) ? POSIX_TRACE_OVERRUN : POSIX_TRACE_NO_OVERRUN;
}

PTX_EXPORT int posix_trace_get_status(trace_id_t trid, struct posix_trace_status_info *info)
{
	struct ptx_call call = ptx_call_begin();
	struct ptx_stream *stream;

	if (!info)
		return ptx_call_end(call, EINVAL);
	stream = ptx_stream_lock(trid, PTX_ANY);
	if (!stream)
		return ptx_call_end(call, EINVAL);
	if (stream->kind == PTX_STREAM_STORED)
		stored_status(ptx_stored_status(stream->stored), info);
	else
		ptx_posix_status(stream, info, true);
	ptx_stream_unlock(stream);
	return ptx_call_end(call, 0);
}

PTX_EXPORT int posix_trace_get_attr(trace_id_t trid, trace_attr_t *attr)
{
	struct ptx_call call = ptx_call_begin();
	struct ptx_stream *stream;

	if (!attr)
		return ptx_call_end(call, EINVAL);
	stream = ptx_stream_lock(trid, PTX_ANY);
	if (!stream)
		return ptx_call_end(call, EINVAL);
	memset(attr, 0, sizeof *attr);
	memcpy(attr, &stream->attr, sizeof stream->attr);
	ptx_stream_unlock(stream);
	return ptx_call_end(call, 0);
}
