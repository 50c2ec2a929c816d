/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * action.c - the action at the chosen instruction, and the checks afterwards.
 */
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "steps.h"

/* In every second case the parent has not waited for the killed process yet. */
static void act_kill(struct try *try)
{
	lead_kill(try->pid, try->n % 2);
	try->killed = true;
	if (try->n % 2)
		try->pid = 0;
}

static void act_signal(struct try *try)
{
	atomic_store(&share->deed, DEED_TRACE);
	try_go_on(try, SIGUSR1);
	if (atomic_load(&share->done[target_type(HANDLER, 0)]) != 2)
		complain("the handler made %d events",
			 (int)atomic_load(&share->done[target_type(HANDLER, 0)]));
}

/* The positions of the remaining events no longer show how others were lost. */
static void disturb(struct try *try)
{
	for (unsigned i = 0; i < try->streams; i++)
		try->count[i].whole_suffix = false;
}

/* The event of the interrupted call may be missing. */
static void act_jump(struct try *try)
{
	disturb(try);
	try->jumped = true;
	atomic_store(&share->deed, DEED_JUMP);
	try_go_on(try, SIGUSR1);
}

static void fork_and(struct try *try, enum deed deed)
{
	atomic_store(&share->deed, deed);
	atomic_store(&share->child_waits, try->n % 2);
	atomic_store(&share->parent_is_on, 0);
	try->forked = true;
	try_go_on(try, SIGUSR1);
	if (atomic_load(&share->child_ok) != 1)
		complain("the child ended with status %#x, %d", atomic_load(&share->child_status),
			 atomic_load(&share->child_ok));
}

static void act_fork(struct try *try)
{
	fork_and(try, DEED_FORK);
}

static void act_fork_signal(struct try *try)
{
	fork_and(try, DEED_FORK_TRACE);
}

static uint64_t done_by_main(void)
{
	uint64_t done = 0;

	for (int type = 0; type < MAIN_TYPES; type++)
		done += atomic_load(&share->done[type]);
	return done;
}

/*
 * Returns the number of events that must be readable now, including START. No event of the first
 * stream is held back or lost.
 */
static uint64_t there_by_now(const struct try *try)
{
	return try->path->stream[0].filtered ? 1 : done_by_main() + 1;
}

/* The paths in which the sleeping reader is not the only reader. */
static bool unless_asleep(const struct path *path)
{
	return !path->waiter && !path->own_log;
}

static bool unless_held(const struct path *path)
{
	return unless_asleep(path) && !path->held;
}

static bool if_all_is_there(const struct path *path)
{
	return unless_held(path) && !path->stream[0].log && !path->stream[1].policy &&
	       !path->until_full && !path->stranger;
}

/*
 * Reads without waiting. The completed events must be readable, with the thread at any instruction.
 */
static void read_at_once(struct try *try, uint64_t there)
{
	struct count *count = &try->count[0];

	while (count_read(count))
		;
	if (count->read_all < there)
		complain("a reader that does not wait finds %d events of %d", (int)count->read_all,
			 (int)there);
}

static void read_all(struct try *try)
{
	for (unsigned i = 0; i < try->streams; i++) {
		struct count *count = &try->count[i];

		if (count->fd >= 0)
			must("flush", posix_trace_flush(count->trid));
		while (count->fd < 0 && count_read(count))
			;
	}
}

/* Another process reads the available events. */
static void act_read(struct try *try)
{
	try_by_owner(try, read_all);
	disturb(try);
	try_go_on(try, 0);
}

/*
 * Does the same with the call that waits. The completed events must be delivered, with the thread
 * at any instruction.
 */
static void wait_for_all(struct try *try)
{
	struct count *count = &try->count[0];
	uint64_t there = there_by_now(try);

	while (count->read_all < there && count_wait(count))
		;
}

static void act_wait(struct try *try)
{
	try_by_owner(try, wait_for_all);
	disturb(try);
	try_go_on(try, 0);
}

/* Another thread fills the stream, or overwrites it once. */
static void act_fill(struct try *try)
{
	for (unsigned i = 0; i < try->streams; i++)
		try->count[i].may_lose = true;
	atomic_store(&share->order_count, 3000);
	try_order(try, ORDER_TRACE);
	if (atomic_load(&share->done[target_type(HELPER, 0)]) < 3000)
		complain("the other thread did not trace");
	try_go_on(try, 0);
}

static void stop(struct try *try)
{
	try_each(try, "stop", posix_trace_stop);
}

static void start(struct try *try)
{
	try_each(try, "start", posix_trace_start);
}

/* The events from instruction n to the target's end are no members, and later events are. */
static void out_for_a_while(struct try *try, void (*begin)(struct try *), void (*end)(struct try *))
{
	try_mark(try);
	try_by_owner(try, begin);
	disturb(try);
	try_go_on(try, 0);
	for (unsigned i = 0; i < try->streams; i++)
		try_out(try, i);
	try_by_owner(try, end);
	try_go_on(try, 0);
}

static void act_stop(struct try *try)
{
	out_for_a_while(try, stop, start);
}

/* STOP-07, TRY-03: the stream has its STOP; an event in progress appears later, or is no member. */
static void stop_and_drain(struct try *try)
{
	uint64_t there = there_by_now(try) + 1;

	stop(try);
	read_at_once(try, there);
}

static void act_drain(struct try *try)
{
	out_for_a_while(try, stop_and_drain, start);
}

static void keep_out(struct try *try)
{
	try_filter(try, true);
}

static void let_in(struct try *try)
{
	try_filter(try, false);
}

static void act_filter(struct try *try)
{
	out_for_a_while(try, keep_out, let_in);
}

static void restart(struct try *try)
{
	stop(try);
	start(try);
}

static void act_restart(struct try *try)
{
	try_mark(try); /* so that an event in progress may be no member */
	try_by_owner(try, restart);
	disturb(try);
	try_go_on(try, 0);
}

/*
 * Events from now on are in the stream: no thread keeps the information that it did not record
 * them.
 */
static void act_start(struct try *try)
{
	for (unsigned i = 0; i < try->streams; i++)
		try->count[i].held = false;
	disturb(try);
	try_came(try);
	try_by_owner(try, try->path->held == HELD_FILTERED ? let_in : start);
	try_go_on(try, 0);
}

static void clear(struct try *try)
{
	struct posix_trace_status_info status = { .posix_stream_status = POSIX_TRACE_RUNNING };

	try_each(try, "clear", posix_trace_clear);
	must("status", posix_trace_get_status(try->count[0].trid, &status));
	try->is_running = status.posix_stream_status == POSIX_TRACE_RUNNING;
}

/* A stream that was full remains suspended. */
static void act_clear(struct try *try)
{
	for (unsigned i = 0; i < try->streams; i++)
		try->count[i].may_lose = true;
	disturb(try);
	try_mark(try);
	try_by_owner(try, clear);
	try_go_on(try, 0);
	for (unsigned i = try->is_running ? 0 : 1; i < try->streams; i++)
		memset(try->count[i].unsure, 0, sizeof(try->count[i].unsure));
	if (try->is_running)
		return;
	try_out(try, 0);
	try_by_owner(try, start);
	try_go_on(try, 0);
}

static void shut_all(struct try *try)
{
	for (unsigned i = 0; i < try->streams; i++) {
		struct count *count = &try->count[i];

		while (count->fd < 0 && count_read(count))
			;
		try_settle(try, i);
		if (count->fd < 0)
			account_under_way(count);
		must("shutdown", posix_trace_shutdown(count->trid));
		if (count->fd >= 0) {
			count_log(count);
			close(count->fd);
		}
	}
}

/* In every second case, creates new streams immediately after the shutdown. */
static void act_shutdown(struct try *try)
{
	try_by_owner(try, shut_all);
	if (try->n % 2)
		try_go_on(try, 0);
	try->streams = 0;
	try_by_owner(try, try_open);
	try_came(try);
	try_go_on(try, 0);
}

static bool any(const struct path *path)
{
	(void)path;
	return true;
}

/* The target's own streams ended with it. */
static bool unless_gone(const struct path *path)
{
	return !path->own;
}

static bool if_held(const struct path *path)
{
	return path->held;
}

/* Whether a stream records the events of a child. */
static bool if_inherited(const struct path *path)
{
	return path->stream[0].inherited;
}

/* posix_trace_clear() resets the filter. */
static bool unless_filtered(const struct path *path)
{
	return unless_held(path) && !path->stream[0].filtered;
}

const struct action actions[] = {
	{ "kill", false, unless_gone, act_kill },
	{ "signal", false, any, act_signal },
	{ "jump", false, any, act_jump },
	{ "fork", false, any, act_fork },
	{ "fork+sig", false, if_inherited, act_fork_signal },
	{ "read", false, unless_asleep, act_read },
	{ "wait", false, if_all_is_there, act_wait },
	{ "fill", true, unless_held, act_fill },
	{ "stop", false, unless_held, act_stop },
	{ "drain", false, if_all_is_there, act_drain },
	{ "restart", false, unless_held, act_restart },
	{ "start", false, if_held, act_start },
	{ "filter", false, unless_filtered, act_filter },
	{ "clear", false, unless_filtered, act_clear },
	{ "shutdown", false, unless_held, act_shutdown },
};
const unsigned action_count = sizeof(actions) / sizeof(actions[0]);
