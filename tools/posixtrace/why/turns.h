/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * turns.h - the work of servers. A server waits for input in poll(), select() or epoll_wait(),
 * handles the input, and waits again. A turn is the time from one such wait to the next wait. Other
 * requests wait meanwhile. The log has no events of turns, so turns are computed from the waits.
 */
#ifndef POSIXTRACE_WHY_TURNS_H
#define POSIXTRACE_WHY_TURNS_H

#include "why/history.h"

/* The values of --span. */
#define TURNS_TURN "turn"
#define TURNS_BUSY "busy" /* a busy time: turns between which the thread was never blocked */

struct turn {
	int64_t from_ns, to_ns;
	uint32_t thread;
	uint64_t ready; /* descriptors on which the next wait immediately found input */
	uint64_t parts; /* the number of turns; in a busy time, waits that did not block separate
			 * them */
};

/* Returns the length of a turn. */
static inline uint64_t turn_ns(const struct turn *turn)
{
	return (uint64_t)turn->to_ns - (uint64_t)turn->from_ns;
}

/* The turns of a thread, added up. */
struct turns {
	uint64_t count, ns;  /* number of turns, and their total time */
	int64_t from_ns, to_ns; /* the begin of the first one, the end of the last one */
	struct turn longest; /* the longest turn */
	struct turn busiest; /* the longest busy time */
};

/* Calls take() for each turn of a thread, or for each busy time, in the order of time. */
void turns_each(const struct history *history, uint32_t thread, bool is_busy,
		void (*take)(void *arg, const struct turn *turn), void *arg);

/* Adds up the turns of a thread. */
void turns_sum(const struct history *history, uint32_t thread, struct turns *turns);

/*
 * Finds the turn or busy time that best explains why requests waited, among all threads that
 * accepted connections, except those that serve one client after the other. It uses the longest
 * turn of a thread if that turn is far longer than the mean turn. Otherwise it uses the thread's
 * longest busy time. Returns the name for --span; NULL: no such thread has enough turns.
 */
const char *turns_worst(const struct history *history, struct turn *worst);

#endif
