/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * stuck.c - finds the calls that did not return.
 *
 * A call did not return if its thread has no later event. If the log has states of the thread, they
 * must agree.
 */
#include "why/stuck.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/vec.h"
#include "log/field.h"
#include "symbols/data.h"
#include "symbols/symbols.h"
#include "why/answers.h"
#include "why/circles.h"
#include "why/classify.h"
#include "why/lives.h"
#include "why/objects.h"

#define LEAVE_NS   UINT64_C(5000000) /* the most CPU time that a thread needs to end */
#define COND_BYTES 48 /* the size of a condition variable of glibc, which has several futexes */

/* ------------------------------------------------------------------ facts */

static uint64_t number_of(const struct log_type *type, const struct posix_trace_event_np *event,
			  const char *name)
{
	return classify_number(type, event, field_index(type->schema, name));
}

/* Returns the facts of a thread, or NULL if memory is lacking. */
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
	stuck->seen_doubt = history_text(history, type, event, field_index(type->schema, "doubt"));
	stuck->type = type;
	if (!vec_grow(&history->look, history->looks, 1)) {
		history->err = ENOMEM;
		return;
	}
	history->look[history->looks++] = (struct stuck_look){
		.thread = (uint32_t)(thread - history->thread), .call = stuck->call,
		.object = stuck->object, .others = stuck->others, .fd = stuck->fd,
		.names = history_text(history, type, event, field_index(type->schema, "names")),
		.at_ns = event->time_ns,
		/* The duration of a hostile log may have any value. */
		.from_ns = stuck->blocked_ns > INT64_MAX ||
			   event->time_ns < INT64_MIN + (int64_t)stuck->blocked_ns ?
			   event->time_ns : event->time_ns - (int64_t)stuck->blocked_ns,
	};
}

void stuck_take_taken(struct history *history, const struct log_type *type,
		      const struct posix_trace_event_np *event)
{
	const struct history_thread *thread =
		history_thread_at(history, (pid_t)number_of(type, event, "pid"),
				  (pid_t)number_of(type, event, "tid"), event->time_ns);
	struct stuck *stuck = thread ? facts_of(history, thread) : NULL;

	if (!stuck)
		return;
	stuck->taken_lock = number_of(type, event, "lock");
	stuck->taken_caller = number_of(type, event, "caller");
	stuck->taker = (pid_t)number_of(type, event, "taker");
}

static int by_look(const void *a, const void *b)
{
	const struct stuck_look *x = a, *y = b;

	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	return (x->at_ns > y->at_ns) - (x->at_ns < y->at_ns);
}

void stuck_sort_looks(struct history *history)
{
	if (history->looks)
		qsort(history->look, history->looks, sizeof(*history->look), by_look);
}

/*
 * Returns whether a call of the thread ended in the second half of the time in which the recorder
 * saw the thread blocked. The recorder then saw this call, and needed more time to find out how
 * the thread was blocked. A call that ended in the first half does not count, because the recorder
 * may have begun to look before the wait.
 */
static bool is_late(const struct history *history, const struct stuck_look *look)
{
	const struct history_thread *thread = &history->thread[look->thread];
	const size_t after = history_piece_at(history, thread, look->at_ns);
	const uint64_t blocked_ns = (uint64_t)look->at_ns - (uint64_t)look->from_ns;

	return after > thread->piece &&
	       history->piece[after - 1].end_ns > look->at_ns - (int64_t)(blocked_ns / 2);
}

const struct stuck_look *stuck_look(const struct history *history, uint32_t thread,
				    int64_t from_ns, int64_t to_ns)
{
	const struct stuck_look wanted = { .thread = thread, .at_ns = to_ns };
	size_t low = 0, high = history->looks;
	const struct stuck_look *look;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (by_look(&history->look[middle], &wanted) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	look = low ? &history->look[low - 1] : NULL;
	return look && look->thread == thread && look->at_ns > from_ns && look->call &&
	       !is_late(history, look) ? look : NULL;
}

bool stuck_holds(const struct stuck *stuck, uint64_t lock)
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
	/* Before a wait, the thread records an event for each lock that it holds. */
	if (thread->last_call != type || stuck->waits_lock != lock || stuck_holds(stuck, held)) {
		stuck->helds = 0;
		stuck->waits_ns = event->time_ns;
	}
	history_note_last(thread, type, event);
	stuck->waits_type = type;
	stuck->waits_last_ns = event->time_ns;
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
 * may run for LEAVE_NS at most.
 */
bool stuck_is_last(const struct history_thread *thread, size_t stay, bool *is_over)
{
	uint64_t ran_ns = 0;
	size_t next = stay + 1;

	for (; next + 1 < thread->stays && ran_ns < LEAVE_NS; next++) {
		const struct stay *now = &thread->stay[next];

		/* When a thread ends, the kernel's tracing records it as blocked before the end. */
		if (now->state == STATE_OVER || (now->state == STATE_BLOCKED &&
						 now[1].state != STATE_OVER))
			break;
		if (now->state == STATE_RUNS)
			ran_ns += (uint64_t)now[1].from_ns - (uint64_t)now->from_ns;
	}
	/* The thread may also have been woken at the end of the log. */
	while (next < thread->stays && thread->stay[next].state == STATE_READY)
		next++;
	*is_over = next < thread->stays;
	return !*is_over || thread->stay[next].state == STATE_OVER;
}

/* Returns the reason for which a system call waits. 'object' is what the recorder saw. */
static enum cause cause_of(const char *call, const char *object)
{
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

struct call stuck_look_call(struct history *history, const struct stuck_look *look,
			    int64_t from_ns, int64_t to_ns)
{
	struct call call = {
		.begin_ns = from_ns, .end_ns = to_ns, .thread = look->thread,
		.key = (uint64_t)look->fd, .type = history->stuck[look->thread].type,
		.cause = (uint8_t)cause_of(history_text_at(history, look->call),
					   history_text_at(history, look->object)),
	};

	if (look->fd >= 0 && (call.cause == CAUSE_READ || call.cause == CAUSE_WRITE))
		objects_find_past(history, history->thread[look->thread].pid, &call);
	if (!call.text && *history_text_at(history, look->object) == '/')
		call.text = look->object;
	return call;
}

/* A wait for a futex whose variable is not known yet. */
struct futex {
	pid_t pid;
	uint32_t life, call;
	uint64_t key;
	size_t next;  /* index of the first futex, from this one on, whose variable is not known */
};

static int by_futex(const void *a, const void *b)
{
	const struct futex *x = a, *y = b;

	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	if (x->life != y->life)
		return x->life < y->life ? -1 : 1;
	return (x->key > y->key) - (x->key < y->key);
}

/*
 * Returns the index of the first futex, at 'at' or behind it, whose variable is not known. Also
 * shortens later searches for this futex.
 */
static size_t next_futex(struct futex *futex, size_t at)
{
	size_t end = at, next;

	while (futex[end].next != end)
		end = futex[end].next;
	for (; at != end; at = next) {
		next = futex[at].next;
		futex[at].next = end;
	}
	return end;
}

/* Sets the variable of the futexes that are parts of the variable of a call. */
static void name_futexes(struct history *history, struct futex *futex, size_t count,
			 const struct call *call)
{
	const struct history_thread *thread = &history->thread[call->thread];
	const struct futex wanted = {
		.pid = thread->pid, .life = thread->life, .key = call->key
	};
	size_t low = 0, high = count;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (by_futex(&futex[middle], &wanted) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	for (low = next_futex(futex, low);
	     low < count && futex[low].pid == wanted.pid && futex[low].life == wanted.life &&
	     futex[low].key - wanted.key < COND_BYTES; low = next_futex(futex, low)) {
		struct call *open = &history->call[futex[low].call];

		open->cause = call->cause;
		open->key = call->key;
		open->mutex = call->mutex;
		futex[low].next = low + 1;
	}
}

/*
 * Finds the variables of the futexes for which stuck calls wait. If a thread of the process has
 * waited before for a condition variable or a barrier with the futex, the stuck call waits for that
 * variable. 'first' is the index of the first stuck call. One pass over the earlier calls, from the
 * last one backwards, serves all stuck calls.
 */
static void find_variables(struct history *history, size_t first)
{
	struct futex *futex = calloc(history->calls - first + 1, sizeof(*futex));
	size_t count = 0;

	if (!futex) {
		history->err = ENOMEM;
		return;
	}
	for (size_t i = first; i < history->calls; i++) {
		const struct call *call = &history->call[i];

		if (call->cause == CAUSE_SEM)
			futex[count++] = (struct futex){
				.pid = history->thread[call->thread].pid,
				.life = history->thread[call->thread].life,
				.call = (uint32_t)i, .key = call->key,
			};
	}
	qsort(futex, count, sizeof(*futex), by_futex);
	for (size_t i = 0; i <= count; i++)
		futex[i].next = i;
	for (size_t i = first; i-- > 0 && next_futex(futex, 0) < count;)
		if (history->call[i].cause == CAUSE_COND || history->call[i].cause == CAUSE_BARRIER)
			name_futexes(history, futex, count, &history->call[i]);
	free(futex);
}

/*
 * Makes the call of a thread that is blocked at the end. Returns false if the thread is not known
 * to be blocked.
 */
static bool make_call(struct history *history, uint32_t index, struct call *call)
{
	const struct history_thread *thread = &history->thread[index];
	struct stuck *stuck = &history->stuck[index];
	const bool waits = stuck->waits_ns && thread->last_call_ns <= stuck->waits_last_ns;
	const bool is_seen = stuck->seen_ns && thread->last_call_ns <= stuck->seen_ns;
	/*
	 * An event lock.waiting has the owner of the lock at the time of the event. A later look of
	 * the recorder may have seen another owner.
	 */
	const bool is_newer = is_seen && stuck->owner && stuck->lock == stuck->waits_lock &&
			      stuck->seen_ns > stuck->waits_ns;
	bool is_over, is_blocked;
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
		call->owner = is_newer ? stuck->owner : stuck->waits_owner;
		call->type = stuck->waits_type;
		stuck->from_ns = stuck->waits_ns;
		stuck->fact_ns = is_newer ? stuck->seen_ns : stuck->waits_last_ns;
		stuck->is_waiting = true;
		return true;
	}
	stay = history_stay_at(thread, stuck->seen_ns);
	is_blocked = stay != thread->stays && thread->stay[stay].state == STATE_BLOCKED;
	/*
	 * If the kernel has failed to record switches of the thread, it may also have failed to
	 * record the last one. The recorder has seen that the thread was blocked.
	 */
	if (thread->stays && !history_lacks_after(thread, stuck->seen_ns) &&
	    (is_blocked || thread->gap_ns == INT64_MIN)) {
		if (!is_blocked || !stuck_is_last(thread, stay, &is_over))
			return false;
		call->begin_ns = stuck->from_ns = thread->stay[stay].from_ns;
	} else if (stuck->blocked_ns > INT64_MAX ||
		   __builtin_sub_overflow(stuck->seen_ns, (int64_t)stuck->blocked_ns,
					  &call->begin_ns)) {
		return false;
	} else {
		stuck->from_ns = call->begin_ns;
		if (thread->last_call && call->begin_ns - thread->last_call_ns < STUCK_LOOK_NS)
			call->begin_ns = thread->last_call_ns;
	}
	stuck->fact_ns = stuck->seen_ns;
	/* Logs of earlier versions do not show whether the recorder had a doubt. */
	stuck->has_doubt = *history_text_at(history, stuck->seen_doubt) ||
			   field_index(stuck->type->schema, "doubt") < 0;
	stuck->doubt = *history_text_at(history, stuck->seen_doubt) ? stuck->seen_doubt : 0;
	call->type = stuck->type;
	call->cause = (uint8_t)cause_of(history_text_at(history, stuck->call),
					history_text_at(history, stuck->object));
	call->key = stuck->fd >= 0 ? (uint64_t)stuck->fd : stuck->lock;
	call->owner = stuck->owner; /* for CAUSE_CHILD and CAUSE_JOIN: call->awaited */
	if (call->cause == CAUSE_CHILD || call->cause == CAUSE_JOIN)
		call->key = (uint64_t)(unsigned)stuck->owner;
	return true;
}

void stuck_add(struct history *history)
{
	const size_t first = history->calls;

	for (size_t i = 0; i < history->stucks && history->calls < HISTORY_CALLS; i++) {
		struct history_thread *thread = &history->thread[i];
		struct stuck *stuck = &history->stuck[i];
		struct call call;

		if (stuck->seen_ns > thread->last_ns)
			thread->last_ns = stuck->seen_ns;
		if (!make_call(history, (uint32_t)i, &call))
			continue;
		if (stuck->fd >= 0 && !stuck->lock)
			objects_find(history, thread->pid, &call);
		if (!call.text && *history_text_at(history, stuck->object) == '/')
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
	find_variables(history, first);
	circles_find(history);
}

/* ------------------------------------------------------------------ words */

const char *stuck_lock_text(const struct history *history, uint32_t thread, uint64_t lock,
			    char *text, size_t size)
{
	const struct history_thread *of = &history->thread[thread];
	const char *kind = "lock";

	/* The kind of the lock is taken from an event of this lock. */
	for (size_t i = 0; i < history->stucks; i++) {
		if (!lives_same(history, (uint32_t)i, thread))
			continue;
		if (history->stuck[i].waits_ns && history->stuck[i].waits_lock == lock)
			kind = history->stuck[i].waits_kind;
		else if (history->stuck[i].lock == lock && history->stuck[i].object)
			kind = history_text_at(history, history->stuck[i].object);
	}
	return data_text(history->log, of->pid, lock, of->last_ns, kind, NULL, text, size);
}

/* Writes the processes that could end a read of a pipe. */
static void writers_text(const struct history *history, const struct call *call, char *text,
			 size_t size)
{
	const struct stuck *stuck = &history->stuck[call->thread];
	const char *others = history_text_at(history, stuck->others);
	char own[16], names[100];

	*text = '\0';
	if (call->cause != CAUSE_READ ||
	    strncmp(history_text_at(history, stuck->object), "pipe:", 5) != 0)
		return;
	snprintf(own, sizeof(own), "%d", (int)history->thread[call->thread].pid);
	circles_processes(others, names, sizeof(names));
	if (!*names)
		snprintf(text, size, "; no process that the recorder saw could write into the "
				     "pipe");
	else if (!strcmp(names, own))
		snprintf(text, size, "; only this process itself has the pipe open for writing");
	else
		snprintf(text, size, "; process%s %.60s could have written into the pipe",
			 strchr(names, ' ') ? "es" : "", names);
}

/* Writes " on descriptor 3 (/dev/null)", " of the System V set 5", or nothing. */
static void descriptor_text(const struct history *history, const struct call *call, char *text,
			    size_t size)
{
	const struct stuck *stuck = &history->stuck[call->thread];
	const char *object = history_text_at(history, stuck->object);

	*text = '\0';
	if (!strncmp(object, "System V ", 9))
		snprintf(text, size, " of the %.200s", object);
	if (stuck->fd < 0)
		return;
	if (call->peer)
		object = history->text[call->peer - 1];
	else if (call->text)
		object = history->text[call->text - 1];
	snprintf(text, size, " on descriptor %d%s%.200s%s%s", (int)stuck->fd, *object ? " (" : "",
		 object, call->peer ? ", its peer" : "", *object ? ")" : "");
}

/* Writes which thread has taken a semaphore. */
static void taker_text(const struct history *history, const struct call *call, const char *name,
		       char *text, size_t size)
{
	const struct stuck *stuck = &history->stuck[call->thread];
	const struct history_thread *thread = &history->thread[call->thread];
	const uint32_t taker = stuck->taker <= 0 ? HISTORY_NONE :
			       history_find_at(history, thread->pid, stuck->taker,
					       thread->last_ns);
	char who[160] = "a thread that has ended", place[160];

	if (taker == call->thread)
		snprintf(who, sizeof(who), "this thread itself");
	else if (taker != HISTORY_NONE)
		division_thread_text(history, taker, thread->pid, who, sizeof(who));
	else if (stuck->taker > 0)
		snprintf(who, sizeof(who), "thread %d", (int)stuck->taker);
	symbols_place(history->log->trid, thread->pid, stuck->taken_caller, thread->last_ns, false,
		      place, sizeof(place));
	snprintf(text, size, "the semaphore %.100s, which %s took last%s%s and has not posted",
		 name, who, *place ? " in " : "", place);
}

void stuck_wakeup_text(const struct history *history, const struct call *call, char *text,
		       size_t size)
{
	const struct stuck *stuck = &history->stuck[call->thread];
	char what[200];
	const char *name;

	stuck_lock_text(history, call->thread, call->key, what, sizeof(what));
	/* The kind comes from the log, so it may fill 'what' and may have no blank. */
	name = strchr(what, ' ');
	if (call->cause == CAUSE_SEM && stuck->taken_lock && stuck->taken_lock == call->key) {
		taker_text(history, call, name ? name + 1 : what, text, size);
		return;
	}
	snprintf(text, size, "%s %s", call->cause == CAUSE_COND ?
		 "a signal of the condition variable" : call->cause == CAUSE_BARRIER ?
		 "other threads at the barrier" : "a wake-up of the futex", name ? name + 1 : what);
}

void stuck_last_text(const struct history *history, const struct call *call, char *text,
		     size_t size)
{
	const struct history_thread *thread = &history->thread[call->thread];
	char place[200] = "";

	if (!call->address && thread->last_call && thread->last_call_address)
		symbols_place(history->log->trid, thread->pid, thread->last_call_address,
			      thread->last_call_ns, false, place, sizeof(place));
	*text = '\0';
	if (*place)
		snprintf(text, size, "last event: %s in %s", thread->last_call->name, place);
}

/*
 * Writes what a call waits for, for the causes that have no text of their own in stuck_label(). The
 * descriptors of a poll are not known, so its text names a request that its thread sent and that
 * was never answered, if there is one.
 */
static void waits_text(const struct history *history, const struct call *call, char *text,
		       size_t size)
{
	const char *name = history_text_at(history, history->stuck[call->thread].call);
	unsigned others;
	const struct answer *request = call->cause != CAUSE_POLL ? NULL :
				       answers_during(history, call->thread, call->begin_ns,
						      call->begin_ns, &others);
	char more[40] = "";

	if (request && request->end == ANSWER_NEVER && request->text) {
		if (others)
			snprintf(more, sizeof(more), " and of %u other%s", others,
				 text_plural(others));
		snprintf(text, size, "in vain for the answer of %.160s%s",
			 history->text[request->text - 1], more);
		return;
	}
	snprintf(text, size, "for %s",
		 call->cause == CAUSE_READ ? "data" :
		 call->cause == CAUSE_WRITE ? "room" :
		 /* epoll_wait() nearly always waits for input, the others for any set. */
		 call->cause == CAUSE_POLL && !strncmp(name, "epoll", 5) ? "input" :
		 call->cause == CAUSE_POLL ? "a ready descriptor" :
		 call->cause == CAUSE_SIGNAL ? "a signal" :
		 call->cause == CAUSE_FILE_LOCK ? "the lock of a file" :
		 !strncmp(name, "accept", 6) ? "a client" :
		 !strncmp(name, "sem", 3) ? "a semaphore" :
		 !strcmp(name, "msgrcv") ? "a message" :
		 !strcmp(name, "msgsnd") ? "room" : "the end of the call");
}

void stuck_label(struct division *division, struct why_node *node, const struct call *call,
		 const char *caller)
{
	const struct history *history = division->history;
	const struct stuck *stuck = &history->stuck[call->thread];
	const char *name = history_text_at(history, stuck->call);
	char text[260], until[80 + 160 + 300], who[160] = "", what[STUCK_TEXT], last[300];
	size_t used;

	division_until_text(&history->thread[call->thread], until, sizeof(until));
	descriptor_text(history, call, text, sizeof(text));
	writers_text(history, call, who, sizeof(who));
	stuck_last_text(history, call, last, sizeof(last));
	used = strlen(until);
	snprintf(until + used, sizeof(until) - used, "%s%s%s%s", who, *last ? " (" : "", last,
		 *last ? ")" : "");
	switch ((enum cause)call->cause) {
	case CAUSE_LOCK:
		stuck_lock_text(history, call->thread, call->key, what, sizeof(what));
		division_label(division, node, "waiting for %s%s%s", what, caller, until);
		return;
	case CAUSE_COND:
	case CAUSE_BARRIER:
	case CAUSE_SEM:
		stuck_wakeup_text(history, call, what, sizeof(what));
		division_label(division, node, "waiting for %s%s%s", what, caller, until);
		return;
	case CAUSE_JOIN:
	case CAUSE_CHILD:
		snprintf(what, sizeof(what), "%s %d", call->cause == CAUSE_JOIN ? "thread" :
			 "process", (int)call->awaited);
		division_label(division, node, "waiting for the end of %s%s%s", call->awaited > 0 ?
			       what : "a child", caller, until);
		return;
	case CAUSE_SLEEP:
		division_label(division, node, "sleeping in %s()%s%s", name, caller, until);
		return;
	default:
		waits_text(history, call, what, sizeof(what));
		division_label(division, node, "waiting %s in %s()%s%s%s", what, name, text, caller,
			       until);
	}
}
