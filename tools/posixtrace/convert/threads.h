/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * threads.h - a table of the threads of a trace.
 *
 * A thread whose system number (tid) is known is identified by this number and its process. The
 * pthread_t of the thread is not used, because it changes when the process executes another
 * program. If the caller sets by_handle, each handle counts as a separate thread.
 *
 * Memory    bounded: the table has at most THREADS_MAX threads, or the caller's limit.
 */
#ifndef POSIXTRACE_CONVERT_THREADS_H
#define POSIXTRACE_CONVERT_THREADS_H

#include "base/table.h"
#include "convert/format.h"

#define THREADS_MAX    65536
#define THREADS_RECENT 32 /* a power of two */

struct thread {
	uint32_t pid, tid;
	uint64_t handle;       /* 0: the number identifies the thread */
	uint64_t mark;         /* a number that only the caller uses; 0 at first */
};

struct threads {
	struct thread **thread; /* a thread's address does not change */
	size_t count;
	struct table table;
	bool by_handle;
	size_t most;           /* the limit; 0: THREADS_MAX */
	/* recently found threads, by a hash of their identifiers; NULL: none */
	struct thread *recent[THREADS_RECENT];
};

/* Makes an empty table. A table of all zeros is valid, too. */
void threads_init(struct threads *threads, bool by_handle, size_t most);
void threads_fini(struct threads *threads);

/*
 * Returns the thread with these identifiers. If the table does not have it, adds it. Returns NULL
 * if the table is full or if memory is lacking.
 */
struct thread *threads_of(struct threads *threads, uint32_t pid, uint32_t tid, uint64_t handle);

#endif
