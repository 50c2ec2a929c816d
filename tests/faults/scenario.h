/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * faults/scenario.h - what programs do with the library, each step with what it said.
 *
 * A scenario goes on after a step that fails, as far as that makes sense, and gives back what it
 * was given. Without a fault each step says 0.
 */
#ifndef PTX_TESTS_SCENARIO_H
#define PTX_TESTS_SCENARIO_H

#include <stddef.h>

struct scenario {
	const char *name;
	void (*play)(void);
};

extern const struct scenario scenarios[];
extern const size_t scenario_count;

/* Before any fault, and after it. */
void scenario_prepare(const struct scenario *scenario);
void scenario_end(void);

/* What each step said. */
#define SCENARIO_STEPS 64

struct scenario_said {
	char step[40]; /* the function */
	int err;
};

struct scenario_diary {
	size_t steps;
	struct scenario_said said[SCENARIO_STEPS];
	char wrong[200]; /* what cannot be, whatever failed; empty: nothing */
};

/* Where it is written; the caller's. */
extern struct scenario_diary *scenario_diary;

#endif
