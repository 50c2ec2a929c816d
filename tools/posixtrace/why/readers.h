/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * readers.h - readers of a read-write lock that overtake a writer. If readers hold the lock one
 * after the other without a pause, a writer waits although each of them holds the lock only for a
 * short time. The default lock of glibc lets them do so.
 *
 * The event of a hold does not say whether the thread held the lock for reading. Two threads that
 * hold the lock at the same time are readers.
 */
#ifndef POSIXTRACE_WHY_READERS_H
#define POSIXTRACE_WHY_READERS_H

#include "why/history.h"

struct readers {
	const struct call *call; /* the wait of the writer */
	struct reader {
		uint32_t thread;
		uint64_t ns, count; /* for how long it held the lock in this wait, and how often */
	} *of;
	size_t count;
	struct table of_thread;  /* has the index of each reader */
	/*
	 * readers got the lock after the writer had begun to wait, and the writer waited for them
	 * for at least half of the time
	 */
	bool has_overtaken;
};

/*
 * Finds the threads that held a lock while a writer waited for it, in the whole wait. The result
 * has no threads if the call is no wait of a writer, or if the log has no holds. Adds the number of
 * examined holds to *steps. An earlier result in 'readers' is replaced. Returns 0 or ENOMEM.
 */
int readers_find(const struct history *history, const struct call *call, struct readers *readers,
		 uint64_t *steps);

/* Frees the memory of a result. */
void readers_fini(struct readers *readers);

#endif
