/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * etw_cost.h - what happened between two records of a thread cost: the growth of its processor
 * time.
 *
 * Memory    bounded: of more threads than ETW_COST_THREADS no cost is known.
 */
#ifndef POSIXTRACE_FORMATS_ETW_COST_H
#define POSIXTRACE_FORMATS_ETW_COST_H

#include "formats/etw.h"

#define ETW_COST_THREADS 65536

#define ETW_COST_NONE    (-1) /* the record tells no time, or is the thread's first */
#define ETW_COST_UNKNOWN (-2) /* its thread's time fell: another thread has its number */

struct etw_costs;

struct etw_costs *etw_costs_new(void);
void etw_costs_free(struct etw_costs *costs);

/* Of what was before that record, in nanoseconds. */
int64_t etw_cost(struct etw_costs *costs, const struct etw_log *log,
		 const struct etw_record *record);

/* Of all that were asked for. */
uint64_t etw_costs_total_ns(const struct etw_costs *costs);

#endif
