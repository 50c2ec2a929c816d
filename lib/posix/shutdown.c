/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * posix/shutdown.c - posix_trace_shutdown() and posix_trace_flush(), and the shutdown at exit.
 *
 * A shutdown makes the identifier invalid, stops the stream, wakes the threads that use the stream
 * and waits for them, completes the log, and frees everything. If several threads shut one stream
 * down, the registry lets one of them do it (SHUT-08).
 */
#include "posix/shutdown.h"

#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/futex.h"
#include "base/proc.h"
#include "flush/flush.h"
#include "meet/quota.h"
#include "point/view.h"
#include "posix/call.h"
#include "posix/control.h"
#include "posix/guard.h"
#include "posix/status.h"

struct ptx_flush_caller ptx_posix_caller(const void *address)
{
	struct ptx_flush_caller who = {
		.pid = ptx_proc_own(),
		.tid = (uint32_t)syscall(SYS_gettid),
		.thread = (uint64_t)pthread_self(),
		.address = (uint64_t)(uintptr_t)address,
	};

	return who;
}

/*
 * The status also reports the losses that the controller has not read yet (STATUS-20). The function
 * does not reset the status, because a thread that still uses the stream may read it.
 */
void ptx_posix_last_status(struct ptx_stream *stream, struct ptx_log_status *status)
{
	struct posix_trace_status_info info;

	ptx_posix_status(stream, &info, false);
	status->stream_status = info.posix_stream_status;
	status->stream_full = info.posix_stream_full_status;
	status->stream_overrun = info.posix_stream_overrun_status;
	status->flush_status = info.posix_stream_flush_status;
	status->flush_error = info.posix_stream_flush_error;
	status->log_overrun = info.posix_log_overrun_status;
	status->log_full = info.posix_log_full_status;
}

/*
 * Counts as lost the events that could not be written to the log. They are still in the stream, but
 * its memory is freed soon.
 */
static void lose_unread(struct ptx_ledger_line *line)
{
	/* The equation of the line remains: called = reported + lost. */
	line->lost[PTX_LOST_FLUSH_ERROR] += line->unread;
	line->unread = 0;
}

/*
 * The last flush, the file and the ledger can fail. The function returns the first of their errors.
 * It closes the log in any case (SHUT-06).
 */
int ptx_posix_complete_log(struct ptx_stream *stream, const struct ptx_flush_caller *who)
{
	struct ptx_ledger *ledger = ptx_flush_closing(stream->flush);
	struct ptx_log_status status;
	int err, err2, err3;

	/* This is the last flush, which also writes the closing events (SHUT-07). */
	err = ptx_flush_run(stream->flush, PTX_FLUSH_FINAL, who);
	pthread_mutex_lock(&stream->lock);
	ptx_posix_last_status(stream, &status);
	/*
	 * The ledger is made after the flush, so `unread` has only events that could not be
	 * written.
	 */
	err3 = ptx_drain_ledger(stream->drain, ledger);
	lose_unread(&ledger->total);
	for (unsigned type = 0; type < PTX_TYPE_MAX; type++)
		lose_unread(&ledger->type[type]);
	for (size_t i = 0; i < ledger->threads; i++)
		lose_unread(&ledger->thread[i].line);
	pthread_mutex_unlock(&stream->lock);
	/* Completes the log with the status and the ledger. */
	err2 = ptx_flush_destroy(stream->flush, &status);
	/* All three steps are executed, whatever the first step returns. */
	return err ? err : err2 ? err2 : err3;
}

/*
 * Returns whether the program has closed the log's descriptor, so that only the guardian can
 * complete the log. The guardian does this after the end of the process.
 */
static bool is_left_to_guardian(const struct ptx_stream *stream)
{
	return stream->guardian.pid && !ptx_file_is(stream->log_fd, &stream->log_file);
}

/* Shuts one stream down. `address` becomes the address of the STOP event; NULL at exit. */
static int shut_down_stream(trace_id_t trid, const void *address)
{
	struct ptx_stream *stream = ptx_stream_enter(trid, PTX_ACTIVE);
	struct ptx_flush_caller who = ptx_posix_caller(address);
	struct ptx_region *region;
	bool removed;
	int err = 0;

	if (!stream)
		return EINVAL;
	/* LEGAL-03: from here on the identifier is invalid for every other call. */
	removed = ptx_registry_remove(stream);
	/* The call is a user itself and must leave before it waits for the others. */
	ptx_registry_leave(stream);
	if (!removed)
		return EINVAL;
	region = stream->view->rings.region;
	/* The lock is held, because only one thread at a time may write as the controller. */
	pthread_mutex_lock(&stream->lock);
	ptx_control_stop(stream, address);
	pthread_mutex_unlock(&stream->lock);
	/* Readers that wait see the stream's end: SHUT-04. */
	atomic_store_explicit(&region->waiters, 0, memory_order_release);
	ptx_futex_wake(&region->waiters);
	/* Waits until no other thread uses the stream. */
	ptx_registry_wait_unused(stream);
	if (stream->flush) {
		ptx_flush_stop(stream->flush);
		/* The stream, which is stopped, remains attached: the guardian needs its region. */
		if (is_left_to_guardian(stream))
			return EBADF;
		/* The flusher has ended before the last flush begins. */
		err = ptx_posix_complete_log(stream, &who);
	}
	/* The target's trace points no longer find the stream (SHUT-09). */
	ptx_view_destroy(stream->view);
	/* SHUT-02: the guardian has the log open. It ends when the stream's place is free. */
	if (stream->flush)
		ptx_guard_end(stream);
	ptx_drain_destroy(stream->drain);
	free(stream->load_records);
	ptx_target_release(&stream->target);
	/*
	 * Only from now on another process can use the stream's place for a new stream (SHUT-02).
	 */
	ptx_quota_release(stream->place);
	ptx_registry_drop(stream);
	return err;
}

/*
 * SHUT-01 to SHUT-10. Other threads may use the stream meanwhile: their calls end, or return
 * EINVAL. This function waits for these calls and for the log, and is no cancellation point.
 */
PTX_EXPORT int posix_trace_shutdown(trace_id_t trid)
{
	struct ptx_call call = ptx_call_begin();

	return ptx_call_end(call,
			    shut_down_stream(trid, (const char *)__builtin_return_address(0) - 1));
}

/* At the exit of the process: EXIT-01 for exit(). Errors cannot be reported there. */
void ptx_posix_shutdown_all(void)
{
	struct ptx_call call = ptx_call_begin();
	/*
	 * There is room for as many identifiers as the table has: the streams may be of several
	 * targets, each of which may have PTX_STREAMS.
	 */
	trace_id_t ids[PTX_HANDLES];
	unsigned count = ptx_registry_active(ids, PTX_HANDLES);

	for (unsigned i = 0; i < count; i++)
		shut_down_stream(ids[i], NULL);
	ptx_call_end(call, 0);
}

/* FLUSHF-01 to FLUSHF-11. LEGAL-07: EINVAL for a stream without log. */
PTX_EXPORT int posix_trace_flush(trace_id_t trid)
{
	struct ptx_call call = ptx_call_begin();
	struct ptx_flush_caller who =
		ptx_posix_caller((const char *)__builtin_return_address(0) - 1);
	struct ptx_stream *stream = ptx_stream_enter(trid, PTX_LOGGED);
	int err;

	if (!stream)
		return ptx_call_end(call, EINVAL);
	/* Several calls at the same time run one after the other (FLUSHF-11). */
	err = ptx_flush_run(stream->flush, PTX_FLUSH_BY_CALL, &who);
	ptx_registry_leave(stream);
	return ptx_call_end(call, err);
}
