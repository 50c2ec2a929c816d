/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * links.h - finds the threads that held a lock while another thread waited for it.
 *
 * The rules are the same as in the command why: why/classify.h recognizes waits and holds, and
 * spans/holds.h finds the holders.
 *
 * Memory is bounded. If there are more waits than LINKS_WAITS, or more holds than LINKS_HOLDS, only
 * the longest are kept.
 */
#ifndef POSIXTRACE_WHY_LINKS_H
#define POSIXTRACE_WHY_LINKS_H

#include "base/nameset.h"
#include "log/logfile.h"
#include "spans/holds.h"
#include "why/classify.h"

#define LINKS_WAITS ((size_t)1 << 17)
#define LINKS_HOLDS ((size_t)1 << 19)
#define LINKS_EACH  4  /* the most holders of a wait that are stored: the first ones */
#define LINKS_STEPS 1000 /* the most holds examined for a wait; more would need quadratic time */

struct links {
	struct plan *plan;     /* by the log's index of the type */
	size_t plans;
	struct holds waits, holds; /* their member 'thread' is the Linux thread number */
	uint64_t least_wait_ns, least_hold_ns; /* shorter ones are not kept */
	uint64_t waits_found, holds_found;
	struct nameset names;  /* names of the locks of waits, as "PID ADDRESS NAME" */
	int err;
};

/* Prepares the types of a log. Returns 0 or ENOMEM. */
int links_begin(struct links *links, const struct logfile *log);

/*
 * Adds a wait for a lock, or a hold. links_has() must be true for the type of the event. A wait
 * that is shorter than least_ns is not added. If memory is lacking, err is ENOMEM.
 */
void links_event(struct links *links, const struct log_type *of,
		 const struct posix_trace_event_np *event, uint64_t least_ns);

/* Sorts the holds and finds the names of locks, after the last event. Returns 0 or ENOMEM. */
int links_end(struct links *links, const struct logfile *log);

/*
 * Finds the first holders of a lock during a wait, after links_end() or holds_sort(). Stores at
 * most LINKS_EACH holds and returns their number.
 */
unsigned links_holders(const struct links *links, const struct hold *wait,
		       const struct hold *hold[LINKS_EACH]);

/* Returns true if the events of a type are waits or holds. */
static inline bool links_has(const struct links *links, const struct log_type *of)
{
	return of->listed && of->index < links->plans &&
	       (links->plan[of->index].cause == CAUSE_LOCK ||
		links->plan[of->index].cause == CAUSE_HELD);
}

/* Frees the memory. */
void links_fini(struct links *links);

#endif
