/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * ender.h - finds the call that ended a wait of another thread: the write that a read waited for,
 * the post of a semaphore, the signal, or the last thread at a barrier.
 */
#ifndef POSIXTRACE_WHY_ENDER_H
#define POSIXTRACE_WHY_ENDER_H

#include "why/history.h"

#define ENDER_LOOK_AT 512 /* the most calls that a search examines in each direction */

struct ender {
	const struct call *call; /* NULL: none was found. The history owns it. */
	/*
	 * The log shows that both calls used the same object, and that no other thread used it
	 * during the wait.
	 */
	bool is_certain;
	bool has_rivals;         /* several threads used the object during the wait */
	bool has_twins;          /* several threads transferred as many bytes as the wait */
};

/*
 * Finds the call that ended a wait. If the object of a read, write or poll is unknown, a call is
 * found only if no other thread transferred as many bytes during the wait. 'through' is the result
 * of ender_through() if the wait is a poll. It is ignored for other waits.
 */
struct ender ender_find(const struct history *history, const struct call *call,
			const struct call *through);

/*
 * Does the same for a read, write or poll if no history exists. 'calls' has reads, writes and polls
 * in the order of their ends. Their member 'thread' may be any number that identifies a thread. The
 * objects of these calls are unknown, so the result is only probable. Returns NULL if no call was
 * found.
 */
const struct call *ender_among(const struct call *calls, size_t count, const struct call *call);

/*
 * Returns the next read or accept of a thread after a poll. In this call the thread used the input
 * for which it had waited in the poll. Returns NULL if the thread waits in another poll before, or
 * has no such call among its next few calls. A poll that only looks, without waiting, may be
 * between.
 */
const struct call *ender_through(const struct history *history, const struct call *call);

/*
 * Returns the poll by which a thread continued a poll that no other thread ended. The thread waited
 * again at the same place, and used no connection between the two polls. A program continues a poll
 * if a timer or a signal of its own has interrupted the wait. Returns NULL if there is none.
 */
const struct call *ender_again(const struct history *history, const struct call *call);

/*
 * Returns the call that set a timer which expired during the wait, or NULL. The signal of this
 * timer has probably ended the wait. At most ENDER_LOOK_AT calls that may end waits are examined,
 * backwards from the end of the wait.
 */
const struct call *ender_timer(const struct history *history, const struct call *call);

/* Returns how many calls of history->transfer end at or before a time. */
size_t ender_until(const struct history *history, int64_t time_ns);

/*
 * Returns the index of the main thread of the child whose end probably sent SIGCHLD to a process
 * during a wait, or HISTORY_NONE. If child is not 0, only this child is examined.
 */
uint32_t ender_child(const struct history *history, const struct call *call, pid_t child);

/*
 * Returns the index of the main thread of the process that probably ended a wait for data in a pipe
 * or a pair of sockets, or HISTORY_NONE. The log has no write of this process, because the C
 * library itself writes the buffers of <stdio.h>. 'read' is the call itself, or the read after a
 * poll. Adds the number of examined threads to *steps.
 */
uint32_t ender_output(const struct history *history, const struct call *call,
		      const struct call *read, uint64_t *steps);

#endif
