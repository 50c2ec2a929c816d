/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "posix/shutdown.h"

#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/futex.h"
#include "flush/flush.h"
#include "meet/quota.h"
#include "point/view.h"
#include "posix/call.h"
#include "posix/control.h"
#include "posix/status.h"

static struct ptx_flush_caller caller(const void *address)
{
	struct ptx_flush_caller who = {
		.pid = (uint32_t)getpid(),
		.tid = (uint32_t)syscall(SYS_gettid),
		.thread = (uint64_t)pthread_self(),
		.address = (uint64_t)(uintptr_t)address,
	};

	return who;
}

/* The status that a completed log shows: what the controller had not read yet (STATUS-20). */
static void last_status(struct ptx_stream *stream, struct ptx_log_status *status)
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

/* What the log could not take stays in the stream, which goes away. */
static void lose_unread(struct ptx_ledger_line *line)
{
	line->lost[PTX_LOST_FLUSH_ERROR] += line->unread;
	line->unread = 0;
}

int ptx_posix_complete_log(struct ptx_stream *stream, const struct ptx_flush_caller *who)
{
	struct ptx_ledger *ledger = ptx_flush_closing(stream->flush);
	struct ptx_log_status status;
	int err, err2, err3;

	err = ptx_flush_run(stream->flush, PTX_FLUSH_FINAL, who);
	pthread_mutex_lock(&stream->lock);
	last_status(stream, &status);
	err3 = ptx_drain_ledger(stream->drain, ledger);
	lose_unread(&ledger->total);
	for (unsigned type = 0; type < PTX_TYPE_MAX; type++)
		lose_unread(&ledger->type[type]);
	for (size_t i = 0; i < ledger->threads; i++)
		lose_unread(&ledger->thread[i].line);
	pthread_mutex_unlock(&stream->lock);
	err2 = ptx_flush_destroy(stream->flush, &status);
	return err ? err : err2 ? err2 : err3;
}

static int shut_down(trace_id_t trid, const void *address)
{
	struct ptx_stream *stream = ptx_stream_enter(trid, PTX_ACTIVE);
	struct ptx_flush_caller who = caller(address);
	struct ptx_region *region;
	bool removed;
	int err = 0;

	if (!stream)
		return EINVAL;
	removed = ptx_registry_remove(stream);
	ptx_registry_leave(stream);
	if (!removed)
		return EINVAL;
	region = stream->view->rings.region;
	pthread_mutex_lock(&stream->lock);
	ptx_control_stop(stream, address);
	pthread_mutex_unlock(&stream->lock);
	atomic_store_explicit(&region->waiters, 0, memory_order_release);
	ptx_futex_wake(&region->waiters);
	ptx_registry_settle(stream);
	if (stream->flush) {
		ptx_flush_stop(stream->flush);
		err = ptx_posix_complete_log(stream, &who);
	}
	ptx_view_destroy(stream->view);
	ptx_drain_destroy(stream->drain);
	ptx_target_release(&stream->target);
	ptx_quota_give(stream->place);
	ptx_registry_drop(stream);
	return err;
}

PTX_EXPORT int posix_trace_shutdown(trace_id_t trid)
{
	struct ptx_call call = ptx_call_begin();

	return ptx_call_end(call,
			    shut_down(trid, (const char *)__builtin_return_address(0) - 1));
}

void ptx_posix_shutdown_all(void)
{
	struct ptx_call call = ptx_call_begin();
	trace_id_t ids[PTX_HANDLES]; /* of several targets, each of which may have PTX_STREAMS */
	unsigned count = ptx_registry_active(ids, PTX_HANDLES);

	for (unsigned i = 0; i < count; i++)
		shut_down(ids[i], NULL);
	ptx_call_end(call, 0);
}

PTX_EXPORT int posix_trace_flush(trace_id_t trid)
{
	struct ptx_call call = ptx_call_begin();
	struct ptx_flush_caller who = caller((const char *)__builtin_return_address(0) - 1);
	struct ptx_stream *stream = ptx_stream_enter(trid, PTX_LOGGED);
	int err;

	if (!stream)
		return ptx_call_end(call, EINVAL);
	err = ptx_flush_run(stream->flush, PTX_FLUSH_BY_CALL, &who);
	ptx_registry_leave(stream);
	return ptx_call_end(call, err);
}
