/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * holds.h - finds the threads that held a lock while another thread waited for it.
 *
 * A hold is recorded at its end, with its duration. The caller adds all holds, sorts them once and
 * then asks for waits. A struct of all zeros is empty. One thread uses it at a time.
 */
#ifndef POSIXTRACE_SPANS_HOLDS_H
#define POSIXTRACE_SPANS_HOLDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct hold {
	pid_t pid;             /* two processes may have different locks at one address */
	uint32_t thread;       /* the caller's number of a thread, unique in the process */
	uint64_t lock;
	int64_t begin_ns, end_ns;
};

struct holds {
	struct hold *hold;
	size_t count;
};

/*
 * A walk over the holds that explain a wait for a lock. The member wait has the process, the
 * thread, the lock and the whole time of the wait.
 */
struct holds_walk {
	struct hold wait;
	int64_t from_ns, to_ns; /* the part of the wait that is not explained yet */
	size_t at;
	uint64_t steps;         /* how many holds were examined */
	uint64_t steps_most;    /* the walk ends after this number of steps; 0: no limit */
	bool may_overlap;       /* holds may overlap, as those of ranges of a file do */
};

/* Adds a hold. Returns false if memory is lacking. */
bool holds_add(struct holds *holds, const struct hold *hold);

/* Sorts the holds by process, lock and end. No hold may be added afterwards. */
void holds_sort(struct holds *holds);

/*
 * Returns the index of the first hold of a lock that ends after a time. If there is none, returns
 * the index of a hold of the next lock, or the number of holds. The caller therefore compares the
 * process and the lock.
 */
size_t holds_first(const struct holds *holds, pid_t pid, uint64_t lock, int64_t time_ns);

/*
 * holds_walk() begins a walk over the holds that explain a part of a wait. holds_next() returns the
 * next one, or NULL, and stores the time that the hold explains. Several threads may hold a lock
 * for reading at the same time. The time that their holds share is then given to the hold that ends
 * first.
 */
struct holds_walk holds_walk(const struct holds *holds, const struct hold *wait, int64_t from_ns,
			     int64_t to_ns);
const struct hold *holds_next(const struct holds *holds, struct holds_walk *walk,
			      int64_t *begin_ns, int64_t *end_ns);

/* Frees the memory and makes the struct empty. */
void holds_fini(struct holds *holds);

#endif
