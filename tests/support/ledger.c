/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "support/ledger.h"

#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

struct posix_trace_ledger_np ledger_total(trace_id_t trid)
{
	struct posix_trace_ledger_np ledger;

	memset(&ledger, 0xa5, sizeof(ledger));
	OK(posix_trace_get_ledger_np(trid, &ledger));
	return ledger;
}

struct posix_trace_ledger_np ledger_of_type(trace_id_t trid, trace_event_id_t id)
{
	struct posix_trace_ledger_np ledger;

	memset(&ledger, 0xa5, sizeof(ledger));
	OK(posix_trace_get_ledger_type_np(trid, id, &ledger));
	return ledger;
}

struct posix_trace_ledger_np ledger_of_thread(trace_id_t trid, pid_t tid)
{
	struct posix_trace_ledger_np line;
	struct posix_trace_thread_np thread;
	int unavailable;

	for (size_t i = 0;; i++) {
		OK(posix_trace_get_ledger_thread_np(trid, i, &thread, &line, &unavailable));
		if (unavailable)
			break;
		if (thread.tid == tid && thread.pid)
			return line;
	}
	memset(&line, 0, sizeof(line));
	return line;
}

static void check_line(const char *file, int at, const char *what,
		       const struct posix_trace_ledger_np *line)
{
	uint64_t sum = line->reported + line->unread + ledger_lost(line);

	/* Unattributed events would make every sum right, so there must be none. */
	if (line->called != sum || line->unattributed)
		ck_abort_msg("%s:%d: %s: called %" PRIu64 ", accounted for %" PRIu64
			     ", unattributed %" PRIu64, file, at, what, line->called, sum,
			     line->unattributed);
}

static void compare(const char *file, int at, const char *what,
		    const struct posix_trace_ledger_np *total,
		    const struct posix_trace_ledger_np *sum)
{
	for (size_t i = 0; i < LEDGER_COLUMNS; i++)
		if (ledger_column(total, i) != ledger_column(sum, i))
			ck_abort_msg("%s:%d: column %zu: total %" PRIu64 ", sum over %s %" PRIu64,
				     file, at, i, ledger_column(total, i), what,
				     ledger_column(sum, i));
}

/* The sums of the lines of all types and of all threads. */
struct sums {
	struct posix_trace_ledger_np types, threads;
};

static void read_lines(const char *file, int at, trace_id_t trid, struct sums *sums)
{
	struct posix_trace_ledger_np line;
	struct posix_trace_thread_np thread;
	trace_event_id_t id;
	int end;

	memset(&sums->threads, 0, sizeof(sums->threads));
	sums->types = ledger_of_type(trid, 0); /* the events whose type is not known */
	check_line(file, at, "type 0", &sums->types);
	OK(posix_trace_eventtypelist_rewind(trid));
	for (;;) {
		OK(posix_trace_eventtypelist_getnext_id(trid, &id, &end));
		if (end)
			break;
		line = ledger_of_type(trid, id);
		check_line(file, at, "an event type", &line);
		ledger_add(&sums->types, &line);
	}
	for (size_t i = 0;; i++) {
		OK(posix_trace_get_ledger_thread_np(trid, i, &thread, &line, &end));
		if (end)
			break;
		check_line(file, at, "a thread", &line);
		ledger_add(&sums->threads, &line);
	}
}

static bool is_equal(const struct posix_trace_ledger_np *a, const struct posix_trace_ledger_np *b)
{
	for (size_t i = 0; i < LEDGER_COLUMNS; i++)
		if (ledger_column(a, i) != ledger_column(b, i))
			return false;
	return true;
}

/*
 * The flusher may record the events of a flush while the lines are read. Counts of called events
 * only grow. So if the total is equal before and after the reading, all lines belong to one moment.
 * If the totals differ, the function reads the lines again.
 */
void assert_ledger_closes(const char *file, int at, trace_id_t trid)
{
	struct posix_trace_ledger_np total, after = ledger_total(trid);
	struct sums sums;
	int tries = 0;

	do {
		ck_assert_msg(tries++ < 1000, "%s:%d: the stream is never at rest", file, at);
		total = after;
		check_line(file, at, "total", &total);
		read_lines(file, at, trid, &sums);
		after = ledger_total(trid);
	} while (!is_equal(&total, &after));
	compare(file, at, "types", &total, &sums.types);
	compare(file, at, "threads", &total, &sums.threads);
}

void assert_ledger_line(const char *file, int at, const struct posix_trace_ledger_np *line,
			uint64_t reported, uint64_t unread, int cause, uint64_t lost)
{
	if (line->reported != reported || line->unread != unread || line->lost[cause] != lost ||
	    ledger_lost(line) != lost || line->called != reported + unread + lost)
		ck_abort_msg("%s:%d: called %" PRIu64 " reported %" PRIu64 " unread %" PRIu64
			     " lost to \"%s\" %" PRIu64 " of %" PRIu64
			     "; expected reported %" PRIu64 " unread %" PRIu64 " lost %" PRIu64,
			     file, at, line->called, line->reported, line->unread,
			     posix_trace_lost_name_np(cause), line->lost[cause],
			     ledger_lost(line), reported, unread, lost);
}
