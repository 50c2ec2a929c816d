/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * trace_stream_np.h - limits, attributes and filters of active streams beyond the standard's.
 * Included by <trace_np.h>.
 *
 * Threads  every function may be called from any thread at the same time.
 * Signals  no function is async-signal-safe.
 * Errors   a function of type int returns 0 or the error number, and leaves errno as it was.
 *
 * Manual pages: trace_np(3), posix_trace_set_level_np(3), posix_trace_trid_event_np(3),
 *               posix_trace_get_status(3).
 */
#ifndef _TRACE_STREAM_NP_H
#define _TRACE_STREAM_NP_H

#if defined __cplusplus && defined __GNUC__
#pragma GCC system_header
#endif

#include "trace.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Does the same as sysconf(), but returns the values of this library for _SC_TRACE,
 * _SC_TRACE_EVENT_FILTER, _SC_TRACE_INHERIT, _SC_TRACE_LOG, _SC_TRACE_EVENT_NAME_MAX,
 * _SC_TRACE_NAME_MAX, _SC_TRACE_SYS_MAX and _SC_TRACE_USER_EVENT_MAX, which a C library without
 * tracing does not support. For any other name it calls sysconf(), which may change errno.
 */
long posix_trace_sysconf_np(int name);

/*
 * Sets a backing file, which has the memory of the stream. After the process has ended in any way,
 * `posixtrace recover` makes a log from this file.
 *
 * path  a new file, at most POSIX_TRACE_BACKING_MAX_NP bytes; null or empty: no file
 *
 * posix_trace_create() makes the file, which only its owner can access, and allocates its memory.
 * The library locks the file (flock) while the stream exists. The file remains when the stream
 * ends. Streams of other processes and inherited streams cannot have a backing file: their creation
 * fails with ENOTSUP. With a file, posix_trace_create() also fails with the errors of open(O_CREAT
 * | O_EXCL) and posix_fallocate().
 *
 * EINVAL: attr is not valid. ENAMETOOLONG: the path is too long.
 */
#define POSIX_TRACE_BACKING_MAX_NP 183

int posix_trace_attr_setbacking_np(trace_attr_t *attr, const char *path);

/*
 * Stores the path in POSIX_TRACE_BACKING_MAX_NP + 1 bytes. The path is empty if there is no file.
 */
int posix_trace_attr_getbacking_np(const trace_attr_t *attr, char *path);

/*
 * Sets the level at which zstd compresses the log of a stream, or a snapshot of the stream. The
 * thread that writes the log compresses each block of the log separately. Threads that record
 * events never compress.
 *
 * level  0, the default: no compression. From POSIX_TRACE_COMPRESSION_MIN_NP (fastest) to
 *        POSIX_TRACE_COMPRESSION_MAX_NP (smallest).
 *
 * The limit log-max-size counts the events as they are before compression. Logs with the policy
 * POSIX_TRACE_LOOP are not compressed. Versions of this library that cannot read compressed logs
 * reject them. The first level other than 0 loads libzstd.so.1 into the process.
 *
 * EINVAL: attr is not valid, or the level is out of range. ENOTSUP: the level is not 0, and libzstd
 * cannot be loaded, or the library was built without it; the attributes stay as they were.
 */
#define POSIX_TRACE_COMPRESSION_MIN_NP (-20)
#define POSIX_TRACE_COMPRESSION_MAX_NP 19

int posix_trace_attr_setlogcompression_np(trace_attr_t *attr, int level);

/*
 * Stores the level. For the attributes of a log, this is the level with which the log was written.
 * EINVAL.
 */
int posix_trace_attr_getlogcompression_np(const trace_attr_t *attr, int *level);

/*
 * Sets the level of an active stream. The filter of the stream then excludes event types with a
 * level greater than max_level, and admits all other event types that have a level. An event type
 * has a level if its schema has @level. For event types without a level the filter does not change.
 * If a process describes an event type later, the level of this type has the same effect.
 *
 * max_level  1 (critical) to 5 (verbose); 0 admits all event types with a level, and later
 *            descriptions no longer change the filter. After posix_trace_set_filter() with
 *            POSIX_TRACE_SET_EVENTSET, later descriptions do not change the filter either
 *
 * A change of the filter by this call is recorded as an event POSIX_TRACE_FILTER; a change by a
 * later description is not. EINVAL: trid is not an active stream of this process, or max_level is
 * not 0 to 5.
 */
int posix_trace_set_level_np(trace_id_t trid, int max_level);

/*
 * Stores the level of an active stream, or 0 if there is none. EINVAL: trid is not an active stream
 * of this process, or max_level is null.
 */
int posix_trace_get_level_np(trace_id_t trid, int *max_level);

/*
 * Changes the filter of an active stream as posix_trace_set_filter() does, with the set of event
 * types that a list selects. The stream does not record the event types in its filter.
 *
 * list  items with commas between them, read from left to right; the last item that matches decides
 *         PATTERN  selects event types by name; wildcards of fnmatch()
 *         @N       selects event types with a level of N or greater, 1 to 5 (@level of the schema)
 *         !ITEM    removes the types that ITEM selects
 * how   POSIX_TRACE_SET_EVENTSET, POSIX_TRACE_ADD_EVENTSET or POSIX_TRACE_SUB_EVENTSET
 *
 * The list also selects system event types by name. It does not select event types that get their
 * names later: posix_trace_trid_eventid_open() gives an event type its name in advance.
 *
 * EINVAL: trid is not an active stream of this process; `list` is null, or an item is empty, too
 * long or has an invalid level; or `how` is not valid.
 */
int posix_trace_set_filter_names_np(trace_id_t trid, const char *list, int how);

/*
 * Stores whether a process that an active stream traces is alive. If a reader, after the state was
 * ENDED, reads the stream until the stream is empty, the reader has all events of these processes.
 *
 * ALIVE    the traced process, or a process that inherited the stream, is alive
 * ENDED    all these processes have ended. A zombie counts as ended
 * UNKNOWN  the caller cannot find out, for one of two reasons. /proc or another namespace of
 *          process ids hides a process. Or a further process has the memory of an inherited stream
 *          open, and may start a traced program
 *
 * EINVAL: trid is not an active stream of this process, or `state` is null.
 */
#define POSIX_TRACE_TARGET_UNKNOWN_NP 0
#define POSIX_TRACE_TARGET_ALIVE_NP   1
#define POSIX_TRACE_TARGET_ENDED_NP   2

int posix_trace_get_target_np(trace_id_t trid, int *state);

/*
 * Stores the same status as posix_trace_get_status(), but resets nothing. So later calls of
 * posix_trace_get_status(), and the last status in the log, still report an overrun or a flush
 * error. A program that only watches a stream uses this function.
 *
 * EINVAL: trid is not a stream or opened log of this process, or statusinfo is null.
 */
int posix_trace_peek_status_np(trace_id_t trid, struct posix_trace_status_info *statusinfo);

/*
 * Sets how long a stream with a log outlives its creator. If the creator is killed, exits or
 * executes another program, the guardian of the log leaves the stream running for that time, so
 * that another controller can create a stream without a gap. During that time the guardian does not
 * flush the stream, and posix_trace_observe_np() shows the guardian as the creator. Then the
 * guardian stops the stream, writes the rest to the log and completes the log. The time ends
 * earlier if the guardian receives SIGTERM, or if the traced process ends and its children do not
 * inherit the stream. A new stream has the time 0.
 *
 * EINVAL: trid is not an active stream of this process with a log, or `milliseconds` is not 0 to
 * 3600000. Without a guardian, as for a log in a pipe, the time has no effect.
 */
int posix_trace_set_linger_np(trace_id_t trid, int milliseconds);

/*
 * Continues an active stream with a log in another file. The log so far gets all events up to now
 * and is completed; all later events go to the new log, which has the same attributes. No event is
 * in both logs or in neither. Each log is complete in itself: it has the event types, objects and
 * mappings, and a ledger of the events that were written or lost in its time. Events that were
 * called before and are written or lost later count in the new log. The status of the log begins
 * anew, and if the log was full, the stream can be started again. The stream's own ledger
 * (posix_trace_get_ledger_np()) has the events of all its logs.
 *
 * file_desc  a descriptor open for writing, as for posix_trace_create_withlog(), which the caller
 *            may close afterwards
 *
 * If the creator is killed at any moment, its guardian completes the log that gets the events.
 * After an error the stream continues with the log that it had, and the new file is empty. If only
 * the end of the old log cannot be written, the call succeeds, and the status of the stream has
 * the error.
 *
 * EINVAL: trid is not an active stream of this process with a log, file_desc is the file of its
 * log, or the log-full-policy needs another kind of file. EBADF: file_desc is not open for writing.
 * ENOTSUP: the process has a seccomp filter (posix_trace_confine_np()). ENOMEM, EMFILE, ENOSPC, EIO
 * and other errors of writing to either file.
 */
int posix_trace_rotate_log_np(trace_id_t trid, int file_desc);

/*
 * Records an event of the caller in its active stream, also if the stream traces another process.
 * The event has the caller's process and thread. posix_trace_trid_eventid_open() gives the event
 * type. The stream treats the event as the event of a trace point. If the stream is suspended, or
 * its filter has the type, the call records nothing. If a full stream has no room for the event,
 * the event is counted as lost. The call shortens the data to the max-data-size of the stream. It
 * returns 0 in all these cases.
 *
 * data  `len` bytes; may be null if `len` is 0
 *
 * EINVAL: trid is not an active stream of this process, event_id has no name that a process gave
 * it, or `data` is null and `len` is not 0.
 */
int posix_trace_trid_event_np(trace_id_t trid, trace_event_id_t event_id, const void *data,
			      size_t len);

/*
 * Describes an event type of an active stream, as posix_trace_eventid_describe_np() does for the
 * calling process. The level of an event type of another process has no effect on filters.
 *
 * The errors are those of posix_trace_eventid_describe_np(), and EINVAL if trid is not an active
 * stream of this process.
 */
int posix_trace_trid_describe_np(trace_id_t trid, trace_event_id_t event_id, const char *schema);

#ifdef __cplusplus
}
#endif

#endif
