/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * posix/open.c - posix_trace_open(), _close(), _rewind() and the extensions for opened logs.
 *
 * An opened log is a stream of kind STORED: the registry finds it by its identifier, and its lock
 * gives its cursor to one caller at a time. Logs are hostile (OPEN-08); cursor/ checks them.
 */
#include <stdlib.h>
#include <string.h>

#include <trace_np.h>

#include "base/clock.h"
#include "base/libc.h"
#include "cursor/stored.h"
#include "posix/call.h"
#include "posix/first.h"

/*
 * Opens a log with flags of posix_trace_open_np(), of which only known ones are set. *trid is
 * stored only on success.
 */
static int open_log(int file_desc, unsigned flags, trace_id_t *trid)
{
	const bool salvage = flags & POSIX_TRACE_OPEN_SALVAGE_NP;
	struct ptx_stream *stream;
	int err;

	/* A null pointer is an error (GEN-05). */
	if (!trid)
		return EINVAL;
	stream = ptx_registry_new();
	if (!stream)
		return ENOMEM;
	/* The functions for active streams refuse a stream of kind STORED (LEGAL-01). */
	stream->kind = PTX_STREAM_STORED;
	/* EINVAL: not a log, damaged, of another version or machine (OPEN-02, OPEN-03). */
	err = flags & POSIX_TRACE_OPEN_NOWAIT_NP ?
		      ptx_stored_open_now(file_desc, salvage, &stream->stored) :
		      ptx_stored_open(file_desc, salvage, &stream->stored);
	if (err)
		goto undo_alloc;
	/* The registry closes the descriptor in a child (OPEN-07). */
	ptx_registry_note_log(stream, ptx_stored_descriptor(stream->stored));
	/* posix_trace_get_attr() returns these attributes (STATUS-18). */
	stream->attr = ptx_stored_facts(stream->stored)->attr;
	/* From here on other threads may use the identifier. */
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

/*
 * OPEN-01 to OPEN-09. A log that its writer still has open is refused; posix_trace_open_np() can
 * open it. An incomplete log whose writer is gone is opened, with the flush error EIO (LOG-16). The
 * descriptor can be closed afterwards.
 */
PTX_EXPORT int posix_trace_open(int file_desc, trace_id_t *trid)
{
	struct ptx_call call = ptx_call_begin();

	return ptx_call_end(call, open_log(file_desc, 0, trid));
}

/* Opens a log with flags. Unknown flags give EINVAL, so that later versions can add flags. */
PTX_EXPORT int posix_trace_open_np(int file_desc, unsigned flags, trace_id_t *trid)
{
	struct ptx_call call = ptx_call_begin();

	/* Only known bits may be set. */
	if (flags & ~(POSIX_TRACE_OPEN_SALVAGE_NP | POSIX_TRACE_OPEN_NOWAIT_NP))
		return ptx_call_end(call, EINVAL);
	return ptx_call_end(call, open_log(file_desc, flags, trid));
}

/* CLOSE-01 to CLOSE-03. */
PTX_EXPORT int posix_trace_close(trace_id_t trid)
{
	struct ptx_call call = ptx_call_begin();
	/*
	 * The stream is not locked, since ptx_registry_wait_unused() below waits for the other
	 * users.
	 */
	struct ptx_stream *stream = ptx_stream_enter(trid, PTX_STORED);
	bool removed;

	if (!stream)
		return ptx_call_end(call, EINVAL);
	/*
	 * If several threads close one identifier, one of them removes it; the others get EINVAL.
	 */
	removed = ptx_registry_remove(stream);
	ptx_registry_leave(stream);
	if (!removed)
		return ptx_call_end(call, EINVAL);
	/* Waits until other threads have left the stream (CLOSE-03). */
	ptx_registry_wait_unused(stream);
	/* The file is closed before the memory is reused. */
	ptx_stored_close(stream->stored);
	ptx_registry_drop(stream);
	return ptx_call_end(call, 0);
}

/* REWIND-01 to REWIND-03. */
PTX_EXPORT int posix_trace_rewind(trace_id_t trid)
{
	struct ptx_call call = ptx_call_begin();
	struct ptx_stream *stream = ptx_stream_lock(trid, PTX_STORED);

	if (!stream)
		return ptx_call_end(call, EINVAL);
	/* The position in the list of types remains (REWIND-03). */
	ptx_stored_rewind(stream->stored);
	ptx_stream_unlock(stream);
	return ptx_call_end(call, 0);
}

/* Returns whether a time is valid and can be expressed in 64-bit nanoseconds. */
static bool is_time(const struct timespec *when)
{
	/*
	 * One second is subtracted from the limits, so that adding the nanoseconds cannot
	 * overflow.
	 */
	return when->tv_nsec >= 0 && when->tv_nsec < PTX_NS_PER_S &&
	       when->tv_sec <= INT64_MAX / PTX_NS_PER_S - 1 &&
	       when->tv_sec >= INT64_MIN / PTX_NS_PER_S + 1;
}

/*
 * The next event will be the first event at *when or later. EINVAL: the stream is not an opened
 * log, or *when is not a time. A log with an index needs no search of all its blocks.
 */
PTX_EXPORT int posix_trace_seek_np(trace_id_t trid, const struct timespec *when)
{
	struct ptx_call call = ptx_call_begin();
	struct ptx_stream *stream;

	/* A null pointer is not a time here. */
	if (!when || !is_time(when))
		return ptx_call_end(call, EINVAL);
	stream = ptx_stream_lock(trid, PTX_STORED);
	if (!stream)
		return ptx_call_end(call, EINVAL);
	/* The sum cannot overflow, see is_time(). */
	ptx_stored_seek(stream->stored, when->tv_sec * PTX_NS_PER_S + when->tv_nsec);
	ptx_stream_unlock(stream);
	return ptx_call_end(call, 0);
}

/*
 * Limits reading to events up to *when; NULL removes the limit. Parts of the log that have later
 * events only are skipped. Later events that are in the same part as wanted events may still be
 * delivered.
 */
PTX_EXPORT int posix_trace_until_np(trace_id_t trid, const struct timespec *when)
{
	struct ptx_call call = ptx_call_begin();
	struct ptx_stream *stream;

	/* A null pointer removes the limit. */
	if (when && !is_time(when))
		return ptx_call_end(call, EINVAL);
	stream = ptx_stream_lock(trid, PTX_STORED);
	if (!stream)
		return ptx_call_end(call, EINVAL);
	/* INT64_MAX nanoseconds are in the year 2262, so they are no limit. */
	ptx_stored_until(stream->stored,
			 when ? when->tv_sec * PTX_NS_PER_S + when->tv_nsec : INT64_MAX);
	ptx_stream_unlock(stream);
	return ptx_call_end(call, 0);
}

/*
 * Stores facts about the log: its process, host and time span. EINVAL: not an opened log, or a
 * null pointer.
 */
PTX_EXPORT int posix_trace_get_loginfo_sized_np(trace_id_t trid,
						struct posix_trace_loginfo_np *info, size_t size)
{
	struct ptx_call call = ptx_call_begin();
	struct posix_trace_loginfo_np known;
	struct ptx_stream *stream;

	/* A null pointer is an error (GEN-05). */
	if (!info || size < PTX_FIRST_LOGINFO)
		return ptx_call_end(call, EINVAL);
	stream = ptx_stream_lock(trid, PTX_STORED);
	if (!stream)
		return ptx_call_end(call, EINVAL);
	/* All members are set, or 0 for a log that does not have them. */
	ptx_stored_info(stream->stored, &known);
	ptx_stream_unlock(stream);
	ptx_sized_store(info, size, &known, sizeof(known));
	return ptx_call_end(call, 0);
}

/*
 * Stores how many damaged parts of events were skipped since the position was last moved to a time
 * or to the beginning, and adds the damaged parts of the header. EINVAL: not an opened log, or a
 * null pointer.
 */
PTX_EXPORT int posix_trace_get_damage_np(trace_id_t trid, uint64_t *parts)
{
	struct ptx_call call = ptx_call_begin();
	struct ptx_stream *stream;

	/* A null pointer is an error (GEN-05). */
	if (!parts)
		return ptx_call_end(call, EINVAL);
	stream = ptx_stream_lock(trid, PTX_STORED);
	if (!stream)
		return ptx_call_end(call, EINVAL);
	*parts = ptx_stored_damaged_parts(stream->stored);
	ptx_stream_unlock(stream);
	return ptx_call_end(call, 0);
}

/*
 * Fills in an event. The data are in the log's memory and valid until the next call. The flags are
 * computed without branches and stored once: from->gap and from->first are 0 or 1.
 */
ptx_inline void fill_event(const struct ptx_stored_event *from, struct posix_trace_event_np *to)
{
	const struct ptx_record *record = from->record;
	/* The stored time is signed. */
	int64_t ns = (int64_t)record->time;

	memset(to, 0, sizeof *to);
	to->info.posix_event_id = record->type;
	to->info.posix_pid = (pid_t)from->pid;
	to->info.posix_prog_address = (void *)(uintptr_t)record->address;
	to->info.posix_thread_id = (pthread_t)from->thread;
	/* CLOCK-04. */
	to->info.posix_timestamp = ptx_timespec(ns);
	to->info.posix_truncation_status = record->len_flags & PTX_RECORD_TRUNCATED
						   ? POSIX_TRACE_TRUNCATED_RECORD
						   : POSIX_TRACE_NOT_TRUNCATED;
	to->tid = (pid_t)from->tid;
	/*
	 * LATE: the drain has marked events of writers that were suspended. GAP: a damaged part
	 * before the event was skipped. BLOCK: the first event of a block, from which a reader can
	 * continue elsewhere.
	 */
	to->flags = (record->len_flags & PTX_RECORD_LATE ? POSIX_TRACE_EVENT_LATE_NP : 0) |
		    from->gap * POSIX_TRACE_EVENT_GAP_NP |
		    from->first * POSIX_TRACE_EVENT_BLOCK_NP;
	to->time_ns = ns;
	to->data = record + 1;
	to->data_len = ptx_record_len(record->len_flags);
}

/* Stores the next event. The stream is a log, and no other thread uses it. */
ptx_inline void next_event(struct ptx_stream *stream, struct posix_trace_event_np *event,
			   int *unavailable)
{
	struct ptx_stored_event stored;

	/* At the end *event remains as it was (GEN-09). */
	*unavailable = 1;
	if (ptx_stored_next(stream->stored, &stored)) {
		fill_event(&stored, event);
		*unavailable = 0;
	}
}

/*
 * Handles a process with several threads, and a program with another version of the structure. This
 * is a separate function, so that the usual path needs few registers.
 */
static __attribute__((noinline)) int next_locked(trace_id_t trid,
						 struct posix_trace_event_np *event, size_t size,
						 int *unavailable)
{
	struct ptx_stream *stream = ptx_stream_lock(trid, PTX_STORED);
	struct posix_trace_event_np known;

	if (!stream)
		return EINVAL;
	if (ptx_likely(size == sizeof(*event))) {
		next_event(stream, event, unavailable);
	} else {
		next_event(stream, &known, unavailable);
		if (!*unavailable)
			ptx_sized_store(event, size, &known, sizeof(known));
	}
	ptx_stream_unlock(stream);
	return 0;
}

/*
 * GETNEXT-01 and GETNEXT-06 for opened logs, without copying the data. A program of this version
 * gets the event without a copy, because the function runs for each event of a log. For the same
 * reason the cancellation state is not touched; nothing here is a cancellation point.
 */
PTX_EXPORT int posix_trace_getnext_sized_np(trace_id_t trid, struct posix_trace_event_np *event,
					    size_t size, int *unavailable)
{
	struct ptx_stream *stream;

	if (ptx_unlikely(!event) || ptx_unlikely(size < PTX_FIRST_EVENT) ||
	    ptx_unlikely(!unavailable))
		return EINVAL;
	/*
	 * A process with one thread needs no lock: only this thread could start another thread, and
	 * this thread is in this call.
	 */
	if (ptx_unlikely(size != sizeof(*event)) || ptx_unlikely(!ptx_libc_has_one_thread()))
		return next_locked(trid, event, size, unavailable);
	stream = ptx_registry_find(trid);
	if (ptx_unlikely(!stream) || ptx_unlikely(stream->kind != PTX_STREAM_STORED))
		return EINVAL;
	next_event(stream, event, unavailable);
	return 0;
}
