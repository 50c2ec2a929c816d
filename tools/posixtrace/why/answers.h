/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * answers.h - the times in which a server waited for the answer of another server, its upstream.
 *
 * The server has accepted connections and connects to the upstream itself, as a proxy or an
 * application with a database does. The log has no event of such a time: it begins with the
 * connect, or with the first write after an answer, and ends when the server has read from the
 * connection. If the connect was complete at once, the time begins with the first write, too.
 */
#ifndef POSIXTRACE_WHY_ANSWERS_H
#define POSIXTRACE_WHY_ANSWERS_H

#include "why/history.h"

#define ANSWERS_UPSTREAM "upstream" /* the value of --span */

struct answer {
	int64_t from_ns, to_ns;
	uint32_t thread;
	uint32_t text;       /* index of the upstream's address in history.text + 1 */
};

/* Returns how long it took. A hostile log may have any times, of which to_ns is the later one. */
static inline uint64_t answers_ns(const struct answer *answer)
{
	return (uint64_t)answer->to_ns - (uint64_t)answer->from_ns;
}

/* Calls take() for each answer, in the order of the log. Returns 0 or ENOMEM. */
int answers_each(const struct history *history,
		 void (*take)(void *arg, const struct answer *answer), void *arg);

/*
 * Stores the longest wait for an answer. to_ns equals from_ns if there is none. Returns 0 or
 * ENOMEM.
 */
int answers_worst(const struct history *history, struct answer *worst);

#endif
