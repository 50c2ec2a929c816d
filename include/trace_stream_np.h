/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * trace_stream_np.h - limits, attributes and filters of active streams beyond the standard's.
 * Included by <trace_np.h>.
 *
 * Threads  every function may be called from any thread at the same time.
 * Signals  no function is async-signal-safe.
 * Errors   a function of type int returns 0 or the error number, and leaves errno as it was.
 *
 * Manual pages: trace_np(3), posix_trace_set_level_np(3).
 */
#ifndef _TRACE_STREAM_NP_H
#define _TRACE_STREAM_NP_H

#include <trace.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * sysconf() with the answers of this library for _SC_TRACE, _SC_TRACE_EVENT_FILTER,
 * _SC_TRACE_INHERIT, _SC_TRACE_LOG, _SC_TRACE_EVENT_NAME_MAX, _SC_TRACE_NAME_MAX,
 * _SC_TRACE_SYS_MAX and _SC_TRACE_USER_EVENT_MAX, which a C library without tracing does not
 * support. For any other name it calls sysconf(), which may change errno.
 */
long posix_trace_sysconf_np(int name);

/*
 * The black box: a stream with its memory in a file. `posixtrace recover` makes a log of the file
 * after the process has ended in any way.
 *
 * path  a new file, at most POSIX_TRACE_BACKING_MAX_NP bytes; null or empty: no file
 *
 * posix_trace_create() makes the file for its owner alone, allocates it, and locks it (flock) while
 * the stream exists. The file remains after that. Streams of other processes and inherited streams
 * cannot have one: their creation fails with ENOTSUP. With a file, posix_trace_create() also fails
 * with the errors of open(O_CREAT | O_EXCL) and posix_fallocate().
 *
 * EINVAL: bad attributes. ENAMETOOLONG.
 */
#define POSIX_TRACE_BACKING_MAX_NP 183

int posix_trace_attr_setbacking_np(trace_attr_t *attr, const char *path);

/* Stores the path in POSIX_TRACE_BACKING_MAX_NP + 1 bytes; an empty one if there is no file. */
int posix_trace_attr_getbacking_np(const trace_attr_t *attr, char *path);

/*
 * Sets the level of an active stream. The filter then excludes event types with a level (@level of
 * their schema) greater than max_level and admits the others that have a level. It leaves event
 * types without a level as they are. A later description of an event type has the same effect on
 * that type.
 *
 * max_level  1 (critical) to 5 (verbose); 0 admits all event types with a level and ends the
 *            treatment of later descriptions, as posix_trace_set_filter() with
 *            POSIX_TRACE_SET_EVENTSET does
 *
 * A change of the filter by this call is recorded as an event POSIX_TRACE_FILTER; a change by a
 * later description is not. EINVAL: trid is not an active stream of this process, or max_level is
 * not 0 to 5.
 */
int posix_trace_set_level_np(trace_id_t trid, int max_level);

/* Stores the level of an active stream; 0: none. EINVAL: as above, or max_level is null. */
int posix_trace_get_level_np(trace_id_t trid, int *max_level);

#ifdef __cplusplus
}
#endif

#endif
