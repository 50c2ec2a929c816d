/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdlib.h>
#include <string.h>

#include <trace_np.h>

#include "base/clock.h"
#include "cursor/stored.h"
#include "posix/call.h"
#include "posix/first.h"

static int open_log(int file_desc, bool salvage, trace_id_t *trid)
{
	struct ptx_stream *stream;
	int err;

	if (!trid)
		return EINVAL;
	stream = ptx_registry_new();
	if (!stream)
		return ENOMEM;
	stream->kind = PTX_STREAM_STORED;
	err = ptx_stored_open(file_desc, salvage, &stream->stored);
	if (err)
		goto undo_alloc;
	ptx_registry_note_log(stream, ptx_stored_descriptor(stream->stored));
	stream->attr = ptx_stored_facts(stream->stored)->attr;
	err = ptx_registry_add(stream);
	if (err)
		goto undo_open;
	*trid = stream->id;
	return 0;
undo_open:
	ptx_stored_close(stream->stored);
undo_alloc:
	ptx_registry_drop(stream);
	return err;
}

PTX_EXPORT int posix_trace_open(int file_desc, trace_id_t *trid)
{
	struct ptx_call call = ptx_call_begin();

	return ptx_call_end(call, open_log(file_desc, false, trid));
}

PTX_EXPORT int posix_trace_open_np(int file_desc, unsigned flags, trace_id_t *trid)
{
	struct ptx_call call = ptx_call_begin();

	if (flags & ~POSIX_TRACE_OPEN_SALVAGE_NP)
		return ptx_call_end(call, EINVAL);
	return ptx_call_end(call, open_log(file_desc, flags & POSIX_TRACE_OPEN_SALVAGE_NP, trid));
}

PTX_EXPORT int posix_trace_close(trace_id_t trid)
{
	struct ptx_call call = ptx_call_begin();
	struct ptx_stream *stream = ptx_stream_enter(trid, PTX_STORED);
	bool removed;

	if (!stream)
		return ptx_call_end(call, EINVAL);
	removed = ptx_registry_remove(stream);
	ptx_registry_leave(stream);
	if (!removed)
		return ptx_call_end(call, EINVAL);
	ptx_registry_settle(stream);
	ptx_stored_close(stream->stored);
	ptx_registry_drop(stream);
	return ptx_call_end(call, 0);
}

PTX_EXPORT int posix_trace_rewind(trace_id_t trid)
{
	struct ptx_call call = ptx_call_begin();
	struct ptx_stream *stream = ptx_stream_lock(trid, PTX_STORED);

	if (!stream)
		return ptx_call_end(call, EINVAL);
	ptx_stored_rewind(stream->stored);
	ptx_stream_unlock(stream);
	return ptx_call_end(call, 0);
}

static bool is_time(const struct timespec *when)
{
	return when->tv_nsec >= 0 && when->tv_nsec < PTX_NS_PER_S &&
	       when->tv_sec <= INT64_MAX / PTX_NS_PER_S - 1 &&
	       when->tv_sec >= INT64_MIN / PTX_NS_PER_S + 1;
}

PTX_EXPORT int posix_trace_seek_np(trace_id_t trid, const struct timespec *when)
{
	struct ptx_call call = ptx_call_begin();
	struct ptx_stream *stream;

	if (!when || !is_time(when))
		return ptx_call_end(call, EINVAL);
	stream = ptx_stream_lock(trid, PTX_STORED);
	if (!stream)
		return ptx_call_end(call, EINVAL);
	ptx_stored_seek(stream->stored, when->tv_sec * PTX_NS_PER_S + when->tv_nsec);
	ptx_stream_unlock(stream);
	return ptx_call_end(call, 0);
}

PTX_EXPORT int posix_trace_until_np(trace_id_t trid, const struct timespec *when)
{
	struct ptx_call call = ptx_call_begin();
	struct ptx_stream *stream;

	if (when && !is_time(when))
		return ptx_call_end(call, EINVAL);
	stream = ptx_stream_lock(trid, PTX_STORED);
	if (!stream)
		return ptx_call_end(call, EINVAL);
	ptx_stored_until(stream->stored,
			 when ? when->tv_sec * PTX_NS_PER_S + when->tv_nsec : INT64_MAX);
	ptx_stream_unlock(stream);
	return ptx_call_end(call, 0);
}

PTX_EXPORT int posix_trace_get_loginfo_sized_np(trace_id_t trid,
						struct posix_trace_loginfo_np *info, size_t size)
{
	struct ptx_call call = ptx_call_begin();
	struct posix_trace_loginfo_np known;
	struct ptx_stream *stream;

	if (!info || size < PTX_FIRST_LOGINFO)
		return ptx_call_end(call, EINVAL);
	stream = ptx_stream_lock(trid, PTX_STORED);
	if (!stream)
		return ptx_call_end(call, EINVAL);
	ptx_stored_info(stream->stored, &known);
	ptx_stream_unlock(stream);
	ptx_sized_store(info, size, &known, sizeof(known));
	return ptx_call_end(call, 0);
}

PTX_EXPORT int posix_trace_get_damage_np(trace_id_t trid, uint64_t *parts)
{
	struct ptx_call call = ptx_call_begin();
	struct ptx_stream *stream;

	if (!parts)
		return ptx_call_end(call, EINVAL);
	stream = ptx_stream_lock(trid, PTX_STORED);
	if (!stream)
		return ptx_call_end(call, EINVAL);
	*parts = ptx_stored_damaged_parts(stream->stored);
	ptx_stream_unlock(stream);
	return ptx_call_end(call, 0);
}

static void fill(const struct ptx_stored_event *from, struct posix_trace_event_np *to)
{
	const struct ptx_record *record = from->record;
	int64_t ns = (int64_t)record->time, rest = ns % PTX_NS_PER_S;

	memset(to, 0, sizeof *to);
	to->info.posix_event_id = record->type;
	to->info.posix_pid = (pid_t)from->pid;
	to->info.posix_prog_address = (void *)(uintptr_t)record->address;
	to->info.posix_thread_id = (pthread_t)from->thread;
	to->info.posix_timestamp.tv_sec = ns / PTX_NS_PER_S - (rest < 0);
	to->info.posix_timestamp.tv_nsec = rest < 0 ? rest + PTX_NS_PER_S : rest;
	to->info.posix_truncation_status = record->len_flags & PTX_RECORD_TRUNCATED
						   ? POSIX_TRACE_TRUNCATED_RECORD
						   : POSIX_TRACE_NOT_TRUNCATED;
	to->tid = (pid_t)from->tid;
	if (record->len_flags & PTX_RECORD_LATE)
		to->flags |= POSIX_TRACE_EVENT_LATE_NP;
	if (from->gap)
		to->flags |= POSIX_TRACE_EVENT_GAP_NP;
	if (from->first)
		to->flags |= POSIX_TRACE_EVENT_BLOCK_NP;
	to->time_ns = ns;
	to->data = record + 1;
	to->data_len = ptx_record_len(record->len_flags);
}

/* For each event of a log: a caller of this version gets the event without a copy. */
PTX_EXPORT int posix_trace_getnext_sized_np(trace_id_t trid, struct posix_trace_event_np *event,
					    size_t size, int *unavailable)
{
	struct posix_trace_event_np known;
	struct ptx_stored_event stored;
	struct ptx_stream *stream;

	if (!event || size < PTX_FIRST_EVENT || !unavailable)
		return EINVAL;
	stream = ptx_stream_lock(trid, PTX_STORED);
	if (!stream)
		return EINVAL;
	*unavailable = !ptx_stored_next(stream->stored, &stored);
	if (*unavailable) {
		ptx_stream_unlock(stream);
		return 0;
	}
	fill(&stored, ptx_likely(size == sizeof(*event)) ? event : &known);
	ptx_stream_unlock(stream);
	if (ptx_unlikely(size != sizeof(*event)))
		ptx_sized_store(event, size, &known, sizeof(known));
	return 0;
}
