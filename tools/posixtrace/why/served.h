/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * served.h - the requests that a thread handles on connections which another thread accepted, and
 * the requests that an event loop does not answer itself. Servers with a process or a thread for
 * each client handle requests in the first way. Servers with an event loop and a pool of threads
 * handle them in the second way.
 *
 * The log has no event of such a request. The request begins when a read from the connection
 * returns data. It ends with the last write to the connection before the server reads from the
 * connection again.
 */
#ifndef POSIXTRACE_WHY_SERVED_H
#define POSIXTRACE_WHY_SERVED_H

#include "why/history.h"

#define SERVED "served" /* the value of --span */

/* The client of a request, or of most of a time. */
struct served_client {
	uint32_t text;   /* index of its address in history.text + 1; 0: unknown */
	int32_t fd;      /* -1: there is no such client */
};

struct served {
	int64_t from_ns, to_ns;
	uint32_t thread; /* the one that wrote the answer */
	struct served_client client;
};

/* Returns the length of the request. */
static inline uint64_t served_ns(const struct served *served)
{
	return (uint64_t)served->to_ns - (uint64_t)served->from_ns;
}

/*
 * Calls take() for each request of both kinds. A request of the second kind was not answered in the
 * turn of the loop which a client or an upstream began: another thread wrote the answer, or the
 * loop wrote it after a pipe, an eventfd, a timer or a time limit had woken it.
 * Returns 0 or ENOMEM.
 */
int served_each(const struct history *history,
		void (*take)(void *arg, const struct served *served), void *arg);

/*
 * Finds the client for whose request a thread worked in more than half of a time. The thread works
 * for a client from a read that returned data to its last write to this client, or, if it wrote
 * nothing, until it reads from another client. If 'goes_on' is true, the time may begin in this
 * work: the thread may have read the request before.
 */
struct served_client served_client(const struct history *history, uint32_t thread,
				   int64_t from_ns, int64_t to_ns, bool goes_on);

/*
 * Stores the longest request of all threads. to_ns equals from_ns if there is none. Returns 0 or
 * ENOMEM.
 */
int served_worst(const struct history *history, struct served *worst);

#endif
