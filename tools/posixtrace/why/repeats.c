/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* repeats.c - counts the failed attempts of a thread by call, object, place and error. */
#include "why/repeats.h"

#include <errno.h>

#include "why/tries.h"

#define LEAST  10 /* the least number of attempts that count as repeated */
#define OTHERS 4  /* the most other calls for each attempt, on average */
#define KINDS 16 /* the most attempts that are followed at the same time */

/* Keeps the repeat that covers more time. */
static void keep_longest(struct repeat *longest, const struct repeat *repeat)
{
	if (repeat->count >= LEAST && repeat->others / OTHERS <= repeat->count &&
	    repeats_ns(repeat) > repeats_ns(longest))
		*longest = *repeat;
}

static bool is_in_vain(const struct call *call)
{
	return tries_has_failed(call) && call->error != ENOENT;
}

static bool is_at_same_place(const struct call *failed, const struct call *call)
{
	return failed->address == call->address && tries_ends_row(failed, call);
}

/*
 * Counts a call among the attempts that are followed. A success ends a repeat of the same attempt,
 * and so does a failure with another error. If there is no room for another attempt, the one whose
 * last call is the oldest is no longer followed.
 */
static void count_call(struct repeat *repeat, struct repeat *longest, const struct call *call)
{
	const bool has_failed = is_in_vain(call);
	const bool is_work = call->cause != CAUSE_SLEEP && call->cause != CAUSE_POLL;
	struct repeat *oldest = &repeat[0];

	for (unsigned i = 0; i < KINDS; i++) {
		struct repeat *of = &repeat[i];

		if (!of->call) {
			oldest = of;
			continue;
		}
		if (!is_at_same_place(of->call, call)) {
			of->since += is_work;
			if (oldest->call && of->to_ns < oldest->to_ns)
				oldest = of;
			continue;
		}
		if (has_failed && of->call->error == call->error) {
			of->count++;
			of->others += of->since;
			of->since = 0;
			of->call = call;
			of->to_ns = call->end_ns;
			return;
		}
		keep_longest(longest, of);
		of->call = NULL;
		oldest = of;
	}
	if (!has_failed)
		return;
	keep_longest(longest, oldest);
	*oldest = (struct repeat){
		.call = call, .count = 1, .from_ns = call->begin_ns, .to_ns = call->end_ns };
}

struct repeat repeats_longest(const struct history *history, uint32_t thread, int64_t from_ns,
			      int64_t to_ns)
{
	const struct history_thread *of = &history->thread[thread];
	const size_t end = of->piece + of->pieces;
	struct repeat repeat[KINDS] = { { .call = NULL } };
	struct repeat longest = { .call = NULL };
	const struct call *last = NULL;

	for (size_t i = history_piece_at(history, of, from_ns);
	     i < end && history->piece[i].begin_ns < to_ns; i++) {
		const struct call *call = &history->call[history->piece[i].call];

		if (call != last && call->begin_ns >= from_ns && call->end_ns <= to_ns)
			count_call(repeat, &longest, call);
		last = call;
	}
	for (unsigned i = 0; i < KINDS; i++)
		keep_longest(&longest, &repeat[i]);
	return longest;
}

struct repeat repeats_find(const struct history *history, uint32_t thread, int64_t from_ns,
			   int64_t to_ns)
{
	struct repeat longest = repeats_longest(history, thread, from_ns, to_ns);

	if (to_ns <= from_ns || repeats_ns(&longest) < ((uint64_t)to_ns - (uint64_t)from_ns) / 2)
		longest.call = NULL;
	return longest;
}
