/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* policy.c - names of policies. The values of the three kinds of policies are distinct. */
#include "log/policy.h"

#include <trace_np.h>

/*
 * The number comes from a log and may have any value. The words are documented as output of the
 * commands; they have blanks where the standard's names have underscores.
 */
const char *policy_name(int policy)
{
	switch (policy) {
	case POSIX_TRACE_LOOP:
		return "loop";
	case POSIX_TRACE_UNTIL_FULL:
		return "until full";
	case POSIX_TRACE_FLUSH:
		return "flush";
	case POSIX_TRACE_APPEND:
		return "append";
	case POSIX_TRACE_CLOSE_FOR_CHILD:
		return "close for child";
	case POSIX_TRACE_INHERITED:
		return "inherited";
	}
	return "unknown";
}
