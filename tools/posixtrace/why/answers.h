/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * answers.h - the times in which a program waited for the answer to a request.
 *
 * The program made the connection: it is a client, or a server that uses another server, its
 * upstream. The log has no event of such a wait. The wait begins with the connect, or with the
 * first write after an answer. If the connect was complete immediately, the wait begins with the
 * first write after the connect. The wait ends when the program has read from the connection. If
 * there is no answer, the wait ends with the connection, the program or the log.
 */
#ifndef POSIXTRACE_WHY_ANSWERS_H
#define POSIXTRACE_WHY_ANSWERS_H

#include "why/history.h"

#define ANSWERS_UPSTREAM "upstream" /* the value of --span */

/*
 * Returns the length of the wait. to_ns is never less than from_ns, but the difference may exceed
 * INT64_MAX in a hostile log.
 */
static inline uint64_t answers_ns(const struct answer *answer)
{
	return (uint64_t)answer->to_ns - (uint64_t)answer->from_ns;
}

/*
 * Finds the requests of all programs and keeps them in history->request. history_read() calls it.
 * Returns 0 or ENOMEM.
 */
int answers_collect(struct history *history);

/*
 * Calls take() for each time in which a server waited for an answer, in the order of processes and
 * times.
 */
void answers_each(const struct history *history,
		  void (*take)(void *arg, const struct answer *answer), void *arg);

/* Stores the longest wait for an answer. to_ns equals from_ns if there is none. */
void answers_worst(const struct history *history, struct answer *worst);

/*
 * Returns the connection for which a poll waited, or NULL. Its connect() returned before the
 * connection was complete. If the poll found something, this is the connection that the poll found
 * complete. Otherwise, it is the oldest connection of the thread that was not complete during the
 * whole poll. *others becomes the number of other connections, and requests on other connections,
 * for which the poll may have waited as well.
 */
const struct answer *answers_connecting(const struct history *history, const struct call *poll,
					unsigned *others);

/*
 * Returns the oldest request whose answer a thread awaited during the whole time from from_ns to
 * to_ns, or NULL. 'thread' is the index of the thread. The thread must have sent the request, or
 * must be the last user of its connection, because another thread of the process need not wait for
 * this answer. *others becomes the number of further such requests that the search has found.
 */
const struct answer *answers_during(const struct history *history, uint32_t thread,
				    int64_t from_ns, int64_t to_ns, unsigned *others);

/*
 * Returns the request whose answer ended a wait, or NULL. 'read' is the wait itself, or the call by
 * which the thread read after the wait. This call read the answer, and the request was sent before
 * the wait began. *others becomes the number of other requests of the thread that had no answer
 * during the wait.
 */
const struct answer *answers_read(const struct history *history, const struct call *wait,
				  const struct call *read, unsigned *others);

#endif
