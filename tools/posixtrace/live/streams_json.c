/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* streams_json.c - a stream as JSON. list and status print the same members. */
#include "live/streams.h"

#include "base/text.h"
#include "base/when.h"
#include "log/equation.h"
#include "log/policy.h"

void streams_json_ended(struct json *json, const struct posix_trace_stream_np *stream)
{
	if (stream->ended == POSIX_TRACE_PROCESS_UNKNOWN_NP)
		json_null(json, "ended");
	else
		json_bool(json, "ended", stream->ended != POSIX_TRACE_PROCESS_ALIVE_NP);
}

/*
 * Writes the creation and the attributes. The member "creator" is null if the creator has ended or
 * is not visible. The member creator_ended distinguishes these two cases.
 */
static void origin_members(struct json *json, const struct streams_one *one)
{
	const struct posix_trace_stream_np *stream = &one->is;

	json_signed(json, "pid", stream->pid);
	json_string_member(json, "program", one->program);
	streams_json_ended(json, stream);
	json_bool(json, "waiting", stream->waiting);
	json_string_member(json, "stream", stream->name);
	if (stream->creator > 0) {
		json_unsigned(json, "creator", (uint64_t)stream->creator);
		json_string_member(json, "creator_program", one->creator_program);
	} else {
		json_null(json, "creator");
	}
	json_bool(json, "creator_ended", stream->creator == POSIX_TRACE_CREATOR_GONE_NP);
	json_time(json, "created", "created_ns", stream->creation_ns);
	json_string_member(json, "stream_full_policy", policy_name(stream->stream_full_policy));
	if (stream->log_full_policy)
		json_string_member(json, "log_full_policy", policy_name(stream->log_full_policy));
	else
		json_null(json, "log_full_policy");
	json_string_member(json, "inheritance", policy_name(stream->inheritance));
	json_unsigned(json, "stream_size", stream->stream_size);
	json_unsigned(json, "max_data_size", stream->max_data_size);
}

/*
 * Writes the state and the counts. The member "lost" does not include cleared events, but
 * "lost_by_cause" has all causes.
 */
static void count_members(struct json *json, const struct streams_one *one)
{
	const struct posix_trace_stream_np *stream = &one->is;

	/* The word of streams_status() summarizes the members that follow. */
	json_string_member(json, "status", streams_status(one));
	json_bool(json, "running", stream->stream_status == POSIX_TRACE_RUNNING);
	json_bool(json, "full", stream->stream_full_status == POSIX_TRACE_FULL);
	json_bool(json, "overrun", stream->stream_overrun_status == POSIX_TRACE_OVERRUN);
	json_unsigned(json, "chunks", stream->chunks);
	json_unsigned(json, "chunks_taken", stream->chunks_taken);
	json_unsigned(json, "fill_percent", streams_fill_percent(one));
	json_unsigned(json, "recorded", stream->recorded);
	json_unsigned(json, "lost", streams_lost(one));
	equation_causes_json(json, "lost_by_cause", stream->lost);
}

/*
 * Behind the counts, the function writes two arrays: the names of filtered types, and the members
 * of the stream.
 */
void streams_json(struct out *out, const struct streams_one *one)
{
	struct json json = json_begin(out);

	json_object(&json, NULL);
	origin_members(&json, one);
	count_members(&json, one);
	json_unsigned(&json, "event_types", one->names);
	json_array(&json, "filter");
	for (size_t i = 0; i < one->filtered_count; i++)
		json_string_member(&json, NULL, one->filtered[i]);
	json_end_array(&json);
	json_array(&json, "members");
	for (size_t i = 0; i < one->is.members; i++)
		json_signed(&json, NULL, one->member[i]);
	json_end_array(&json);
	json_end_line(&json);
}
