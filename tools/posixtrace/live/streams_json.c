/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* streams_json.c - a stream as JSON. list and status print the same members. */
#include "live/streams.h"

#include "base/text.h"
#include "base/when.h"
#include "log/equation.h"
#include "log/policy.h"

/* Members begin with a comma; the first one, pid, is written without these functions. */

static void text_member(struct out *out, const char *name, const char *value)
{
	out_printf(out, ",\"%s\":", name);
	text_json(out, value, strlen(value));
}

static void bool_member(struct out *out, const char *name, bool value)
{
	out_printf(out, ",\"%s\":%s", name, value ? "true" : "false");
}

/* Counts are below 2^53 in practice, so a double holds them exactly. */
static void number_member(struct out *out, const char *name, uint64_t value)
{
	out_printf(out, ",\"%s\":%llu", name, (unsigned long long)value);
}

/*
 * Creation and attributes. creator is null if the process has ended or is not visible;
 * creator_ended distinguishes the two.
 */
static void origin_members(struct out *out, const struct streams_one *one)
{
	const struct posix_trace_stream_np *stream = &one->is;
	char when[WHEN_BYTES];

	out_printf(out, "{\"pid\":%d", (int)stream->pid);
	text_member(out, "program", one->program);
	bool_member(out, "ended", stream->ended);
	bool_member(out, "waiting", stream->waiting);
	text_member(out, "stream", stream->name);
	if (stream->creator > 0) {
		number_member(out, "creator", (uint64_t)stream->creator);
		text_member(out, "creator_program", one->creator_program);
	} else {
		out_str(out, ",\"creator\":null");
	}
	bool_member(out, "creator_ended", stream->creator == POSIX_TRACE_CREATOR_GONE_NP);
	text_member(out, "created", when_string(when, stream->creation_ns, WHEN_UTC));
	/* A string: a double cannot hold these nanoseconds exactly. */
	out_printf(out, ",\"created_ns\":\"%lld\"", (long long)stream->creation_ns);
	text_member(out, "stream_full_policy", policy_name(stream->stream_full_policy));
	if (stream->log_full_policy)
		text_member(out, "log_full_policy", policy_name(stream->log_full_policy));
	else
		out_str(out, ",\"log_full_policy\":null");
	text_member(out, "inheritance", policy_name(stream->inheritance));
	number_member(out, "stream_size", stream->stream_size);
	number_member(out, "max_data_size", stream->max_data_size);
}

/* State and counts. lost is without cleared events, lost_by_cause has all causes. */
static void count_members(struct out *out, const struct streams_one *one)
{
	const struct posix_trace_stream_np *stream = &one->is;

	/* The word of streams_status() summarizes the members that follow. */
	text_member(out, "status", streams_status(one));
	bool_member(out, "running", stream->stream_status == POSIX_TRACE_RUNNING);
	bool_member(out, "full", stream->stream_full_status == POSIX_TRACE_FULL);
	bool_member(out, "overrun", stream->stream_overrun_status == POSIX_TRACE_OVERRUN);
	number_member(out, "chunks", stream->chunks);
	number_member(out, "chunks_taken", stream->chunks_taken);
	number_member(out, "fill_percent", streams_fill_percent(one));
	number_member(out, "recorded", stream->recorded);
	number_member(out, "lost", streams_lost(one));
	out_str(out, ",\"lost_by_cause\":");
	equation_causes_json(out, stream->lost);
}

/* The names of filtered types and the members follow the counts as arrays. */
void streams_json(struct out *out, const struct streams_one *one)
{
	origin_members(out, one);
	count_members(out, one);
	number_member(out, "event_types", one->names);
	out_str(out, ",\"filter\":[");
	for (size_t i = 0; i < one->filtered_count; i++) {
		if (i)
			out_char(out, ',');
		text_json(out, one->filtered[i], strlen(one->filtered[i]));
	}
	out_str(out, "],\"members\":[");
	for (size_t i = 0; i < one->is.members; i++)
		out_printf(out, "%s%d", i ? "," : "", (int)one->member[i]);
	out_str(out, "]}\n");
}
