/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <unistd.h>

#include <trace_np.h>

#include "base/export.h"

PTX_EXPORT long posix_trace_sysconf_np(int name)
{
	switch (name) {
	case _SC_TRACE:
		return _POSIX_TRACE;
	case _SC_TRACE_EVENT_FILTER:
		return _POSIX_TRACE_EVENT_FILTER;
	case _SC_TRACE_INHERIT:
		return _POSIX_TRACE_INHERIT;
	case _SC_TRACE_LOG:
		return _POSIX_TRACE_LOG;
	case _SC_TRACE_EVENT_NAME_MAX:
		return TRACE_EVENT_NAME_MAX;
	case _SC_TRACE_NAME_MAX:
		return TRACE_NAME_MAX;
	case _SC_TRACE_SYS_MAX:
		return TRACE_SYS_MAX;
	case _SC_TRACE_USER_EVENT_MAX:
		return TRACE_USER_EVENT_MAX;
	default:
		/*
		 * errno is part of sysconf()'s answer: only it tells "no limit" from "no such
		 * name".
		 */
		return sysconf(name);
	}
}
