/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * posix/confine.c - posix_trace_confine_np(): prepares a process or a thread for a limit on its
 * system calls, or for a task that shares the thread's memory.
 */
#include <errno.h>

#include <trace_np.h>

#include "base/export.h"
#include "flush/flush.h"
#include "meet/family.h"
#include "meet/process.h"
#include "point/record.h"
#include "posix/call.h"

/*
 * Ends, pauses or starts again the threads that flush streams with the policy FLUSH. A seccomp
 * filter for all threads would apply to them, too. If this function ends them, the guardian of each
 * stream later completes its log. The calling thread must not be cancelled meanwhile:
 * pthread_join() is a cancellation point, and a shutdown would wait for ever for a thread that has
 * not ended its call.
 */
static void change_flushers(void (*change)(struct ptx_flush *flush))
{
	trace_id_t ids[PTX_HANDLES];
	unsigned count = ptx_registry_active(ids, PTX_HANDLES);
	int state;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	for (unsigned i = 0; i < count; i++) {
		/* The stream may be shut down by another thread at the same time. */
		struct ptx_stream *stream = ptx_registry_enter(ids[i]);

		if (!stream)
			continue;
		if (stream->flush)
			change(stream->flush);
		ptx_registry_leave(stream);
	}
	pthread_setcancelstate(state, NULL);
}

/*
 * The shim calls this function before prctl(), seccomp(), clone(), unshare() and setns(). It
 * is no cancellation point, and preserves errno.
 */
PTX_EXPORT int posix_trace_confine_np(int what)
{
	int saved = errno, err = 0;

	switch (what) {
	case POSIX_TRACE_CONFINE_ALL_NP:
		change_flushers(ptx_flush_stop);
		__attribute__((fallthrough));
	/*
	 * For CONFINE_ALL and CONFINE_PROCESS: the program is about to install a seccomp filter,
	 * for all threads or for the calling thread.
	 */
	case POSIX_TRACE_CONFINE_PROCESS_NP:
		/*
		 * The functions that need system calls are called first.
		 * ptx_record_become_quiet() then stores the flag, and from then on trace points
		 * make no system calls.
		 */
		ptx_threads_reserve();
		ptx_record_join(__builtin_frame_address(0));
		ptx_process_pid(); /* sets up the process if it is a child that is not set up yet */
		ptx_family_identify_self();
		ptx_record_become_quiet();
		break;
	case POSIX_TRACE_CONFINE_THREAD_NP:
		/* The thread's new mode forbids it to read the time stamp counter. */
		ptx_thread_blind(true);
		break;
	case POSIX_TRACE_CONFINE_NOT_NP:
		/* The thread's new mode permits it to read the counter again. */
		ptx_thread_blind(false);
		break;
	case POSIX_TRACE_CONFINE_SHARED_NP:
		/* A task that clone(2) makes will use this thread's thread-local memory, too. */
		ptx_thread_share();
		break;
	case POSIX_TRACE_CONFINE_VFORK_NP:
		/*
		 * A child of vfork() is about to install a filter, which does not apply to its
		 * parent. The child records events as the parent's thread, which sleeps.
		 */
		ptx_record_join(__builtin_frame_address(0));
		ptx_record_lend_quiet();
		break;
	case POSIX_TRACE_CONFINE_VFORK_END_NP:
		ptx_record_return_quiet();
		break;
	case POSIX_TRACE_CONFINE_ALONE_NP:
		/*
		 * The kernel refuses the program's next call, for example unshare(), if the process
		 * has several threads.
		 */
		change_flushers(ptx_flush_pause);
		break;
	case POSIX_TRACE_CONFINE_ALONE_END_NP:
		change_flushers(ptx_flush_resume);
		break;
	default:
		err = EINVAL;
	}
	errno = saved;
	return err;
}
