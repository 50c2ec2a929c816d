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
	 * The log says that both calls used the same object, and that no other thread used it
	 * during the wait.
	 */
	bool is_certain;
	bool has_rivals;         /* several threads used the object during the wait */
};

/*
 * Finds the call that ended a wait. through is the call that found the input of a poll, or NULL; it
 * is ignored for other waits.
 */
struct ender ender_find(const struct history *history, const struct call *call,
			const struct call *through);

/*
 * Does the same for a read, write or poll of a log without a history. calls are reads, writes and
 * polls in the order of their ends, and their member thread is any number of a thread. The caller
 * knows no objects, so the result is only probable. Returns NULL if no call was found.
 */
const struct call *ender_among(const struct call *calls, size_t count, const struct call *call);

/*
 * Returns the call by which a thread used the input for which it had waited in a poll: its next
 * call, if that reads or accepts. Returns NULL if it did something else first.
 */
const struct call *ender_through(const struct history *history, const struct call *call);

/*
 * Returns the poll by which a thread has continued a poll that none of the other threads ended: it
 * waited again at the same place, and did not use a connection between the two. A program does so
 * if a timer or a signal of its own interrupts a wait. Returns NULL if there is none.
 */
const struct call *ender_again(const struct history *history, const struct call *call);

/*
 * Returns the event that set the timer whose signal has probably ended a wait, or NULL: the timer
 * expired during the wait. At most ENDER_LOOK_AT calls that may end waits are examined, backwards
 * from the end of the wait.
 */
const struct call *ender_timer(const struct history *history, const struct call *call);

/*
 * Returns the index of the main thread of the child whose end probably sent SIGCHLD to a process
 * during a wait, or HISTORY_NONE. If child is not 0, only this child is examined.
 */
uint32_t ender_child(const struct history *history, const struct call *call, pid_t child);

#endif
