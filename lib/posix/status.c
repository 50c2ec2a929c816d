/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * posix/status.c - posix_trace_get_status(), posix_trace_peek_status_np() and
 * posix_trace_get_attr().
 */
#include <string.h>

#include "cursor/stored.h"
#include "flush/flush.h"
#include "point/view.h"
#include "posix/call.h"
#include "posix/status.h"

/* Converts the status that is stored in a log. Reading it resets nothing (STATUS-16). */
static void stored_status(const struct ptx_log_status *from, struct posix_trace_status_info *to)
{
	/* Logs store the values of the public constants. */
	to->posix_stream_status = from->stream_status;
	to->posix_stream_full_status = from->stream_full;
	to->posix_stream_overrun_status = from->stream_overrun;
	to->posix_stream_flush_status = from->flush_status;
	to->posix_stream_flush_error = from->flush_error;
	to->posix_log_overrun_status = from->log_overrun;
	to->posix_log_full_status = from->log_full;
}

/* Returns the overrun status, and resets it if requested (STATUS-06). */
static bool read_overrun(struct ptx_region *region, bool reset)
{
	/*
	 * An exchange is used, so that a loss at this moment is reported by this call or by the
	 * next call (STATUS-09).
	 */
	return reset ? atomic_exchange_explicit(&region->overrun, 0, memory_order_relaxed)
		     : atomic_load_explicit(&region->overrun, memory_order_relaxed);
}

/* The caller holds the stream's lock, so that the members belong together (STATUS-01). */
void ptx_posix_status(struct ptx_stream *stream, struct posix_trace_status_info *info, bool reset)
{
	struct ptx_region *region = stream->view->rings.region;
	enum ptx_state kind;

	/*
	 * A pass brings the state up to date. In a LOOP stream, a pass also removes events from the
	 * rings. If the controller is killed, events that were removed and not written to the log
	 * are lost. So in a LOOP stream with log, only a flush makes passes.
	 */
	if (!stream->view->rings.loop || !stream->flush)
		ptx_drain_pass(stream->drain);
	/*
	 * Members for logs remain 0 in a stream without log: NOT_FLUSHING, NO_OVERRUN, NOT_FULL
	 * and error 0 (STATUS-15).
	 */
	memset(info, 0, sizeof *info);
	if (stream->flush) {
		struct ptx_flush_status flush;
		/* STATUS-14: an APPEND log is never full. */
		bool append = stream->attr.log_policy == POSIX_TRACE_APPEND;

		/* STATUS-07, STATUS-11 to STATUS-13: the flush has this state. */
		ptx_flush_status(stream->flush, &flush, reset);
		info->posix_stream_flush_status =
			flush.flushing ? POSIX_TRACE_FLUSHING : POSIX_TRACE_NOT_FLUSHING;
		info->posix_stream_flush_error = flush.error;
		info->posix_log_overrun_status =
			flush.log_overrun ? POSIX_TRACE_OVERRUN : POSIX_TRACE_NO_OVERRUN;
		info->posix_log_full_status =
			flush.log_full && !append ? POSIX_TRACE_FULL : POSIX_TRACE_NOT_FULL;
	}
	/* STATUS-02. */
	kind = ptx_state_kind(atomic_load_explicit(&region->state, memory_order_acquire));
	info->posix_stream_status =
		kind == PTX_RUNNING ? POSIX_TRACE_RUNNING : POSIX_TRACE_SUSPENDED;
	/*
	 * STATUS-03: a LOOP stream is FULL once it has overwritten events, until a reader has
	 * made room (SLOOP-09).
	 */
	info->posix_stream_full_status =
		kind == PTX_FULL || kind == PTX_HELD ||
				(stream->view->rings.loop &&
				 atomic_load_explicit(&region->looped, memory_order_relaxed))
			? POSIX_TRACE_FULL
			: POSIX_TRACE_NOT_FULL;
	/* STATUS-04 to STATUS-06. */
	info->posix_stream_overrun_status =
		read_overrun(region, reset) ? POSIX_TRACE_OVERRUN : POSIX_TRACE_NO_OVERRUN;
}

/* The work of posix_trace_get_status() and of posix_trace_peek_status_np(). */
static int store_status(trace_id_t trid, struct posix_trace_status_info *info, bool reset)
{
	struct ptx_stream *stream;

	if (!info)
		return EINVAL;
	stream = ptx_stream_lock(trid, PTX_ANY);
	if (!stream)
		return EINVAL;
	/* Reading the status of a log does not reset it (STATUS-16). */
	if (stream->kind == PTX_STREAM_STORED)
		stored_status(ptx_stored_status(stream->stored), info);
	else
		ptx_posix_status(stream, info, reset);
	ptx_stream_unlock(stream);
	return 0;
}

/* STATUS-01 to STATUS-17, STATUS-19. */
PTX_EXPORT int posix_trace_get_status(trace_id_t trid, struct posix_trace_status_info *info)
{
	struct ptx_call call = ptx_call_begin();

	return ptx_call_end(call, store_status(trid, info, true));
}

/*
 * The standard assumes one reader of the status. This function is for a program that polls, or for
 * a second reader: it resets no members, so the first reader still finds them.
 */
PTX_EXPORT int posix_trace_peek_status_np(trace_id_t trid, struct posix_trace_status_info *info)
{
	struct ptx_call call = ptx_call_begin();

	return ptx_call_end(call, store_status(trid, info, false));
}

/* STATUS-18, ATTR-09, ATTR-10. The object need not be initialized. */
PTX_EXPORT int posix_trace_get_attr(trace_id_t trid, trace_attr_t *attr)
{
	struct ptx_call call = ptx_call_begin();
	struct ptx_stream *stream;

	if (!attr)
		return ptx_call_end(call, EINVAL);
	stream = ptx_stream_lock(trid, PTX_ANY);
	if (!stream)
		return ptx_call_end(call, EINVAL);
	/* The whole object is cleared, also its room for growth, as in posix_trace_attr_init(). */
	memset(attr, 0, sizeof *attr);
	memcpy(attr, &stream->attr, sizeof stream->attr);
	ptx_stream_unlock(stream);
	return ptx_call_end(call, 0);
}
