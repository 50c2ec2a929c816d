/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * stuck.c - finds the calls that did not return, and circles of threads that wait for each other.
 *
 * A call did not return if its thread has no later event, and the states of the thread, if the log
 * has them, agree. All numbers of the log are hostile: an owner may be any thread, and a circle may
 * have any length.
 */
#include "why/stuck.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "log/field.h"
#include "symbols/data.h"
#include "why/classify.h"
#include "why/lives.h"
#include "why/objects.h"

/*
 * The recorder looks at a thread each quarter of a second, or less often. If the last event of a
 * thread is so short before the first look, the thread counts as blocked from this event on.
 */
#define LOOK_NS    INT64_C(600000000)
#define LEAVE_NS   UINT64_C(5000000) /* the most CPU time that a thread needs to end */
#define COND_BYTES 48 /* the size of a condition variable of glibc, which has several futexes */

/* ------------------------------------------------------------------ facts */

static uint64_t number_of(const struct log_type *type, const struct posix_trace_event_np *event,
			  const char *name)
{
	return classify_number(type, event, field_index(type->schema, name));
}

/* Returns the facts of a thread, or NULL without memory. */
static struct stuck *facts_of(struct history *history, const struct history_thread *thread)
{
	if (vec_reach(&history->stuck, &history->stucks, (size_t)(thread - history->thread)))
		return &history->stuck[thread - history->thread];
	history->err = ENOMEM;
	return NULL;
}

static void take_blocked(struct history *history, const struct log_type *type,
			 const struct posix_trace_event_np *event)
{
	const struct history_thread *thread =
		history_thread_at(history, (pid_t)number_of(type, event, "pid"),
				  (pid_t)number_of(type, event, "tid"), event->time_ns);
	struct stuck *stuck = thread ? facts_of(history, thread) : NULL;

	if (!stuck)
		return;
	stuck->seen_ns = event->time_ns;
	stuck->blocked_ns = number_of(type, event, "blocked_ns");
	stuck->lock = number_of(type, event, "lock");
	stuck->fd = (int32_t)number_of(type, event, "fd");
	stuck->owner = (pid_t)number_of(type, event, "owner");
	stuck->call = history_text(history, type, event, field_index(type->schema, "call"));
	stuck->object = history_text(history, type, event, field_index(type->schema, "object"));
	stuck->others = history_text(history, type, event, field_index(type->schema, "others"));
	stuck->type = type;
}

static bool holds_lock(const struct stuck *stuck, uint64_t lock)
{
	for (unsigned i = 0; i < stuck->helds; i++)
		if (stuck->held[i].lock == lock)
			return true;
	return false;
}

static void take_waiting(struct history *history, const struct log_type *type,
			 const struct posix_trace_event_np *event)
{
	struct history_thread *thread = history_thread_at(history, event->info.posix_pid,
							  event->tid, event->time_ns);
	struct stuck *stuck = thread ? facts_of(history, thread) : NULL;
	struct stacks_found stack;
	uint64_t lock, held;

	if (!stuck)
		return;
	lock = number_of(type, event, "lock");
	held = number_of(type, event, "held");
	/* A wait has an event for each lock that the thread holds. */
	if (thread->last_call != type || stuck->waits_lock != lock || holds_lock(stuck, held)) {
		stuck->helds = 0;
		stuck->waits_ns = event->time_ns;
	}
	thread->last_call = stuck->waits_type = type;
	thread->last_call_ns = stuck->waits_last_ns = event->time_ns;
	stuck->waits_lock = lock;
	stuck->waits_owner = (pid_t)number_of(type, event, "owner");
	stuck->waits_kind = number_of(type, event, "rwlock") ? "rwlock" : "mutex";
	stuck->address = (uintptr_t)event->info.posix_prog_address;
	stuck->stack = stacks_find(&history->stacks, type, event, &stack) ? stack.number + 1 : 0;
	if (stuck->helds < STUCK_HELD) {
		stuck->held[stuck->helds].lock = held;
		stuck->held[stuck->helds++].address = number_of(type, event, "taken");
	}
	history->has_waiting = true;
}

void stuck_take(struct history *history, bool is_waiting, const struct log_type *type,
		const struct posix_trace_event_np *event)
{
	if (is_waiting)
		take_waiting(history, type, event);
	else
		take_blocked(history, type, event);
}

/* ------------------------------------------------------------------ calls */

/*
 * The thread may be woken before it ends, and be preempted, but it must not leave the kernel. So it
 * runs only for a short time.
 */
bool stuck_is_last(const struct history_thread *thread, size_t stay, bool *is_over)
{
	uint64_t ran_ns = 0;
	size_t next = stay + 1;

	for (; next + 1 < thread->stays && ran_ns < LEAVE_NS; next++) {
		const struct stay *now = &thread->stay[next];

		/* The kernel's tracing has a thread that ends as blocked before its end. */
		if (now->state == STATE_OVER || (now->state == STATE_BLOCKED &&
						 now[1].state != STATE_OVER))
			break;
		if (now->state == STATE_RUNS)
			ran_ns += (uint64_t)now[1].from_ns - (uint64_t)now->from_ns;
	}
	/* It may also have been woken at the end of the log. */
	while (next < thread->stays && thread->stay[next].state == STATE_READY)
		next++;
	*is_over = next < thread->stays;
	return !*is_over || thread->stay[next].state == STATE_OVER;
}

static const char *text_of(const struct history *history, uint32_t text)
{
	return text ? history->text[text - 1] : "";
}

/* Returns for what a system call waits. */
static enum cause cause_of(const struct history *history, const struct stuck *stuck)
{
	const char *call = text_of(history, stuck->call), *object = text_of(history, stuck->object);
	static const struct {
		const char *prefix;
		enum cause cause;
	} calls[] = {
		{ "read", CAUSE_READ }, { "pread", CAUSE_READ }, { "recv", CAUSE_READ },
		{ "mq_timedreceive", CAUSE_READ }, { "write", CAUSE_WRITE },
		{ "pwrite", CAUSE_WRITE }, { "send", CAUSE_WRITE },
		{ "mq_timedsend", CAUSE_WRITE }, { "poll", CAUSE_POLL }, { "ppoll", CAUSE_POLL },
		{ "select", CAUSE_POLL }, { "pselect", CAUSE_POLL }, { "epoll_", CAUSE_POLL },
		{ "wait", CAUSE_CHILD }, { "nanosleep", CAUSE_SLEEP },
		{ "clock_nanosleep", CAUSE_SLEEP }, { "rt_sig", CAUSE_SIGNAL },
		{ "pause", CAUSE_SIGNAL }, { "fsync", CAUSE_FILE }, { "fdatasync", CAUSE_FILE },
		{ "flock", CAUSE_FILE_LOCK }, { "fcntl", CAUSE_FILE_LOCK },
	};

	if (!strcmp(call, "futex"))
		return !strcmp(object, "mutex") || !strcmp(object, "rwlock") ? CAUSE_LOCK :
		       !strcmp(object, "thread") ? CAUSE_JOIN : CAUSE_SEM;
	for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++)
		if (!strncmp(call, calls[i].prefix, strlen(calls[i].prefix)))
			return calls[i].cause;
	return CAUSE_PEER;
}

/*
 * If the futex belongs to a condition variable or a barrier for which a thread of the process has
 * waited before, the call waits for this one.
 */
static void find_variable(const struct history *history, struct call *call)
{
	for (size_t i = history->calls; call->cause == CAUSE_SEM && i-- > 0;) {
		const struct call *other = &history->call[i];

		if ((other->cause != CAUSE_COND && other->cause != CAUSE_BARRIER) ||
		    !lives_same(history, other->thread, call->thread) || call->key < other->key ||
		    call->key - other->key >= COND_BYTES)
			continue;
		call->cause = other->cause;
		call->key = other->key;
		call->other = other->other;
	}
}

/*
 * Makes the call of a thread that is blocked at the end. Returns false if the thread is not known
 * to be blocked.
 */
static bool make_call(const struct history *history, uint32_t index, struct call *call)
{
	const struct history_thread *thread = &history->thread[index];
	const struct stuck *stuck = &history->stuck[index];
	const bool waits = stuck->waits_ns && thread->last_call_ns <= stuck->waits_last_ns;
	const bool is_seen = stuck->seen_ns && thread->last_call_ns <= stuck->seen_ns;
	bool is_over;
	size_t stay;

	if ((!waits && !is_seen) || history_ended_itself(thread) ||
	    (thread->connecting.type && thread->connecting.type == thread->last_call))
		return false;
	*call = (struct call){ .thread = index, .is_open = true, .is_stuck = true,
			       .end_ns = thread->last_ns };
	if (waits) {
		call->begin_ns = stuck->waits_ns;
		call->cause = CAUSE_LOCK;
		call->key = stuck->waits_lock;
		call->address = stuck->address;
		call->stack = stuck->stack;
		/* The lock may have got another owner after the wait began. */
		call->sender = is_seen && stuck->owner &&
			       (!stuck->waits_owner || (stuck->lock == stuck->waits_lock &&
							stuck->seen_ns > stuck->waits_ns)) ?
			       stuck->owner : stuck->waits_owner;
		call->type = stuck->waits_type;
		return true;
	}
	if (thread->stays && !thread->has_gaps) {
		stay = history_stay_at(thread, stuck->seen_ns);
		if (stay == thread->stays || thread->stay[stay].state != STATE_BLOCKED ||
		    !stuck_is_last(thread, stay, &is_over))
			return false;
		call->begin_ns = thread->stay[stay].from_ns;
	} else if (stuck->blocked_ns > INT64_MAX ||
		   __builtin_sub_overflow(stuck->seen_ns, (int64_t)stuck->blocked_ns,
					  &call->begin_ns)) {
		return false;
	} else if (thread->last_call && call->begin_ns - thread->last_call_ns < LOOK_NS) {
		call->begin_ns = thread->last_call_ns;
	}
	call->type = stuck->type;
	call->cause = (uint8_t)cause_of(history, stuck);
	call->key = stuck->fd >= 0 ? (uint64_t)stuck->fd : stuck->lock;
	call->sender = stuck->owner;
	if (call->cause == CAUSE_CHILD || call->cause == CAUSE_JOIN)
		call->key = (uint64_t)(unsigned)stuck->owner;
	return true;
}

void stuck_add(struct history *history)
{
	for (size_t i = 0; i < history->stucks && history->calls < HISTORY_CALLS; i++) {
		struct history_thread *thread = &history->thread[i];
		struct stuck *stuck = &history->stuck[i];
		struct call call;

		if (stuck->seen_ns > thread->last_ns)
			thread->last_ns = stuck->seen_ns;
		if (!make_call(history, (uint32_t)i, &call))
			continue;
		find_variable(history, &call);
		if (stuck->fd >= 0 && !stuck->lock)
			objects_find(history, thread->pid, &call);
		if (!call.text && *text_of(history, stuck->object) == '/')
			call.text = stuck->object;
		if (call.begin_ns < thread->first_ns)
			thread->first_ns = call.begin_ns;
		if (!vec_grow(&history->call, history->calls, 1)) {
			history->err = ENOMEM;
			return;
		}
		history->call[history->calls++] = call;
		stuck->open = (uint32_t)history->calls;
	}
}

/* ------------------------------------------------------------------ who is waited for */

/*
 * Returns the last recorded process that can write into the pipe of a read, if it is the only one
 * besides the process itself, or 0.
 */
static pid_t only_writer(const struct history *history, const struct call *call)
{
	const pid_t pid = history->thread[call->thread].pid;
	const char *at = text_of(history, history->stuck[call->thread].others);
	pid_t found = 0;
	char *end;

	for (long number; (number = strtol(at, &end, 10)) > 0 && end != at; at = end) {
		if ((pid_t)number == pid)
			continue;
		if (found)
			return 0;
		found = (pid_t)number;
	}
	return found;
}

uint32_t stuck_owner(const struct history *history, const struct call *call)
{
	const struct history_thread *thread = &history->thread[call->thread];
	const bool is_own = call->cause == CAUSE_LOCK || call->cause == CAUSE_JOIN;
	pid_t owner = call->sender;
	uint32_t found;

	if (call->cause == CAUSE_READ)
		owner = only_writer(history, call);
	if (owner <= 0)
		return HISTORY_NONE;
	found = history_find_at(history, is_own ? thread->pid : owner, owner, thread->last_ns);
	/* A lock in shared memory may be held by a thread of another process. */
	for (size_t i = 0; call->cause == CAUSE_LOCK && found == HISTORY_NONE &&
	     i < history->threads; i++)
		if (history->thread[i].tid == owner)
			found = (uint32_t)i;
	return found;
}

unsigned stuck_circle(const struct history *history, uint32_t first, uint32_t member[STUCK_CIRCLE])
{
	uint32_t at = first;
	unsigned count = 0;

	while (count < STUCK_CIRCLE && at < history->stucks && history->stuck[at].open) {
		const struct call *call = &history->call[history->stuck[at].open - 1];

		/* A thread that waits for itself holds the lock already. */
		member[count++] = at;
		at = stuck_owner(history, call);
		if (at == first)
			return count;
		if (at == HISTORY_NONE || at < first)
			return 0;
	}
	return 0;
}

/* ------------------------------------------------------------------ words */

const char *stuck_lock_text(const struct history *history, uint32_t thread, uint64_t lock,
			    char *text, size_t size)
{
	const struct history_thread *of = &history->thread[thread];
	struct posix_trace_object_np object;
	const char *name = data_name(history->log, of->pid, lock, of->last_ns, &object);
	const char *kind = "lock";

	/* The kind is that of the last event of this lock. */
	for (size_t i = 0; i < history->stucks; i++) {
		if (!lives_same(history, (uint32_t)i, thread))
			continue;
		if (history->stuck[i].waits_ns && history->stuck[i].waits_lock == lock)
			kind = history->stuck[i].waits_kind;
		else if (history->stuck[i].lock == lock && history->stuck[i].object)
			kind = text_of(history, history->stuck[i].object);
	}
	if (name)
		snprintf(text, size, "%s \"%s\"", kind, name);
	else
		snprintf(text, size, "%s 0x%llx", kind, (unsigned long long)lock);
	return text;
}

/* Writes the processes that could end a read of a pipe. */
static void writers_text(const struct history *history, const struct call *call, char *text,
			 size_t size)
{
	const struct stuck *stuck = &history->stuck[call->thread];
	const char *others = text_of(history, stuck->others);
	char own[16];

	*text = '\0';
	if (call->cause != CAUSE_READ || strncmp(text_of(history, stuck->object), "pipe:", 5))
		return;
	snprintf(own, sizeof(own), "%d", (int)history->thread[call->thread].pid);
	if (!*others)
		snprintf(text, size, "; no recorded process could write into the pipe");
	else if (!strcmp(others, own))
		snprintf(text, size, "; only this process itself has the pipe open for writing");
	else
		snprintf(text, size, "; process %.60s could have written into the pipe", others);
}

/* Writes " on descriptor 3 (/dev/null)", or nothing. */
static void descriptor_text(const struct history *history, const struct call *call, char *text,
			    size_t size)
{
	const struct stuck *stuck = &history->stuck[call->thread];
	const char *object = text_of(history, stuck->object);

	*text = '\0';
	if (stuck->fd < 0)
		return;
	if (call->peer)
		object = history->text[call->peer - 1];
	else if (call->text)
		object = history->text[call->text - 1];
	snprintf(text, size, " on descriptor %d%s%.200s%s%s", (int)stuck->fd, *object ? " (" : "",
		 object, call->peer ? ", its peer" : "", *object ? ")" : "");
}

void stuck_label(struct division *division, struct why_node *node, const struct call *call,
		 const char *caller)
{
	const struct history *history = division->history;
	const struct stuck *stuck = &history->stuck[call->thread];
	const char *name = text_of(history, stuck->call), *lock;
	char text[260], until[80], who[160] = "", what[260];

	division_until_text(&history->thread[call->thread], until, sizeof(until));
	descriptor_text(history, call, text, sizeof(text));
	writers_text(history, call, who, sizeof(who));
	switch ((enum cause)call->cause) {
	case CAUSE_LOCK:
		stuck_lock_text(history, call->thread, call->key, what, sizeof(what));
		division_label(division, node, "waiting for %s%s%s", what, caller, until);
		return;
	case CAUSE_COND:
	case CAUSE_BARRIER:
	case CAUSE_SEM:
		stuck_lock_text(history, call->thread, call->key, what, sizeof(what));
		/* The kind comes from the log: it may fill the text, and have no blank. */
		lock = strchr(what, ' ');
		division_label(division, node, "waiting for %s %s%s%s",
			       call->cause == CAUSE_COND ? "a signal of the condition variable" :
			       call->cause == CAUSE_BARRIER ? "other threads at the barrier" :
			       "a wake-up of the futex", lock ? lock + 1 : what, caller, until);
		return;
	case CAUSE_JOIN:
	case CAUSE_CHILD:
		snprintf(what, sizeof(what), "%s %d", call->cause == CAUSE_JOIN ? "thread" :
			 "process", (int)call->sender);
		division_label(division, node, "waiting for the end of %s%s%s", call->sender > 0 ?
			       what : "a child", caller, until);
		return;
	case CAUSE_SLEEP:
		division_label(division, node, "sleeping in %s()%s%s", name, caller, until);
		return;
	default:
		snprintf(what, sizeof(what), "waiting for %s in %s()",
			 call->cause == CAUSE_READ ? "data" :
			 call->cause == CAUSE_WRITE ? "room" :
			 call->cause == CAUSE_POLL ? "input" :
			 call->cause == CAUSE_SIGNAL ? "a signal" :
			 call->cause == CAUSE_FILE_LOCK ? "the lock of a file" :
			 !strncmp(name, "accept", 6) ? "a client" : "the end of the call", name);
		division_label(division, node, "%s%s%s%s%s", what, text, caller, until, who);
	}
}
