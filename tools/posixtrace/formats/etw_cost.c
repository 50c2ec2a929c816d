/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "formats/etw_cost.h"

#include <stdlib.h>

#define PLACES (2 * ETW_COST_THREADS)

struct last {
	bool known;
	uint32_t pid, tid, kernel, user;
};

struct etw_costs {
	uint64_t total_ns;
	size_t threads;
	struct last last[PLACES];
};

struct etw_costs *etw_costs_new(void)
{
	return calloc(1, sizeof(struct etw_costs));
}

void etw_costs_free(struct etw_costs *costs)
{
	free(costs);
}

uint64_t etw_costs_total_ns(const struct etw_costs *costs)
{
	return costs->total_ns;
}

static struct last *place_of(struct etw_costs *costs, uint32_t pid, uint32_t tid)
{
	uint64_t mix = ((uint64_t)pid << 32 | tid) * UINT64_C(0x9e3779b97f4a7c15);
	size_t i = (size_t)(mix >> 40) % PLACES;

	while (costs->last[i].known && (costs->last[i].tid != tid || costs->last[i].pid != pid))
		i = (i + 1) % PLACES;
	return &costs->last[i];
}

int64_t etw_cost(struct etw_costs *costs, const struct etw_log *log,
		 const struct etw_record *record)
{
	struct etw_record from = { .has_cpu = true, .pid = record->pid, .tid = record->tid };
	struct last *last, before;
	uint64_t cost_ns;

	if (!record->has_cpu || !record->has_ids || !record->tid || record->tid == UINT32_MAX)
		return ETW_COST_NONE;
	last = place_of(costs, record->pid, record->tid);
	if (!last->known && costs->threads == ETW_COST_THREADS)
		return ETW_COST_NONE;
	before = *last;
	costs->threads += !before.known;
	*last = (struct last){ true, record->pid, record->tid, record->kernel, record->user };
	if (!before.known)
		return ETW_COST_NONE;
	from.kernel = before.kernel;
	from.user = before.user;
	if (!etw_cpu_cost(log, &from, record, &cost_ns))
		return ETW_COST_UNKNOWN;
	costs->total_ns += cost_ns;
	return cost_ns > INT64_MAX ? INT64_MAX : (int64_t)cost_ns;
}
