/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * locks.h - sums how long threads waited for locks, and how long locks were held. It uses event
 * types that have a duration and a field "lock" of type ptr, such as types of
 * libposixtrace-preload.so. A type whose name ends in _held records how long a lock was held. All
 * other such types record how long a thread waited for a lock.
 *
 * The memory is limited. Locks and threads beyond LOCKS_MAX get no entry; their times are only
 * added to the members other_*.
 */
#ifndef POSIXTRACE_SPANS_LOCKS_H
#define POSIXTRACE_SPANS_LOCKS_H

#include "base/table.h"
#include "log/logfile.h"

#define LOCKS_MAX 4096

struct locks_sum {
	uint64_t count, total_ns, max_ns;
};

struct lock {
	pid_t pid;
	uint64_t pointer;
	/* the event type of the last wait; NULL: no thread has waited */
	const struct log_type *type;
	/* time of the last event; the lock's name is looked up at this time */
	int64_t last_ns;
	struct locks_sum wait, held;
};

struct waiter {
	pid_t pid, tid;
	struct locks_sum wait;
	uint64_t longest;            /* the lock of the longest wait */
	int64_t last_ns;             /* the time of the longest wait's event */
};

struct locks {
	struct lock *lock;     /* locks_sort() sorts both arrays */
	struct waiter *waiter;
	size_t count, waiters;
	struct table of_lock, of_waiter; /* find entries; valid only before locks_sort() */
	struct locks_sum other_wait, other_held, other_waiters;
	uint64_t other_events;
};

/*
 * Allocates the arrays. Returns false if memory is lacking. The caller must call locks_fini() in
 * both cases.
 */
bool locks_init(struct locks *locks);
void locks_fini(struct locks *locks);

/* Adds the times in an event, if its type has a lock and a duration. */
void locks_event(struct locks *locks, const struct log_type *type,
		 const struct posix_trace_event_np *event);

/* Sorts both arrays by the time waited, greatest first. No event may be added afterwards. */
void locks_sort(struct locks *locks);

#endif
