/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * groups.h - facts about an answer that no part of the time shows: all workers of a pool were busy,
 * and loops or timers did not keep the time that the program asked for.
 */
#ifndef POSIXTRACE_WHY_GROUPS_H
#define POSIXTRACE_WHY_GROUPS_H

#include "why/pools.h"
#include "why/rhythm.h"
#include "why/why.h"

#define GROUPS_RHYTHMS 8 /* the most rhythms of one answer */

struct groups {
	/*
	 * a worker whose pool was busy: a thread in the chain to the first cause, or the thread of
	 * the answer if clients may have waited for it; HISTORY_NONE: there is none
	 */
	uint32_t worker;
	struct pools_busy busy;
	struct groups_rhythm {
		struct rhythm rhythm;
		uint32_t thread;
		bool is_cause; /* the sleeps are the first cause */
	} rhythm[GROUPS_RHYTHMS];
	size_t rhythms;
};

/* Finds these facts. Returns 0 or ENOMEM. */
int groups_find(struct groups *groups, const struct why *why, const struct window *window,
		const struct division *division, const struct why_causes *causes);

/* Returns how many expirations of a timer had no read of their own; less than 1: none. */
double groups_missed(const struct rhythm *rhythm);

#endif
