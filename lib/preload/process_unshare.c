/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * preload/process_unshare.c - family process: calls that the kernel refuses in a process with
 * several threads.
 *
 * If POSIXTRACE_OPTIONS has created a stream in this process, the library may have a thread that
 * flushes the stream. The wrappers end this thread before these calls, and start it again
 * afterwards. The calls have no events.
 */
#include <sched.h>

#include "preload/self.h"
#include "preload/shim.h"

/*
 * Ends the threads of the library. Returns whether they must be started again. A quiet process must
 * not make the system calls for this. A child in the memory of its parent has no such threads.
 */
static bool pause_threads(void)
{
	if (!*posix_trace_active_np || shim_is_quiet() || shim_is_guest() || shim_is_borrower())
		return false;
	return !posix_trace_confine_np(POSIX_TRACE_CONFINE_ALONE_NP);
}

/* errno is unchanged. */
static void resume_threads(bool is_paused)
{
	if (is_paused)
		posix_trace_confine_np(POSIX_TRACE_CONFINE_ALONE_END_NP);
}

SHIM_NEXT(unshare, shim_no_number);

/* unshare(2). A new user namespace is only for a process with a single thread. */
SHIM_WRAPPER int unshare(int flags)
{
	const bool is_paused = flags & CLONE_NEWUSER && pause_threads();
	int result = next(unshare)(flags);

	resume_threads(is_paused);
	return result;
}

SHIM_NEXT(setns, shim_no_number);

/*
 * setns(2). Whether the kernel permits several threads depends on the namespace, which may follow
 * from the descriptor.
 */
SHIM_WRAPPER int setns(int fd, int type)
{
	const bool is_paused = pause_threads();
	int result = next(setns)(fd, type);

	resume_threads(is_paused);
	return result;
}
