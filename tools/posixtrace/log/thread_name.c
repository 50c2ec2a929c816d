/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* thread_name.c - the names that a log or a stream has for threads. */
#include "log/thread_name.h"

bool thread_name_find(trace_id_t trid, pid_t pid, uint64_t handle, int64_t time_ns,
		      struct posix_trace_object_np *object)
{
	/*
	 * Another object may have used the address before or since, so the function checks the
	 * kind.
	 */
	return handle && !posix_trace_object_find_np(trid, pid, handle, time_ns, object) &&
	       object->kind == POSIX_TRACE_OBJECT_THREAD_NP && *object->name;
}
