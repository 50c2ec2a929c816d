/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* stat_json.c - prints the report as one JSON object in one line. */
#include "stat/stat.h"

#include "base/json.h"
#include "base/out.h"
#include "base/text.h"
#include "log/equation.h"
#include "log/policy.h"
#include "log/value.h"

/*
 * Writes a text of the log. In a hostile log the text may have no NUL at its end, so 'max' limits
 * its length.
 */
static void text_member(struct json *json, const char *name, const char *value, size_t max)
{
	json_text(json, name, value, strnlen(value, max));
}

/*
 * Writes the counts of the log, of a type or of a thread. The members with times are written only
 * if there are events.
 */
static void count_members(struct json *json, const struct tally *tally,
			  const struct tally_count *count)
{
	json_unsigned(json, "events", count->events);
	json_unsigned(json, "bytes", count->bytes);
	json_unsigned(json, "truncated", count->truncated);
	json_unsigned(json, "late", count->late);
	/* The format has a fixed number of decimals, because %g could write an exponent. */
	json_real(json, "events_per_second", "%.3f", stat_rate(tally, count));
	if (!count->events)
		return;
	json_time(json, "first", "first_ns", count->first_ns);
	json_time(json, "last", "last_ns", count->last_ns);
	json_exact(json, "duration_ns", stat_span(count));
}

/* Writes the description of the log and the attributes of its stream. */
static void origin_members(struct json *json, const struct stat_report *report)
{
	const struct posix_trace_loginfo_np *info = &report->log->info;
	const struct stat_attributes *attr = &report->attr;

	text_member(json, "stream", attr->name, sizeof(attr->name));
	/*
	 * "complete" means that the writer closed the log. "whole" means that posix_trace_open()
	 * accepts the log without salvage.
	 */
	json_bool(json, "complete", info->complete);
	json_bool(json, "whole", report->log->whole);
	/* The file may contain a negative process id. In that case 0 is written. */
	json_unsigned(json, "pid", (uint64_t)(info->pid > 0 ? info->pid : 0));
	text_member(json, "host", info->host, sizeof(info->host));
	text_member(json, "clock", info->clock, sizeof(info->clock));
	json_unsigned(json, "clock_resolution_ns", (uint64_t)when_timespec(&attr->resolution));
	text_member(json, "generation", attr->generation, sizeof(attr->generation));
	json_name(json, "format");
	out_printf(json->out, "\"%u.%u\"", info->format_major, info->format_minor);
	json_time(json, "created", "created_ns", when_timespec(&attr->created));
	json_string_member(json, "stream_full_policy", policy_name(attr->stream_policy));
	json_string_member(json, "log_full_policy", policy_name(attr->log_policy));
	json_string_member(json, "inheritance", policy_name(attr->inheritance));
	json_unsigned(json, "stream_size", attr->stream_size);
	json_unsigned(json, "log_size", attr->log_size);
	json_unsigned(json, "max_data_size", attr->max_data_size);
	json_unsigned(json, "file_bytes", info->file_bytes);
	json_unsigned(json, "event_bytes", info->event_bytes);
	json_unsigned(json, "blocks", info->blocks);
}

/* Writes the status that the stream had when its writer completed the log. */
static void status_member(struct json *json, const struct posix_trace_status_info *status)
{
	json_object(json, "status");
	json_signed(json, "flush_error", status->posix_stream_flush_error);
	json_bool(json, "running", status->posix_stream_status == POSIX_TRACE_RUNNING);
	/* Each of these members has two values in POSIX, so it is written as true or false. */
	json_bool(json, "full", status->posix_stream_full_status == POSIX_TRACE_FULL);
	json_bool(json, "overrun", status->posix_stream_overrun_status == POSIX_TRACE_OVERRUN);
	json_bool(json, "flushing", status->posix_stream_flush_status == POSIX_TRACE_FLUSHING);
	json_bool(json, "log_full", status->posix_log_full_status == POSIX_TRACE_FULL);
	json_bool(json, "log_overrun", status->posix_log_overrun_status == POSIX_TRACE_OVERRUN);
	json_end_object(json);
}

/*
 * Writes the counters of a type. If a counter has no values, it has no minimum, mean, maximum and
 * last value, so only the number of values, 0, is written.
 */
static void counters_array(struct json *json, const struct tally_type *type)
{
	if (!type->counters.count)
		return;
	json_array(json, "counters");
	for (unsigned i = 0; i < type->counters.count; i++) {
		const struct counter *counter = &type->counters.counter[i];

		json_object(json, NULL);
		json_string_member(json, "field", type->type->schema->field[counter->field].name);
		json_unsigned(json, "values", counter->count);
		if (counter->count) {
			value_json(json, "min", &counter->min);
			json_double(json, "mean", counters_mean(counter));
			value_json(json, "max", &counter->max);
			value_json(json, "last", &counter->last);
			json_time(json, "last_time", "last_ns", counter->last_ns);
		}
		json_end_object(json);
	}
	json_end_array(json);
}

/*
 * Writes the object of one type. The member "schema" has the text of the schema in the log, even if
 * it is invalid. The member "level" is written only if the schema is valid and has a level.
 */
static void type_object(struct json *json, const struct tally *tally,
			const struct tally_type *type)
{
	json_object(json, NULL);
	/*
	 * The name is written without the escapes for a terminal, because JSON has its own escapes.
	 */
	json_text(json, "event", type->type->name, type->type->name_len);
	json_unsigned(json, "id", type->type->id);
	if (type->type->schema_text)
		text_member(json, "schema", type->type->schema_text, POSIX_TRACE_SCHEMA_MAX_NP);
	if (type->type->schema && type->type->schema->level)
		json_unsigned(json, "level", (uint64_t)type->type->schema->level);
	count_members(json, tally, &type->count);
	counters_array(json, type);
	equation_json(json, "ledger", &type->ledger);
	/* The type was recorded only for a part of the time: rates and times are estimates. */
	if (type->ledger.lost[POSIX_TRACE_LOST_BUDGET_NP])
		json_bool(json, "sampled", true);
	json_end_object(json);
}

/*
 * Writes the object of one thread. The member "thread" is a string of hexadecimal digits, since a
 * thread identifier may need 64 bits.
 */
static void thread_object(struct json *json, const struct stat_report *report,
			  const struct tally_thread *thread)
{
	const struct tally *tally = &report->tally;
	const char *name = stat_thread_name(report, thread);

	json_object(json, NULL);
	json_signed(json, "pid", thread->id.pid);
	json_signed(json, "tid", thread->id.tid);
	json_address(json, "thread", (uint64_t)thread->id.thread);
	if (name)
		json_string_member(json, "name", name);
	count_members(json, tally, &thread->count);
	equation_json(json, "ledger", &thread->ledger);
	json_end_object(json);
}

/* Writes the reason why the agent has written the log. */
static void agent_member(struct json *json, const struct stat_report *report)
{
	struct stat_reason reason;

	if (!stat_find_reason(report, &reason))
		return;
	json_object(json, "agent");
	text_member(json, "what", reason.what, sizeof(reason.what));
	text_member(json, "trigger", reason.trigger, sizeof(reason.trigger));
	text_member(json, "reason", reason.text, sizeof(reason.text));
	json_end_object(json);
}

/*
 * Types and threads are two arrays. Both are in the order of the number of events, as in the text.
 */
void stat_json(struct out *out, const struct stat_report *report)
{
	const struct tally *tally = &report->tally;
	struct json json = json_begin(out);

	json_object(&json, NULL);
	json_string_member(&json, "log", report->path[0]);
	if (report->paths > 1) {
		json_array(&json, "logs");
		for (size_t i = 0; i < report->paths; i++)
			json_string_member(&json, NULL, report->path[i]);
		json_end_array(&json);
	}
	origin_members(&json, report);
	agent_member(&json, report);
	status_member(&json, &report->status);
	/* The number of damaged parts that the library skipped while the events were counted. */
	json_unsigned(&json, "damaged_parts", tally->gaps);
	count_members(&json, tally, &tally->total);
	equation_json(&json, "ledger", &tally->ledger);
	shimloss_json(&json, "shim_lost", &report->shim);
	/* The lost events whose type is not known. The log has them under the type 0. */
	if (equation_lost(&report->unknown))
		equation_json(&json, "unknown_type", &report->unknown);
	json_array(&json, "types");
	for (size_t i = 0; i < tally->types; i++)
		type_object(&json, tally, &tally->type[i]);
	json_end_array(&json);
	json_array(&json, "threads");
	for (size_t i = 0; i < tally->threads; i++)
		thread_object(&json, report, &tally->thread[i]);
	json_end_array(&json);
	json_end_line(&json);
}
