/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * base/timespace.h - the time name space of this process.
 *
 * Processes of different time name spaces read different values of CLOCK_MONOTONIC and
 * CLOCK_BOOTTIME, and of the times in /proc that depend on them. What processes share is therefore
 * said in the first name space's time: the value that a process reads less the offset of its name
 * space.
 */
#ifndef PTX_BASE_TIMESPACE_H
#define PTX_BASE_TIMESPACE_H

#include <stdint.h>

struct ptx_time_space {
	/* what this process's CLOCK_MONOTONIC is ahead of the first name space's */
	int64_t monotonic_ns;
	int64_t boottime_ns;
};

/* 0, or why it cannot be told. errno stays as it was; async-signal-safe. */
int ptx_time_space_read(struct ptx_time_space *space);

#endif
