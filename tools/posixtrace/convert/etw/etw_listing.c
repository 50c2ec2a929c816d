/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * etw_listing.c - the lines of "posixtrace convert --to listing" for a log of ETW. Functions that
 * return bool return false if the conversion must end.
 */
#include "convert/etw/etw_listing.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "convert/etw/etw_cost.h"
#include "convert/etw/etw_spans.h"

struct etw_listing {
	struct fmt_flow *flow;
	const struct etw_log *log;
	uint64_t records, unknown, ended;
	struct etw_costs *costs;
	struct etw_spans *spans;
};

/* The listing computes costs and spans itself, so it has them even without --spans. */
struct etw_listing *etw_listing_new(struct fmt_flow *flow, const struct etw_file *file)
{
	struct etw_listing *listing = calloc(1, sizeof(*listing));

	if (!listing)
		return NULL;
	listing->flow = flow;
	listing->log = &file->log;
	listing->costs = etw_costs_new();
	listing->spans = etw_spans_new(file);
	if (listing->costs && listing->spans)
		return listing;
	etw_listing_free(listing);
	return NULL;
}

/* Accepts NULL and a listing that etw_listing_new() could not complete. */
void etw_listing_free(struct etw_listing *listing)
{
	if (!listing)
		return;
	etw_costs_free(listing->costs);
	etw_spans_free(listing->spans);
	free(listing);
}

/* Writes seconds with nine decimal places. */
static void put_seconds(char *to, size_t room, uint64_t ns)
{
	snprintf(to, room, "%" PRIu64 ".%09" PRIu64, ns / 1000000000, ns % 1000000000);
}

/* Writes a time, with its sign if it is negative. */
static void put_time(char *to, size_t room, int64_t ns)
{
	bool negative = ns < 0;

	put_seconds(to + negative, room - negative, negative ? -(uint64_t)ns : (uint64_t)ns);
	if (negative)
		*to = '-';
}

/*
 * Passes a line to the sink and frees it. "len" is the result of asprintf(), which is -1 if memory
 * is lacking.
 */
static bool list_line(struct etw_listing *listing, char *line, int len)
{
	bool more;

	if (len < 0) {
		fmt_fault(listing->flow, FMT_REFUSE, FMT_NO_OFFSET, NULL, "no memory");
		return false;
	}
	more = fmt_line(listing->flow, line, (size_t)len);
	free(line);
	return more;
}

/* Writes a span after the line of the record that ends it. */
static bool list_span(struct etw_listing *listing, const struct etw_span *span, int64_t end_ns)
{
	char begin[48], took[48], wait[48] = "-", cost[48] = "-", *line;
	int len;

	put_time(begin, sizeof(begin), span->begin_ns);
	put_time(took, sizeof(took), (int64_t)((uint64_t)end_ns - (uint64_t)span->begin_ns));
	if (span->dequeued)
		put_time(wait, sizeof(wait),
			 (int64_t)((uint64_t)span->dequeue_ns - (uint64_t)span->begin_ns));
	if (span->has_cost && !span->unknown)
		put_seconds(cost, sizeof(cost), span->cost_ns);
	else if (span->has_cost)
		strcpy(cost, "unknown");
	listing->ended++;
	len = asprintf(&line,
		       "S %s begin=%s took=%s wait=%s pid=%" PRIu32 " tid=%" PRIu32 " cost=%s",
		       span->name, begin, took, wait, span->pid, span->tid, cost);
	return list_line(listing, line, len);
}

/*
 * The line of a record begins with "R", the line of a span with "S", the line of an open span with
 * "!", and the line of the sum with "=". Offsets count from the beginning of the file, so that a
 * user can find the record in a hex editor. A record of a compressed buffer has the offset of the
 * buffer.
 */
bool etw_list(struct etw_listing *listing, const struct etw_record *record, const char *name,
	      const char *fields, int64_t time_ns)
{
	int64_t cost = etw_cost(listing->costs, listing->log, record);
	char text[48] = "-", time[48], *line;
	struct etw_span span;
	int len;

	listing->records++;
	listing->unknown += cost == ETW_COST_UNKNOWN;
	if (cost >= 0)
		put_seconds(text, sizeof(text), (uint64_t)cost);
	else if (cost == ETW_COST_UNKNOWN)
		strcpy(text, "unknown");
	put_time(time, sizeof(time), time_ns);
	len = asprintf(&line, "R off=%" PRIu64 " %s time=%s cpu=%u pid=%" PRIu32 " tid=%" PRIu32
		       " level=%d bytes=%zu%s cost=%s", record->at, name, time, record->processor,
		       record->pid, record->tid, record->level, record->size, fields, text);
	if (!list_line(listing, line, len))
		return false;
	return !etw_spans_take(listing->spans, record, time_ns, cost, &span) ||
	       list_span(listing, &span, time_ns);
}

/* Writes the spans that have not ended. */
static bool list_open(struct etw_listing *listing)
{
	const struct etw_span *span = NULL;

	while ((span = etw_spans_open(listing->spans, span))) {
		char begin[48], *line;
		int len;

		put_time(begin, sizeof(begin), span->begin_ns);
		len = asprintf(&line, "! open %s begin=%s pid=%" PRIu32 " tid=%" PRIu32, span->name,
			       begin, span->pid, span->tid);
		if (!list_line(listing, line, len))
			return false;
	}
	return true;
}

/* Open spans precede the sum, which is the last line. */
bool etw_list_end(struct etw_listing *listing)
{
	const uint64_t missing = etw_spans_without_room(listing->spans) +
				 etw_spans_without_memory(listing->spans);
	char total[48], unit[48], more[32] = "", line[256];
	int len;

	if (!list_open(listing))
		return false;
	put_seconds(total, sizeof(total), etw_costs_total_ns(listing->costs));
	put_seconds(unit, sizeof(unit), listing->log->timer_resolution * UINT64_C(100));
	if (missing)
		snprintf(more, sizeof(more), " missing=%" PRIu64, missing);
	/*
	 * Windows samples CPU time at clock ticks, so many costs are 0. The note at the end of the
	 * line explains this.
	 */
	len = snprintf(line, sizeof(line),
		       "= records=%" PRIu64 " cost=%s unit=%s unknown=%" PRIu64 " spans=%" PRIu64
		       "%s (a cost is statistical: 0 is normal below one unit)",
		       listing->records, total, unit, listing->unknown, listing->ended,
		       more);
	return fmt_line(listing->flow, line, (size_t)len);
}
