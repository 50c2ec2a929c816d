/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* stat_text.c - prints the report as text. Unsafe characters in names of the log are escaped. */
#include "stat/stat.h"

#include <string.h>

#include "base/out.h"
#include "base/real.h"
#include "base/text.h"
#include "log/equation.h"
#include "log/losses.h"
#include "log/policy.h"

/*
 * Writes the title of a line. The width is constant, so the contents of all lines begin in the same
 * column.
 */
static void put_label(struct out *out, const char *name)
{
	out_printf(out, "%-11s ", name);
}

/* Writes a line whose content is a text from the log or from the command line. */
static void name_line(struct out *out, const char *name, const char *value)
{
	put_label(out, name);
	text_safe(out, value, strlen(value));
	out_char(out, '\n');
}

/*
 * Prints the names of the log and its stream, the writer of the log, the time and the clock.
 * strnlen() is used because the arrays host and clock need not end with a NUL.
 */
static void print_origin(struct out *out, const struct stat_report *report, enum when_form form)
{
	const struct posix_trace_loginfo_np *info = &report->log->info;
	const struct stat_attributes *attr = &report->attr;
	char when[WHEN_BYTES];

	put_label(out, "log");
	text_safe(out, report->path[0], strlen(report->path[0]));
	if (report->paths > 1) {
		const char *last = report->path[report->paths - 1];

		out_str(out, " to ");
		text_safe(out, last, strlen(last));
		out_printf(out, ": %zu logs of one recording", report->paths);
	}
	out_char(out, '\n');
	name_line(out, "stream", attr->name);
	put_label(out, "written by");
	/*
	 * A log that was converted from a trace of another system may lack the process and the
	 * host.
	 */
	if (info->pid)
		out_printf(out, "process %d", (int)info->pid);
	else
		out_str(out, "an unknown process");
	out_str(out, " on ");
	if (strcmp(info->host, "unknown") == 0)
		out_str(out, "an unknown host");
	else
		text_safe(out, info->host, strnlen(info->host, sizeof(info->host)));
	out_str(out, ", ");
	text_safe(out, attr->generation, strlen(attr->generation));
	out_printf(out, ", format %u.%u\n", info->format_major, info->format_minor);
	put_label(out, "created");
	out_str(out, when_string(when, when_timespec(&attr->created), form));
	out_char(out, '\n');
	put_label(out, "clock");
	text_safe(out, info->clock, strnlen(info->clock, sizeof(info->clock)));
	out_printf(out, ", resolution %s s\n",
		   when_span_string(when, when_timespec(&attr->resolution)));
}

/*
 * Prints the reason why the agent has written the log. A log that is not from the agent has no such
 * line.
 */
static void print_reason(struct out *out, const struct stat_report *report)
{
	struct stat_reason reason;

	if (!stat_find_reason(report, &reason))
		return;
	put_label(out, "agent");
	text_safe(out, reason.what, strlen(reason.what));
	if (*reason.trigger) {
		out_str(out, ", trigger ");
		text_safe(out, reason.trigger, strlen(reason.trigger));
	}
	out_str(out, ": ");
	text_safe(out, reason.text, strlen(reason.text));
	out_char(out, '\n');
}

/*
 * Prints policies and sizes. With the policy APPEND the size limit of the log has no effect, so
 * "(not used)" is printed behind it.
 */
static void print_attributes(struct out *out, const struct stat_report *report)
{
	const struct posix_trace_loginfo_np *info = &report->log->info;
	const struct stat_attributes *attr = &report->attr;

	put_label(out, "policies");
	out_printf(out, "stream %s, log %s, %s\n", policy_name(attr->stream_policy),
		   policy_name(attr->log_policy), policy_name(attr->inheritance));
	put_label(out, "limits");
	out_printf(out, "stream %zu bytes, log %zu bytes%s, data of an event %zu bytes\n",
		   attr->stream_size, attr->log_size,
		   attr->log_policy == POSIX_TRACE_APPEND ? " (not used)" : "",
		   attr->max_data_size);
	put_label(out, "file");
	out_printf(out, "%llu bytes; %llu bytes of events, in %llu block%s; %s\n",
		   (unsigned long long)info->file_bytes, (unsigned long long)info->event_bytes,
		   (unsigned long long)info->blocks, text_plural(info->blocks),
		   /*
		    * Only a complete log is called "damaged". An incomplete log is called "never
		    * closed", whether it is damaged or not.
		    */
		   !info->complete ? "never closed" : report->log->whole ? "complete" : "damaged");
}

/* Prints the status that the stream had when its writer completed the log. */
static void print_status(struct out *out, const struct posix_trace_status_info *status)
{
	put_label(out, "status");
	out_printf(out, "%s, %s, %s; log %s, %s; %s",
		   status->posix_stream_status == POSIX_TRACE_RUNNING ? "running" : "suspended",
		   status->posix_stream_full_status == POSIX_TRACE_FULL ? "full" : "not full",
		   status->posix_stream_overrun_status == POSIX_TRACE_OVERRUN ? "overrun" :
										"no overrun",
		   status->posix_log_full_status == POSIX_TRACE_FULL ? "full" : "not full",
		   status->posix_log_overrun_status == POSIX_TRACE_OVERRUN ? "overrun" :
									     "no overrun",
		   status->posix_stream_flush_status == POSIX_TRACE_FLUSHING ? "flushing" :
									       "not flushing");
	if (status->posix_stream_flush_error)
		out_printf(out, ", flush error %d (%s)", status->posix_stream_flush_error,
			   strerror(status->posix_stream_flush_error));
	out_char(out, '\n');
}

/*
 * Prints the counts of the whole log, the account of the ledger, and the calls that the shim could
 * not trace.
 */
static void print_total(struct out *out, const struct tally *tally, const struct shimloss *shim,
			enum when_form form)
{
	const struct tally_count *total = &tally->total;
	char when[WHEN_BYTES];

	put_label(out, "events");
	out_printf(out, "%llu (%.0f/s), %llu byte%s of data, %llu truncated, %llu late\n",
		   (unsigned long long)total->events, stat_rate(tally, total),
		   (unsigned long long)total->bytes, text_plural(total->bytes),
		   (unsigned long long)total->truncated, (unsigned long long)total->late);
	if (total->events) {
		put_label(out, "time");
		/*
		 * One buffer is enough, because each time is written before the next time is
		 * formatted.
		 */
		out_str(out, when_string(when, total->first_ns, form));
		out_str(out, " to ");
		out_str(out, when_string(when, total->last_ns, form));
		out_printf(out, ", %s s\n", when_span_string(when, stat_span(total)));
	}
	/* Only damaged logs have this line. */
	if (tally->gaps) {
		put_label(out, "damage");
		out_printf(out, "%llu parts skipped\n", (unsigned long long)tally->gaps);
	}
	put_label(out, "account");
	/* The equation is printed with != if the log's account is wrong. */
	equation_text(out, &tally->ledger);
	out_char(out, '\n');
	/* If the shim could trace all calls, or was not used, the line is omitted. */
	if (!shimloss_of(shim, SHIMLOSS_ALL))
		return;
	put_label(out, "not traced");
	shimloss_text(out, shim);
	out_char(out, '\n');
}

/*
 * Prints the columns of a type or thread. The percentage is relative to the events that the log
 * has, so lost events do not count.
 */
static void count_columns(struct out *out, const struct tally *tally,
			  const struct tally_count *count,
			  const struct posix_trace_ledger_np *ledger)
{
	double percent = tally->total.events ?
		100.0 * (double)count->events / (double)tally->total.events : 0;

	out_printf(out, "%12llu %5.1f%% %12.0f %14llu %10llu",
		   (unsigned long long)count->events, percent, stat_rate(tally, count),
		   (unsigned long long)count->bytes,
		   (unsigned long long)equation_lost(ledger));
}

/*
 * The titles of the columns of count_columns(). They must have the widths that count_columns()
 * uses.
 */
#define COUNT_TITLES "      events       %     events/s     data bytes       lost"

/*
 * Returns true for a type or thread without events and losses. The tables omit such types and
 * threads, because there may be many of them.
 */
static bool is_silent(const struct tally_count *count, const struct posix_trace_ledger_np *ledger)
{
	return !count->events && !ledger->called && !equation_lost(ledger);
}

/*
 * Prints the types that were recorded only for a part of the time. The number of calls of such a
 * type is exact, and all other figures of it are estimates.
 */
static void print_sampled(struct out *out, const struct tally *tally)
{
	for (size_t i = 0; i < tally->types; i++) {
		const struct tally_type *type = &tally->type[i];
		const struct posix_trace_ledger_np *ledger = &type->ledger;

		if (!ledger->lost[POSIX_TRACE_LOST_BUDGET_NP])
			continue;
		put_label(out, "sample");
		out_bytes(out, type->type->shown, type->type->shown_len);
		out_printf(out,
			   ": %llu of %llu calls are recorded (budget); rates, sizes and times "
			   "are estimates\n",
			   (unsigned long long)ledger->reported,
			   (unsigned long long)ledger->called);
	}
}

/*
 * Prints a row for the lost events whose type is not known, if there are any. Only the total of the
 * ledger counts them.
 */
static void print_unknown(struct out *out, const struct tally *tally)
{
	struct posix_trace_ledger_np rest = { 0 };
	const struct tally_count none = { 0 };
	bool any = false;

	memcpy(rest.lost, tally->ledger.lost, sizeof(rest.lost));
	for (size_t i = 0; i < tally->types; i++)
		losses_subtract(&rest, &tally->type[i].ledger);
	for (int cause = 0; cause < POSIX_TRACE_LOST_CAUSES_NP; cause++)
		any |= rest.lost[cause] != 0;
	if (!any)
		return;
	count_columns(out, tally, &none, &rest);
	out_str(out, "  of unknown type");
	equation_causes(out, &rest);
	out_char(out, '\n');
}

/*
 * Prints the types in the order of their number of events. Types without events are only counted.
 * There may be many such types, because a log lists all types that its program declared.
 */
static void print_types(struct out *out, const struct tally *tally)
{
	size_t silent = 0;

	out_str(out, "\n" COUNT_TITLES "  event type\n");
	for (size_t i = 0; i < tally->types; i++) {
		const struct tally_type *type = &tally->type[i];

		if (is_silent(&type->count, &type->ledger)) {
			silent++;
			continue;
		}
		count_columns(out, tally, &type->count, &type->ledger);
		out_str(out, "  ");
		out_bytes(out, type->type->shown, type->type->shown_len);
		equation_causes(out, &type->ledger);
		out_char(out, '\n');
	}
	print_unknown(out, tally);
	if (silent)
		out_printf(out, "and %zu event type%s without events\n", silent,
			   text_plural(silent));
}

/*
 * Prints the schemas of the types that print_types() prints. A log of record has more than a
 * hundred other schemas, which would hide the figures above them.
 */
static void print_schemas(struct out *out, const struct tally *tally)
{
	bool any = false;

	for (size_t i = 0; i < tally->types; i++) {
		const struct log_type *type = tally->type[i].type;

		if (!type->schema_text ||
		    is_silent(&tally->type[i].count, &tally->type[i].ledger))
			continue;
		if (!any)
			out_str(out, "\nlevel  event type: data\n");
		any = true;
		/* The level 0 means that the schema has no @level. */
		if (type->schema && type->schema->level)
			out_printf(out, "%5d  ", type->schema->level);
		else
			out_str(out, "    -  ");
		out_bytes(out, type->shown, type->shown_len);
		out_str(out, ": ");
		text_safe(out, type->schema_text, strlen(type->schema_text));
		/*
		 * If the schema is invalid, the tool does not use it. The note explains to the user
		 * why dump shows no fields.
		 */
		out_str(out, type->schema ? "\n" : " (not valid)\n");
	}
}

/*
 * Writes a value, in the form in which the command dump writes it, at the right edge of a column.
 */
static void value_column(struct out *out, const struct posix_trace_value_np *value)
{
	char text[64];

	posix_trace_value_print_np(value, text, sizeof(text));
	out_printf(out, " %14s", text);
}

/*
 * Writes the mean of a counter. A mean of integers is seldom an integer, so it is written with
 * three decimals. A mean of durations is rounded to a nanosecond.
 */
static void mean_column(struct out *out, const struct counter *counter)
{
	struct posix_trace_value_np mean = counter->last;

	if (mean.field->type == POSIX_TRACE_TYPE_NS_NP) {
		mean.u64 = real_unsigned(counters_mean(counter) + 0.5);
		value_column(out, &mean);
	} else if (mean.field->form == POSIX_TRACE_FORM_FLOAT_NP) {
		out_printf(out, " %14.9g", counters_mean(counter));
	} else {
		out_printf(out, " %14.3f", counters_mean(counter));
	}
}

/*
 * Prints a line for each counter that has values. Counters without values are omitted.
 */
static void print_counters(struct out *out, const struct tally *tally)
{
	bool any = false;

	for (size_t i = 0; i < tally->types; i++) {
		const struct log_type *type = tally->type[i].type;

		for (unsigned j = 0; j < tally->type[i].counters.count; j++) {
			const struct counter *counter = &tally->type[i].counters.counter[j];

			if (!counter->count)
				continue;
			if (!any)
				out_str(out, "\n      values            min           mean"
					     "            max           last  counter\n");
			any = true;
			out_printf(out, "%12llu", (unsigned long long)counter->count);
			value_column(out, &counter->min);
			mean_column(out, counter);
			value_column(out, &counter->max);
			value_column(out, &counter->last);
			out_str(out, "  ");
			out_bytes(out, type->shown, type->shown_len);
			out_printf(out, " %s\n", type->schema->field[counter->field].name);
		}
	}
}

/* Writes the number of a process or thread in a column, or a dash if the log has none. */
static void number_column(struct out *out, int number)
{
	if (number)
		out_printf(out, " %7d", number);
	else
		out_str(out, "       -");
}

/*
 * Writes the name of a thread if the log has one. If a thread has no number, as in traces of some
 * other systems, its address precedes the name.
 */
static void thread_title(struct out *out, const struct stat_report *report,
			 const struct tally_thread *thread)
{
	const char *name = stat_thread_name(report, thread);

	if (!thread->id.tid)
		out_printf(out, "  %#llx", (unsigned long long)thread->id.thread);
	if (name) {
		out_str(out, thread->id.tid ? "  " : " ");
		text_quoted(out, name, strlen(name));
	}
}

/*
 * Prints the threads in the order of their number of events. A thread whose events were all lost is
 * printed, too.
 */
static void print_threads(struct out *out, const struct stat_report *report)
{
	const struct tally *tally = &report->tally;

	out_str(out, "\n" COUNT_TITLES "     pid     tid\n");
	for (size_t i = 0; i < tally->threads; i++) {
		const struct tally_thread *thread = &tally->thread[i];

		if (is_silent(&thread->count, &thread->ledger))
			continue;
		count_columns(out, tally, &thread->count, &thread->ledger);
		/*
		 * The entry for losses that belong to no thread has neither a number nor an
		 * address.
		 */
		number_column(out, (int)thread->id.pid);
		number_column(out, (int)thread->id.tid);
		if (thread->id.thread)
			thread_title(out, report, thread);
		equation_causes(out, &thread->ledger);
		out_char(out, '\n');
	}
}

/* The summary precedes the long tables, so that it fits on a screen. */
void stat_text(struct out *out, const struct stat_report *report, enum when_form form)
{
	print_origin(out, report, form);
	print_reason(out, report);
	print_attributes(out, report);
	print_status(out, &report->status);
	print_total(out, &report->tally, &report->shim, form);
	print_sampled(out, &report->tally);
	print_types(out, &report->tally);
	print_counters(out, &report->tally);
	print_threads(out, report);
	print_schemas(out, &report->tally);
}
