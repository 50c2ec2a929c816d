/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* posix/confine.c - a process or a thread gives up system calls for good. */
#include <errno.h>

#include <trace_np.h>

#include "base/export.h"
#include "flush/flush.h"
#include "point/record.h"
#include "posix/call.h"

/* Those that flush streams of policy FLUSH. What nobody flushes any more a guardian completes. */
static void end_threads(void)
{
	trace_id_t ids[PTX_HANDLES];
	unsigned count = ptx_registry_active(ids, PTX_HANDLES);

	for (unsigned i = 0; i < count; i++) {
		struct ptx_stream *stream = ptx_registry_enter(ids[i]);

		if (!stream)
			continue;
		if (stream->flush)
			ptx_flush_stop(stream->flush);
		ptx_registry_leave(stream);
	}
}

PTX_EXPORT int posix_trace_confine_np(int what)
{
	int saved = errno, err = 0;

	switch (what) {
	case POSIX_TRACE_CONFINE_ALL_NP:
		end_threads();
		__attribute__((fallthrough));
	case POSIX_TRACE_CONFINE_PROCESS_NP:
		ptx_threads_reserve();
		ptx_record_join(__builtin_frame_address(0));
		ptx_record_tell_quiet();
		break;
	case POSIX_TRACE_CONFINE_THREAD_NP:
		ptx_thread_blind(true);
		break;
	case POSIX_TRACE_CONFINE_NOT_NP:
		ptx_thread_blind(false);
		break;
	default:
		err = EINVAL;
	}
	errno = saved;
	return err;
}
