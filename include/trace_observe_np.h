/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * trace_observe_np.h - observes active streams, and recovers streams from backing files. Included
 * by <trace_np.h>.
 *
 * An observer reads a stream's memory. It stops no writer and changes nothing, and the reader still
 * receives each event. The counts may grow while the observer reads them, so they are consistent
 * with each other only while no thread records.
 *
 * Threads  every function may be called from any thread at the same time.
 * Signals  no function is async-signal-safe.
 * Errors   a function returns 0 or the error number, and leaves errno as it was.
 * Growth   structures grow at their end: trace_sized_np(3).
 *
 * Manual page: trace_np(3).
 */
#ifndef _TRACE_OBSERVE_NP_H
#define _TRACE_OBSERVE_NP_H

#if defined __cplusplus && defined __GNUC__
#pragma GCC system_header
#endif

#include <stdint.h>
#include "trace.h"
#include "trace_check_np.h"
#include "trace_ledger_np.h"

#ifdef __cplusplus
extern "C" {
#endif

#define POSIX_TRACE_EVERY_PROCESS_NP ((pid_t)-1)
#define POSIX_TRACE_THIS_PROCESS_NP  ((pid_t)-2)
#define POSIX_TRACE_CREATOR_GONE_NP  ((pid_t)-1)

/*
 * Whether a process has ended. UNKNOWN: it is in another namespace of process ids, or the system
 * does not permit to examine it, or the stream is read from a file; it may be alive.
 */
#define POSIX_TRACE_PROCESS_ALIVE_NP   0
#define POSIX_TRACE_PROCESS_ENDED_NP   1
#define POSIX_TRACE_PROCESS_UNKNOWN_NP 2

/* An active stream. The structure and all that it points to are valid during a call of visit(). */
struct posix_trace_stream_np {
	pid_t pid;   /* the traced process */
	int ended;   /* POSIX_TRACE_PROCESS_*_NP: whether pid has ended; members may continue */
	int waiting; /* not 0: pid does not use this library yet */
	pid_t creator;       /* 0: in another pid namespace; or POSIX_TRACE_CREATOR_GONE_NP */
	const pid_t *member; /* processes that inherited the stream and that the caller may see */
	size_t members;

	/* Attributes of the stream. */
	char name[TRACE_NAME_MAX + 1];
	int64_t creation_ns;
	int inheritance;
	int stream_full_policy;
	int log_full_policy; /* 0: the stream has no log */
	size_t stream_size;
	size_t max_data_size;

	int stream_status;   /* as in struct posix_trace_status_info */
	int stream_full_status;
	int stream_overrun_status;
	unsigned chunks;     /* equal parts of the stream's memory */
	unsigned chunks_taken; /* parts in use; the stream is full when all of them are in use */
	uint64_t recorded;   /* number of all events that were written into the stream */
	/*
	 * Events that were overwritten in the stream or could not be recorded, by cause. Entries
	 * for later losses, which only the creator knows, are 0.
	 */
	uint64_t lost[POSIX_TRACE_LOST_MAX_NP];

	trace_event_set_t filter;
	const char *const *event_name; /* indexed by event type; null: the type has no name */
	unsigned event_names;          /* entries of event_name */

	const struct posix_trace_source_np *source; /* for posix_trace_snapshot_np() */
};

/*
 * Calls visit() with `arg` for each stream of a process, including the streams that the process
 * inherited.
 *
 * pid  0                             the calling process
 *      POSIX_TRACE_EVERY_PROCESS_NP  all processes that the caller may examine
 *      POSIX_TRACE_THIS_PROCESS_NP   the calling process, without a search of all processes for the
 *                                    other members of its streams
 *
 * ESRCH: no such process. EPERM: the caller may not examine the process. ENOTSUP: /proc is not
 * usable. EPROTONOSUPPORT: the process uses another version of this library. EIO: the memory of a
 * stream cannot be read; the streams that could be read were visited. EINVAL: `visit` is null.
 * ENOMEM, EMFILE, ENFILE.
 */
int posix_trace_observe_sized_np(
	pid_t pid, void (*visit)(void *arg, const struct posix_trace_stream_np *stream), void *arg,
	size_t size);
static __inline int posix_trace_observe_np(
	pid_t pid, void (*visit)(void *arg, const struct posix_trace_stream_np *stream), void *arg)
{
	return posix_trace_observe_sized_np(pid, visit, arg, sizeof(struct posix_trace_stream_np));
}

/*
 * Writes a log of the stream as it is at this moment to file_desc, from the beginning of the file.
 * Only visit() may call this function, with the stream that it received. The descriptor remains
 * open, and the log is complete. The function stops no writer, and the reader still receives each
 * event. The log has the events that the creator could still read. Its ledger has these events and
 * the events that were lost before.
 *
 * ESRCH: the stream has ended. EAGAIN: writers overwrite it faster than it can be copied. EINVAL: a
 * pointer is null, or visit() did not receive this stream. EBADF: file_desc is not open for
 * writing. EIO: the stream's memory cannot be read. EMFILE, ENFILE: no descriptor is free, so that
 * the stream could not be examined. Other errors: ENOMEM, and errors of writing the file.
 */
int posix_trace_snapshot_np(const struct posix_trace_stream_np *stream, int file_desc);

/*
 * Does the same as posix_trace_snapshot_np(), but omits the events before `since_ns`, in
 * nanoseconds of CLOCK_REALTIME. These events remain in the stream, so they are not lost: the
 * ledger of the log does not count them. If `older` is not null, a successful call stores the
 * number of these events in *older. The ledger has the losses before since_ns too, because the
 * times of losses are not known.
 */
int posix_trace_snapshot_since_np(const struct posix_trace_stream_np *stream, int file_desc,
				  int64_t since_ns, uint64_t *older);

/*
 * Calls visit() with `arg` for the stream of a backing file.
 *
 * report  called with `arg` for each fault of the file that this function or
 *         posix_trace_snapshot_np() finds; may be null
 *
 * EBADF: file_desc is not open. EINVAL: the file is not a backing file, or `visit` is null. EIO: a
 * part of the file cannot be read. ENOMEM.
 */
int posix_trace_observe_file_sized_np(
	int file_desc, void (*visit)(void *arg, const struct posix_trace_stream_np *stream),
	void (*report)(void *arg, const struct posix_trace_fault_np *fault), void *arg,
	size_t stream_size, size_t fault_size);
static __inline int posix_trace_observe_file_np(
	int file_desc, void (*visit)(void *arg, const struct posix_trace_stream_np *stream),
	void (*report)(void *arg, const struct posix_trace_fault_np *fault), void *arg)
{
	return posix_trace_observe_file_sized_np(file_desc, visit, report, arg,
					      sizeof(struct posix_trace_stream_np),
					      sizeof(struct posix_trace_fault_np));
}

#ifdef __cplusplus
}
#endif

#endif
