/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* turns.c - finds the turns of servers between their waits for input. */
#include "why/turns.h"

/*
 * A turn is an exception if it is EXCEPTION_TIMES as long as the mean turn, and at least
 * EXCEPTION_NS long, so that a person can notice the delay.
 */
#define EXCEPTION_TIMES 10
#define EXCEPTION_NS    INT64_C(10000000)

/*
 * A thread with fewer turns than this is not a server, or has handled so few requests that its
 * waits explain more than its turns.
 */
#define LEAST_TURNS 10

/* A wait may have several pieces, because other calls ran inside it. The wait counts only once. */
void turns_each(const struct history *history, uint32_t thread, bool is_busy,
		void (*take)(void *arg, const struct turn *turn), void *arg)
{
	const struct history_thread *of = &history->thread[thread];
	const struct call *before = NULL;
	struct turn turn = { .thread = thread };

	turn.parts = 1;
	for (size_t i = of->piece; i < of->piece + of->pieces; i++) {
		const struct call *wait = &history->call[history->piece[i].call];
		bool was_blocked;

		if (wait->cause != CAUSE_POLL || wait == before)
			continue;
		was_blocked = history_was_blocked(history, wait);
		if (!before) {
			turn.from_ns = wait->end_ns;
		} else if (!is_busy || was_blocked) {
			turn.to_ns = wait->begin_ns;
			turn.ready = was_blocked || wait->is_in_vain ? 0 : wait->result;
			/* Calls of a hostile log may overlap. */
			if (turn.to_ns > turn.from_ns)
				take(arg, &turn);
			turn.from_ns = wait->end_ns;
			turn.parts = 1;
		} else {
			turn.parts++;
		}
		before = wait;
	}
	/* No wait that blocked ends the last busy time, so it ends when the last wait begins. */
	if (is_busy && before && before->begin_ns > turn.from_ns) {
		turn.to_ns = before->begin_ns;
		turn.ready = before->is_in_vain ? 0 : before->result;
		turn.parts--;
		take(arg, &turn);
	}
}

static void turns_take_busy(void *arg, const struct turn *turn)
{
	struct turns *turns = arg;

	if (turn_ns(turn) > turn_ns(&turns->busiest))
		turns->busiest = *turn;
}

static void turns_take(void *arg, const struct turn *turn)
{
	struct turns *turns = arg;

	if (!turns->count++)
		turns->from_ns = turn->from_ns;
	turns->to_ns = turn->to_ns;
	turns->ns += turn_ns(turn);
	if (turn_ns(turn) > turn_ns(&turns->longest))
		turns->longest = *turn;
}

void turns_sum(const struct history *history, uint32_t thread, struct turns *turns)
{
	*turns = (struct turns){ .count = 0 };
	turns_each(history, thread, false, turns_take, turns);
	turns_each(history, thread, true, turns_take_busy, turns);
}

const char *turns_worst(const struct history *history, struct turn *worst)
{
	const char *name = NULL;

	*worst = (struct turn){ .from_ns = 0 };
	for (uint32_t i = 0; i < history->threads; i++) {
		struct turns turns;
		bool is_exception;
		const struct turn *turn;

		if (!history->thread[i].is_server || history->thread[i].is_serial)
			continue;
		turns_sum(history, i, &turns);
		if (turns.count < LEAST_TURNS)
			continue;
		is_exception = turn_ns(&turns.longest) >= (uint64_t)EXCEPTION_NS &&
			       turn_ns(&turns.longest) / EXCEPTION_TIMES >= turns.ns / turns.count;
		turn = is_exception ? &turns.longest : &turns.busiest;
		if (turn_ns(turn) > turn_ns(worst)) {
			*worst = *turn;
			name = is_exception ? TURNS_TURN : TURNS_BUSY;
		}
	}
	return name;
}
