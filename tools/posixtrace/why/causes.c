/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * causes.c - for what a call waited, and which thread caused that: the holder of a lock, the thread
 * that was joined, the child, the writer at the other end of a pipe.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "spans/locks.h"
#include "symbols/symbols.h"
#include "why/divide.h"

/* A writer's event may be stamped after the reader was woken. */
#define AFTER_NS INT64_C(1000000)
#define LOOK_AT  512 /* events that a search examines at most */

/* Writes " in FUNCTION (FILE:LINE)" of the caller, or nothing. */
static void caller_text(const struct division *division, const struct call *call, char *text,
			size_t size)
{
	const struct history_thread *thread = &division->history->thread[call->thread];
	struct posix_trace_event_np event = {
		.info.posix_pid = thread->pid,
		.info.posix_prog_address = (void *)(uintptr_t)call->address,
		.time_ns = call->end_ns,
	};
	const struct symbol *symbol = call->address ?
				      symbols_of(division->history->log, &event) : NULL;
	const char *slash;

	*text = '\0';
	if (!symbol)
		return;
	if (symbol->file && symbol->line) {
		slash = strrchr(symbol->file, '/');
		snprintf(text, size, " in %s (%s:%u)", symbol->name,
			 slash ? slash + 1 : symbol->file, symbol->line);
		return;
	}
	slash = symbol->module ? strrchr(symbol->module, '/') : NULL;
	if (symbol->is_function && symbol->module)
		snprintf(text, size, " in %s of %s", symbol->name,
			 slash ? slash + 1 : symbol->module);
	else
		snprintf(text, size, " in %s", symbol->name);
}

/* Writes the name of a lock, or its address. */
static void lock_text(const struct division *division, const struct call *call, char *text,
		      size_t size)
{
	const struct history *history = division->history;
	struct posix_trace_object_np object;
	const char *name = locks_name(history->log, history->thread[call->thread].pid, call->key,
				      call->end_ns, &object);
	const char *kind = strchr(call->type->name, '.');

	kind = kind ? kind + 1 : call->type->name;
	if (name)
		snprintf(text, size, "%s \"%s\"", kind, name);
	else
		snprintf(text, size, "%s 0x%llx", kind, (unsigned long long)call->key);
}

/*
 * Adds another thread as the cause of a part of a node, and below it what that thread did
 * meanwhile.
 */
static void add_who(struct division *division, uint32_t node, const char *how, uint32_t thread,
		    bool is_guess, int64_t from_ns, int64_t to_ns)
{
	bool is_new;
	struct why_node *who;
	char text[160];

	if (from_ns >= to_ns)
		return;
	who = division_child(division, node, WHY_WHO, thread, &is_new);
	if (!who)
		return;
	if (is_new) {
		const struct history *history = division->history;
		const struct why_node *parent = &division->node[node];

		division_thread_text(history, thread, history->thread[parent->thread].pid, text,
				     sizeof(text));
		who->thread = thread;
		who->is_guess = is_guess;
		division_label(division, who, "%s %s", how, text);
	}
	division_add(division, who, from_ns, to_ns);
	division_thread(division, division_index(division, who), thread, from_ns, to_ns);
}

/* ------------------------------------------------------------------ locks */

/* Returns the first hold of a lock that ends after a time. */
static size_t first_hold(const struct history *history, pid_t pid, uint64_t lock, int64_t time_ns)
{
	size_t low = 0, high = history->helds;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct call *held = &history->call[history->held[middle]];
		pid_t other = history->thread[held->thread].pid;

		if (other < pid || (other == pid && (held->key < lock ||
		    (held->key == lock && held->end_ns <= time_ns))))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/*
 * Adds the threads that held the lock. Holds of one lock are in the order of their ends. Readers of
 * a lock may hold it at the same time; each moment then counts for the one that ended first.
 */
static void add_holders(struct division *division, uint32_t node, const struct call *call,
			int64_t from_ns, int64_t to_ns)
{
	const struct history *history = division->history;
	pid_t pid = history->thread[call->thread].pid;

	for (size_t i = first_hold(history, pid, call->key, from_ns);
	     i < history->helds && from_ns < to_ns; i++) {
		const struct call *held = &history->call[history->held[i]];
		int64_t begin = held->begin_ns > from_ns ? held->begin_ns : from_ns;
		int64_t end = held->end_ns < to_ns ? held->end_ns : to_ns;

		division->steps++;
		if (held->key != call->key || history->thread[held->thread].pid != pid ||
		    held->begin_ns >= call->end_ns)
			break;
		if (held->thread == call->thread || begin >= end)
			continue;
		add_who(division, node, "held by", held->thread, false, begin, end);
		from_ns = end;
	}
}

/* The thread that released the mutex of a condition variable last has probably signalled it. */
static void add_signaller(struct division *division, uint32_t node, const struct call *call,
			  int64_t from_ns, int64_t to_ns)
{
	const struct history *history = division->history;
	pid_t pid = history->thread[call->thread].pid;
	size_t i = first_hold(history, pid, call->other, call->end_ns + AFTER_NS);

	for (unsigned n = 0; i-- > 0 && n < LOOK_AT; n++) {
		const struct call *held = &history->call[history->held[i]];

		if (held->key != call->other || history->thread[held->thread].pid != pid ||
		    held->end_ns <= call->begin_ns)
			break;
		if (held->thread == call->thread || held->begin_ns >= call->end_ns)
			continue;
		add_who(division, node, "probably signalled by", held->thread, true, from_ns,
			to_ns);
		return;
	}
}

/* ------------------------------------------------------------------ pipes, sockets, barriers */

/* Returns the number of transfers that end not after a time. */
static size_t transfers_until(const struct history *history, int64_t time_ns)
{
	size_t low = 0, high = history->transfers;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (history->call[history->transfer[middle]].end_ns <= time_ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Returns true if a call of another thread may have ended this wait. */
static bool is_partner(const struct call *call, const struct call *other)
{
	enum cause wanted = call->cause == CAUSE_BARRIER ? CAUSE_BARRIER :
			    call->cause == CAUSE_WRITE ? CAUSE_READ : CAUSE_WRITE;

	if (other->thread == call->thread || other->begin_ns > call->end_ns ||
	    other->end_ns <= call->begin_ns || other->cause != wanted)
		return false;
	return call->cause == CAUSE_BARRIER ? other->key == call->key : !other->text;
}

/* Returns true if other is a better partner than found, which may be NULL. */
static bool is_better(const struct call *call, const struct call *other, const struct call *found)
{
	bool has_bytes = call->cause == CAUSE_READ || call->cause == CAUSE_WRITE;

	if (!found || (has_bytes && (other->other == call->other) != (found->other == call->other)))
		return !found || other->other == call->other;
	return other->begin_ns > found->begin_ns;
}

/*
 * Returns the call of another thread that probably ended this wait: a write during a read, or the
 * reverse. A call with as many bytes is preferred, then the call that began last. For a barrier it
 * is the call that began last. A writer may lose its CPU to the reader before its call ends, so
 * calls that end later are examined as well. Returns NULL if there is none.
 */
static const struct call *find_partner(const struct history *history, const struct call *call)
{
	size_t at = transfers_until(history, call->end_ns), i = at;
	const struct call *found = NULL;

	for (unsigned n = 0; i < history->transfers && n < LOOK_AT; n++, i++) {
		const struct call *other = &history->call[history->transfer[i]];

		if (is_partner(call, other) && is_better(call, other, found))
			found = other;
	}
	i = at;
	for (unsigned n = 0; i-- > 0 && n < LOOK_AT; n++) {
		const struct call *other = &history->call[history->transfer[i]];

		if (other->end_ns <= call->begin_ns)
			break;
		if (is_partner(call, other) && is_better(call, other, found))
			found = other;
	}
	return found;
}

static void add_partner(struct division *division, uint32_t node, const struct call *call,
			int64_t from_ns, int64_t to_ns)
{
	const struct call *other = find_partner(division->history, call);
	const char *how = call->cause == CAUSE_WRITE ? "probably read by" :
			  call->cause == CAUSE_BARRIER ? "last to arrive:" : "probably written by";

	if (other && (call->cause != CAUSE_BARRIER || other->begin_ns > call->begin_ns))
		add_who(division, node, how, other->thread, call->cause != CAUSE_BARRIER, from_ns,
			to_ns);
}

/* ------------------------------------------------------------------ parts */

static enum why_kind kind_of(const struct call *call)
{
	switch ((enum cause)call->cause) {
	case CAUSE_LOCK:
		return WHY_LOCK;
	case CAUSE_READ:
	case CAUSE_WRITE:
	case CAUSE_FILE:
		return call->text ? WHY_FILE : WHY_PEER;
	case CAUSE_SLEEP:
		return WHY_SLEEP;
	case CAUSE_POLL:
		return call->is_in_vain ? WHY_SLEEP : WHY_PEER;
	default:
		return WHY_PEER;
	}
}

/* Returns the number that separates the parts of one kind. */
static uint64_t key_of(const struct call *call)
{
	uint64_t key = hash_number(HASH_BEGIN, call->cause);

	switch ((enum cause)call->cause) {
	case CAUSE_SLEEP:
	case CAUSE_POLL:
		return hash_number(key, call->address);
	case CAUSE_READ:
	case CAUSE_WRITE:
	case CAUSE_FILE:
		return hash_number(hash_number(key, call->key), call->text);
	default:
		return hash_number(key, call->key);
	}
}

/* Labels a new part, so that a reader knows for what the thread waited. */
static void label_part(struct division *division, struct why_node *node, const struct call *call)
{
	const struct history *history = division->history;
	const char *text = call->text ? history->text[call->text - 1] : NULL;
	const char *verb = strchr(call->type->name, '.');
	char caller[200], lock[100];

	verb = verb ? verb + 1 : call->type->name;
	caller_text(division, call, caller, sizeof(caller));
	switch ((enum cause)call->cause) {
	case CAUSE_LOCK:
	case CAUSE_SEM:
	case CAUSE_BARRIER:
	case CAUSE_COND:
		lock_text(division, call, lock, sizeof(lock));
		division_label(division, node, "waiting for %s%s%s",
			       call->cause == CAUSE_COND ? "a signal of " : "", lock, caller);
		break;
	case CAUSE_SLEEP:
		division_label(division, node, "sleeping: %s()%s", text ? text : "sleep", caller);
		break;
	case CAUSE_POLL:
		division_label(division, node, "%s%s in %s()%s", call->is_in_vain ?
			       "sleeping" : "waiting for input", call->is_in_vain ?
			       " until a time limit" : "", verb, caller);
		break;
	case CAUSE_JOIN:
		division_label(division, node, "waiting for the end of a thread%s", caller);
		break;
	case CAUSE_CHILD:
		if (call->key)
			division_label(division, node, "waiting for the end of process %d%s",
				       (int)call->key, caller);
		else
			division_label(division, node, "waiting for the command \"%s\"%s",
				       text ? text : "?", caller);
		break;
	default:
		if (text)
			division_label(division, node, "%s of %s%s", verb, text, caller);
		else
			division_label(division, node,
				       "%s on descriptor %d (pipe, socket or terminal)%s", verb,
				       (int)call->key, caller);
	}
}

void causes_add(struct division *division, uint32_t parent, const struct call *call,
		int64_t from_ns, int64_t to_ns)
{
	const struct history *history = division->history;
	pid_t pid = history->thread[call->thread].pid;
	bool is_new;
	struct why_node *part = division_child(division, parent, kind_of(call), key_of(call),
					       &is_new);
	uint32_t node, who;

	if (!part)
		return;
	part->thread = call->thread;
	if (is_new)
		label_part(division, part, call);
	division_add(division, part, from_ns, to_ns);
	/* The bytes of a call count once, with its last piece. */
	if (to_ns == call->end_ns && call->cause >= CAUSE_READ && call->cause <= CAUSE_FILE)
		part->bytes += call->other;
	node = division_index(division, part);
	switch ((enum cause)call->cause) {
	case CAUSE_LOCK:
		add_holders(division, node, call, from_ns, to_ns);
		break;
	case CAUSE_COND:
		add_signaller(division, node, call, from_ns, to_ns);
		break;
	case CAUSE_JOIN:
		who = history_find_pthread(history, pid, call->key);
		if (who != HISTORY_NONE)
			add_who(division, node, "waiting for", who, false, from_ns, to_ns);
		break;
	case CAUSE_CHILD:
		who = call->key ? history_find(history, (pid_t)call->key, (pid_t)call->key) :
				  HISTORY_NONE;
		if (who != HISTORY_NONE)
			add_who(division, node, "waiting for", who, false, from_ns, to_ns);
		break;
	case CAUSE_READ:
	case CAUSE_WRITE:
		if (!call->text)
			add_partner(division, node, call, from_ns, to_ns);
		break;
	case CAUSE_POLL:
		if (!call->is_in_vain)
			add_partner(division, node, call, from_ns, to_ns);
		break;
	case CAUSE_BARRIER:
		add_partner(division, node, call, from_ns, to_ns);
		break;
	default:
		break;
	}
}
