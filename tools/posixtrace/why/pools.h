/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * pools.h - pools of threads that do work for other threads. All threads of a pool, the workers,
 * take work from one queue. They may be threads of several processes. Another thread puts work into
 * the queue and then waits for the result. If all workers are busy, the work waits in the queue.
 *
 * The queue may be in the memory of the program. All workers then wait at one place in the program
 * for one condition variable, semaphore or futex. The log has no events of such a queue. These
 * facts show that work has waited there:
 * - The worker that ended the wait has finished other work during the wait: it has woken a thread
 *   at the same place in the program, or it has taken the mutex of the queue again. Only both facts
 *   together are certain.
 * - In the time before, no worker of the pool waited for work for more than a small part.
 *
 * A worker that always has work has not waited for it. If it finishes work at the same place in the
 * program as the workers of a pool, that is, wakes a thread there, it belongs to this pool.
 *
 * The queue may also be one of the kernel: a pipe, a pair of sockets, an eventfd, a message queue,
 * or the connections of a socket that listens. The log has the call that took the work, also if the
 * call did not wait. So it also has the workers that never waited.
 *
 * Each worker may also have a queue of the kernel of its own. Such workers count as one pool if
 * they take work at one place in the program, and the same threads put work into all of their
 * queues. But threads that read answers to their own requests look the same. So a caller says that
 * all of them were busy only if pools_find() has found work that waited for them.
 */
#ifndef POSIXTRACE_WHY_POOLS_H
#define POSIXTRACE_WHY_POOLS_H

#include "why/history.h"

#define POOLS_WORKERS 256 /* the most threads of a pool; nothing is said about a greater pool */

struct pools; /* the pools of a history */

/* The time that work of a waiting thread spent in a queue. */
struct pools_queued {
	int64_t from_ns, to_ns;
	uint32_t worker;         /* the thread that did this work */
	/*
	 * The number of threads of its pool that lived in the whole time; all of them were busy. If
	 * each worker has a queue of its own, 1 means that another worker was idle, or that the log
	 * does not show that the threads are workers.
	 */
	unsigned workers;
	const struct call *idle; /* a call by which a thread of the pool takes work */
	bool is_certain;         /* the worker took this work after it had finished other work */
	bool has_finished;       /* the worker has finished other work during the wait */
	bool has_own;            /* each worker has a queue of its own */
};

/* Finds the pools of a history. Returns 0 or ENOMEM. */
int pools_collect(struct history *history);
void pools_fini(struct history *history);

/*
 * Finds the time that work spent in a queue. The wait 'call' ended because this work was done. If
 * the wait is a poll, 'through' is the result of ender_through(). Returns false if the log does not
 * show such a time. Adds the number of examined calls to *steps.
 */
bool pools_find(const struct history *history, const struct call *call, const struct call *through,
		struct pools_queued *queued, uint64_t *steps);

/* How busy the pool of a worker was. */
struct pools_busy {
	/* a call by which a thread of the pool takes work; NULL: no pool */
	const struct call *idle;
	unsigned workers;        /* the number of its threads */
	uint64_t all_ns;         /* the part of the time in which all of them lived */
	uint64_t idle_ns;        /* of it: for how long at least one of them waited for work */
};

/*
 * Finds how busy the pool of a thread was between two times. 'workers' becomes 0 if this is not
 * known: there is no pool, its workers did not live at the same time, or an unknown worker may have
 * waited for work. Returns 0 or ENOMEM.
 */
int pools_busy(const struct history *history, uint32_t worker, int64_t from_ns, int64_t to_ns,
	       struct pools_busy *busy);

/*
 * Returns the first call by which a thread of a worker's pool takes work, which identifies the
 * pool; NULL: no pool.
 */
const struct call *pools_idle(const struct history *history, uint32_t worker);

/* Returns whether each worker in the pool of a thread has a queue of its own. */
bool pools_has_own(const struct history *history, uint32_t worker);

/*
 * Returns a text for the workers of the pool of a thread, such as "threads that wait for work". The
 * caller writes the place of pools_idle() behind it. If "workers" is 1, the text is for one worker.
 */
const char *pools_members(const struct history *history, uint32_t worker, unsigned workers);

/* Stores the workers of the pool of a thread, at most size of them, and returns their number. */
size_t pools_workers(const struct history *history, uint32_t worker, uint32_t *thread, size_t size);

#endif
