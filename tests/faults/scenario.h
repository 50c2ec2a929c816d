/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * faults/scenario.h - calls of the library as programs make them, with the result of each step.
 *
 * A scenario continues after a step that fails, as far as that makes sense, and releases everything
 * that it acquired. Without a fault each step returns 0.
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

/* The result of each step. */
#define SCENARIO_STEPS 64

struct scenario_said {
	char step[40]; /* the function */
	int err;
};

struct scenario_diary {
	size_t steps;
	struct scenario_said said[SCENARIO_STEPS];
	char wrong[200]; /* a result that no fault may cause; empty: none */
};

/* The result of the scenario; the caller provides the memory. */
extern struct scenario_diary *scenario_diary;

#endif
