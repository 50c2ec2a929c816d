/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* stat_json.c - the report as one JSON object in a line. */
#include "stat/stat.h"

#include "base/out.h"
#include "base/text.h"
#include "log/equation.h"
#include "log/policy.h"

/* Members begin with a comma. Each object's first member is written without these functions. */

/* max bounds a text of a hostile log that has no NUL at its end. */
static void text_member(struct out *out, const char *name, const char *value, size_t max)
{
	out_printf(out, ",\"%s\":", name);
	text_json(out, value, strnlen(value, max));
}

/* Policies are written in the words of policy.h, not as numbers. */
static void policy_member(struct out *out, const char *name, int policy)
{
	text_member(out, name, policy_name(policy), strlen(policy_name(policy)));
}

static void number_member(struct out *out, const char *name, uint64_t value)
{
	out_printf(out, ",\"%s\":%llu", name, (unsigned long long)value);
}

static void bool_member(struct out *out, const char *name, bool value)
{
	out_printf(out, ",\"%s\":%s", name, value ? "true" : "false");
}

/*
 * Writes a time as text and as nanoseconds. The latter are a string: a double cannot hold them
 * exactly.
 */
static void time_member(struct out *out, const char *name, int64_t time_ns)
{
	char when[WHEN_BYTES];

	out_printf(out, ",\"%s\":\"%s\"", name, when_string(when, time_ns, WHEN_UTC));
	out_printf(out, ",\"%s_ns\":\"%lld\"", name, (long long)time_ns);
}

/* Counts of the log, a type or a thread. Times exist only if there are events. */
static void count_members(struct out *out, const struct tally *tally,
			  const struct tally_count *count)
{
	/* The first member of this group has no comma, since the callers differ before it. */
	out_printf(out, "\"events\":%llu", (unsigned long long)count->events);
	number_member(out, "bytes", count->bytes);
	number_member(out, "truncated", count->truncated);
	number_member(out, "late", count->late);
	/* A fixed number of decimals: %g could write an exponent. */
	out_printf(out, ",\"events_per_second\":%.3f", stat_rate(tally, count));
	if (!count->events)
		return;
	time_member(out, "first", count->first_ns);
	time_member(out, "last", count->last_ns);
	out_printf(out, ",\"duration_ns\":\"%lld\"", (long long)stat_span(count));
}

/* The ledger as in all commands: equation.h has its members. */
static void ledger_member(struct out *out, const struct posix_trace_ledger_np *ledger)
{
	out_str(out, ",\"ledger\":");
	equation_json(out, ledger);
}

/* The description of the log and the attributes of its stream. */
static void origin_members(struct out *out, const struct stat_report *report)
{
	const struct posix_trace_loginfo_np *info = &report->log->info;
	const struct stat_attributes *attr = &report->attr;

	text_member(out, "stream", attr->name, sizeof(attr->name));
	/* complete: the writer closed the log. whole: posix_trace_open() accepts it. */
	bool_member(out, "complete", info->complete);
	bool_member(out, "whole", report->log->whole);
	/* The file may contain a negative pid, which the output does not have. */
	number_member(out, "pid", (uint64_t)(info->pid > 0 ? info->pid : 0));
	text_member(out, "host", info->host, sizeof(info->host));
	text_member(out, "clock", info->clock, sizeof(info->clock));
	number_member(out, "clock_resolution_ns", (uint64_t)when_timespec(&attr->resolution));
	text_member(out, "generation", attr->generation, sizeof(attr->generation));
	out_printf(out, ",\"format\":\"%u.%u\"", info->format_major, info->format_minor);
	time_member(out, "created", when_timespec(&attr->created));
	policy_member(out, "stream_full_policy", attr->stream_policy);
	policy_member(out, "log_full_policy", attr->log_policy);
	policy_member(out, "inheritance", attr->inheritance);
	number_member(out, "stream_size", attr->stream_size);
	number_member(out, "log_size", attr->log_size);
	number_member(out, "max_data_size", attr->max_data_size);
	number_member(out, "file_bytes", info->file_bytes);
	number_member(out, "event_bytes", info->event_bytes);
	number_member(out, "blocks", info->blocks);
}

/* The status of the stream when its writer completed the log. */
static void status_member(struct out *out, const struct posix_trace_status_info *status)
{
	out_printf(out, ",\"status\":{\"flush_error\":%d", status->posix_stream_flush_error);
	bool_member(out, "running", status->posix_stream_status == POSIX_TRACE_RUNNING);
	/* POSIX constants become booleans. */
	bool_member(out, "full", status->posix_stream_full_status == POSIX_TRACE_FULL);
	bool_member(out, "overrun", status->posix_stream_overrun_status == POSIX_TRACE_OVERRUN);
	bool_member(out, "flushing", status->posix_stream_flush_status == POSIX_TRACE_FLUSHING);
	bool_member(out, "log_full", status->posix_log_full_status == POSIX_TRACE_FULL);
	bool_member(out, "log_overrun", status->posix_log_overrun_status == POSIX_TRACE_OVERRUN);
	out_char(out, '}');
}

/* schema is the text in the log even if it is invalid; a level needs a valid one. */
static void type_object(struct out *out, const struct tally *tally,
			const struct tally_type *type)
{
	out_str(out, "{\"event\":");
	/* The name in full, not as shown: JSON has its own escapes. */
	text_json(out, type->type->name, type->type->name_len);
	number_member(out, "id", type->type->id);
	if (type->type->schema_text)
		text_member(out, "schema", type->type->schema_text, POSIX_TRACE_SCHEMA_MAX_NP);
	if (type->type->schema && type->type->schema->level)
		number_member(out, "level", (uint64_t)type->type->schema->level);
	out_char(out, ',');
	count_members(out, tally, &type->count);
	ledger_member(out, &type->ledger);
	out_char(out, '}');
}

/* The thread identifier is a string in hexadecimal digits, since it may need 64 bits. */
static void thread_object(struct out *out, const struct tally *tally,
			  const struct tally_thread *thread)
{
	out_printf(out, "{\"pid\":%d,\"tid\":%d,\"thread\":\"0x%llx\",", (int)thread->id.pid,
		   (int)thread->id.tid, (unsigned long long)thread->id.thread);
	count_members(out, tally, &thread->count);
	ledger_member(out, &thread->ledger);
	out_char(out, '}');
}

/* Types and threads are arrays in the order of their numbers of events, as in the text. */
void stat_json(struct out *out, const struct stat_report *report)
{
	const struct tally *tally = &report->tally;

	out_str(out, "{\"log\":");
	text_json(out, report->log->path, strlen(report->log->path));
	origin_members(out, report);
	status_member(out, &report->status);
	/* The parts that the reader skipped while it counted the events. */
	number_member(out, "damaged_parts", tally->gaps);
	out_char(out, ',');
	count_members(out, tally, &tally->total);
	ledger_member(out, &tally->ledger);
	out_str(out, ",\"shim_lost\":");
	shimloss_json(out, &report->shim);
	out_str(out, ",\"types\":[");
	for (size_t i = 0; i < tally->types; i++) {
		if (i)
			out_char(out, ',');
		type_object(out, tally, &tally->type[i]);
	}
	out_str(out, "],\"threads\":[");
	for (size_t i = 0; i < tally->threads; i++) {
		if (i)
			out_char(out, ',');
		thread_object(out, tally, &tally->thread[i]);
	}
	out_str(out, "]}\n");
}
