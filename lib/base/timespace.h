/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * base/timespace.h - the time namespace of this process.
 *
 * Processes of different time namespaces read different values of CLOCK_MONOTONIC and
 * CLOCK_BOOTTIME, and of the times in /proc that depend on them. Processes therefore exchange times
 * of the initial namespace (the one in which the system booted): the value that a process reads
 * minus the offset of its namespace.
 *
 * Threads   all functions may run concurrently. Signals: async-signal-safe.
 */
#ifndef PTX_BASE_TIMESPACE_H
#define PTX_BASE_TIMESPACE_H

#include <stdint.h>

struct ptx_time_space {
	/* by how much CLOCK_MONOTONIC of this process is ahead of that of the initial namespace */
	int64_t monotonic_ns;
	/* by how much CLOCK_BOOTTIME of this process is ahead of that of the initial namespace */
	int64_t boottime_ns;
};

/*
 * Reads the offsets. Returns 0, or an error number if they cannot be determined; *space is then
 * 0. errno is preserved.
 */
int ptx_time_space_read(struct ptx_time_space *space);

#endif
