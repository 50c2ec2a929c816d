/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "formats/etw_listing.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/etw_cost.h"

struct etw_listing {
	struct fmt_flow *flow;
	const struct etw_log *log;
	uint64_t records, unknown;
	struct etw_costs *costs;
};

struct etw_listing *etw_listing_new(struct fmt_flow *flow, const struct etw_log *log)
{
	struct etw_listing *listing = calloc(1, sizeof(*listing));

	if (!listing)
		return NULL;
	listing->flow = flow;
	listing->log = log;
	listing->costs = etw_costs_new();
	if (listing->costs)
		return listing;
	free(listing);
	return NULL;
}

void etw_listing_free(struct etw_listing *listing)
{
	if (listing)
		etw_costs_free(listing->costs);
	free(listing);
}

static void put_seconds(char *to, size_t room, uint64_t ns)
{
	snprintf(to, room, "%" PRIu64 ".%09" PRIu64, ns / 1000000000, ns % 1000000000);
}

bool etw_list(struct etw_listing *listing, const struct etw_record *record, const char *name,
	      int64_t time_ns)
{
	int64_t cost = etw_cost(listing->costs, listing->log, record);
	uint64_t size = time_ns < 0 ? -(uint64_t)time_ns : (uint64_t)time_ns;
	char text[48] = "-", *line;
	int len;
	bool more;

	listing->records++;
	listing->unknown += cost == ETW_COST_UNKNOWN;
	if (cost >= 0)
		put_seconds(text, sizeof(text), (uint64_t)cost);
	else if (cost == ETW_COST_UNKNOWN)
		strcpy(text, "unknown");
	len = asprintf(&line, "R off=%" PRIu64 " %s time=%s%" PRIu64 ".%09" PRIu64
		       " cpu=%u pid=%" PRIu32 " tid=%" PRIu32 " level=%d bytes=%zu cost=%s",
		       record->at, name, time_ns < 0 ? "-" : "", size / 1000000000, size % 1000000000,
		       record->processor, record->pid, record->tid, record->level, record->size, text);
	if (len < 0)
		return fmt_fault(listing->flow, FMT_REFUSE, FMT_NO_OFFSET, NULL, "no memory"), false;
	more = fmt_line(listing->flow, line, (size_t)len);
	free(line);
	return more;
}

bool etw_list_end(struct etw_listing *listing)
{
	char total[48], unit[48], line[256];
	int len;

	put_seconds(total, sizeof(total), etw_costs_total_ns(listing->costs));
	put_seconds(unit, sizeof(unit), listing->log->timer_resolution * UINT64_C(100));
	len = snprintf(line, sizeof(line), "= records=%" PRIu64 " cost=%s unit=%s unknown=%" PRIu64
		       " (a cost is statistical: 0 is normal for what took less than a unit)",
		       listing->records, total, unit, listing->unknown);
	return fmt_line(listing->flow, line, (size_t)len);
}
