/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * gil.h - the lock of an interpreter of Python, the GIL. Only the thread that holds it can run code
 * in Python. The interpreter implements it by a condition variable: a thread that releases the lock
 * signals this variable.
 */
#ifndef POSIXTRACE_WHY_GIL_H
#define POSIXTRACE_WHY_GIL_H

#include "why/history.h"

struct gil; /* the facts about interpreters of a history */

/* Finds these facts. Returns 0 or ENOMEM. */
int gil_collect(struct history *history);
void gil_fini(struct history *history);

/*
 * Returns whether a call waits for a condition variable of the interpreter: the variable is in the
 * variable _PyRuntime, or the function take_gil() or drop_gil() made the call.
 */
bool gil_concerns(const struct history *history, const struct call *call);

/*
 * Returns whether a call waits for the GIL. A thread that has released the GIL may wait for another
 * variable until another thread has taken the GIL. This is no wait for the GIL, which is free.
 */
bool gil_waits(const struct history *history, const struct call *call);

/*
 * A walk over the threads that held the GIL, backwards from the end of a time. The caller sets the
 * first three members, and the others to 0.
 */
struct gil_walk {
	const struct call *wait; /* the wait for the GIL */
	int64_t from_ns, to_ns; /* the time that is not explained yet */
	size_t at;
	bool has_begun;
	/*
	 * the time that the next call reports, in which the GIL was free, directly before the last
	 * result; free_to_ns is 0: there is none
	 */
	int64_t free_from_ns, free_to_ns;
};

/*
 * Continues the walk: stores the thread that held the GIL before, and the begin and end of this
 * time. *thread becomes HISTORY_NONE for a time in which the GIL was free: after a release, the
 * thread that took the GIL next still had to wake up and get a CPU. Returns false at the end of the
 * walk. Adds the number of examined calls to *steps.
 */
bool gil_next(const struct history *history, struct gil_walk *walk, uint32_t *thread,
	      int64_t *begin_ns, int64_t *end_ns, uint64_t *steps);

#endif
