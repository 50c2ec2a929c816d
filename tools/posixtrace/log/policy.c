/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * policy.c - finds the name of a policy. The three kinds of policies have distinct values, so one
 * function suffices.
 */
#include "log/policy.h"

#include <trace_np.h>

/*
 * The number comes from a log and may have any value. The manual pages document these words as
 * output of the commands. The words have blanks where the names of the standard have underscores.
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
