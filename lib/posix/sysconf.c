/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * posix/sysconf.c - posix_trace_sysconf_np(): sysconf() with the values of this library.
 */
#include <unistd.h>

#include <trace_np.h>

#include "base/export.h"

/*
 * The C library does not have this library's values for the names of tracing, so they are returned
 * here. All other names are passed to sysconf().
 */
PTX_EXPORT long posix_trace_sysconf_np(int name)
{
	/*
	 * These are the values of <trace.h> and <limits.h> of this library, which are constants.
	 */
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
		 * errno is part of the answer of sysconf(): it alone distinguishes "no limit"
		 * from an unknown name.
		 */
		return sysconf(name);
	}
}
