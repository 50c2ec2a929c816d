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
#include <string.h>
#include <trace_np.h>

/*
 * The latest begin and the latest end of a thread, by the events thread.begin and thread.end; 0:
 * none yet. A thread removes its name directly behind its thread.end, so that a later thread with
 * the same pthread_t does not have it. The log may have later events of the thread: calls of the
 * destructors of thread-local data, and what the kernel reports, such as sched.exit.
 */
struct thread_life {
	int64_t begin_ns, end_ns;
};

/* Notes the time of an event of a thread if its type is thread.begin or thread.end. */
static inline void thread_life_event(struct thread_life *life, const char *type, int64_t time_ns)
{
	if (type[0] != 't')
		return;
	if (!strcmp(type, "thread.begin") && time_ns > life->begin_ns)
		life->begin_ns = time_ns;
	else if (!strcmp(type, "thread.end") && time_ns > life->end_ns)
		life->end_ns = time_ns;
}

/* Adds the times that another part of the log has for the same thread, in any order of parts. */
static inline void thread_life_add(struct thread_life *to, const struct thread_life *from)
{
	if (from->begin_ns > to->begin_ns)
		to->begin_ns = from->begin_ns;
	if (from->end_ns > to->end_ns)
		to->end_ns = from->end_ns;
}

/*
 * Returns the time for which thread_name_find() finds the last name of a thread: the end of the
 * thread, or last_ns, the time of its last event, if the log has no end behind the latest begin.
 */
static inline int64_t thread_life_name_ns(const struct thread_life *life, int64_t last_ns)
{
	return life->end_ns > life->begin_ns ? life->end_ns : last_ns;
}

/*
 * Stores in *object the named object of the thread with the pthread_t "handle" in the process "pid"
 * at the time "time_ns". Returns false if there is no such object or its name is empty. Callers
 * pass the time of thread_life_name_ns(), because the handle may later belong to another thread.
 * INT64_MAX means the newest object.
 */
bool thread_name_find(trace_id_t trid, pid_t pid, uint64_t handle, int64_t time_ns,
		      struct posix_trace_object_np *object);

#endif
