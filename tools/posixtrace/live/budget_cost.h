/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* budget_cost.h - measures how long events take on this machine. */
#ifndef POSIXTRACE_LIVE_BUDGET_COST_H
#define POSIXTRACE_LIVE_BUDGET_COST_H

/* Nanoseconds that are added to the work of the program. */
struct budget_cost {
	double point_ns; /* by posix_trace_event() */
	double call_ns;	 /* by a call that the preload library records */
	double skip_ns;	 /* by a call that is only counted */
	double start_ns; /* by the start of a program with the preload library; may be 0 */
};

/*
 * Measures in a child process, because the measurement loads the preload library. If a cost of an
 * event or call cannot be measured, the function uses the value of a slow machine, so that the
 * budget is kept in any case. It uses 0 for the start of a program. If the environment variable
 * POSIXTRACE_BUDGET_COST has valid values, the function does not measure. It reads the values from
 * the variable, in the order of the members. The last value may be missing; it is then 0.
 */
void budget_cost_measure(struct budget_cost *cost);

#endif
