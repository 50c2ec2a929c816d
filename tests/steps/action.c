/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * action.c - what happens at the instruction, and what must be true afterwards.
 */
#include <linux/futex.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "steps.h"

/* Every second time its parent has not taken notice yet. */
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
	if (atomic_load(&share->done[HANDLER]) != 2)
		complain("the handler made %d events", (int)atomic_load(&share->done[HANDLER]));
}

/* What the call was about may be there or not. */
static void act_jump(struct try *try)
{
	for (unsigned i = 0; i < try->streams; i++)
		try->count[i].whole_suffix = false;
	atomic_store(&share->deed, DEED_JUMP);
	try_go_on(try, SIGUSR1);
}

static void fork_and(struct try *try, enum deed deed)
{
	atomic_store(&share->deed, deed);
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

static bool under_way(enum maker maker)
{
	return atomic_load(&share->made[maker]) != atomic_load(&share->done[maker]);
}

/* Another reads what is there. */
static void act_read(struct try *try)
{
	for (unsigned i = 0; i < try->streams; i++) {
		struct count *count = &try->count[i];

		if (count->fd >= 0) {
			must("flush", posix_trace_flush(count->trid));
			continue;
		}
		while (count_read(count))
			;
		count->whole_suffix = false;
	}
	try_go_on(try, 0);
}

/* The same by the call that waits: what has been done must come, whatever the thread is about. */
static void act_wait(struct try *try)
{
	const struct stream_kind *kind = &try->path->stream[0];
	struct count *count = &try->count[0];
	uint64_t there = kind->filtered ? 1 : atomic_load(&share->done[MAIN]) + 1; /* and START */

	while (count->read_all < there && count_wait(count))
		;
	count->whole_suffix = false;
	try_go_on(try, 0);
}

/* Another thread fills the stream, or goes round in it. */
static void act_fill(struct try *try)
{
	for (unsigned i = 0; i < try->streams; i++)
		try->count[i].may_lose = true;
	atomic_store(&share->order_count, 3000);
	atomic_store(&share->order, ORDER_TRACE);
	syscall(SYS_futex, &share->order, FUTEX_WAKE, 1, NULL, NULL, 0);
	while (atomic_load(&share->order) != ORDER_NONE)
		syscall(SYS_futex, &share->order, FUTEX_WAIT, ORDER_TRACE, NULL, NULL, 0);
	if (atomic_load(&share->done[HELPER]) < 3000)
		complain("the other thread did not trace");
	try_go_on(try, 0);
}

static void act_stop(struct try *try)
{
	uint64_t before = atomic_load(&share->made[MAIN]), unsure = under_way(MAIN);

	try_each(try, "stop", posix_trace_stop);
	try_go_on(try, 0);
	for (unsigned i = 0; i < try->streams; i++) {
		try->count[i].out[MAIN] = atomic_load(&share->made[MAIN]) - before;
		try->count[i].unsure[MAIN] = unsure;
		try->count[i].whole_suffix = false;
	}
	try_each(try, "start", posix_trace_start);
	try_go_on(try, 0);
}

static void act_restart(struct try *try)
{
	for (unsigned i = 0; i < try->streams; i++) {
		try->count[i].unsure[MAIN] = under_way(MAIN);
		try->count[i].whole_suffix = false;
	}
	try_each(try, "stop", posix_trace_stop);
	try_each(try, "start", posix_trace_start);
	try_go_on(try, 0);
}

/* A stream that was full stays suspended. */
static void act_clear(struct try *try)
{
	uint64_t before = atomic_load(&share->made[MAIN]), unsure = under_way(MAIN);
	struct posix_trace_status_info status = { .posix_stream_status = POSIX_TRACE_RUNNING };

	for (unsigned i = 0; i < try->streams; i++) {
		try->count[i].may_lose = true;
		try->count[i].whole_suffix = false;
	}
	try_each(try, "clear", posix_trace_clear);
	must("status", posix_trace_get_status(try->count[0].trid, &status));
	try_go_on(try, 0);
	if (status.posix_stream_status == POSIX_TRACE_RUNNING)
		return;
	try->count[0].out[MAIN] = atomic_load(&share->made[MAIN]) - before;
	try->count[0].unsure[MAIN] = unsure;
	try_each(try, "start", posix_trace_start);
	try_go_on(try, 0);
}

/* While the thread is about something its account is not at rest: of streams it is not looked at. */
static void shut_all(struct try *try)
{
	for (unsigned i = 0; i < try->streams; i++) {
		struct count *count = &try->count[i];

		while (count->fd < 0 && count_read(count))
			;
		must("shutdown", posix_trace_shutdown(count->trid));
		try_settle(try, i);
		if (count->fd >= 0) {
			count_log(count);
			close(count->fd);
		}
	}
}

/* Every second time there are new streams at once. */
static void act_shutdown(struct try *try)
{
	shut_all(try);
	if (try->n % 2)
		try_go_on(try, 0);
	try->streams = 0;
	try_open(try);
	for (unsigned i = 0; i < try->streams; i++)
		for (int maker = 0; maker < MAKERS; maker++) {
			try->count[i].out[maker] = atomic_load(&share->done[maker]);
			try->count[i].unsure[maker] = under_way((enum maker)maker);
		}
	try_go_on(try, 0);
}

static bool any(const struct path *path)
{
	(void)path;
	return true;
}

/* The reader that sleeps is the only one. */
static bool unless_read(const struct path *path)
{
	return !path->waiter && !path->own_log;
}

static bool if_all_is_there(const struct path *path)
{
	return !path->waiter && !path->own_log && !path->stream[0].log && !path->stream[1].policy &&
	       !path->until_full && !path->stranger;
}

/* Where a child's events go somewhere. */
static bool if_inherited(const struct path *path)
{
	return path->stream[0].inherited;
}

/* posix_trace_clear() resets the filter. */
static bool unless_filtered(const struct path *path)
{
	return unless_read(path) && !path->stream[0].filtered;
}

const struct action actions[] = {
	{ "kill", false, any, act_kill },
	{ "signal", false, any, act_signal },
	{ "jump", false, any, act_jump },
	{ "fork", false, any, act_fork },
	{ "fork+sig", false, if_inherited, act_fork_signal },
	{ "read", false, unless_read, act_read },
	{ "wait", false, if_all_is_there, act_wait },
	{ "fill", true, unless_read, act_fill },
	{ "stop", false, unless_read, act_stop },
	{ "restart", false, unless_read, act_restart },
	{ "clear", false, unless_filtered, act_clear },
	{ "shutdown", false, unless_read, act_shutdown },
};
const unsigned action_count = sizeof(actions) / sizeof(actions[0]);
