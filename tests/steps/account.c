/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * account.c - compares the ledger with the events that were read and with the events of the target.
 *
 * The library counts only the column `called` of the total independently, by the published heads
 * of the rings. In the line of a type or a thread, it computes `called` as the sum of the other
 * columns, so the equation of this line proves nothing. These sums are compared with the counts of
 * the target, which knows type and thread of each call.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "steps.h"
#include "support/columns.h"

/* A chunk has at most this many records, for which the type may be unknown. */
#define CHUNK_EVENTS (2048 / 24)

unsigned account_type(trace_event_id_t id)
{
	unsigned type = 0;

	while (type < TYPES && id != share->type[type])
		type++;
	return type;
}

static uint64_t sum_of(const struct posix_trace_ledger_np *line)
{
	return line->reported + line->unread + line->unattributed + ledger_lost(line);
}

/* Checks the equation. slack: this many events may be in two columns, or in none yet. */
static void check_total(const struct posix_trace_ledger_np *total, uint64_t slack)
{
	if (total->called > sum_of(total) + slack || sum_of(total) > total->called + slack)
		complain("called %" PRIu64 ", reported %" PRIu64 ", unread %" PRIu64
			 ", lost %" PRIu64,
			 total->called, total->reported, total->unread, ledger_lost(total));
}

static void check_line(const char *what, uint64_t which, const struct posix_trace_ledger_np *line)
{
	if (line->unread)
		complain("%s %" PRIu64 ": unread %" PRIu64 " when all was read", what, which,
			 line->unread);
	if (line->lost[POSIX_TRACE_LOST_DAMAGED_NP])
		complain("%s %" PRIu64 ": damaged %" PRIu64, what, which,
			 line->lost[POSIX_TRACE_LOST_DAMAGED_NP]);
}

static void compare(const char *what, const struct posix_trace_ledger_np *total,
		    const struct posix_trace_ledger_np *sum)
{
	for (size_t i = 0; i < LEDGER_COLUMNS; i++)
		if (ledger_column(total, i) != ledger_column(sum, i))
			complain("column %zu: total %" PRIu64 ", sum over %s %" PRIu64, i,
				 ledger_column(total, i), what, ledger_column(sum, i));
}

static void check_bounds(const char *what, unsigned which, uint64_t called, uint64_t low,
			 uint64_t high, uint64_t slack)
{
	if (called + slack < low || called > high + slack)
		complain("%s %u: called %" PRIu64 ", made %" PRIu64 " to %" PRIu64, what, which,
			 called, low, high);
}

/* Reads the line of each type, and the sum of all. */
static bool read_types(struct count *count, struct posix_trace_ledger_np of[TYPES + 1],
		       struct posix_trace_ledger_np *sum, bool at_rest)
{
	struct posix_trace_ledger_np line;
	trace_event_id_t id;
	int end, err;

	memset(of, 0, (TYPES + 1) * sizeof(*of));
	if (posix_trace_get_ledger_type_np(count->trid, 0, sum))
		complain("no ledger of type 0");
	posix_trace_eventtypelist_rewind(count->trid);
	while ((err = posix_trace_eventtypelist_getnext_id(count->trid, &id, &end)) == 0 && !end) {
		err = posix_trace_get_ledger_type_np(count->trid, id, &line);
		if (err)
			break;
		if (at_rest)
			check_line("type", id, &line);
		ledger_add(sum, &line);
		ledger_add(&of[account_type(id)], &line);
	}
	if (err)
		complain("the ledger of a type: %s", strerror(err));
	return err == 0;
}

static void check_types(struct count *count, const struct posix_trace_ledger_np *total,
			bool at_rest)
{
	/*
	 * If a writer ended while it counted a chunk, some records are unattributed: their type is
	 * not known.
	 */
	uint64_t chunk = count->loop ? CHUNK_EVENTS : 1;
	uint64_t slack = !at_rest || (count->broken_off && count->loop) ? chunk : 0;
	struct posix_trace_ledger_np sum, rest, of[TYPES + 1];
	uint64_t called, low = 0, high = 0;

	if (!read_types(count, of, &sum, at_rest) ||
	    posix_trace_get_ledger_type_np(count->trid, 0, &rest))
		return;
	if (rest.called > slack)
		complain("%" PRIu64 " calls have no known type", rest.called);
	called = rest.called;
	if (at_rest)
		compare("types", total, &sum);
	for (unsigned type = 0; type < TYPES; type++) {
		check_bounds("type", type, of[type].called, count->low[type], count->high[type],
			     slack);
		if (of[type].reported != count->read[type])
			complain("type %u: reported %" PRIu64 ", read %" PRIu64, type,
				 of[type].reported, count->read[type]);
		called += of[type].called;
		low += count->low[type];
		high += count->high[type];
	}
	check_bounds("types up to", TYPES, called, low, high, at_rest ? 0 : chunk);
	count->system = of[TYPES].called;
}

/* Checks the lines of the threads, especially that of the stepped thread. */
static void check_threads(struct count *count, const struct posix_trace_ledger_np *total,
			  bool at_rest)
{
	uint64_t chunk = count->loop ? CHUNK_EVENTS : 1;
	uint64_t slack = !at_rest || (count->broken_off && count->loop) ? chunk : 0;
	struct posix_trace_ledger_np line, sum, first;
	const unsigned handler = target_type(HANDLER, 0);
	struct posix_trace_thread_np thread;
	uint64_t low = count->low[handler], high = count->high[handler];
	uint64_t threadless = 0;
	int end, err;

	memset(&sum, 0, sizeof(sum));
	memset(&first, 0, sizeof(first));
	for (size_t i = 0;; i++) {
		err = posix_trace_get_ledger_thread_np(count->trid, i, &thread, &line, &end);
		if (err || end)
			break;
		if (at_rest)
			check_line("thread", (uint64_t)thread.tid, &line);
		if (thread.tid == count->pid)
			ledger_add(&first, &line);
		if (thread.tid == 0)
			threadless = line.called;
		ledger_add(&sum, &line);
	}
	if (err)
		complain("the ledger of a thread: %s", strerror(err));
	if (at_rest)
		compare("threads", total, &sum);
	/*
	 * Only a loss whose writer ended between counting its type and its thread may be here;
	 * system events have no thread.
	 */
	if (threadless > count->system + count->broken_off + slack)
		complain("%" PRIu64 " calls have no thread", threadless);
	for (unsigned type = 0; type < MAIN_TYPES; type++) {
		low += count->low[type];
		high += count->high[type];
	}
	if (count->controls)
		high += count->system;
	check_bounds("thread", (unsigned)count->pid, first.called, low, high, slack);
}

static bool get_total(struct count *count, struct posix_trace_ledger_np *total)
{
	int err = posix_trace_get_ledger_np(count->trid, total);

	if (err)
		complain("the ledger: %s", strerror(err));
	else if (total->reported != count->read_all)
		complain("reported %" PRIu64 ", read %" PRIu64, total->reported, count->read_all);
	return err == 0;
}

void account_close(struct count *count)
{
	struct posix_trace_ledger_np total;

	if (!get_total(count, &total))
		return;
	check_total(&total, 0);
	check_line("total", 0, &total);
	check_types(count, &total, true);
	check_threads(count, &total, true);
	if (!count->may_lose && ledger_lost(&total))
		complain("lost %" PRIu64 " where nothing need be", ledger_lost(&total));
	for (int maker = 0; maker < MAKERS && count->whole_suffix; maker++)
		if (count->hole[maker])
			complain("the rest of a LOOP stream lacks an event of maker %d", maker);
}

/* The thread may be suspended while it counts a chunk, or between two counters of one event. */
void account_under_way(struct count *count)
{
	struct posix_trace_ledger_np total;

	if (!get_total(count, &total))
		return;
	check_total(&total, count->loop ? CHUNK_EVENTS : 1);
	check_types(count, &total, false);
	check_threads(count, &total, false);
}
