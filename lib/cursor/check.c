/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cursor/check_private.h"

void ptx_check_fault(struct ptx_check *check, uint64_t offset, uint64_t bytes,
		     const char *format, ...)
{
	char reason[200];
	struct posix_trace_fault_np fault = { .offset = offset, .bytes = bytes, .reason = reason };
	va_list args;

	va_start(args, format);
	vsnprintf(reason, sizeof(reason), format, args);
	va_end(args);
	check->result->faults++;
	if (check->report)
		check->report(check->arg, &fault);
}

static const char *const column[] = {
	"called", "reported", "unread", "overwritten", "stream full", "log full",
	"log overwritten", "flush error", "no memory", "no slot", "nesting", "cleared", "damaged",
};

_Static_assert(sizeof(column) / sizeof(column[0]) == 3 + PTX_LOST_CAUSES, "a name for each column");

static uint64_t *cells(struct ptx_ledger_line *line)
{
	return (uint64_t *)line; /* thirteen numbers, and nothing else: FORMAT 4.2 */
}

static void add(struct ptx_ledger_line *sum, struct ptx_ledger_line *line)
{
	for (unsigned i = 0; i < 3 + PTX_LOST_CAUSES; i++)
		cells(sum)[i] += cells(line)[i];
}

/* may_have_rest: its line may have unattributed events. */
static void check_line(struct ptx_check *check, const char *what, struct ptx_ledger_line *line,
		       bool may_have_rest)
{
	const uint64_t sum = ptx_ledger_sum(line);

	if (may_have_rest ? line->called < sum : line->called != sum)
		ptx_check_fault(check, 0, 0,
				"the ledger's equation does not hold for %s: %llu called, %llu in "
				"the other columns", what, (unsigned long long)line->called,
				(unsigned long long)sum);
}

static void check_column_sums(struct ptx_check *check, const char *what,
			      struct ptx_ledger_line *sum)
{
	for (unsigned i = 0; i < 3 + PTX_LOST_CAUSES; i++) {
		uint64_t total = cells(&check->ledger.total)[i];

		if (cells(sum)[i] != total)
			ptx_check_fault(check, 0, 0,
					"the ledger's %s add up to %llu %s, its total says %llu",
					what, (unsigned long long)cells(sum)[i], column[i],
					(unsigned long long)total);
	}
}

/* L1 and L2. */
static void check_equations(struct ptx_check *check)
{
	struct ptx_ledger *ledger = &check->ledger;
	struct ptx_ledger_line types = { 0 }, threads = { 0 };
	char what[64];

	check_line(check, "the total", &ledger->total, true);
	types = ledger->type[0];
	for (unsigned type = 1; type < PTX_TYPE_MAX; type++) {
		snprintf(what, sizeof(what), "event type %u", type);
		check_line(check, what, &ledger->type[type], false);
		add(&types, &ledger->type[type]);
	}
	for (size_t i = 0; i < ledger->threads; i++) {
		snprintf(what, sizeof(what), "process %u thread %u", ledger->thread[i].pid,
			 ledger->thread[i].tid);
		check_line(check, what, &ledger->thread[i].line, !ledger->thread[i].pid);
		add(&threads, &ledger->thread[i].line);
	}
	check_column_sums(check, "types", &types);
	check_column_sums(check, "threads", &threads);
}

static int by_thread(const void *a, const void *b)
{
	const struct ptx_log_count *x = a, *y = b;

	if (x->who.pid != y->who.pid)
		return x->who.pid < y->who.pid ? -1 : 1;
	if (x->who.tid != y->who.tid)
		return x->who.tid < y->who.tid ? -1 : 1;
	return x->who.thread < y->who.thread ? -1 : x->who.thread > y->who.thread;
}

/* Threads that the ledger tells apart must have as many events as the log holds of them. */
static void check_threads(struct ptx_check *check)
{
	struct ptx_log_tally *tally = &check->tally;
	uint64_t folded = 0, found = 0;

	if (tally->threads)
		qsort(tally->thread, tally->threads, sizeof(*tally->thread), by_thread);
	for (size_t i = 0; i < check->ledger.threads; i++) {
		const struct ptx_ledger_thread *line = &check->ledger.thread[i];
		struct ptx_log_count key = { { line->pid, line->tid, line->thread }, 0 };
		struct ptx_log_count *count = NULL;
		uint64_t events;

		if (!line->pid) {
			folded += line->line.reported;
			continue;
		}
		if (tally->threads)
			count = bsearch(&key, tally->thread, tally->threads,
					sizeof(*tally->thread), by_thread);
		events = count ? count->events : 0;
		found += events;
		if (events != line->line.reported)
			ptx_check_fault(check, 0, 0,
					"process %u thread %u: the ledger reports %llu events, the "
					"log holds %llu", line->pid, line->tid,
					(unsigned long long)line->line.reported,
					(unsigned long long)events);
	}
	if (tally->events - found != folded)
		ptx_check_fault(check, 0, 0,
				"the ledger reports %llu events of other threads, the log "
				"holds %llu",
				(unsigned long long)folded,
				(unsigned long long)(tally->events - found));
}

/* L3. */
static void check_reported(struct ptx_check *check)
{
	const struct ptx_log_tally *tally = &check->tally;

	if (check->ledger.total.reported != tally->events)
		ptx_check_fault(check, 0, 0, "the ledger reports %llu events, the log holds %llu",
				(unsigned long long)check->ledger.total.reported,
				(unsigned long long)tally->events);
	for (unsigned type = 1; type < PTX_TYPE_MAX; type++)
		if (check->ledger.type[type].reported != tally->type[type])
			ptx_check_fault(check, 0, 0,
					"event type %u: the ledger reports %llu events, the log "
					"holds %llu", type,
					(unsigned long long)check->ledger.type[type].reported,
					(unsigned long long)tally->type[type]);
	check_threads(check);
}

static void check_names(struct ptx_check *check)
{
	for (unsigned type = 1; type < PTX_TYPE_MAX; type++)
		if (check->tally.type[type] && !(check->named[type / 64] >> type % 64 & 1))
			ptx_check_fault(check, 0, 0, "event type %u has events but no name", type);
}

static void check_header(struct ptx_check *check)
{
	const struct ptx_log_header *h = &check->log->header;
	const struct ptx_log_closing *closing = &h->closing;

	if (check->log->header_damage)
		ptx_check_fault(check, 0, PTX_LOG_CLOSING_AT, "%s", check->log->header_damage);
	if (!ptx_log_closing_is_valid(closing)) {
		ptx_check_fault(check, PTX_LOG_CLOSING_AT, sizeof(*closing),
				"the header's closing area has a wrong checksum or state");
		return;
	}
	if (!check->log->complete && !memcmp(closing->state, PTX_LOG_CLOSED, 8))
		ptx_check_fault(check, check->log->window.file_bytes, 0,
				"the log was closed but has no good end");
	if (check->log->complete && !memcmp(closing->state, PTX_LOG_CLOSED, 8) &&
	    memcmp(&closing->sum, &check->log->sum, sizeof(closing->sum)))
		ptx_check_fault(check, PTX_LOG_CLOSING_AT, sizeof(*closing),
				"the header's closing area and the END block disagree");
}

static void end(struct ptx_check *check)
{
	struct posix_trace_check_np *result = check->result;

	check_names(check);
	if (check->has_ledger) {
		check_equations(check);
		/* What a damaged part took away has been reported; it would only be repeated. */
		if (!check->damaged)
			check_reported(check);
		ptx_ledger_export(&check->ledger.total, &result->ledger);
	} else {
		result->ledger.called = result->ledger.reported = check->tally.events;
	}
	result->blocks = check->sum.blocks;
	result->events = check->sum.records;
}

/*
 * Whether a file that has no room for a header may have been meant to be a log: it has no other
 * beginning.
 */
static bool is_beginning(struct ptx_log_window *window)
{
	size_t len = window->file_bytes < 8 ? (size_t)window->file_bytes : 8;
	const void *bytes = ptx_log_window_at(window, 0, len);

	return !len || (bytes && !memcmp(bytes, PTX_LOG_MAGIC, len));
}

/* Why this is no log. */
static int explain(struct ptx_check *check, int fd)
{
	struct ptx_log_window window;
	struct ptx_log_header header;
	const char *why = "this file cannot be read";
	const void *bytes;
	int err;

	err = ptx_log_window_open(&window, fd);
	if (err == ENOMEM)
		return err;
	if (err) {
		ptx_check_fault(check, 0, PTX_LOG_HEADER_BYTES, "%s", why);
		return EINVAL;
	}
	check->result->bytes = window.file_bytes;
	bytes = ptx_log_window_at(&window, 0, sizeof(header));
	if (bytes)
		ptx_log_decode_header(bytes, sizeof(header), &header, &why);
	else if (window.file_bytes < sizeof(header))
		why = is_beginning(&window) ? "this file is too short to be a trace log" :
					      "this is not a trace log";
	ptx_log_window_close(&window);
	ptx_check_fault(check, 0, PTX_LOG_HEADER_BYTES, "%s", why);
	return EINVAL;
}

int ptx_check_log(int fd, void (*report)(void *arg, const struct posix_trace_fault_np *fault),
		  void *arg, struct posix_trace_check_np *result)
{
	struct ptx_check *check;
	int saved = errno, err;

	memset(result, 0, sizeof(*result));
	check = calloc(1, sizeof(*check));
	errno = saved;
	if (!check)
		return ENOMEM;
	check->report = report;
	check->arg = arg;
	check->result = result;
	check->time_top = INT64_MIN;
	ptx_log_tally_init(&check->tally);
	ptx_ledger_init(&check->ledger);
	err = ptx_stored_open(fd, true, &check->log);
	if (err) {
		if (err == EINVAL)
			err = explain(check, fd);
		goto undo_check;
	}
	result->complete = check->log->complete;
	result->bytes = check->log->window.file_bytes;
	check_header(check);
	if (ptx_stored_is_sequence(check->log))
		ptx_check_sequence(check);
	else
		ptx_check_slots(check);
	err = check->err;
	if (!err && check->log->window.no_memory)
		err = ENOMEM; /* what was reported may be no fault of the log */
	if (!err)
		end(check);
	ptx_stored_close(check->log);
undo_check:
	ptx_ledger_fini(&check->ledger);
	ptx_log_tally_fini(&check->tally);
	free(check->place);
	free(check->top);
	free(check);
	errno = saved;
	return err;
}
