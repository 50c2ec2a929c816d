/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * preload/process_unshare.c - family process: calls that the kernel refuses in a process with
 * several threads.
 *
 * If POSIXTRACE_OPTIONS has created a stream in this process, the library may have a thread that
 * flushes the stream. The wrappers end this thread before these calls, and start it again
 * afterwards. The calls have no events. The wrappers do not end the thread before other calls: with
 * a new namespace of process ids, the process could not start it again.
 */
#include <errno.h>
#include <linux/nsfs.h>
#include <linux/sched.h>
#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "preload/process.h"
#include "preload/self.h"
#include "preload/shim.h"

/* Older headers lack these. */
#ifndef CLONE_NEWTIME
#define CLONE_NEWTIME 0x80
#endif
#ifndef NS_GET_NSTYPE
#define NS_GET_NSTYPE _IO(0xb7, 3)
#endif

/* The kernel refuses these flags of unshare(2) and of setns(2) if there are several threads. */
#define UNSHARES_ALONE (CLONE_NEWUSER | CLONE_THREAD | CLONE_SIGHAND | CLONE_VM)
#define ENTERS_ALONE   (CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWTIME)

/*
 * Returns whether the threads of the library may be paused. A quiet process must not make the
 * system calls for a pause. A child in the memory of its parent has no threads of the library.
 */
static bool may_pause(void)
{
	return *posix_trace_active_np && !shim_is_quiet() && !shim_is_guest() &&
	       !shim_is_borrower();
}

struct pause {
	bool is_paused;
	int cancel_state; /* the caller's state of cancellation before the pause, if is_paused */
};

/*
 * Ends the threads of the library. A request to cancel the caller waits until resume_threads():
 * otherwise the caller could end before it has started the threads again. The calls between the two
 * functions are no cancellation points and do not wait, so only an asynchronous cancellation is
 * delayed.
 */
static void pause_threads(struct pause *pause)
{
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &pause->cancel_state);
	posix_trace_confine_np(POSIX_TRACE_CONFINE_ALONE_NP);
	pause->is_paused = true;
}

/* Starts the threads again. errno is unchanged. */
static void resume_threads(const struct pause *pause)
{
	if (!pause->is_paused)
		return;
	posix_trace_confine_np(POSIX_TRACE_CONFINE_ALONE_END_NP);
	pthread_setcancelstate(pause->cancel_state, NULL);
}

/* Returns whether the kernel may permit the process only one thread in setns(). */
static bool enters_alone(int fd, int type)
{
	const int saved = errno;

	/* Without a type, the namespace of the descriptor may be any. */
	if (!type)
		type = (int)syscall(SYS_ioctl, fd, NS_GET_NSTYPE);
	errno = saved;
	return type < 0 || type & ENTERS_ALONE;
}

SHIM_NEXT(unshare, shim_no_number);
SHIM_NEXT(setns, shim_no_number);

int shim_unshare(int flags)
{
	struct pause pause = { .is_paused = false };
	int result;

	if (flags & UNSHARES_ALONE && may_pause())
		pause_threads(&pause);
	result = next(unshare)(flags);
	resume_threads(&pause);
	return result;
}

int shim_setns(int fd, int type)
{
	struct pause pause = { .is_paused = false };
	int result;

	if (may_pause() && enters_alone(fd, type))
		pause_threads(&pause);
	result = next(setns)(fd, type);
	resume_threads(&pause);
	return result;
}

SHIM_WRAPPER int unshare(int flags)
{
	return shim_unshare(flags);
}

SHIM_WRAPPER int setns(int fd, int type)
{
	return shim_setns(fd, type);
}
