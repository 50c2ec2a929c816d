/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * stops.h - times in which SIGSTOP had stopped a process. They follow from calls of kill(2), so
 * they are known even if the log does not show when threads had a CPU. A stop ends with the first
 * of these: SIGCONT, SIGKILL, a later call of the process, or another SIGSTOP, which begins a new
 * stop.
 */
#ifndef POSIXTRACE_WHY_STOPS_H
#define POSIXTRACE_WHY_STOPS_H

#include "why/history.h"

struct stop {
	pid_t pid;             /* the stopped process */
	uint32_t by;           /* index of the thread that sent SIGSTOP */
	int64_t from_ns, to_ns;
};

/*
 * Collects the stops in history->stop, in the order of their begins. history_read() calls this
 * function after the last call was added. Returns 0 or ENOMEM.
 */
int stops_collect(struct history *history);

/* Returns the first stop of a process that overlaps a time, or NULL. */
const struct stop *stops_during(const struct history *history, pid_t pid, int64_t from_ns,
				int64_t to_ns);

#endif
