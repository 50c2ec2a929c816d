/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * trace_point_np.h - trace points beyond posix_trace_event(), and programs that give up system
 * calls. Included by <trace_np.h>.
 *
 * Threads  every function may be called from any thread at the same time.
 * Signals  every function is async-signal-safe unless its comment says otherwise.
 * errno    no function changes it. No function is a cancellation point.
 *
 * Manual page: trace_np(3).
 */
#ifndef _TRACE_POINT_NP_H
#define _TRACE_POINT_NP_H

#include <trace.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Points to a byte that is not 0 while a stream is attached to this process, or to a process from
 * which it inherits streams. The pointer never changes. Read the byte without a lock.
 */
extern const volatile unsigned char *const posix_trace_active_np;

/*
 * posix_trace_event() for code that runs very often and is seldom traced. While no stream is
 * attached, it costs a load and a branch, and the arguments are not evaluated.
 */
#define posix_trace_point_np(event_id, data, len) \
	((void)(*posix_trace_active_np ? (posix_trace_event((event_id), (data), (len)), 0) : 0))

/*
 * posix_trace_event() on behalf of other code, for wrappers and interpreters.
 *
 * event_id  the event type
 * data      the event's data, len bytes; may be null if len is 0
 * address   the event's posix_prog_address: the place in the program that the event is about
 */
void posix_trace_event_at_np(trace_event_id_t event_id, const void *data, size_t len,
			     const void *address);

/*
 * Prepares a process or a thread for a limit on its system calls (seccomp, prctl(PR_SET_TSC)).
 *
 * PROCESS  The library acquires everything that it needs now. After that, recording an event makes
 *          no system call in this process and in children that it forks. An event that would need
 *          one is counted as lost.
 * ALL      As PROCESS, and the library ends its own threads, for a limit that applies to all
 *          threads. The guardian completes the logs of the process's streams when it ends.
 * THREAD   The calling thread records no more events and reads no clock for them. The library
 *          counts these events as lost, cause POSIX_TRACE_LOST_NO_SLOT_NP.
 * NOT      The calling thread records events again after THREAD.
 *
 * Returns 0, or EINVAL: what is none of these. THREAD and NOT are async-signal-safe, the other two
 * are not.
 */
#define POSIX_TRACE_CONFINE_NOT_NP     0
#define POSIX_TRACE_CONFINE_PROCESS_NP 1
#define POSIX_TRACE_CONFINE_THREAD_NP  2
#define POSIX_TRACE_CONFINE_ALL_NP     3

int posix_trace_confine_np(int what);

/*
 * Returns non-zero while a stream is attached to this process, as *posix_trace_active_np does. For
 * languages that cannot read that variable.
 */
int posix_trace_is_active_np(void);

#ifdef __cplusplus
}
#endif

#endif
