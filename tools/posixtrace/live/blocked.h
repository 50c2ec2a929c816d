/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * blocked.h - records the system calls in which threads of the traced processes are blocked for
 * long. The preload library records a call when it returns. A call that never returns, as in a
 * deadlock, has no such event, so the recorder looks for it from outside.
 *
 * The recorder reads files of /proc and memory of blocked threads. It stops no thread, and no code
 * of the recorder runs in the traced processes. If the kernel refuses access to a thread, the log
 * has no event of it.
 *
 * One thread uses these functions.
 */
#ifndef POSIXTRACE_LIVE_BLOCKED_H
#define POSIXTRACE_LIVE_BLOCKED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/types.h>

#include "live/capture.h"
#include "live/throttled.h"

#define BLOCKED_EVENT "posixtrace_blocked"
/*
 * blocked_ns: for how long the thread is known to be blocked. lock: the address of the lock or
 * futex. owner: the thread that holds the lock, or the thread or process whose end is awaited; 0:
 * unknown. fd: the descriptor; -1: none. call: the name of the system call. object: the
 * kind of lock, or the file, pipe or socket of the descriptor. others: the processes that could
 * write into the pipe, or the awaited process, each with a colon and the number of its threads.
 * doubt: why owner or others may be wrong; empty: they are certain. names: the names of the
 * processes that could write into the pipe, apart from the blocked process.
 */
#define BLOCKED_SCHEMA \
	"s32 pid; s32 tid; u64 blocked_ns; ptr lock; s32 fd; s32 owner; str call; str object; " \
	"str others; str doubt; str names"

/*
 * A thread that is blocked waits for a semaphore. taker: the thread that took it last and did not
 * post it; 0: this thread has ended. caller: the return address of its call.
 */
#define TAKEN_EVENT  "posixtrace_taken"
#define TAKEN_SCHEMA "s32 pid; s32 tid; ptr lock; ptr caller; s32 taker"

struct blocked_thread;

struct blocked {
	pid_t pid;                     /* the first process */
	struct blocked_thread *thread; /* of the last look, sorted by number */
	size_t threads;
	struct throttled throttled;    /* of the first process */
	int64_t next_ns;               /* the time of the next look */
};

/*
 * Returns whether a recording has these events. It has none if the user traces no families of calls
 * and no states of threads.
 */
static inline bool blocked_is_wanted(const char *families, bool has_sched)
{
	return has_sched || !families || strcmp(families, "none") != 0;
}

/*
 * Looks at the threads of the first process and its descendants, and records those that have been
 * blocked for half a second. The wait is recorded again when it has lasted twice as long as at its
 * last record. So the log has facts of a time at which all threads of a deadlock were blocked, even
 * if the program is killed.
 *
 * Returns without a look if the previous look was not long enough ago. The pause is so long that
 * the looks need at most 0.5 % of the time of one processor. Does nothing if the member
 * looks_at_blocked of the plan is false, or if /proc is that of another namespace of process IDs.
 */
void blocked_look(struct blocked *blocked, struct capture *capture);

/*
 * Records all threads that are blocked now, and frees the memory. Must be called before
 * capture_finish().
 */
void blocked_end(struct blocked *blocked, struct capture *capture);

/*
 * Returns the name of the system call in which a thread is blocked now. Returns NULL if the thread
 * is in no call, if the call is not one that waits, if the process has another word size, or if the
 * kernel refuses access. The thread continues to run.
 */
const char *blocked_call_name(pid_t pid, pid_t tid);

#endif
