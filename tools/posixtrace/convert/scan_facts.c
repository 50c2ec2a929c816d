/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * scan_facts.c - the part of the first reading that finds facts: times, gaps and losses. For a sink
 * that needs no spans, this part is the whole first reading. To be fast, it does as little as
 * possible for each event.
 */
#include "convert/scan.h"

void scan_time(struct plan *plan, int64_t time_ns)
{
	if (__builtin_expect(!plan->any, false))
		plan->least_ns = plan->greatest_ns = plan->begin_ns = time_ns;
	plan->any = true;
	if (time_ns < plan->least_ns)
		plan->least_ns = time_ns;
	if (time_ns > plan->greatest_ns)
		plan->greatest_ns = time_ns;
}

int scan_facts_lost(struct plan *plan, const struct fmt_lost *lost)
{
	plan->gaps += lost->has_interval;
	plan->gaps_of[lost->cause] += lost->has_interval;
	if (lost->counted && lost->cause != POSIX_TRACE_LOST_CLEARED_NP)
		plan->lost += lost->count;
	return 0;
}

void scan_facts_end(struct plan *plan, const struct fmt_end *end)
{
	/* The ledger has all losses of the trace, so it replaces the sum of the gaps. */
	if (end->has_ledger)
		plan->lost = 0;
	for (int i = 0; end->has_ledger && i < POSIX_TRACE_LOST_CAUSES_NP; i++) {
		plan->lost_of[i] = end->ledger.lost[i];
		if (i != POSIX_TRACE_LOST_CLEARED_NP)
			plan->lost += end->ledger.lost[i];
	}
}

/* ------------------------------------------------------------------ a sink of facts only */

static int facts_event(void *context, const struct fmt_event *event)
{
	scan_time(context, event->time_ns);
	return 0;
}

static int facts_lost(void *context, const struct fmt_lost *lost)
{
	return scan_facts_lost(context, lost);
}

static int facts_end(void *context, const struct fmt_end *end)
{
	scan_facts_end(context, end);
	return 0;
}

const struct format format_scan_facts = {
	.name = "facts",
	.output = FMT_TO_BYTES,
	.event = facts_event,
	.lost = facts_lost,
	.end = facts_end,
};
