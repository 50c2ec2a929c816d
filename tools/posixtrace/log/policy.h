/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* policy.h - the POSIX_TRACE_* policies as words. */
#ifndef POSIXTRACE_LOG_POLICY_H
#define POSIXTRACE_LOG_POLICY_H

/* Returns the English name of a POSIX_TRACE_* policy, or "unknown" for any other number. */
const char *policy_name(int policy);

#endif
