/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* budget_cost.h - measures how long events take on this machine. */
#ifndef POSIXTRACE_LIVE_BUDGET_COST_H
#define POSIXTRACE_LIVE_BUDGET_COST_H

/* Nanoseconds that are added to the work of the program. */
struct budget_cost {
	double point_ns; /* by posix_trace_event() */
	double call_ns;	 /* by a call that the preload library records */
	double skip_ns;	 /* by a call that is only counted */
};

/*
 * Measures in a child process, because the preload library remains loaded there. A value that
 * cannot be measured is replaced by that of a slow machine, so that the budget is kept in any case.
 * The environment variable POSIXTRACE_BUDGET_COST has three numbers that replace the measurement.
 */
void budget_cost_measure(struct budget_cost *cost);

#endif
