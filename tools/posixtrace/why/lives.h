/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * lives.h - the times at which processes begin, start a program and end. The kernel uses the number
 * of an ended process again. A later process with the same number has another life. The threads,
 * descriptors, semaphores and connections of the earlier process do not belong to it.
 */
#ifndef POSIXTRACE_WHY_LIVES_H
#define POSIXTRACE_WHY_LIVES_H

#include "why/classify.h"
#include "why/history.h"

/*
 * Notes the begin of a process, or its start of a program, if the event records one. The caller
 * calls this function before it searches for the thread of the event.
 */
void lives_note(struct history *history, const struct plan *plan,
		const struct log_type *type, const struct posix_trace_event_np *event);

/* Notes the end of a process. Its threads keep their life until the log has a new begin. */
void lives_end(struct history *history, pid_t pid, int64_t time_ns);

/* Returns the number of the life that a process has now; 0: its first one. */
uint32_t lives_life(const struct history *history, pid_t pid);

/*
 * Returns the life of the process that recorded an event. Several processes may have one number at
 * the same time, in PID namespaces of their own. The pthread_t of the thread distinguishes them.
 * But children of one process have the same pthread_t until they execute a program.
 */
uint32_t lives_of_event(const struct history *history, const struct posix_trace_event_np *event);

/*
 * Finds the numbers that processes in PID namespaces have outside of them, by the calls of fork()
 * of their parents. If several numbers are possible, the process has none. To be called after the
 * last event.
 */
void lives_find_outer(struct history *history);

/* Returns the main thread of a child by the number that the parent knows, or HISTORY_NONE. */
uint32_t lives_by_outer(const struct history *history, pid_t parent, pid_t outer);

/* Returns a number that several processes had at the same time; 0: there is none. */
pid_t lives_shared(const struct history *history);

/* Returns whether both threads belong to one process. */
static inline bool lives_same(const struct history *history, uint32_t a, uint32_t b)
{
	return history->thread[a].pid == history->thread[b].pid &&
	       history->thread[a].life == history->thread[b].life;
}

/*
 * Returns true if a process did not end between since_ns and at_ns, so that it still has the
 * descriptors and semaphores that it had at since_ns. An end at at_ns itself does not count,
 * because a call that lasted until the end of the process ends at the same time.
 */
bool lives_has(const struct history *history, pid_t pid, int64_t since_ns, int64_t at_ns);

/* Returns when the call of fork() began that made a process; INT64_MAX: unknown. */
int64_t lives_forked(const struct history *history, pid_t pid);

/* Returns whether a process has started a program after since_ns and not after at_ns. */
bool lives_executed(const struct history *history, pid_t pid, int64_t since_ns,
		    int64_t at_ns);

/* Returns the time of the last event of a thread's process. */
int64_t lives_last_ns(const struct history *history, uint32_t thread);

/* Frees the memory. */
void lives_fini(struct history *history);

#endif
