/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * throttled.h - records for how long the CPU limit of a cgroup kept a process from running. A
 * container may have such a limit. Without these events, the log does not show why such a process
 * does not run although it is ready to run.
 */
#ifndef POSIXTRACE_LIVE_THROTTLED_H
#define POSIXTRACE_LIVE_THROTTLED_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define THROTTLED_EVENT "posixtrace_throttled"
/*
 * throttled_ns: the time since the previous look in which the limit applied, the sum of all CPUs.
 * periods: the number of periods in which the limit applied. since: the time since the previous
 * look; the last look is after the end of the process. cgroup: the path of the cgroup.
 */
#define THROTTLED_SCHEMA "s32 pid; u64 throttled_ns; u64 periods; ns since; str cgroup"

struct capture;

/* The counts at the previous look. An empty path means that there was none. */
struct throttled {
	char path[512];
	uint64_t ns, periods;
	int64_t at_ns;        /* CLOCK_MONOTONIC: the time of that look */
	bool is_unified;      /* the path is one of version 2 */
};

/*
 * Compares the counts of the cgroup of a process with those of the previous look, and records an
 * event if they have grown. If the process has changed its cgroup, the function records nothing. If
 * the process has ended, the function examines the cgroup of the previous look.
 */
void throttled_look(struct throttled *throttled, pid_t pid, struct capture *capture);

#endif
