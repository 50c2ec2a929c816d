/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * log/thread_name.h - the names that a log or a stream has for threads.
 *
 * Any thread may call the function. It prints no messages.
 */
#ifndef POSIXTRACE_LOG_THREAD_NAME_H
#define POSIXTRACE_LOG_THREAD_NAME_H

#include <stdbool.h>
#include <stdint.h>
#include <trace_np.h>

/*
 * Stores in *object the named object of the thread with the pthread_t "handle" in the process "pid"
 * at the time "time_ns". Returns false if there is no such object or its name is empty. Callers
 * pass the time of the thread's last event, because the handle may later belong to another thread.
 * INT64_MAX means the newest object.
 */
bool thread_name_find(trace_id_t trid, pid_t pid, uint64_t handle, int64_t time_ns,
		      struct posix_trace_object_np *object);

#endif
