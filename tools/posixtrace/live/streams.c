/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * streams.c - copies the facts about streams from the library's observer. The visitor gets pointers
 * that are valid only during its call, so it copies everything.
 */
#include "live/streams.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/tool.h"
#include "base/vec.h"
#include "log/losses.h"

/* Copies the list of members. Returns false if memory is lacking. */
static bool copy_members(struct streams_one *one)
{
	/* One element more than needed, so that the size is never 0. */
	one->member = malloc((one->is.members + 1) * sizeof(*one->member));
	if (!one->member)
		return false;
	if (one->is.members)
		memcpy(one->member, one->is.member, one->is.members * sizeof(*one->member));
	one->is.member = one->member;
	return true;
}

/* Returns true if the stream does not record this type. */
static bool is_filtered(const struct posix_trace_stream_np *stream, trace_event_id_t id)
{
	int member;

	return !posix_trace_eventset_ismember(id, &stream->filter, &member) && member;
}

/*
 * Copies the names of filtered types, and counts all types. Index 0 of the list of names is not
 * used. Returns false if memory is lacking.
 */
static bool copy_names(struct streams_one *one)
{
	const struct posix_trace_stream_np *stream = &one->is;

	one->filtered = malloc((stream->event_names + 1) * sizeof(*one->filtered));
	if (!one->filtered)
		return false;
	for (trace_event_id_t id = 1; id < stream->event_names; id++) {
		const char *name = stream->event_name[id];

		if (!name)
			continue;
		one->names++;
		if (is_filtered(stream, id))
			snprintf(one->filtered[one->filtered_count++], sizeof(*one->filtered), "%s",
				 name);
	}
	one->is.event_name = NULL; /* the pointer is invalid after the visit */
	return true;
}

/* The visitor of streams_look(): adds a copy of the stream. */
static void visit_stream(void *arg, const struct posix_trace_stream_np *stream)
{
	struct streams *streams = arg;
	struct streams_one *one;

	if (!vec_grow(&streams->one, streams->count, 1)) {
		streams->no_memory = true;
		return;
	}
	one = &streams->one[streams->count++];
	one->is = *stream;
	if (!copy_members(one) || !copy_names(one))
		streams->no_memory = true;
	/*
	 * If the process has ended, or is one of another namespace, /proc may have the name of
	 * another process with the same number.
	 */
	process_name(one->program, stream->pid);
	if (stream->ended)
		strcpy(one->program, "?");
	process_name(one->creator_program, stream->creator);
}

/* Sorts by process and creation, so that the output is stable. */
static int by_process(const void *a, const void *b)
{
	const struct streams_one *x = a, *y = b;

	if (x->is.pid != y->is.pid)
		return x->is.pid < y->is.pid ? -1 : 1;
	return x->is.creation_ns < y->is.creation_ns ? -1 : x->is.creation_ns > y->is.creation_ns;
}

/*
 * The visitor cannot end the visits if memory is lacking. So this function checks no_memory
 * afterwards.
 */
int streams_look(struct streams *streams, pid_t pid)
{
	int err;

	memset(streams, 0, sizeof(*streams));
	err = posix_trace_observe_np(pid, visit_stream, streams);
	if (!err && streams->no_memory)
		err = ENOMEM;
	if (err)
		streams_fini(streams);
	else if (streams->count)
		qsort(streams->one, streams->count, sizeof(*streams->one), by_process);
	return err;
}

void streams_fini(struct streams *streams)
{
	for (size_t i = 0; i < streams->count; i++) {
		free(streams->one[i].member);
		free(streams->one[i].filtered);
	}
	free(streams->one);
	memset(streams, 0, sizeof(*streams));
}

/* The losses by posix_trace_clear() do not count, because the program requested them. */
uint64_t streams_lost(const struct streams_one *one)
{
	struct posix_trace_ledger_np ledger = { 0 };

	memcpy(ledger.lost, one->is.lost, sizeof(ledger.lost));
	return losses_count(&ledger);
}

/* The product needs 64 bits: streams may have millions of chunks. */
unsigned streams_fill_percent(const struct streams_one *one)
{
	return one->is.chunks ? (unsigned)(100ull * one->is.chunks_taken / one->is.chunks) : 0;
}

/* If several words apply, "waiting" and "running" have precedence. */
const char *streams_status(const struct streams_one *one)
{
	if (one->is.waiting)
		return "waiting";
	if (one->is.stream_status == POSIX_TRACE_RUNNING)
		return "running";
	return one->is.stream_full_status == POSIX_TRACE_FULL ? "full" : "suspended";
}

int streams_exit(const struct streams *streams, bool fail_on_loss)
{
	for (size_t i = 0; fail_on_loss && i < streams->count; i++)
		if (streams_lost(&streams->one[i]))
			return TOOL_LOST;
	return TOOL_OK;
}
