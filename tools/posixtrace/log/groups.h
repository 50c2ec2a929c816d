/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * groups.h - events counted by some of what they are, so that events that are the same in all of it
 * are one group with a weight.
 *
 * Memory    bounded: of more than GROUPS_MAX groups nothing is told.
 */
#ifndef POSIXTRACE_LOG_GROUPS_H
#define POSIXTRACE_LOG_GROUPS_H

#include <signal.h>
#include <stdbool.h>
#include <trace_np.h>

#include "base/table.h"

#define GROUPS_MAX   65536
#define GROUPS_TYPES 1024  /* types of lower numbers are counted in a table */

enum { /* what tells groups apart */
	GROUPS_TYPE = 1, GROUPS_PID = 2, GROUPS_TID = 4, GROUPS_THREAD = 8, GROUPS_ADDRESS = 16,
	GROUPS_LEN = 32, GROUPS_FLAGS = 64,
};

/* What does not tell groups apart is 0. */
struct group {
	uint64_t weight;
	trace_event_id_t type;
	pid_t pid, tid;
	uint64_t thread, address, len;
	bool truncated, late;
	unsigned log;          /* for the caller */
};

struct groups {
	unsigned columns;
	/* not 0: counting ends with ECANCELED; NULL: nothing stops it */
	volatile sig_atomic_t *stop;
	uint64_t looks;
	uint64_t of_type[GROUPS_TYPES];
	struct group *group;
	size_t count;
	struct table table;    /* finds them */
};

/* NULL: no memory. */
struct groups *groups_new(unsigned columns, volatile sig_atomic_t *stop);
void groups_free(struct groups *groups);

/* 0, ENOMEM, EOVERFLOW: too many groups, or ECANCELED. */
int groups_event(struct groups *groups, const struct posix_trace_event_np *event);
int groups_add(struct groups *groups, const struct groups *more);

/* After the last event: makes groups of of_type, too. 0 or as above. */
int groups_settle(struct groups *groups);

#endif
