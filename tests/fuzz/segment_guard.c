/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * segment_guard.c - treats the process as dead: its guardian completes the log from a file and a
 * memory of any content.
 */
#include <stdlib.h>
#include <unistd.h>

#include "arena/arena.h"
#include "arena/attachment.h"
#include "fuzz/fuzz.h"
#include "fuzz/kept.h"
#include "fuzz/segment.h"
#include "posix/guard.h"

static uint64_t attached;

static uint64_t word(void)
{
	return atomic_load(&ptx_arena_self.control->attachment[0].word);
}

void segment_live(void)
{
	attached = word();
}

/* The STOP and the marks of a flush, which the guardian adds. */
#define GUARDIAN_EVENTS 6

/* Events that are in the log, or that the log had no room for. */
static uint64_t flushed(const struct posix_trace_ledger_np *line)
{
	return line->reported + line->lost[POSIX_TRACE_LOST_LOG_FULL_NP] +
	       line->lost[POSIX_TRACE_LOST_LOG_OVERWRITTEN_NP] +
	       line->lost[POSIX_TRACE_LOST_FLUSH_ERROR_NP];
}

/*
 * The guardian loses nothing that the memory held and invents nothing. It cannot attribute the
 * events that the dead process had claimed in a LOOP stream's memory (flush/checkpoint.h): the
 * process had counted them as unread, or as overwritten if the writer had overwritten the chunk
 * since. A LOOP log does not know the types of the events that it overwrote, and the types of
 * unattributed events are not known either.
 */
static void account(int fd, trace_event_id_t type, const struct posix_trace_ledger_np died_with[2],
		    bool untyped)
{
	struct posix_trace_ledger_np line[2];
	uint64_t due[2], is[2], known;
	trace_id_t log;

	FUZZ_MUST(posix_trace_open(fd, &log) == 0, "not opened again");
	FUZZ_MUST(posix_trace_get_ledger_np(log, &line[0]) == 0 &&
			  posix_trace_get_ledger_type_np(log, type, &line[1]) == 0,
		  "no ledger");
	posix_trace_close(log);
	for (int i = 0; i < 2; i++) {
		due[i] = flushed(&died_with[i]) + died_with[i].unread;
		is[i] = flushed(&line[i]);
	}
	known = is[0] + line[0].lost[POSIX_TRACE_LOST_OVERWRITTEN_NP];
	FUZZ_MUST(line[0].called >= died_with[0].called &&
			  line[0].called <= died_with[0].called + GUARDIAN_EVENTS,
		  "called %llu, in the log %llu", (unsigned long long)died_with[0].called,
		  (unsigned long long)line[0].called);
	FUZZ_MUST(is[0] + line[0].unattributed >= due[0] + died_with[0].unattributed &&
			  is[0] <= due[0] + GUARDIAN_EVENTS && is[1] <= due[1] &&
			  (untyped || is[1] == due[1]),
		  "in memory and in the log: %llu and %llu, then %llu and %llu, unattributed %llu",
		  (unsigned long long)due[0], (unsigned long long)due[1], (unsigned long long)is[0],
		  (unsigned long long)is[1], (unsigned long long)line[0].unattributed);
	FUZZ_MUST(untyped || line[0].unattributed == died_with[0].unattributed,
		  "%llu events became unattributed", (unsigned long long)line[0].unattributed);
	FUZZ_MUST(known <= due[0] + died_with[0].lost[POSIX_TRACE_LOST_OVERWRITTEN_NP] +
				   GUARDIAN_EVENTS,
		  "%llu events are in two columns", (unsigned long long)known);
}

void segment_die(trace_id_t trid, int log_fd, trace_event_id_t type, bool loop, bool log_loop,
		 bool hostile)
{
	struct posix_trace_ledger_np died_with[2] = { { 0 } };
	struct kept before = { NULL, 0 }, after = { NULL, 0 };
	struct posix_trace_check_np check;
	const bool attached_still = word() == attached;
	bool completed;
	int err;

	if (!hostile)
		FUZZ_MUST(posix_trace_get_ledger_np(trid, &died_with[0]) == 0 &&
				  posix_trace_get_ledger_type_np(trid, type, &died_with[1]) == 0,
			  "no ledger");
	kept_open(log_fd, POSIX_TRACE_OPEN_SALVAGE_NP, &before);
	err = ptx_guard_run(&(struct ptx_guarded){
		.arena_fd = dup(ptx_arena_fd(&ptx_arena_self)),
		.log_fd = dup(log_fd),
		.life_fd = -1,
		.generation = ptx_attachment_generation(attached),
		.same_ids = true,
	});
	FUZZ_MUST(hostile || err == 0, "the guardian says %d", err);
	completed = err == 0 && attached_still;
	if (completed) {
		FUZZ_MUST(posix_trace_check_np(log_fd, NULL, NULL, &check) == 0 && check.complete,
			  "the guardian completed the log, and it is not complete");
		FUZZ_MUST(hostile || check.faults == 0, "the log has a fault");
		if (!hostile)
			account(log_fd, type, died_with, loop || log_loop);
	}
	FUZZ_MUST(kept_open(log_fd, completed ? 0 : POSIX_TRACE_OPEN_SALVAGE_NP, &after) ||
			  !completed,
		  "it was completed and cannot be opened");
	kept_compare(&before, &after, log_loop);
	free(before.event);
	free(after.event);
}
