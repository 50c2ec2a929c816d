/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * gil.c - finds waits for the lock of an interpreter of Python, and the threads that held it.
 *
 * While a thread waits for the lock, each release has an event of a signal. Between two releases,
 * the thread that makes the second one had the lock. If this thread still waited for the lock at
 * the first release, it took the lock when its wait ended.
 */
#include "why/gil.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "symbols/data.h"
#include "symbols/symbols.h"
#include "why/ender.h"
#include "why/lives.h"
#include "why/tries.h"

#define LOOK_AT 8192 /* the most calls that are examined for one time */
#define KNOWN   256  /* the condition variables and places that are kept */
#define TIMED   64   /* the most condition variables that gil_collect() keeps */

static const char runtime[] = "_PyRuntime"; /* the state of the interpreter; exported */

enum use {
	USE_OTHER,
	USE_TAKE,   /* take_gil() waits: another thread holds the lock */
	USE_DROP,   /* drop_gil() waits until another thread has taken the lock, which is free */
	USE_RUNTIME /* one of both: the function has no symbol */
};

/* A condition variable or a place in a program. */
struct known {
	const struct history *history; /* NULL: not used */
	uint64_t key, address;
	pid_t pid;
	uint32_t life;
	enum use use;
};

struct gil {
	/* condition variables of interpreters for which a wait has reached its time limit */
	struct timed {
		uint64_t key;
		pid_t pid;
		uint32_t life;
	} of[TIMED];
	size_t count;
};

/* Returns whether a condition variable is a part of the interpreter's state. */
static bool is_of_runtime(const struct history *history, const struct call *call)
{
	struct posix_trace_object_np object;
	const char *name = data_name(history->log, history->thread[call->thread].pid, call->key,
				     call->end_ns, &object);

	return name && !strncmp(name, runtime, strlen(runtime)) &&
	       strchr("+.[", name[strlen(runtime)]);
}

/* A compiler may append a suffix to the name of a static function: take_gil.lto_priv.0. */
static bool is_function(const struct symbol *symbol, const char *name)
{
	return symbol && symbol->is_function && !strncmp(symbol->name, name, strlen(name)) &&
	       strchr(".", symbol->name[strlen(name)]);
}

static enum use find_use(const struct history *history, const struct call *call)
{
	const struct symbol *symbol = call->address ?
				      symbols_at(history->log->trid,
						 history->thread[call->thread].pid, call->address,
						 call->end_ns, false) : NULL;

	if (is_function(symbol, "take_gil"))
		return USE_TAKE;
	if (is_function(symbol, "drop_gil"))
		return USE_DROP;
	return is_of_runtime(history, call) ? USE_RUNTIME : USE_OTHER;
}

static enum use use_of(const struct history *history, const struct call *call)
{
	/* Looking up a name is slow. One table is enough, because one history exists at a time. */
	static struct known known[KNOWN];
	const struct history_thread *thread = &history->thread[call->thread];
	struct known *of;

	if (call->cause != CAUSE_COND)
		return USE_OTHER;
	of = &known[hash_number(hash_number(hash_number(HASH_BEGIN, call->key), call->address),
				(unsigned)thread->pid) % KNOWN];
	if (of->history != history || of->key != call->key || of->address != call->address ||
	    of->pid != thread->pid || of->life != thread->life)
		*of = (struct known){ history, call->key, call->address, thread->pid,
				      thread->life, find_use(history, call) };
	return of->use;
}

/*
 * Returns whether a wait for the variable of a call has reached its time limit. *has_other becomes
 * true if this is not known, but is known for another variable of the same interpreter.
 */
static bool is_timed(const struct history *history, const struct call *call, bool *has_other)
{
	const struct history_thread *thread = &history->thread[call->thread];
	const struct gil *gil = history->gil;

	*has_other = gil->count == TIMED;
	for (size_t i = 0; i < gil->count; i++) {
		const struct timed *timed = &gil->of[i];

		if (timed->pid != thread->pid || timed->life != thread->life)
			continue;
		if (timed->key == call->key)
			return true;
		*has_other = true;
	}
	return false;
}

int gil_collect(struct history *history)
{
	struct gil *gil = history->gil = calloc(1, sizeof(*gil));
	bool has_other;

	if (!gil)
		return ENOMEM;
	for (size_t i = 0; i < history->calls && gil->count < TIMED; i++) {
		const struct call *call = &history->call[i];
		const struct history_thread *thread = &history->thread[call->thread];

		if (call->cause == CAUSE_COND && call->error == ETIMEDOUT &&
		    use_of(history, call) == USE_RUNTIME && !is_timed(history, call, &has_other))
			gil->of[gil->count++] = (struct timed){ call->key, thread->pid,
								thread->life };
	}
	return 0;
}

void gil_fini(struct history *history)
{
	free(history->gil);
	history->gil = NULL;
}

bool gil_concerns(const struct history *history, const struct call *call)
{
	return use_of(history, call) != USE_OTHER;
}

/*
 * take_gil() waits with a time limit of a few milliseconds, and only a wait that has reached this
 * limit makes another thread wait in drop_gil(), without a limit.
 */
bool gil_waits(const struct history *history, const struct call *call)
{
	const enum use use = use_of(history, call);
	bool has_other;

	if (use != USE_RUNTIME)
		return use == USE_TAKE;
	return is_timed(history, call, &has_other) || !has_other;
}

/* Returns whether a call releases the lock for which another call waits. */
static bool is_release(const struct history *history, const struct call *post,
		       const struct call *wait)
{
	return post->cause == CAUSE_POST && post->key == wait->key &&
	       lives_same(history, post->thread, wait->thread);
}

/*
 * Begins the walk at walk->to_ns. If the wait goes on then, the thread that releases the lock next
 * held it at this moment. Stores this thread and returns true. Returns false if the wait has ended,
 * if no such release is found, or if the waiting thread itself makes it.
 */
static bool gil_begin(const struct history *history, struct gil_walk *walk, uint32_t *thread,
		      uint64_t *steps)
{
	/* A wait that reached its time limit, and was not continued in the log, has not ended. */
	const bool is_waiting = walk->to_ns < walk->wait->end_ns || walk->wait->error;

	walk->has_begun = true;
	walk->at = ender_until(history, walk->to_ns);
	for (size_t i = walk->at, n = 0; i < history->transfers && n < LOOK_AT;
	     i++, n++, ++*steps) {
		const struct call *post = &history->call[history->transfer[i]];

		if (!is_release(history, post, walk->wait))
			continue;
		/* This release began before walk->to_ns, and only its event ends later. */
		if (post->begin_ns < walk->to_ns) {
			walk->at = i + 1;
			continue;
		}
		*thread = post->thread;
		return is_waiting && post->thread != walk->wait->thread;
	}
	return false;
}

/*
 * Returns when a thread took the GIL that was released at from_ns: at the end of the thread's own
 * wait for the GIL, or at from_ns if the thread did not wait for the GIL at this moment.
 */
static int64_t taken_ns(const struct history *history, uint32_t index, int64_t from_ns)
{
	const struct history_thread *thread = &history->thread[index];
	const size_t at = history_piece_at(history, thread, from_ns);
	const struct piece *piece = at < thread->piece + thread->pieces ? &history->piece[at] :
									  NULL;
	const struct call *call = piece ? &history->call[piece->call] : NULL;

	return call && piece->begin_ns <= from_ns && gil_waits(history, call) ?
	       tries_last(history, call)->end_ns : from_ns;
}

/*
 * Divides the time between two releases, of which 'thread' made the second one. If the thread still
 * waited at the first release, the GIL was free until the thread took it. The next call of
 * gil_next() then reports this free time. Returns the begin of the time in which the thread held
 * the GIL.
 */
static int64_t divide_hold(const struct history *history, struct gil_walk *walk, uint32_t thread,
			   int64_t begin_ns, int64_t end_ns)
{
	const int64_t taken = taken_ns(history, thread, begin_ns);

	if (taken <= begin_ns || taken >= end_ns)
		return begin_ns;
	walk->free_from_ns = begin_ns;
	walk->free_to_ns = taken;
	return taken;
}

bool gil_next(const struct history *history, struct gil_walk *walk, uint32_t *thread,
	      int64_t *begin_ns, int64_t *end_ns, uint64_t *steps)
{
	const struct call *wait = walk->wait;
	bool has_holder = false;
	unsigned n = 0;

	if (walk->free_to_ns) {
		*thread = HISTORY_NONE;
		*begin_ns = walk->free_from_ns;
		*end_ns = walk->free_to_ns;
		walk->free_to_ns = 0;
		return true;
	}
	if (!walk->has_begun && gil_begin(history, walk, thread, steps)) {
		has_holder = true;
		*end_ns = walk->to_ns;
	}
	for (; walk->at > 0 && walk->from_ns < walk->to_ns && n < LOOK_AT; n++, ++*steps) {
		const struct call *post = &history->call[history->transfer[walk->at - 1]];

		if (post->end_ns <= walk->from_ns)
			break;
		if (!is_release(history, post, wait) || post->begin_ns > walk->to_ns ||
		    post->begin_ns <= walk->from_ns) {
			walk->at--;
			continue;
		}
		/* The thread of the later release held the lock since this one. */
		if (has_holder) {
			if (post->begin_ns < *end_ns) {
				*begin_ns = divide_hold(history, walk, *thread, post->begin_ns,
							*end_ns);
				walk->to_ns = post->begin_ns;
				return true;
			}
			walk->at--;
			continue;
		}
		/* The waiting thread itself took the lock next. */
		if (walk->to_ns == wait->end_ns && !wait->error && post->begin_ns < walk->to_ns) {
			*thread = HISTORY_NONE;
			*begin_ns = post->begin_ns;
			*end_ns = walk->to_ns;
			walk->to_ns = post->begin_ns;
			return true;
		}
		walk->at--;
		has_holder = post->thread != wait->thread;
		*thread = post->thread;
		*end_ns = post->begin_ns;
	}
	*begin_ns = walk->from_ns;
	walk->to_ns = walk->from_ns;
	/* If the search was cut, another thread may have held the lock before. */
	if (!has_holder || n >= LOOK_AT || *begin_ns >= *end_ns)
		return false;
	*begin_ns = divide_hold(history, walk, *thread, *begin_ns, *end_ns);
	return true;
}
