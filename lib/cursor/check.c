/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * cursor/check.c - begins and ends a check of a log, and compares its ledger with its events.
 *
 * The log is opened for salvage, so that a damaged log can be visited as far as possible. Faults of
 * single blocks are found while the blocks are visited (check_blocks.c). At the end this file
 * compares the parts that describe the whole log: the ledger, the names, and the closing area of
 * the header. Rules such as L1 are rules of log/FORMAT:
 *
 *	L1  in each line of the ledger the other columns add up to `called`; only the total and
 *	    the lines of process 0 may have more called events, which are unattributed
 *	L2  the lines add up to the total
 *	L3  the ledger reports as many events as the log has
 */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/zstd.h"
#include "cursor/check_private.h"
#include "log/format_skips.h"

void ptx_check_fault(struct ptx_check *check, uint64_t offset, uint64_t bytes,
		     const char *format, ...)
{
	/* A reason is truncated to this length. A reason contains no text from the file. */
	char reason[200];
	struct posix_trace_fault_np fault = { .offset = offset, .bytes = bytes, .reason = reason };
	va_list args;

	/* A reason may have numbers that come from the log: offsets and counts. */
	va_start(args, format);
	vsnprintf(reason, sizeof(reason), format, args);
	va_end(args);
	check->result->faults++;
	/* Faults are counted even if the caller requests no reports. */
	if (check->report)
		check->report(check->arg, &fault);
}

/* The columns of a line of the ledger in the order of FORMAT 4.2, for messages. */
static const char *const column[] = {
	"called", "reported", "unread", "overwritten", "stream full", "log full",
	"log overwritten", "flush error", "no memory", "no slot", "nesting", "cleared", "damaged",
	"over budget",
};

_Static_assert(sizeof(column) / sizeof(column[0]) == 3 + PTX_LOST_CAUSES, "a name for each column");

/* Returns the members of a line as an array of numbers: all of them have the same type. */
static uint64_t *check_cells(struct ptx_ledger_line *line)
{
	return (uint64_t *)line;
}

/*
 * Adds a line to a sum. In a hostile ledger the sum may wrap around. check_column_sums() then
 * reports a wrong sum.
 */
static void check_add(struct ptx_ledger_line *sum, struct ptx_ledger_line *line)
{
	for (unsigned i = 0; i < 3 + PTX_LOST_CAUSES; i++)
		check_cells(sum)[i] += check_cells(line)[i];
}

/*
 * Checks FORMAT L1 for one line. The text `what` names the line in a report. If may_have_rest is
 * true, the line may have unattributed events, so `called` may be greater than the sum of the other
 * columns.
 */
static void check_line(struct ptx_check *check, const char *what, struct ptx_ledger_line *line,
		       bool may_have_rest)
{
	const uint64_t sum = ptx_ledger_sum(line);

	/* Even with unattributed events, `called` is never less than the sum. */
	if (may_have_rest ? line->called < sum : line->called != sum)
		ptx_check_fault(check, 0, 0,
				"the ledger's equation does not hold for %s: %llu called, %llu in "
				"the other columns", what, (unsigned long long)line->called,
				(unsigned long long)sum);
}

/*
 * FORMAT L2: compares the sum of all lines with the total, column by column. The lines are either
 * those of all types or those of all threads.
 */
static void check_column_sums(struct ptx_check *check, const char *what,
			      struct ptx_ledger_line *sum)
{
	for (unsigned i = 0; i < 3 + PTX_LOST_CAUSES; i++) {
		uint64_t total = check_cells(&check->ledger.total)[i];

		if (check_cells(sum)[i] != total)
			ptx_check_fault(check, 0, 0,
					"the ledger's %s add up to %llu %s, its total says %llu",
					what, (unsigned long long)check_cells(sum)[i], column[i],
					(unsigned long long)total);
	}
}

/*
 * Checks FORMAT L1 for each line, and FORMAT L2. Both rules hold in any valid ledger, even if
 * blocks of the log are missing.
 */
static void check_equations(struct ptx_check *check)
{
	struct ptx_ledger *ledger = &check->ledger;
	struct ptx_ledger_line types = { 0 }, threads = { 0 };
	/* Room for the longest of the texts below. */
	char what[64];

	/* FORMAT L1 must hold for the total, too. */
	check_line(check, "the total", &ledger->total, true);
	/*
	 * The line of type 0 has the events whose type is unknown, so the sum includes this line
	 * (FORMAT L2).
	 */
	types = ledger->type[0];
	for (unsigned type = 1; type < PTX_TYPE_MAX; type++) {
		/*
		 * The text is made for each line, although few lines are reported. The check is not
		 * frequent, so the time does not matter.
		 */
		snprintf(what, sizeof(what), "event type %u", type);
		check_line(check, what, &ledger->type[type], false);
		/* A type that is not in the ledger has a line of zeros, which changes no sum. */
		check_add(&types, &ledger->type[type]);
	}
	for (size_t i = 0; i < ledger->threads; i++) {
		snprintf(what, sizeof(what), "process %u thread %u", ledger->thread[i].pid,
			 ledger->thread[i].tid);
		check_line(check, what, &ledger->thread[i].line, !ledger->thread[i].pid);
		check_add(&threads, &ledger->thread[i].line);
	}
	check_column_sums(check, "types", &types);
	check_column_sums(check, "threads", &threads);
}

/* Orders threads for the search in check_threads(). The identity of a thread has three parts. */
static int by_thread(const void *a, const void *b)
{
	const struct ptx_log_count *x = a, *y = b;

	/*
	 * The parts are compared and not subtracted: differences of unsigned numbers have
	 * no sign.
	 */
	if (x->source.pid != y->source.pid)
		return x->source.pid < y->source.pid ? -1 : 1;
	if (x->source.tid != y->source.tid)
		return x->source.tid < y->source.tid ? -1 : 1;
	return x->source.thread < y->source.thread ? -1 : x->source.thread > y->source.thread;
}

/*
 * Checks FORMAT L3 by thread: a thread with a line of its own has as many events in the log as the
 * line reports. A line with process 0 may have the counts of several threads (FORMAT 3.7). So the
 * function adds up the events of all threads that have no line, and compares them with the sum of
 * the lines with process 0. The tally (the events of each thread in the log) is sorted first.
 * Without this, a hostile log could make the search take quadratic time.
 */
static void check_threads(struct ptx_check *check)
{
	struct ptx_log_tally *tally = &check->tally;
	/*
	 * `folded`: events in the lines with process 0. `found`: events of threads that have a
	 * line.
	 */
	uint64_t folded = 0, found = 0;

	/* qsort() and bsearch() must not get a null pointer. */
	if (tally->threads)
		/* Nothing else depends on the order of the tally. */
		qsort(tally->thread, tally->threads, sizeof(*tally->thread), by_thread);
	for (size_t i = 0; i < check->ledger.threads; i++) {
		const struct ptx_ledger_thread *line = &check->ledger.thread[i];
		struct ptx_log_count key = { { line->pid, line->tid, line->thread }, 0 };
		struct ptx_log_count *count = NULL;
		uint64_t events;

		/*
		 * A line with process 0 has the counts of several threads: the writer of the log
		 * had no memory for more lines, or has added old lines to this line.
		 */
		if (!line->pid) {
			folded += line->line.reported;
			continue;
		}
		if (tally->threads)
			count = bsearch(&key, tally->thread, tally->threads,
					sizeof(*tally->thread), by_thread);
		/*
		 * A thread of the ledger may have no events in the log, because all its events may
		 * be lost.
		 */
		events = count ? count->events : 0;
		found += events;
		if (events != line->line.reported)
			ptx_check_fault(check, 0, 0,
					"process %u thread %u: the ledger reports %llu events, the "
					"log holds %llu", line->pid, line->tid,
					(unsigned long long)line->line.reported,
					(unsigned long long)events);
	}
	/*
	 * The events that are not counted in `found` belong to threads without a line, so their
	 * number must be equal to `folded`.
	 */
	if (tally->events - found != folded)
		ptx_check_fault(check, 0, 0,
				"the ledger reports %llu events of other threads, the log "
				"holds %llu",
				(unsigned long long)folded,
				(unsigned long long)(tally->events - found));
}

/*
 * Checks FORMAT L3 in total, by type and by thread. The caller calls this function only for logs
 * without damage, because damage makes the counts differ.
 */
static void check_reported(struct ptx_check *check)
{
	const struct ptx_log_tally *tally = &check->tally;

	/* FORMAT L3: the number of reported events is exactly the number of events in the log. */
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
	/* Threads are checked last, because their reports are the most detailed. */
	check_threads(check);
}

/*
 * Reports each type that has events but no name. A writer writes the name of a type before the
 * first event of the type (FORMAT 3.5).
 */
static void check_names(struct ptx_check *check)
{
	for (unsigned type = 1; type < PTX_TYPE_MAX; type++)
		/*
		 * All NAMES blocks of the log have been read by now, also the NAMES blocks of the
		 * tail.
		 */
		if (check->tally.type[type] && !(check->named[type / 64] >> type % 64 & 1))
			ptx_check_fault(check, 0, 0, "event type %u has events but no name", type);
}

/*
 * Checks the header and its closing area. If the checksum of the closing area is wrong, the state
 * and the sum in it are not used. If the state is "closed", the log must have a tail (FORMAT 2.2,
 * R3). The sum in the closing area, including the status, is compared with the sum in END.
 */
static void check_header(struct ptx_check *check)
{
	const struct ptx_log_header *h = &check->log->header;
	const struct ptx_log_closing *closing = &h->closing;

	/*
	 * If the header is damaged (for example its checksum, FORMAT H3), the log was opened with a
	 * repaired copy of it.
	 */
	if (check->log->header_damage)
		ptx_check_fault(check, 0, PTX_LOG_CLOSING_AT, "%s", check->log->header_damage);
	if (!ptx_log_closing_is_valid(closing)) {
		/*
		 * The reported offset is that of the closing area, so that a user can look at its
		 * bytes.
		 */
		ptx_check_fault(check, PTX_LOG_CLOSING_AT, sizeof(*closing),
				"the header's closing area has a wrong checksum or state");
		return;
	}
	/*
	 * If a log without a valid tail has the state "closed", the writer has ended the log, and
	 * the tail was removed or damaged later (FORMAT R3).
	 */
	if (!check->log->complete && !memcmp(closing->state, PTX_LOG_CLOSED, 8))
		ptx_check_fault(check, check->log->window.file_bytes, 0,
				"the log was closed but has no good end");
	/* One call of ptx_log_complete() writes closing area and END, with the same sum. */
	if (check->log->complete && !memcmp(closing->state, PTX_LOG_CLOSED, 8) &&
	    memcmp(&closing->sum, &check->log->sum, sizeof(closing->sum)))
		ptx_check_fault(check, PTX_LOG_CLOSING_AT, sizeof(*closing),
				"the header's closing area and the END block disagree");
}

/*
 * Called after all blocks were visited: compares the parts that concern the whole log, and sets the
 * result.
 */
static void check_whole_log(struct ptx_check *check)
{
	const struct ptx_log_closing *closing = &check->log->header.closing;
	struct posix_trace_check_np *result = check->result;

	check_names(check);
	/* The equations hold in every valid ledger, whatever is missing in the log. */
	if (check->has_ledger) {
		check_equations(check);
		/*
		 * If the log is damaged, the damage has been reported already, and counts that
		 * differ would only repeat the report.
		 */
		if (!check->damaged)
			check_reported(check);
		/* The caller gets the ledger of the log, even if it is wrong. */
		ptx_ledger_export(&check->ledger.total, &result->ledger);
	} else if (ptx_log_closing_is_valid(closing) &&
		   !memcmp(closing->state, PTX_LOG_CLOSED, sizeof(closing->state))) {
		/* The LEDGER block is missing or damaged. The closing area has the same total. */
		struct ptx_ledger_line total;

		ptx_log_line_load(&total, &closing->total);
		ptx_ledger_export(&total, &result->ledger);
	} else {
		/*
		 * Without a ledger only the existing events can be counted. With these values the
		 * equation of the ledger holds: called = reported + unread + lost.
		 */
		result->ledger.called = result->ledger.reported = check->tally.events;
	}
	/* These counts are from the existing blocks, not from END. */
	result->blocks = check->sum.blocks;
	result->events = check->sum.records;
}

/*
 * Returns true if a file that is shorter than a header may be the beginning of a log: it is empty,
 * or begins with the magic or a part of the magic. The reason in the report depends on the result.
 */
static bool is_beginning(struct ptx_log_window *window)
{
	/* The number of bytes to compare: the magic has 8 bytes, and the file may be shorter. */
	size_t len = window->file_bytes < 8 ? (size_t)window->file_bytes : 8;
	/*
	 * The pointer is NULL if the file cannot be read. In this case the function returns false.
	 */
	const void *bytes = ptx_log_window_at(window, 0, len);

	/* An empty file may be the beginning of a log. */
	return !len || (bytes && !memcmp(bytes, PTX_LOG_MAGIC, len));
}

/*
 * Stores in *why the reason why the log cannot be opened with this header. The reason can also be a
 * missing libzstd. Without a reason *why is unchanged.
 */
static void find_reason(const void *bytes, const char **why)
{
	struct ptx_log_header header;

	if (ptx_log_decode_header(bytes, sizeof(header), &header, why) == PTX_LOG_GOOD &&
	    header.flags_incompatible & PTX_LOG_COMPRESSED_LOG)
		*why = ptx_zstd_why_missing();
}

/*
 * Returns the reason why a log in this descriptor cannot be read at all, or NULL. The reasons are
 * those for which ptx_stored_open() does not look into the file.
 */
static const char *why_unreadable(int fd)
{
	int flags = fcntl(fd, F_GETFL);
	struct stat st;

	if (flags < 0 || fstat(fd, &st))
		return "the descriptor is not open";
	if (S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode))
		return "this is a pipe or a socket; a log is read at many places, so it must be in "
		       "a regular file";
	if (S_ISDIR(st.st_mode))
		return "this is a directory";
	if (!S_ISREG(st.st_mode))
		return "this is no regular file";
	if (flags & O_PATH || (flags & O_ACCMODE) == O_WRONLY)
		return "the descriptor is not open for reading";
	return NULL;
}

/*
 * Called if ptx_stored_open() has returned EINVAL or ENOTSUP: returns the reason, a constant text,
 * or NULL if there is no memory. Stores the size of the file if it is known. The function reads the
 * header once more, since ptx_stored_open() returns only an error number.
 */
static const char *find_fault(int fd, uint64_t *bytes)
{
	struct ptx_log_window window;
	const char *why = why_unreadable(fd);
	const void *header;

	if (why)
		return why;
	why = "this file cannot be read";
	/* EBADF is impossible here, because the descriptor is open. */
	if (ptx_log_window_open(&window, fd))
		return NULL;
	*bytes = window.file_bytes;
	/* ptx_log_decode_header() gives the reason, if the file has as many bytes as a header. */
	header = ptx_log_window_at(&window, 0, PTX_LOG_HEADER_BYTES);
	if (header)
		find_reason(header, &why);
	else if (window.file_bytes < PTX_LOG_HEADER_BYTES)
		why = is_beginning(&window) ? "this file is too short to be a trace log" :
					      "this is not a trace log";
	/*
	 * The variable `why` points to a constant text and not into the window, so the window can
	 * be closed first.
	 */
	ptx_log_window_close(&window);
	return why;
}

const char *ptx_check_open_fault(int fd)
{
	struct ptx_stored *log;
	uint64_t bytes;
	int err = ptx_stored_open_now(fd, true, &log);

	if (!err)
		ptx_stored_close(log);
	return err == EINVAL || err == ENOTSUP ? find_fault(fd, &bytes) : NULL;
}

/* Reports why the log could not be opened, as a fault at offset 0. Returns EINVAL or ENOMEM. */
static int check_explain(struct ptx_check *check, int fd)
{
	/* The caller gets the length of the file, although the file is no log. */
	uint64_t *bytes = &check->result->bytes;
	const char *why = find_fault(fd, bytes);

	if (!why)
		return ENOMEM;
	ptx_check_fault(check, 0, *bytes < PTX_LOG_HEADER_BYTES ? *bytes : PTX_LOG_HEADER_BYTES,
			"%s", why);
	return EINVAL;
}

int ptx_check_log(int fd, void (*report)(void *arg, const struct posix_trace_fault_np *fault),
		  void *arg, struct posix_trace_check_np *result)
{
	struct ptx_check *check;
	int saved = errno, err;

	/* After ENOMEM the caller gets zeros. */
	memset(result, 0, sizeof(*result));
	check = calloc(1, sizeof(*check));
	/* errno must be unchanged; calloc() may have set it. */
	errno = saved;
	if (!check)
		return ENOMEM;
	check->report = report;
	check->arg = arg;
	check->result = result;
	/* time_top is the greatest time so far. No time is less than this first value. */
	check->time_top = INT64_MIN;
	ptx_log_tally_init(&check->tally);
	ptx_ledger_init(&check->ledger);
	/* With salvage the check continues behind a fault, so that it finds all faults. */
	err = ptx_stored_open(fd, true, &check->log);
	if (err) {
		/* These error numbers do not show the reason, so a report explains it. */
		if (err == EINVAL || err == ENOTSUP)
			err = check_explain(check, fd);
		goto undo_check;
	}
	/* The result shows whether the log is complete (FORMAT R2, R5). */
	result->complete = check->log->complete;
	result->bytes = check->log->window.file_bytes;
	check_header(check);
	/* If the header is damaged, salvage has found the arrangement (FORMAT R8). */
	if (ptx_stored_is_sequence(check->log))
		/* From the end of the header on, every block of the file belongs to the log. */
		ptx_check_sequence(check);
	else
		ptx_check_slots(check);
	/*
	 * After ENOMEM the visit has ended early, so the counts of the whole log are not compared.
	 */
	err = check->err;
	if (!err && check->log->window.no_memory)
		/* a block may have been reported as damaged only because memory was short */
		err = ENOMEM;
	if (!err)
		check_whole_log(check);
	/* The parameter `fd` itself stays open: the log was opened on a duplicate. */
	ptx_stored_close(check->log);
	/* Each of these members is either empty or allocated, so it can be freed in any case. */
undo_check:
	ptx_ledger_fini(&check->ledger);
	ptx_log_tally_fini(&check->tally);
	free(check->place);
	free(check->top);
	free(check);
	errno = saved;
	return err;
}
