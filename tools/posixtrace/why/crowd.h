/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * crowd.h - many short processes as one cause. A shell script or a build may wait for hundreds of
 * processes, and none of them is the reason for its time. Together they are.
 */
#ifndef POSIXTRACE_WHY_CROWD_H
#define POSIXTRACE_WHY_CROWD_H

#include "why/why.h"

#define CROWD_PROGRAMS 4

struct crowd {
	uint64_t ns;          /* the time of the explained thread for which they are the causes */
	size_t processes;
	/* parts of ns: they ran, they had no CPU, and the log has no event of them */
	uint64_t run_ns, ready_ns, silent_ns;
	struct crowd_program {
		char name[64];
		uint64_t ns;
		size_t processes;
	} program[CROWD_PROGRAMS]; /* the programs with the most time, the greatest first */
	size_t programs;      /* the number of all programs */
};

/*
 * Finds the processes that are the causes of most of the time, without the explained process
 * itself. *is_cause becomes true if they explain the time better than the greatest single cause:
 * they are many, and the cause has a small part of their time. Returns 0 or ENOMEM.
 */
int crowd_find(const struct division *division, const struct why_causes *causes,
	       struct crowd *crowd, bool *is_cause);

#endif
