/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * etw_cost.h - the CPU cost of each record: the growth of the thread's CPU time since the previous
 * record of the same thread.
 *
 * Memory    bounded: only the first ETW_COST_THREADS threads have costs.
 */
#ifndef POSIXTRACE_CONVERT_ETW_ETW_COST_H
#define POSIXTRACE_CONVERT_ETW_ETW_COST_H

#include "convert/etw/etw.h"

#define ETW_COST_THREADS 65536

/* the record has no CPU time or no thread, or no earlier record of its thread is known */
#define ETW_COST_NONE    (-1)
/*
 * the CPU time has decreased, because a new thread has the same id; or the log lacks the frequency
 * of the processor
 */
#define ETW_COST_UNKNOWN (-2)

struct etw_costs;

/* etw_costs_new() returns NULL if memory is lacking. etw_costs_free() accepts NULL. */
struct etw_costs *etw_costs_new(void);
void etw_costs_free(struct etw_costs *costs);

/* Returns the cost of the record in nanoseconds, or one of the constants above. */
int64_t etw_cost(struct etw_costs *costs, const struct etw_log *log,
		 const struct etw_record *record);

/* Returns the sum of all costs that etw_cost() has returned. */
uint64_t etw_costs_total_ns(const struct etw_costs *costs);

#endif
