/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * groups.h - counts events by some of their properties. Events with equal properties are one group
 * with a weight.
 *
 * The memory is limited: if there are more than GROUPS_MAX groups, the count fails with EOVERFLOW.
 * One thread uses a struct groups at a time.
 */
#ifndef POSIXTRACE_LOG_GROUPS_H
#define POSIXTRACE_LOG_GROUPS_H

#include <signal.h>
#include <stdbool.h>
#include <trace_np.h>

#include "base/table.h"

#define GROUPS_MAX   65536
#define GROUPS_TYPES 1024  /* types with ids below this number can be counted in an array */

enum { /* the properties that distinguish groups */
	GROUPS_TYPE = 1, GROUPS_PID = 2, GROUPS_TID = 4, GROUPS_THREAD = 8, GROUPS_ADDRESS = 16,
	GROUPS_LEN = 32, GROUPS_FLAGS = 64,
};

/* One group. A property that is not in columns is 0. */
struct group {
	uint64_t weight;
	trace_event_id_t type;
	pid_t pid, tid;
	uint64_t thread, address, len;
	bool truncated, late;
	unsigned log;          /* for the caller's use; the functions of groups.h leave it at 0 */
};

struct groups {
	unsigned columns;
	/*
	 * As soon as *stop is not 0, the counting ends with ECANCELED. If stop is NULL, nothing
	 * stops the counting.
	 */
	volatile sig_atomic_t *stop;
	uint64_t looks;
	uint64_t of_type[GROUPS_TYPES];
	struct group *group;
	size_t count;
	struct table table;    /* finds a group by its properties */
};

/*
 * Makes a struct groups without groups. columns is a sum of GROUPS_* values. Returns NULL if memory
 * is lacking.
 */
struct groups *groups_new(unsigned columns, volatile sig_atomic_t *stop);
void groups_free(struct groups *groups);

/*
 * groups_event() counts one event. groups_add() adds the counts of another struct groups with the
 * same columns. Both return 0 or an error number: ENOMEM, EOVERFLOW (too many groups) or ECANCELED
 * (stopped).
 */
int groups_event(struct groups *groups, const struct posix_trace_event_np *event);
int groups_add(struct groups *groups, const struct groups *more);

/*
 * Makes groups of the counts in of_type. The caller must call this function once, after the last
 * event. Returns 0, ENOMEM or EOVERFLOW.
 */
int groups_finish(struct groups *groups);

#endif
