/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* groups.c - decides which pools and rhythms belong to an answer. */
#include "why/groups.h"

/* The least part of the time in which no worker of a pool was idle, in percent. */
#define BUSY_LEAST 90
/*
 * The least part of its time by which a loop is late, in percent, so that its rhythm is a fact. If
 * the work takes longer than the sleep, the program has probably asked for a pause and no period.
 */
#define LATE_LEAST 1

/*
 * Returns whether a window is of a kind in which other requests may wait while its thread works. If
 * the thread is a worker of a pool, another worker could handle these requests.
 */
static bool has_waiting(const struct window *window)
{
	return window->kind == WINDOW_TURN || window->kind == WINDOW_BUSY ||
	       window->kind == WINDOW_SERVED;
}

/* Returns whether work waited for a pool whose workers have a queue each. */
static bool has_queued(const struct division *division, const struct call *pool)
{
	for (size_t i = 0; i < division->nodes; i++)
		if (division->node[i].pool == pool)
			return true;
	return false;
}

/*
 * Finds a worker of a busy pool in the chain that leads to a node. Only with has_waiting(), this
 * may be the thread of the window. If each worker of a pool has a queue of its own, has_queued()
 * must show that work waited for the pool (pools.h). A pool is busy if no worker of it was idle for
 * most of the time in which all of them lived. This time must be at least half of the window.
 * Returns 0 or ENOMEM.
 */
static int find_busy(struct groups *groups, const struct why *why, const struct window *window,
		     const struct division *division, uint32_t node)
{
	/* The pools that were examined: a chain may have many threads of one pool. */
	const struct call *seen[3 * WHY_DEPTH + 3];
	struct pools_busy *busy = &groups->busy;
	size_t count = 0;
	int err = 0;

	for (bool is_root = false; !is_root && !err; node = division->node[node].parent) {
		const uint32_t thread = division->node[node].thread;
		const struct call *idle = pools_idle(&why->history, thread);
		size_t i = 0;

		is_root = !node;
		while (i < count && seen[i] != idle)
			i++;
		if (!idle || (thread == window->thread && !has_waiting(window)) || i < count ||
		    count == sizeof(seen) / sizeof(*seen))
			continue;
		seen[count++] = idle;
		if (pools_has_own(&why->history, thread) && !has_queued(division, idle))
			continue;
		err = pools_busy(&why->history, thread, window->from_ns, window->to_ns, busy);
		if (!err && busy->workers > 1 && busy->all_ns >= window_ns(window) / 2 &&
		    100 * (double)busy->idle_ns <= (100 - BUSY_LEAST) * (double)busy->all_ns) {
			groups->worker = thread;
			break;
		}
	}
	return err;
}

double groups_missed(const struct rhythm *rhythm)
{
	return rhythm->all_ns / rhythm->asked_ns - (double)(rhythm->rounds - 1);
}

/*
 * Adds the rhythm of the calls of a thread that are like one of its calls, if it is not as the
 * program asked for, and lasted for at least half of the window. Returns 0 or ENOMEM.
 */
static int add_rhythm(struct groups *groups, const struct why *why, const struct window *window,
		      uint32_t thread, const struct call *like, bool is_cause)
{
	struct rhythm rhythm;
	double by;
	int err = 0;

	if (!like || groups->rhythms == GROUPS_RHYTHMS ||
	    !rhythm_find(&why->history, thread, window->from_ns, window->to_ns, like, &rhythm,
			 &err))
		return err;
	by = rhythm.period_ns - rhythm.asked_ns;
	if (by * 100 >= rhythm.asked_ns * LATE_LEAST &&
	    (rhythm.is_timer ? groups_missed(&rhythm) >= 1 : by < rhythm.asked_ns) &&
	    rhythm.all_ns >= (double)window_ns(window) / 2)
		groups->rhythm[groups->rhythms++] =
			(struct groups_rhythm){ rhythm, thread, is_cause };
	return 0;
}

/* Returns whether a call is a sleep, or a poll that waited until its time limit. */
static bool is_pause(const struct call *call)
{
	return call->cause == CAUSE_SLEEP || call->is_in_vain;
}

/*
 * Adds the rhythms of the thread's own loops that sleep, and of its timerfd, apart from the
 * greatest cause: this may be the work of the loop. 'read' is the first read of a timerfd, or NULL.
 * If a timerfd has expired, the read is no wait, so it may have no part. Returns 0 or ENOMEM.
 */
static int add_own(struct groups *groups, const struct why *why, const struct window *window,
		   const struct division *division, uint32_t cause, const struct call *read)
{
	const struct why_node *node = &division->node[cause];
	const bool is_timer = node->kind == WHY_SLEEP && node->last_call &&
			      !is_pause(node->last_call);
	int err = is_timer ? 0 : add_rhythm(groups, why, window, window->thread, read, false);

	for (uint32_t at = division->node[0].child; at && !err; at = division->node[at].sibling)
		if (division->node[at].kind == WHY_SLEEP && at != cause &&
		    division->node[at].calls >= RHYTHM_LEAST && !read &&
		    is_pause(division->node[at].last_call))
			err = add_rhythm(groups, why, window, window->thread,
					 division->node[at].last_call, false);
	return err;
}

int groups_find(struct groups *groups, const struct why *why, const struct window *window,
		const struct division *division, const struct why_causes *causes)
{
	const struct why_node *node;
	const struct call *read; /* of a timerfd, which sets the pace of the thread; or NULL */
	int err;

	groups->worker = HISTORY_NONE;
	groups->rhythms = 0;
	if (!causes->count)
		return 0;
	node = &division->node[causes->cause[0].node];
	err = find_busy(groups, why, window, division, causes->cause[0].node);
	/* The rhythm of another thread is not the question: its sleep is a cause in itself. */
	read = rhythm_read(&why->history, window->thread, window->from_ns, window->to_ns);
	if (!err && node->kind == WHY_SLEEP && node->thread == window->thread && node->last_call &&
	    !(read && is_pause(node->last_call)))
		err = add_rhythm(groups, why, window, node->thread, node->last_call, true);
	return err ? err : add_own(groups, why, window, division, causes->cause[0].node, read);
}
