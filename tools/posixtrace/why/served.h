/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * served.h - the requests that a thread handles on connections which another thread accepted.
 * Servers with a process or a thread for each client handle requests in this way.
 *
 * The log has no event of such a request. The request begins when a read from the connection
 * returns data. It ends with the last write to the connection before the thread reads from the
 * connection again.
 */
#ifndef POSIXTRACE_WHY_SERVED_H
#define POSIXTRACE_WHY_SERVED_H

#include "why/history.h"

#define SERVED "served" /* the value of --span */

struct served {
	int64_t from_ns, to_ns;
	uint32_t thread;
};

/* Returns the length of the request. */
static inline uint64_t served_ns(const struct served *served)
{
	return (uint64_t)served->to_ns - (uint64_t)served->from_ns;
}

/* Calls take() for each request of a thread. A thread that accepts connections itself has turns
 * instead. */
void served_each(const struct history *history, uint32_t thread,
		 void (*take)(void *arg, const struct served *served), void *arg);

/* Stores the longest request of all threads. to_ns equals from_ns if there is none. */
void served_worst(const struct history *history, struct served *worst);

#endif
