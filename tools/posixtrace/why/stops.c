/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* stops.c - finds the times in which SIGSTOP had stopped a process. */
#include "why/stops.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>

#include "base/pidset.h"
#include "base/vec.h"

#define STOPS_MOST 4096 /* bounds the searches; later stops are not followed */

/*
 * The kernel stops a thread within this time after SIGSTOP. A call of the process that begins or
 * ends later shows that the process continues, even if the log lacks the SIGCONT. For example, a
 * shell that was not recorded may have sent it, or another process may have sent it to the group.
 */
#define STOPS_WITHIN_NS INT64_C(1000000)

struct stops_search {
	struct history *history;
	struct pidset pids; /* of the processes that were stopped */
	size_t *last;       /* for each of them, the index of its last stop */
	size_t lasts;
};

/* Returns the last stop of a process, or NULL. */
static struct stop *last_of(const struct stops_search *search, pid_t pid)
{
	const uint32_t index = pidset_find(&search->pids, pid);

	return index < search->lasts ? &search->history->stop[search->last[index]] : NULL;
}

/* Ends a stop at a time, unless it ended earlier. */
static void end_stop(struct stop *stop, int64_t time_ns)
{
	if (stop && time_ns > stop->from_ns && time_ns < stop->to_ns)
		stop->to_ns = time_ns;
}

/* Adds a stop, which ends an earlier stop of the process. Returns false if memory is lacking. */
static bool add_one(struct stops_search *search, const struct stop *stop)
{
	struct history *history = search->history;
	uint32_t index;

	end_stop(last_of(search, stop->pid), stop->from_ns);
	index = pidset_index(&search->pids, stop->pid);
	if (index == TABLE_NONE || !vec_reach(&search->last, &search->lasts, index) ||
	    !vec_grow(&history->stop, history->stops, 1))
		return false;
	search->last[index] = history->stops;
	history->stop[history->stops++] = *stop;
	return true;
}

static bool is_after(int64_t time_ns, int64_t from_ns)
{
	return time_ns > from_ns && (uint64_t)time_ns - (uint64_t)from_ns >= STOPS_WITHIN_NS;
}

/* Ends the stop of a process that makes a call. */
static void follow_call(const struct stops_search *search, const struct call *call)
{
	struct stop *stop = last_of(search, search->history->thread[call->thread].pid);

	if (stop && is_after(call->begin_ns, stop->from_ns))
		end_stop(stop, call->begin_ns);
	else if (stop && is_after(call->end_ns, stop->from_ns))
		end_stop(stop, call->end_ns);
}

/* Follows a signal. Returns false if memory is lacking. */
static bool follow_signal(struct stops_search *search, const struct call *call)
{
	const pid_t pid = (pid_t)call->target_pid;
	const bool is_own = search->history->thread[call->thread].pid == pid;

	/*
	 * A negative number names a process group. The process whose pid is the group's number gets
	 * the signal, too; the other members of the group are not known. SIGKILL also ends a stop.
	 */
	if (call->key == SIGCONT || call->key == SIGKILL)
		end_stop(last_of(search, pid < -1 ? (pid_t)(0U - (unsigned)pid) : pid),
			 call->begin_ns);
	if (call->key != SIGSTOP || pid <= 0 || search->history->stops == STOPS_MOST)
		return true;
	/* A call that stops its own process returns when the process continues. */
	return add_one(search, &(const struct stop){
		.pid = pid, .by = call->thread, .from_ns = is_own ? call->begin_ns : call->end_ns,
		.to_ns = is_own ? call->end_ns : INT64_MAX,
	});
}

static int by_begin(const void *a, const void *b)
{
	const struct stop *x = a, *y = b;

	return x->from_ns < y->from_ns ? -1 : x->from_ns > y->from_ns;
}

int stops_collect(struct history *history)
{
	struct stops_search search = { .history = history };
	bool is_done = true;

	for (size_t i = 0; is_done && i < history->calls; i++) {
		const struct call *call = &history->call[i];

		follow_call(&search, call);
		if (call->cause == CAUSE_KILL && !call->error)
			is_done = follow_signal(&search, call);
	}
	if (history->stops)
		qsort(history->stop, history->stops, sizeof(*history->stop), by_begin);
	free(search.last);
	pidset_fini(&search.pids);
	return is_done ? 0 : ENOMEM;
}

const struct stop *stops_during(const struct history *history, pid_t pid, int64_t from_ns,
				int64_t to_ns)
{
	for (size_t i = 0; i < history->stops && history->stop[i].from_ns < to_ns; i++)
		if (history->stop[i].pid == pid && history->stop[i].to_ns > from_ns)
			return &history->stop[i];
	return NULL;
}
