/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * log_joined.c - facts, notes, status and ledger of one log, or of several logs as one trace.
 *
 * A single log keeps its attributes. The attributes of several logs describe different streams, so
 * the trace of these logs has no attributes. Functions that return int return 0 or an error number.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/say.h"
#include "base/text.h"
#include "base/vec.h"
#include "base/when.h"
#include "convert/log/log_reading.h"
#include "convert/threads.h"
#include "log/equation.h"
#include "log/tally.h"

/* ------------------------------------------------------------------ facts */

/* Reads the facts of one log. A fact that the log lacks remains empty. */
static int facts_of(const struct logfile *log, struct fmt_facts *facts)
{
	struct posix_trace_ledger_np ledger;
	struct timespec time;
	int err = posix_trace_get_attr(log->trid, &facts->attr);

	if (err)
		return err;
	facts->has_attr = true;
	posix_trace_attr_getname(&facts->attr, facts->name);
	posix_trace_attr_getgenversion(&facts->attr, facts->generation);
	if (!posix_trace_attr_getclockres(&facts->attr, &time))
		facts->resolution_ns = when_timespec(&time);
	if (!posix_trace_attr_getcreatetime(&facts->attr, &time)) {
		facts->creation_ns = when_timespec(&time);
		facts->has_creation = true;
	}
	memcpy(facts->host, log->info.host, sizeof(facts->host));
	memcpy(facts->clock, log->info.clock, sizeof(facts->clock));
	facts->clock_hz = log->info.clock_hz;
	facts->pid = (uint32_t)log->info.pid;
	/* The library opens only logs of this machine's byte order. */
	facts->big_endian = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;
	facts->has_span = log->info.blocks > 0;
	facts->first_ns = log->info.first_ns;
	facts->last_ns = log->info.last_ns;
	err = posix_trace_get_ledger_np(log->trid, &ledger);
	/*
	 * has_events remains false for a damaged log, because the number of readable events may
	 * differ from its ledger.
	 */
	facts->has_events = !err && log->whole;
	facts->events = facts->has_events ? ledger.reported : 0;
	return err;
}

/* Clears a text that differs from the text of the other log. */
static void join_text(char *text, const char *other)
{
	if (strcmp(text, other) != 0)
		*text = '\0';
}

/* The trace lasts from the first event to the last event of all logs. */
static void join_times(struct fmt_facts *facts, const struct fmt_facts *other)
{
	if (!other->has_span)
		return;
	if (!facts->has_span || other->first_ns < facts->first_ns)
		facts->first_ns = other->first_ns;
	if (!facts->has_span || other->last_ns > facts->last_ns)
		facts->last_ns = other->last_ns;
	facts->has_span = true;
}

/*
 * Attributes describe a single stream, so the trace of several logs has none. The facts keep only
 * one number from the attributes: the largest size of an event's data in all streams.
 */
static void join_sizes(struct fmt_facts *facts, const struct fmt_facts *other)
{
	size_t data_max = 0, others = 0;

	if (facts->has_attr && !posix_trace_attr_getmaxdatasize(&facts->attr, &data_max))
		facts->data_max = data_max;
	if (!posix_trace_attr_getmaxdatasize(&other->attr, &others) && others > facts->data_max)
		facts->data_max = others;
	facts->has_attr = false;
}

/*
 * Adds the facts of a further log. A fact that is equal remains. A fact that differs becomes
 * unknown. Times and numbers of events are combined.
 */
static void join_facts(struct fmt_facts *facts, const struct fmt_facts *other)
{
	join_text(facts->name, other->name);
	join_text(facts->generation, other->generation);
	join_text(facts->host, other->host);
	join_text(facts->clock, other->clock);
	if (facts->clock_hz != other->clock_hz)
		facts->clock_hz = 0;
	if (facts->pid != other->pid)
		facts->pid = 0;
	if (other->resolution_ns > facts->resolution_ns)
		facts->resolution_ns = other->resolution_ns;
	if (!other->has_creation || other->creation_ns < facts->creation_ns)
		facts->creation_ns = other->creation_ns;
	facts->has_creation &= other->has_creation;
	join_times(facts, other);
	join_sizes(facts, other);
	facts->has_events &= other->has_events;
	facts->events = facts->has_events ? facts->events + other->events : 0;
}

int joined_facts(const struct log_reading *reading, size_t count, struct fmt_facts *facts)
{
	int err = facts_of(reading[0].log, facts);

	for (size_t i = 1; !err && i < count; i++) {
		struct fmt_facts other = { .pid = 0 };

		err = facts_of(reading[i].log, &other);
		if (!err)
			join_facts(facts, &other);
	}
	return err;
}

bool joined_notes(const struct log_reading *reading, size_t count)
{
	bool go = true;

	for (size_t i = 0; count > 1 && go && i < count; i++) {
		const struct logfile *log = reading[i].log;
		struct fmt_facts facts = { .pid = 0 };

		facts_of(log, &facts);
		go = fmt_note(reading[i].flow,
			      "log %zu of %zu: %s: stream %s, process %u, host %s, clock %s, "
			      "%llu event%s",
			      i + 1, count, log->path, *facts.name ? facts.name : "without a name",
			      facts.pid, *facts.host ? facts.host : "unknown", facts.clock,
			      (unsigned long long)facts.events, text_plural(facts.events));
	}
	return go;
}

/* ------------------------------------------------------------------ processes of several hosts */

/*
 * Returns whether a log of another host has a process with the same number. The mark of a process
 * is the number of the log that had the process first, counted from 1. Processes beyond the limit
 * of threads.h are not checked.
 */
static bool is_elsewhere(struct threads *processes, const struct log_reading *reading, size_t at,
			 pid_t pid)
{
	const struct logfile *log = reading[at].log, *other;
	struct thread *process = pid ? threads_of(processes, (uint32_t)pid, 0, 0) : NULL;

	if (!process)
		return false;
	if (!process->mark)
		process->mark = at + 1;
	other = reading[process->mark - 1].log;
	if (!strcmp(other->info.host, log->info.host))
		return false;
	say("%s, %s: process %d is of host %s in one log and of host %s in the other: "
	    "convert the logs of each host separately",
	    other->path, log->path, (int)pid, *other->info.host ? other->info.host : "unknown",
	    *log->info.host ? log->info.host : "unknown");
	return true;
}

/*
 * Returns whether all logs are of one host, which is the usual case. In this case, equal process
 * numbers mean the same process.
 */
static bool has_one_host(const struct log_reading *reading, size_t count)
{
	for (size_t i = 1; i < count; i++)
		if (strcmp(reading[0].log->info.host, reading[i].log->info.host) != 0)
			return false;
	return true;
}

bool joined_fits(const struct log_reading *reading, size_t count)
{
	struct threads processes;
	bool fits = true;

	if (has_one_host(reading, count))
		return true;
	threads_init(&processes, false, 0);
	for (size_t i = 0; fits && i < count; i++) {
		struct posix_trace_thread_np thread;
		struct posix_trace_ledger_np ledger;
		int unavailable;

		/*
		 * The function checks only processes that have events. The ledger of a complete log
		 * has these processes in its lines for threads. An incomplete log has no such
		 * lines, so only its traced process is checked.
		 */
		if (!reading[i].log->info.complete)
			fits = !is_elsewhere(&processes, reading, i, reading[i].log->info.pid);
		for (size_t n = 0;
		     fits && !posix_trace_get_ledger_thread_np(reading[i].log->trid, n, &thread,
							       &ledger, &unavailable) &&
		     !unavailable; n++)
			fits = !is_elsewhere(&processes, reading, i, thread.pid);
	}
	threads_fini(&processes);
	return fits;
}

/* ------------------------------------------------------------------ the end */

struct ending {
	struct fmt_end end;
	/*
	 * indexed by the type; if the member "type" of an element is NULL, the element is not a
	 * line
	 */
	struct fmt_type_line *type;
	size_t types;
	struct fmt_thread_line *thread;
	/* the mark of a thread is its index in the array "thread", plus 1 */
	struct threads known;
};

/* Returns how much a exceeds b, or 0. */
static uint64_t excess_of(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

/*
 * Adds the lines of the log's types. If two logs have events of the same type of the flow, the line
 * of this type gets the sum of their counts.
 */
static int add_types(struct ending *ending, struct log_reading *reading)
{
	for (size_t i = 0; i < reading->log->types; i++) {
		trace_event_id_t id = reading->log->list[i]->id;
		const struct fmt_type *type = log_reading_type(reading, id);
		struct posix_trace_ledger_np ledger;

		if (posix_trace_get_ledger_type_np(reading->log->trid, id, &ledger))
			continue;
		if (!vec_reach(&ending->type, &ending->types, type->index))
			return ENOMEM;
		ending->type[type->index].type = type;
		equation_add(&ending->type[type->index].ledger, &ledger);
	}
	return 0;
}

/*
 * Computes how many events of each type a damaged log has lost. Only a sink that writes a new log
 * needs these numbers. The reading may have passed a part of the events only, because of --begin or
 * --end. So the function reads the whole log again.
 */
static int add_unreadable(struct ending *ending, struct log_reading *reading)
{
	const trace_id_t trid = reading->log->trid;
	struct tally tally;
	uint64_t left;
	int err;

	if (!fmt_sink_is(reading->flow, "log") || !log_reading_is_damaged(reading))
		return 0;
	err = posix_trace_until_np(trid, NULL);
	if (!err)
		err = posix_trace_rewind(trid);
	if (!err)
		err = tally_count(&tally, reading->log, 1);
	if (err)
		return err;
	left = excess_of(tally.ledger.reported, tally.total.events);
	ending->end.unreadable += left;
	/* A log without ledgers of its types has only the total. Then all types are unknown. */
	for (size_t i = 0; i < tally.types; i++) {
		size_t index = log_reading_type(reading, tally.type[i].type->id)->index;
		uint64_t events = excess_of(tally.type[i].ledger.reported,
					    tally.type[i].count.events);

		if (index >= ending->types)
			continue;
		/* The lines of a damaged ledger may exceed its total. */
		events = events < left ? events : left;
		ending->type[index].unreadable += events;
		left -= events;
	}
	tally_fini(&tally);
	return 0;
}

/*
 * Adds a line of a thread. If "joins" is true and another log has the same thread, the existing
 * line gets the sum of the counts. Threads beyond the limit of threads.h get a separate line for
 * each log.
 */
static int add_thread(struct ending *ending, const struct fmt_thread_line *line, bool joins)
{
	struct thread *known = NULL;

	if (joins)
		known = threads_of(&ending->known, (uint32_t)line->thread.pid,
				   (uint32_t)line->thread.tid, (uint64_t)line->thread.thread);
	if (known && known->mark) {
		equation_add(&ending->thread[known->mark - 1].ledger, &line->ledger);
		return 0;
	}
	if (!vec_grow(&ending->thread, ending->end.threads, 1))
		return ENOMEM;
	ending->thread[ending->end.threads++] = *line;
	if (known)
		known->mark = ending->end.threads;
	return 0;
}

/* Adds the lines of the log's threads. */
static int add_threads(struct ending *ending, const struct log_reading *reading, bool joins)
{
	for (size_t n = 0;; n++) {
		struct fmt_thread_line line;
		int unavailable;
		int err = posix_trace_get_ledger_thread_np(reading->log->trid, n, &line.thread,
							   &line.ledger, &unavailable);

		if (err || unavailable)
			return err;
		err = add_thread(ending, &line, joins);
		if (err)
			return err;
	}
}

/*
 * Combines the status of two logs. The status of the trace is running, full or overrun if at least
 * one stream has this status.
 */
static void add_status(struct posix_trace_status_info *to,
		       const struct posix_trace_status_info *from)
{
	to->posix_stream_status |= from->posix_stream_status;
	to->posix_stream_full_status |= from->posix_stream_full_status;
	to->posix_stream_overrun_status |= from->posix_stream_overrun_status;
	to->posix_stream_flush_status |= from->posix_stream_flush_status;
	if (!to->posix_stream_flush_error)
		to->posix_stream_flush_error = from->posix_stream_flush_error;
	to->posix_log_overrun_status |= from->posix_log_overrun_status;
	to->posix_log_full_status |= from->posix_log_full_status;
}

/* Adds one log to the end of the trace. */
static int add_log(struct ending *ending, struct log_reading *reading, bool joins)
{
	struct posix_trace_status_info status;
	struct posix_trace_ledger_np ledger;
	int err = posix_trace_get_status(reading->log->trid, &status);

	if (!err)
		err = posix_trace_get_ledger_np(reading->log->trid, &ledger);
	if (err)
		return err;
	ending->end.complete &= reading->log->info.complete != 0;
	add_status(&ending->end.status, &status);
	equation_add(&ending->end.ledger, &ledger);
	err = add_types(ending, reading);
	if (!err)
		err = add_unreadable(ending, reading);
	return err ? err : add_threads(ending, reading, joins);
}

/* Removes unused elements. The array is indexed by type, and some types have no line. */
static void pack_types(struct ending *ending)
{
	size_t count = 0;

	for (size_t i = 0; i < ending->types; i++)
		if (ending->type[i].type)
			ending->type[count++] = ending->type[i];
	ending->end.types = count;
	ending->end.type = ending->type;
	ending->end.thread = ending->thread;
}

int joined_finish(struct log_reading *reading, size_t count)
{
	struct ending ending = {
		.end = { .complete = true, .has_status = true, .has_ledger = true },
	};
	int err = 0;

	threads_init(&ending.known, true, 0);
	for (size_t i = 0; !err && i < count; i++)
		err = add_log(&ending, &reading[i], count > 1);
	pack_types(&ending);
	if (!err)
		fmt_finish(reading->flow, &ending.end);
	threads_fini(&ending.known);
	free(ending.type);
	free(ending.thread);
	return err;
}
