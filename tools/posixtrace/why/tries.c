/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tries.c - finds the calls that belong to one wait. */
#include "why/tries.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "why/classify.h"

/*
 * A call continues the wait of the last call if the thread ran or was blocked for at most AGAIN_NS
 * between the two calls. If the states of the thread are not known, it may have waited for a CPU.
 * The call then also continues the wait if the time between the calls is at most the last call's
 * duration divided by AGAIN_PART.
 */
#define AGAIN_NS INT64_C(1000000)
#define AGAIN_PART 8

/*
 * Returns the time that a thread ran or was blocked between two times, or -1 if the log lacks
 * states of the thread between them. The time in which the thread waited for a CPU does not count,
 * because it can be long on a loaded machine.
 */
static int64_t ran_between(const struct history_thread *thread, int64_t from_ns, int64_t to_ns)
{
	size_t i = history_stay_at(thread, from_ns);
	int64_t ran_ns = 0;

	if (i == thread->stays || thread->gap_ns == INT64_MAX)
		return -1;
	for (; i < thread->stays && thread->stay[i].from_ns < to_ns; i++) {
		const struct stay *stay = &thread->stay[i];
		const int64_t begin_ns = stay->from_ns > from_ns ? stay->from_ns : from_ns;
		const int64_t end_ns = i + 1 < thread->stays && stay[1].from_ns < to_ns ?
				       stay[1].from_ns : to_ns;

		if (stay->state == STATE_UNKNOWN)
			return -1;
		if (stay->state != STATE_READY)
			ran_ns += end_ns - begin_ns;
	}
	return ran_ns;
}

/* Returns whether a call begins directly after another call of its thread. */
static bool follows_directly(const struct history *history, const struct call *next,
			     const struct call *call)
{
	int64_t between_ns, lasted_ns, ran_ns;

	if (next->begin_ns < call->end_ns ||
	    __builtin_sub_overflow(next->begin_ns, call->end_ns, &between_ns) ||
	    __builtin_sub_overflow(call->end_ns, call->begin_ns, &lasted_ns))
		return false;
	ran_ns = ran_between(&history->thread[call->thread], call->end_ns, next->begin_ns);
	if (ran_ns >= 0)
		return ran_ns <= AGAIN_NS;
	return between_ns <= AGAIN_NS || between_ns <= lasted_ns / AGAIN_PART;
}

bool tries_timed_out(const struct call *call)
{
	/* A call with IPC_NOWAIT has the same error number as one with a time limit. */
	if (call->is_try)
		return false;
	if (call->is_limited)
		return true;
	return classify_timed_out((enum cause)call->cause, call->has_id, call->error) ||
	       (call->fd_kind == FD_QUEUE && call->error == ETIMEDOUT);
}

/* The kernel counts the time limit of a socket in its ticks, which last 1 ms or longer. */
#define LIMIT_NS INT64_C(1000000)
/*
 * Without the states of threads, a connect() of a socket that does not block also seems to have
 * blocked if the thread lost its CPU in the call for a moment. Time limits of connect() are longer.
 */
#define CONNECT_LIMIT_NS INT64_C(100000000)

/*
 * Returns whether a call has the error of a time limit of a socket. A connect() has the error of a
 * connection that is not complete yet.
 */
static bool has_limit_error(const struct call *call)
{
	/* Most calls have no error, so the numbers are compared first. */
	if (call->error == EINPROGRESS)
		return !strcmp(call->type->name, "net.connect");
	return call->error == EAGAIN && !call->has_id &&
	       (call->cause == CAUSE_READ || call->cause == CAUSE_WRITE ||
		!strcmp(call->type->name, "net.accept"));
}

static int64_t least_limit_ns(const struct history *history, const struct call *call)
{
	const bool has_states = history->thread[call->thread].stays != 0;

	return !has_states && call->error == EINPROGRESS ? CONNECT_LIMIT_NS : LIMIT_NS;
}

/*
 * Marks the calls that reached the time limit of their socket. A call on a descriptor that does not
 * block has the same error, so only calls that have blocked their thread are marked.
 */
static void mark_limits(struct history *history)
{
	for (size_t i = 0; i < history->calls; i++) {
		struct call *call = &history->call[i];

		call->is_limited = has_limit_error(call) && call->fd_kind != FD_QUEUE &&
				   (call->is_begun || !call_uses_file(call)) &&
				   call->end_ns - call->begin_ns >= least_limit_ns(history, call) &&
				   history_was_blocked(history, call);
	}
}

/* Returns whether a call of any kind reached its time limit. */
static bool is_in_vain(const struct call *call)
{
	return call->cause == CAUSE_POLL ? call->is_in_vain : tries_timed_out(call);
}

/*
 * Returns whether a thread waits again for the same object, directly after a time limit. The log
 * does not have the descriptors of a poll, so the places of the calls in the program are compared.
 */
static bool is_again(const struct history *history, const struct call *next,
		     const struct call *call)
{
	if (call->cause == CAUSE_POLL &&
	    (next->address != call->address || next->stack != call->stack))
		return false;
	/* A wait for signals that reached its limit has no signal number to compare. */
	return next->cause == call->cause && next->type == call->type &&
	       (next->key == call->key || call->cause == CAUSE_SIGNAL) &&
	       next->object == call->object && follows_directly(history, next, call);
}

/*
 * Returns whether a call may be between two calls of one wait. A thread locks a mutex between two
 * waits for a condition, and calls that do not wait do not interrupt the wait.
 */
static bool is_between(const struct call *call)
{
	return !cause_waits((enum cause)call->cause) || call->cause == CAUSE_LOCK;
}

/* Marks the calls that are one wait. At first seen[] has a 0 for each thread. */
static void mark_waits(struct history *history, uint32_t *seen)
{
	/*
	 * The loop goes from the last call to the first, so that seen[] has the next wait of the
	 * thread.
	 */
	for (size_t i = history->calls; i-- > 0;) {
		struct call *call = &history->call[i];
		const uint32_t at = seen[call->thread];
		const struct call *next = at ? &history->call[at - 1] : NULL;

		if (is_between(call))
			continue;
		call->is_resumed = next && is_in_vain(call) && is_again(history, next, call) &&
				   (!is_in_vain(next) || next->is_resumed);
		if (call->is_resumed)
			call->last_call = next->is_resumed ? next->last_call : (int32_t)at - 1;
		seen[call->thread] = (uint32_t)i + 1;
	}
}

/* For each thread: indexes + 1 of calls; 0: there is none. */
struct tried {
	uint32_t failed;  /* the last failed call */
	uint32_t refused; /* the last failed attempt to lock a file */
	uint32_t asleep;  /* a sleep directly after one of these two calls */
	/* the failed call before the sleep; if possible, the attempt to lock a file */
	uint32_t before;
	uint32_t again;   /* the last failed call that was an attempt after such a sleep */
	uint32_t last;    /* the last call that is no sleep */
	bool has_others;  /* another call has failed since the sleep */
};

bool tries_is_poll_for_child(const struct call *call)
{
	return call->cause == CAUSE_CHILD && !call->error && !call->key &&
	       !strcmp(call->type->name, "process.wait");
}

bool tries_has_failed(const struct call *call)
{
	if (call->is_attempt && call->text)
		return call->error == EAGAIN || call->error == EACCES;
	switch (call->error) {
	case 0:
		return tries_is_poll_for_child(call);
	case EINTR:
	case ECANCELED:
	case ENOTTY: /* isatty() of a file */
	case ESPIPE: /* lseek() of a pipe */
	case EINPROGRESS:
	case EALREADY:
	case EISCONN:
		return false;
	}
	return call->cause != CAUSE_SLEEP && call->cause != CAUSE_POLL && !tries_timed_out(call);
}

bool tries_are_same(const struct call *call, const struct call *other)
{
	if (call->is_attempt || other->is_attempt)
		return call->is_attempt && other->is_attempt && call->text == other->text;
	if (call->type != other->type || call->text != other->text)
		return false;
	/* A wait for any child returns the number of the child that it found. */
	return call->text || call->key == other->key || tries_is_poll_for_child(call) ||
	       tries_is_poll_for_child(other);
}

bool tries_ends_row(const struct call *failed, const struct call *call)
{
	return tries_are_same(failed, call) ||
	       (failed->cause == CAUSE_CHILD && failed->error == ECHILD && !call->error &&
		failed->type == call->type && failed->text == call->text);
}

/* Marks a sleep after a failed call, before the next attempt. */
static void mark_sleep(struct history *history, struct call *sleep, uint32_t index)
{
	const struct call *failed = &history->call[index];

	if (sleep->cause == CAUSE_SLEEP && failed->is_attempt && failed->text) {
		sleep->tried_file = failed->text;
		sleep->is_flock = !strcmp(failed->type->name, "io.flock");
	} else {
		sleep->is_retry = true;
		sleep->failed_call = (int32_t)index;
	}
}

/* Returns whether a call was a sleep: a poll that found nothing is one. */
static bool is_sleep(const struct call *call)
{
	return call->cause == CAUSE_SLEEP ||
	       (call->cause == CAUSE_POLL && call->is_in_vain && !call->is_resumed);
}

/* Returns whether a sleep directly follows a call, whose index + 1 is given; 0: there is none. */
static bool is_after(const struct history *history, const struct call *sleep, uint32_t call)
{
	return call && follows_directly(history, sleep, &history->call[call - 1]);
}

/*
 * Follows a sleep. If the attempt before the sleep was itself a repetition, the sleep is marked,
 * even if no attempt follows: a program that gives up after the sleep has slept for the same
 * reason.
 */
static void follow_sleep(struct history *history, struct tried *of, size_t index)
{
	struct call *sleep = &history->call[index];
	uint32_t failed = of->failed;

	/* An event loop reads until EAGAIN and then makes other calls: nothing was refused. */
	if (failed && history->call[failed - 1].error == EAGAIN && of->last != failed)
		failed = 0;
	of->before = is_after(history, sleep, of->refused) ? of->refused :
		     is_after(history, sleep, failed) ? failed : 0;
	of->asleep = of->before ? (uint32_t)index + 1 : 0;
	of->has_others = false;
	if (of->before && of->before == of->again)
		mark_sleep(history, sleep, of->before - 1);
}

/*
 * Follows a call that is no sleep. A program that finds several files missing does not wait for one
 * of them.
 */
static void follow_attempt(struct history *history, struct tried *of, size_t index)
{
	const struct call *call = &history->call[index];
	struct call *sleep = of->asleep ? &history->call[of->asleep - 1] : NULL;
	const struct call *before = sleep ? &history->call[of->before - 1] : NULL;
	const bool is_again = sleep && tries_are_same(before, call) &&
			      !(before->error == ENOENT && of->has_others) &&
			      follows_directly(history, call, sleep);

	of->last = (uint32_t)index + 1;
	if (is_again) {
		mark_sleep(history, sleep, of->before - 1);
		of->asleep = 0;
	}
	if (tries_has_failed(call)) {
		of->failed = (uint32_t)index + 1;
		of->has_others = true;
		if (call->is_attempt)
			of->refused = of->failed;
		if (is_again)
			of->again = of->failed;
		return;
	}
	if (of->failed && tries_ends_row(&history->call[of->failed - 1], call))
		of->failed = 0;
	if (of->refused && tries_ends_row(&history->call[of->refused - 1], call))
		of->refused = 0;
}

/*
 * Marks the sleeps between attempts, for example to lock a file. An attempt must have failed
 * directly before the sleep. tried has zeros for each thread.
 */
static void mark_sleeps(struct history *history, struct tried *tried)
{
	for (size_t i = 0; i < history->calls; i++) {
		struct tried *of = &tried[history->call[i].thread];

		if (is_sleep(&history->call[i]))
			follow_sleep(history, of, i);
		else
			follow_attempt(history, of, i);
	}
}

int tries_mark(struct history *history)
{
	uint32_t *seen = calloc(history->threads + 1, sizeof(*seen));
	struct tried *tried = calloc(history->threads + 1, sizeof(*tried));

	if (seen && tried) {
		mark_limits(history);
		mark_waits(history, seen);
		mark_sleeps(history, tried);
	}
	free(seen);
	free(tried);
	return seen && tried ? 0 : ENOMEM;
}

const struct call *tries_failed(const struct history *history, const struct call *call)
{
	return call->is_retry ? &history->call[call->failed_call] : NULL;
}

const struct call *tries_last(const struct history *history, const struct call *call)
{
	return call->is_resumed ? &history->call[call->last_call] : call;
}
