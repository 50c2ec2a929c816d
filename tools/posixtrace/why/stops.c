/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* stops.c - finds the times in which SIGSTOP had stopped a process. */
#include "why/stops.h"

#include <errno.h>
#include <signal.h>

#include "base/vec.h"

#define STOPS_MOST 4096 /* bounds the searches; later stops are not followed */

/*
 * Ends the last stop of a process, which has no end yet. A process that was killed is not stopped
 * any more, either.
 */
static void end_stop(struct history *history, pid_t pid, int64_t time_ns)
{
	for (size_t i = history->stops; i-- > 0;) {
		struct stop *stop = &history->stop[i];

		if (stop->pid != pid)
			continue;
		if (stop->to_ns == INT64_MAX && time_ns > stop->from_ns)
			stop->to_ns = time_ns;
		return;
	}
}

int stops_collect(struct history *history)
{
	for (size_t i = 0; i < history->calls; i++) {
		const struct call *call = &history->call[i];
		const pid_t pid = (pid_t)call->other;

		/* A number that is not positive is a group, whose members are not known. */
		if (call->cause != CAUSE_KILL || call->error || pid <= 0)
			continue;
		if (call->key == SIGCONT || call->key == SIGKILL) {
			end_stop(history, pid, call->begin_ns);
			continue;
		}
		if (call->key != SIGSTOP || history->stops == STOPS_MOST)
			continue;
		if (!vec_grow(&history->stop, history->stops, 1))
			return ENOMEM;
		history->stop[history->stops++] = (struct stop){
			.pid = pid, .by = call->thread, .from_ns = call->end_ns, .to_ns = INT64_MAX,
		};
	}
	return 0;
}

const struct stop *stops_during(const struct history *history, pid_t pid, int64_t from_ns,
				int64_t to_ns)
{
	for (size_t i = 0; i < history->stops && history->stop[i].from_ns < to_ns; i++)
		if (history->stop[i].pid == pid && history->stop[i].to_ns > from_ns)
			return &history->stop[i];
	return NULL;
}
