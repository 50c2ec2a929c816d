/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* etw_cost.c - keeps the last CPU times of each thread in a balanced tree. */
#include "convert/etw/etw_cost.h"

#include <search.h>
#include <stdlib.h>

struct last { /* the CPU times in a thread's last record, in units of the log */
	uint32_t pid, tid, kernel, user;
};

struct etw_costs {
	uint64_t total_ns;
	/* a balanced tree of struct last, so that hostile ids cannot make searches slow */
	void *threads;
	size_t count;
};

struct etw_costs *etw_costs_new(void)
{
	return calloc(1, sizeof(struct etw_costs));
}

/*
 * Accepts NULL, because etw_listing_free() and etw_span_events_free() call this function also for
 * incomplete objects.
 */
void etw_costs_free(struct etw_costs *costs)
{
	if (costs)
		tdestroy(costs->threads, free);
	free(costs);
}

uint64_t etw_costs_total_ns(const struct etw_costs *costs)
{
	return costs->total_ns;
}

/*
 * Orders by the thread and then by the process, because a thread of another process may get the
 * same number later.
 */
static int etw_cost_compare(const void *a, const void *b)
{
	const struct last *x = a, *y = b;

	if (x->tid != y->tid)
		return x->tid < y->tid ? -1 : 1;
	return x->pid < y->pid ? -1 : x->pid > y->pid;
}

/* Returns the entry of a thread, or NULL. */
static struct last *find_thread(const struct etw_costs *costs, uint32_t pid, uint32_t tid)
{
	struct last key = { .pid = pid, .tid = tid }, **found;

	found = tfind(&key, &costs->threads, etw_cost_compare);
	return found ? *found : NULL;
}

/*
 * Adds a thread. If memory is lacking, or if there are too many threads, the function adds nothing,
 * and the records of the thread have no cost.
 */
static void add_thread(struct etw_costs *costs, const struct etw_record *record)
{
	struct last *last = costs->count < ETW_COST_THREADS ? malloc(sizeof(*last)) : NULL;

	if (!last)
		return;
	*last = (struct last){ record->pid, record->tid, record->kernel, record->user };
	if (tsearch(last, &costs->threads, etw_cost_compare))
		costs->count++;
	else
		free(last);
}

/*
 * The first record of a thread has no cost, because there is no earlier record. The function stores
 * the thread's new CPU times even if the cost is unknown, so that a wrong value affects only one
 * record.
 */
int64_t etw_cost(struct etw_costs *costs, const struct etw_log *log,
		 const struct etw_record *record)
{
	struct etw_record from = { .has_cpu = true, .pid = record->pid, .tid = record->tid };
	struct last *last;
	uint64_t cost_ns;

	/*
	 * Thread 0 is the idle thread or an unknown thread. UINT32_MAX is the kernel's number for
	 * no thread.
	 */
	if (!record->has_cpu || !record->has_ids || !record->tid || record->tid == UINT32_MAX)
		return ETW_COST_NONE;
	last = find_thread(costs, record->pid, record->tid);
	if (!last) {
		add_thread(costs, record);
		return ETW_COST_NONE;
	}
	from.kernel = last->kernel;
	from.user = last->user;
	last->kernel = record->kernel;
	last->user = record->user;
	if (!etw_cpu_cost(log, &from, record, &cost_ns))
		return ETW_COST_UNKNOWN;
	costs->total_ns += cost_ns;
	/*
	 * The result is signed, because the constants for no cost are negative. So a cost greater
	 * than INT64_MAX becomes INT64_MAX.
	 */
	return cost_ns > INT64_MAX ? INT64_MAX : (int64_t)cost_ns;
}
