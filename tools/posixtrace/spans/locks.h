/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * locks.h - who waited for which lock, and how long locks were held: from event types with a field
 * "lock" of type ptr and a duration, as libposixtrace-preload.so makes them. Types called ..._held
 * say how long a lock was held, all others how long it was waited for.
 *
 * Memory    bounded: locks and waiters beyond LOCKS_MAX are counted together as "others".
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
	const struct log_type *type; /* of the waits; NULL: it was held, and not waited for */
	int64_t last_ns;             /* when its name is asked for */
	struct locks_sum wait, held;
};

struct waiter {
	pid_t pid, tid;
	struct locks_sum wait;
	uint64_t longest;            /* the lock that max_ns was waited for */
	int64_t last_ns;
};

struct locks {
	struct lock *lock;     /* sorted by locks_sort() */
	struct waiter *waiter;
	size_t count, waiters;
	struct table of_lock, of_waiter; /* find them before they are sorted */
	struct locks_sum other_wait, other_held, other_waiters;
	uint64_t other_events;
};

/* False: no memory. */
bool locks_init(struct locks *locks);
void locks_fini(struct locks *locks);

void locks_event(struct locks *locks, const struct log_type *type,
		 const struct posix_trace_event_np *event);

/* In rows, what was waited for longest first; nothing is to be added then. */
void locks_sort(struct locks *locks);

/* What a lock was called then; NULL: nothing. */
const char *locks_name(const struct logfile *log, pid_t pid, uint64_t pointer, int64_t time_ns,
		       struct posix_trace_object_np *object);

#endif
