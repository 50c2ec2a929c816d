/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * history.c - reads a log once and keeps what its threads did.
 *
 * An event of a call is recorded at the end of the call and has its duration, so the begin is
 * computed. The calls are therefore in the order of their ends; history_arrange() sorts them. Each
 * number of the log is bounded before it becomes an index: threads by HISTORY_THREADS, calls and
 * descriptors by HISTORY_CALLS, types by the log's own table.
 */
#include "why/history.h"

#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/path.h"
#include "base/vec.h"
#include "log/field.h"
#include "log/losses.h"
#include "log/program.h"
#include "why/answers.h"
#include "why/classify.h"
#include "why/connections.h"
#include "why/gil.h"
#include "why/nagle.h"
#include "why/objects.h"
#include "why/lives.h"
#include "why/pools.h"
#include "why/stops.h"
#include "why/stuck.h"
#include "why/tries.h"

/* ------------------------------------------------------------------ threads */

#define PENDING_MOST 1024 /* for hostile logs: each new pthread_t is compared with all of them */
#define LIVES_MOST 64 /* the most earlier processes with one pid that history_find_at() examines */

/*
 * A thread is identified by its process, the life of the process and its Linux number. If the
 * kernel uses the number again in the same process, both threads count as one.
 */
struct thread_key {
	pid_t pid, tid;
	uint32_t life;
};

/* Compares a thread with the wanted one, for table_find(). */
static bool is_thread(const void *array, uint32_t index, const void *key)
{
	const struct history_thread *thread = (const struct history_thread *)array + index;
	const struct thread_key *wanted = key;

	return thread->pid == wanted->pid && thread->tid == wanted->tid &&
	       thread->life == wanted->life;
}

static uint64_t hash_thread(const struct thread_key *key)
{
	return hash_number(hash_number(hash_number(HASH_BEGIN, (uint64_t)(unsigned)key->pid),
				       (unsigned)key->tid), key->life);
}

static uint32_t find_thread(const struct history *history, const struct thread_key *key)
{
	uint32_t index = table_find(&history->of_thread, hash_thread(key), is_thread,
				    history->thread, key);

	return index == TABLE_NONE ? HISTORY_NONE : index;
}

uint32_t history_find(const struct history *history, pid_t pid, pid_t tid)
{
	return find_thread(history, &(const struct thread_key){
		pid, tid, lives_life(history, pid) });
}

uint32_t history_find_life(const struct history *history, pid_t pid, pid_t tid, uint32_t life)
{
	return find_thread(history, &(const struct thread_key){ pid, tid, life });
}

uint32_t history_find_at(const struct history *history, pid_t pid, pid_t tid, int64_t time_ns)
{
	struct thread_key key = { pid, tid, lives_life(history, pid) };
	uint32_t found = find_thread(history, &key);

	for (unsigned n = 0; key.life && n < LIVES_MOST; n++) {
		if (found != HISTORY_NONE && history->thread[found].first_ns <= time_ns)
			return found;
		key.life--;
		found = find_thread(history, &key);
	}
	return found;
}

/*
 * Returns the youngest thread with this pthread_t, because pthread_create() uses the values again.
 * The search is linear. That is fast enough: only a join or a name needs it, and threads are few.
 */
uint32_t history_find_pthread(const struct history *history, pid_t pid, uint64_t pthread)
{
	for (size_t i = history->threads; i-- > 0;)
		if (history->thread[i].pid == pid && history->thread[i].pthread == pthread)
			return (uint32_t)i;
	return HISTORY_NONE;
}

/* Does the work of history_thread_at() for a given life of the process. */
static struct history_thread *make_thread(struct history *history, pid_t pid, pid_t tid,
					  uint32_t life, int64_t time_ns)
{
	const struct thread_key key = { pid, tid, life };
	uint32_t index = find_thread(history, &key);

	if (index == HISTORY_NONE) {
		if (history->threads == HISTORY_THREADS)
			return NULL;
		if (!vec_grow(&history->thread, history->threads, 1) ||
		    !table_add(&history->of_thread, hash_thread(&key),
			       (uint32_t)history->threads)) {
			history->err = ENOMEM;
			return NULL;
		}
		index = (uint32_t)history->threads++;
		history->thread[index] = (struct history_thread){
			.pid = pid, .tid = tid, .life = key.life, .first_ns = time_ns,
			.last_ns = time_ns, .gap_ns = INT64_MIN,
		};
	}
	return &history->thread[index];
}

struct history_thread *history_thread_at(struct history *history, pid_t pid, pid_t tid,
					 int64_t time_ns)
{
	return make_thread(history, pid, tid, lives_life(history, pid), time_ns);
}

/* Copies a name. If it is too long, it is truncated. */
static void set_name(struct history_thread *thread, const char *name)
{
	snprintf(thread->name, sizeof(thread->name), "%s", name);
}

/*
 * Notes a name of a thread that has recorded nothing yet. If there are too many such names, the
 * name is dropped.
 */
static void name_later(struct history *history, const struct history_thread *by, uint64_t pthread,
		       uint32_t text)
{
	if (history->pendings == PENDING_MOST)
		return;
	if (vec_grow(&history->pending, history->pendings, 1))
		history->pending[history->pendings++] = (struct pending_name){
			by->pid, pthread, text, (uint32_t)(by - history->thread) };
	else
		history->err = ENOMEM;
}

/*
 * The pthread_t of the thread has become known. Gives the thread the newest name that was noted for
 * this pthread_t.
 */
static void take_name(struct history *history, struct history_thread *thread)
{
	for (size_t i = history->pendings; i-- > 0;) {
		const struct pending_name *name = &history->pending[i];

		if (name->pid != thread->pid || name->pthread != thread->pthread)
			continue;
		set_name(thread, history->text[name->text - 1]);
		history->pending[i] = history->pending[--history->pendings];
		return;
	}
}

/*
 * Handles the names that no thread has claimed, because the log has another pthread_t of the
 * thread, or none. Most threads name themselves. So the thread that gave the name gets it, if this
 * thread has no name and is not the main thread. A thread that still has no name gets the name of
 * its object in the log.
 */
static void end_names(struct history *history)
{
	struct posix_trace_object_np object;

	for (size_t i = 0; i < history->pendings; i++) {
		struct history_thread *by = &history->thread[history->pending[i].by];

		if (!*by->name && by->tid != by->pid)
			set_name(by, history->text[history->pending[i].text - 1]);
	}
	for (size_t i = 0; i < history->threads; i++) {
		struct history_thread *thread = &history->thread[i];

		if (!*thread->name &&
		    thread_name_find(history->log->trid, thread->pid, thread->pthread,
				     thread_life_name_ns(&thread->lived, thread->last_ns), &object))
			set_name(thread, object.name);
	}
}

/*
 * Returns whether the program recorded the event itself. The recorder also records events about
 * threads, and looks up the pthread_t for them. It may find an old one: a thread has another
 * pthread_t after it has executed a program.
 */
static bool is_own(const struct plan *plan)
{
	switch (plan->kind) {
	case PLAN_IN:
	case PLAN_OUT:
	case PLAN_WAKE:
	case PLAN_EXIT:
	case PLAN_STATE:
	case PLAN_SAMPLE:
	case PLAN_FAULT:
		return false;
	case PLAN_CALL:
		return plan->name != NAME_LAUNCH && plan->name != NAME_RECORDER;
	default:
		return true;
	}
}

/*
 * Returns the thread of an event and adds it if it is new. Returns NULL if there are too many
 * threads or if memory is lacking. If there are too many threads, the events of new threads are
 * ignored, which is no error. The pointer is valid until the next new thread.
 */
static struct history_thread *thread_of(struct history *history, const struct plan *plan,
					const struct posix_trace_event_np *event)
{
	const uint64_t pthread = (uint64_t)event->info.posix_thread_id;
	struct history_thread *thread = make_thread(history, event->info.posix_pid, event->tid,
						    lives_of_event(history, event), event->time_ns);

	if (!thread)
		return NULL;
	if (pthread && thread->pthread != pthread && (is_own(plan) || !thread->has_own_pthread)) {
		thread->pthread = pthread;
		take_name(history, thread);
	}
	thread->has_own_pthread |= pthread && is_own(plan);
	if (event->time_ns < thread->first_ns)
		thread->first_ns = event->time_ns;
	if (event->time_ns > thread->last_ns)
		thread->last_ns = event->time_ns;
	/*
	 * first_ns and last_ns are the least and the greatest time. They need not be the times of
	 * the first and the last event in the log, because events may be late.
	 */
	thread->events++;
	return thread;
}

/* ------------------------------------------------------------------ texts and descriptors */

struct text_key {
	const char *data;
	size_t len;
};

/* Compares a text with the wanted one, for table_find(). */
static bool is_text(const void *array, uint32_t index, const void *key)
{
	const char *text = ((char *const *)array)[index];
	const struct text_key *wanted = key;

	return strlen(text) == wanted->len && !memcmp(text, wanted->data, wanted->len);
}

/*
 * The text ends at the first NUL of the field, and may have control characters, which the output
 * makes safe. key_of() in causes.c uses the index to identify a part.
 */
uint32_t history_keep(struct history *history, const char *text, size_t len)
{
	const struct text_key key = { text, strnlen(text, len) };
	const uint64_t hash = hash_bytes(HASH_BEGIN, key.data, key.len);
	const uint32_t index = table_find(&history->of_text, hash, is_text, history->text, &key);

	if (!len)
		return 0;
	if (index != TABLE_NONE)
		return index + 1;
	if (!vec_grow(&history->text, history->texts, 1) ||
	    !(history->text[history->texts] = strndup(key.data, key.len))) {
		history->err = ENOMEM;
		return 0;
	}
	history->texts++;
	if (!table_add(&history->of_text, hash, (uint32_t)history->texts - 1)) {
		history->err = ENOMEM;
		return 0;
	}
	return (uint32_t)history->texts;
}

/*
 * A socket of IPv6 that also has connections of IPv4 shows an address of IPv4 as
 * "[0:0:0:0:0:ffff:7f00:1]:80". The other end of the connection shows "127.0.0.1:80". Writes the
 * second form to "plain" and returns its length. If the text is not such an address, returns 0.
 */
static size_t plain_address(const char *text, size_t len, char plain[64])
{
	static const char mapped[] = "[0:0:0:0:0:ffff:";
	char rest[32] = "";
	unsigned high, low, port;
	int end = 0;

	if (len < sizeof(mapped) || len - sizeof(mapped) >= sizeof(rest) - 1 ||
	    memcmp(text, mapped, sizeof(mapped) - 1) != 0)
		return 0;
	memcpy(rest, text + sizeof(mapped) - 1, len - sizeof(mapped) + 1);
	if (sscanf(rest, "%4x:%4x]:%5u%n", &high, &low, &port, &end) != 3 || rest[end])
		return 0;
	return (size_t)snprintf(plain, 64, "%u.%u.%u.%u:%u", high >> 8 & 255, high & 255,
				low >> 8 & 255, low & 255, port);
}

uint32_t history_text(struct history *history, const struct log_type *type,
		      const struct posix_trace_event_np *event, int field)
{
	struct posix_trace_value_np value;
	char plain[64];
	size_t len;

	if (field < 0 ||
	    !posix_trace_field_get_np(type->schema, (unsigned)field, 0, event->data,
				      event->data_len, 0, &value) ||
	    value.field->form != POSIX_TRACE_FORM_BYTES_NP)
		return 0;
	len = plain_address(value.data, value.len, plain);
	return len ? history_keep(history, plain, len) :
		     history_keep(history, value.data, value.len);
}

/* ------------------------------------------------------------------ events */

/*
 * Adds a state. If its time is before the time of the last state, it gets the time of the last
 * state. So the states of a thread are in the order of their times, and history_stay_at() relies on
 * this order. If cpu is UINT16_MAX, the processor is unknown.
 */
static void add_stay(struct history *history, struct history_thread *thread, int64_t time_ns,
		     enum state state, unsigned cpu, uint32_t waker)
{
	struct stay *last = thread->stays ? &thread->stay[thread->stays - 1] : NULL;

	if (last && time_ns < last->from_ns)
		time_ns = last->from_ns;
	/* A wake-up of a thread that runs is ignored: the thread keeps its processor. */
	if (state == STATE_READY && last && last->state == STATE_RUNS && cpu == UINT16_MAX)
		return;
	if (!vec_grow(&thread->stay, thread->stays, 1)) {
		history->err = ENOMEM;
		return;
	}
	thread->stay[thread->stays++] = (struct stay){
		.from_ns = time_ns, .state = (uint8_t)state, .cpu = (uint16_t)cpu, .waker = waker,
	};
	history->has_states = true;
}

/*
 * Adds the state that a thread had at the end of the log that precedes this one. It is ignored if
 * earlier events of this log show the state of the thread.
 */
static void add_state(struct history *history, struct history_thread *thread,
		      const struct plan *plan, const struct log_type *type,
		      const struct posix_trace_event_np *event)
{
	/* The values of the field, in its order: live/kernel_states.h. */
	static const enum state states[] = { STATE_BLOCKED, STATE_READY, STATE_RUNS };
	const uint64_t value = classify_number(type, event, plan->key);

	if (!thread->stays && value < sizeof(states) / sizeof(*states))
		add_stay(history, thread, event->time_ns, states[value],
			 (unsigned)classify_number(type, event, plan->other), 0);
}

size_t history_sample_at(const struct history_thread *thread, int64_t time_ns)
{
	size_t low = 0, high = thread->samples;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (thread->sample[middle].time_ns < time_ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/*
 * The binary search is possible, because add_stay() keeps the states in the order of their times.
 */
size_t history_stay_at(const struct history_thread *thread, int64_t time_ns)
{
	size_t low = 0, high = thread->stays;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (thread->stay[middle].from_ns <= time_ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? low - 1 : thread->stays;
}

/*
 * If the log does not show when threads had a CPU, a wait of at least this length has probably
 * blocked the thread.
 */
#define BLOCKED_NS INT64_C(100000)

bool history_was_blocked(const struct history *history, const struct call *wait)
{
	const struct history_thread *thread = &history->thread[wait->thread];
	size_t i = history_stay_at(thread, wait->begin_ns);

	if (!thread->stays)
		return wait->end_ns - wait->begin_ns >= BLOCKED_NS;
	i = thread->next_blocked[i == thread->stays ? 0 : i];
	return i < thread->stays && thread->stay[i].from_ns < wait->end_ns;
}

/*
 * Makes next_blocked[] of each thread. A hostile log may have many states in each of many calls, so
 * history_was_blocked() must not walk over them.
 */
static int index_blocked(struct history *history)
{
	for (size_t i = 0; i < history->threads; i++) {
		struct history_thread *thread = &history->thread[i];
		size_t blocked = thread->stays;

		thread->next_blocked = calloc(thread->stays + 1, sizeof(*thread->next_blocked));
		if (!thread->next_blocked)
			return ENOMEM;
		for (size_t k = thread->stays; k-- > 0;) {
			if (thread->stay[k].state == STATE_BLOCKED)
				blocked = k;
			thread->next_blocked[k] = blocked;
		}
	}
	return 0;
}

size_t history_piece_at(const struct history *history, const struct history_thread *thread,
			int64_t time_ns)
{
	size_t low = thread->piece, high = thread->piece + thread->pieces;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (history->piece[middle].end_ns <= time_ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Compares a waker with the wanted one, for table_find(). */
static bool is_waker(const void *array, uint32_t index, const void *key)
{
	const struct waker *waker = (const struct waker *)array + index, *wanted = key;

	return waker->pid == wanted->pid && waker->tid == wanted->tid &&
	       waker->context == wanted->context;
}

/*
 * Returns the index + 1 of the waker that an event names. Returns 0 if the event names none, if
 * there are too many wakers, or if memory is lacking. A waker keeps the name that its first event
 * has.
 */
static uint32_t keep_waker(struct history *history, const struct history_thread *thread,
			   const struct plan *plan, const struct log_type *type,
			   const struct posix_trace_event_np *event)
{
	uint64_t context = plan->kind == PLAN_WAKE ? classify_number(type, event, plan->key) : 0;
	uint64_t hash;
	struct waker waker = {
		.pid = (pid_t)classify_number(type, event, plan->by[0]),
		.tid = (pid_t)classify_number(type, event, plan->by[1]),
		.context = context == WAKER_THREAD ? WAKER_THREAD :
			   context == WAKER_SOFTIRQ ? WAKER_SOFTIRQ : WAKER_INTERRUPT,
	};
	uint32_t index;

	/*
	 * If no signal could wake the thread, it probably waited for a disk. The disk's softirq may
	 * interrupt any thread, so the interrupted thread is not the waker. Therefore this softirq
	 * is treated as an interrupt.
	 */
	if (waker.context == WAKER_SOFTIRQ && thread->stays &&
	    thread->stay[thread->stays - 1].is_deep)
		waker.context = WAKER_INTERRUPT;
	if (waker.context != WAKER_INTERRUPT && waker.tid <= 0 &&
	    (plan->kind == PLAN_WAKE || waker.tid || !classify_has(type, event, plan->by[1])))
		return 0;
	if (waker.context == WAKER_INTERRUPT)
		waker.pid = waker.tid = 0;
	hash = hash_number(hash_number(hash_number(HASH_BEGIN, (unsigned)waker.pid),
				       (unsigned)waker.tid), waker.context);
	index = table_find(&history->of_waker, hash, is_waker, history->waker, &waker);
	if (index != TABLE_NONE)
		return index + 1;
	if (history->wakers >= HISTORY_CALLS)
		return 0;
	waker.text = history_text(history, type, event, plan->text);
	if (!vec_grow(&history->waker, history->wakers, 1) ||
	    !table_add(&history->of_waker, hash, (uint32_t)history->wakers)) {
		history->err = ENOMEM;
		return 0;
	}
	history->waker[history->wakers++] = waker;
	return (uint32_t)history->wakers;
}

/*
 * Adds the state of a thread that has left its processor. The waker of a preempted thread is the
 * thread that got the processor; it is unknown if the event does not name it.
 */
static void add_out(struct history *history, struct history_thread *thread,
		    const struct plan *plan, const struct log_type *type,
		    const struct posix_trace_event_np *event)
{
	bool is_preempted = classify_number(type, event, plan->key) != 0;

	add_stay(history, thread, event->time_ns, is_preempted ? STATE_READY : STATE_BLOCKED,
		 (unsigned)classify_number(type, event, plan->other), is_preempted ?
		 keep_waker(history, thread, plan, type, event) : 0);
	if (!thread->stays)
		return;
	history->knows_stopped |= plan->more >= 0;
	thread->stay[thread->stays - 1].is_preempted = is_preempted;
	thread->stay[thread->stays - 1].is_stopped =
		(classify_number(type, event, plan->more) & CLASSIFY_STOPPED_OR_TRACED) != 0;
	thread->stay[thread->stays - 1].is_deep =
		classify_number(type, event, plan->more) == CLASSIFY_UNINTERRUPTIBLE;
}

/* Adds a sample. Samples remain in the order of the log. */
static void add_sample(struct history *history, struct history_thread *thread,
		       const struct log_type *type, const struct posix_trace_event_np *event)
{
	struct stacks_found stack;

	if (!vec_grow(&thread->sample, thread->samples, 1)) {
		history->err = ENOMEM;
		return;
	}
	thread->sample[thread->samples++] = (struct sample){
		event->time_ns, (uintptr_t)event->info.posix_prog_address,
		stacks_find(&history->stacks, type, event, &stack) ? stack.number + 1 : 0,
	};
	history->samples++;
}

/*
 * Adds an event of page faults. If it is a sample, it has the number of faults that it represents.
 */
static void add_fault(struct history *history, struct history_thread *thread,
		      const struct plan *plan, const struct log_type *type,
		      const struct posix_trace_event_np *event)
{
	if (!vec_grow(&thread->fault, thread->faults, 1)) {
		history->err = ENOMEM;
		return;
	}
	thread->fault[thread->faults++] = (struct fault){
		event->time_ns, (uintptr_t)event->info.posix_prog_address,
		classify_number(type, event, plan->key),
	};
	history->has_each_fault |= plan->key < 0;
}

/* Returns the error number of a call. In some logs it is negative, as the kernel returns it. */
static int32_t error_of(const struct plan *plan, const struct log_type *type,
			const struct posix_trace_event_np *event)
{
	int32_t error = (int32_t)classify_number(type, event, plan->error);

	/* No error has the number INT32_MIN, and its negation would overflow. */
	return error == INT32_MIN ? INT32_MAX : error < 0 ? -error : error;
}

/*
 * Returns whether the kernel continues to make the connection after a connect with this error.
 * EAGAIN is a failure: the queue of the UNIX socket is full, or no port is free.
 */
static bool connect_continues(int32_t error)
{
	return error == EINPROGRESS || error == EINTR;
}

/* Completes a call that waits for a signal, sends one, or sets a timer that sends one. */
static void add_signal(const struct plan *plan, const struct log_type *type,
		       const struct posix_trace_event_np *event, struct call *call)
{
	call->signal_code = (int32_t)classify_number(type, event, plan->command);
	call->sender = (pid_t)classify_number(type, event, plan->sender);
	if (plan->cause != CAUSE_SIGNAL)
		call->target_pid = classify_number(type, event, plan->other);
	if (plan->cause != CAUSE_KILL)
		return;
	call->target_tid = (uint32_t)classify_number(type, event, plan->target[0]);
	call->target_pthread = classify_number(type, event, plan->target[1]);
}

/* The values of the fields of io.flock, io.fcntl and io.lockf, on all processors of Linux. */
enum {
	FLOCK_REMOVES = 8, FCNTL_SETS = 6, FCNTL_SETS_OFD = 37, FCNTL_REMOVED = 2,
	LOCKF_REMOVES = 0, LOCKF_TESTS = 3
};

/*
 * Notes a lock of a file that a call has set or removed. A call of fcntl() with a command for
 * another purpose is ignored.
 */
static void add_file_lock(struct history *history, const struct plan *plan,
			  const struct log_type *type, const struct posix_trace_event_np *event,
			  struct call *call)
{
	const uint64_t command = classify_number(type, event, plan->command);
	bool is_unlock = command == LOCKF_REMOVES;

	if (!strcmp(type->name, "io.flock")) {
		is_unlock = command & FLOCK_REMOVES;
	} else if (!strcmp(type->name, "io.fcntl")) {
		is_unlock = classify_number(type, event, plan->target[0]) == FCNTL_REMOVED;
		if (call->cause != CAUSE_FILE_LOCK && command != FCNTL_SETS &&
		    command != FCNTL_SETS_OFD)
			return;
	} else if (command == LOCKF_TESTS) {
		return;
	}
	call->is_attempt = !is_unlock;
	if (!call->error)
		objects_lock_file(history, call, is_unlock);
}

/* The commands of semctl() that may end waits, on all processors of Linux. */
enum { SEMCTL_REMOVES = 0, SEMCTL_SETS = 16, SEMCTL_SETS_ALL = 17 };
/* The flag IPC_NOWAIT of semop(), msgsnd() and msgrcv(). */
#define IPC_TRIES 0x800

/*
 * Completes a call on an object of System V. semop() ends waits of others if it increases one
 * semaphore. With several operations it may wait and also end waits of others.
 */
static void add_ipc(const struct plan *plan, const struct log_type *type,
		    const struct posix_trace_event_np *event, struct call *call)
{
	const uint64_t command = classify_number(type, event, plan->command);
	const bool has_several = plan->more >= 0 && classify_number(type, event, plan->more) > 1;

	call->has_id = true;
	call->key = (uint32_t)call->key;
	call->is_try = classify_number(type, event, plan->flags) & IPC_TRIES;
	if (plan->cause == CAUSE_READ || plan->cause == CAUSE_WRITE) {
		call->message_type = (uint32_t)classify_number(type, event, plan->part);
		return;
	}
	if (plan->cause == CAUSE_SEM) {
		call->change = classify_number(type, event, plan->other);
		if ((int64_t)call->change > 0 && !has_several)
			call->cause = CAUSE_POST;
	} else if (command == SEMCTL_SETS || command == SEMCTL_SETS_ALL ||
		   command == SEMCTL_REMOVES) {
		call->cause = CAUSE_POST;
	}
	if (!has_several && (plan->cause == CAUSE_SEM || command == SEMCTL_SETS))
		call->semaphore = (uint32_t)classify_number(type, event, plan->part) + 1;
}

/*
 * Returns the process whose descriptors the calls of a thread use. A child of vfork() runs in the
 * thread of its parent and records its calls there, but it has its own descriptors.
 */
static pid_t fd_owner(struct history *history, const struct history_thread *thread)
{
	history->vchild = thread->vchild;
	history->vparent = thread->pid;
	return thread->vchild ? thread->vchild : thread->pid;
}

/*
 * Notes the begin and the end of the time in which a child of vfork() runs in the thread of its
 * parent. The child ends this time when it executes a program or exits.
 */
static void note_vchild(struct history_thread *thread, const struct log_type *type,
			const struct posix_trace_event_np *event)
{
	const pid_t pid = (pid_t)field_integer(type->schema, "pid", event, 0);

	if (!strcmp(type->name, "process.vchild") && pid > 0 && pid != thread->pid)
		thread->vchild = pid;
	else if (thread->vchild && (!strcmp(type->name, "process.vfork") ||
		 ((!strcmp(type->name, "process.exec") || !strcmp(type->name, "process.exit")) &&
		  pid == thread->vchild)))
		thread->vchild = 0;
}

/*
 * Adds a call with a duration. It is a call of the thread that recorded the event. An event without
 * a duration is handled too if it opens or closes a descriptor, because objects_follow() needs it.
 */
static void add_call(struct history *history, struct history_thread *thread,
		     const struct plan *plan, const struct log_type *type,
		     const struct posix_trace_event_np *event)
{
	uint64_t time = classify_number(type, event, plan->time);
	int64_t result = (int64_t)classify_number(type, event, plan->result);
	struct call call = {
		.end_ns = event->time_ns, .type = type,
		.cause = (uint8_t)classify_cause(plan, type, event),
		.thread = (uint32_t)(thread - history->thread),
		.key = classify_number(type, event, plan->key),
		.address = (uintptr_t)event->info.posix_prog_address,
		.error = error_of(plan, type, event),
	};
	struct stacks_found stack;
	pid_t owner;

	/*
	 * The duration comes from the log and may have any value. If the begin that follows from
	 * the duration cannot be represented, the call is ignored.
	 */
	if (time > INT64_MAX ||
	    __builtin_sub_overflow(event->time_ns, (int64_t)time, &call.begin_ns))
		return;
	if (stacks_find(&history->stacks, type, event, &stack))
		call.stack = stack.number + 1;
	call.text = history_text(history, type, event, plan->text);
	if (plan->cause == CAUSE_COND)
		call.mutex = classify_number(type, event, plan->other);
	else if (plan->cause == CAUSE_PEER && plan->other >= 0)
		call.accepted = classify_number(type, event, plan->other);
	else if (plan->cause == CAUSE_PEER)
		call.is_begun = connect_continues(call.error);
	else if (plan->cause == CAUSE_SLEEP)
		call.asked_ns = classify_number(type, event, plan->other);
	else if (result > 0)
		call.result = (uint64_t)result;
	/* The event of a poll may be truncated before its result. */
	call.is_in_vain = call.cause == CAUSE_POLL && result == 0 &&
			  classify_has(type, event, plan->result);
	call.is_try = call.cause == CAUSE_POLL && plan->other >= 0 &&
		      !classify_number(type, event, plan->other);
	/* asked_ns has the memory of call.result, which must stay 0 if it is unknown. */
	if (plan->cause == CAUSE_POLL && !call.error &&
	    (call.is_in_vain || call.cause == CAUSE_SLEEP))
		call.asked_ns = classify_number(type, event, plan->other);
	call.is_empty = plan->cause == CAUSE_READ && plan->result >= 0 && !result && !call.error;
	owner = fd_owner(history, thread);
	/* A close waits for the file to which the descriptor referred. */
	if (plan->closed >= 0 && plan->key >= 0 && !call.text) {
		struct call before = call;

		objects_find(history, owner, &before);
		if (call_uses_file(&before))
			call.text = before.text;
	}
	objects_follow(history, plan, type, event, owner, call.text);
	/* accept() is the only call with CAUSE_PEER whose plan has the member 'other'. */
	thread->is_server |= plan->cause == CAUSE_PEER && plan->other >= 0;
	/*
	 * This look-up comes after objects_follow(), which has removed a descriptor that the call
	 * closed: so the close of a pipe or socket has no object.
	 */
	if (plan->has_id)
		add_ipc(plan, type, event, &call);
	else if (plan->key >= 0)
		objects_find(history, owner, &call);
	history->vchild = 0;
	nagle_note(history, plan, type, event, thread->pid, &call);
	if (plan->servers >= 0 && call.error == -EAI_AGAIN)
		call.silent = history_text(history, type, event, plan->servers);
	if (plan->cause == CAUSE_LOCK)
		call.owner = (pid_t)classify_number(type, event, plan->sender);
	history->has_owners |= plan->cause == CAUSE_LOCK && plan->sender >= 0;
	if (plan->cause == CAUSE_SIGNAL || plan->cause == CAUSE_KILL || plan->cause == CAUSE_TIMER)
		add_signal(plan, type, event, &call);
	if ((plan->cause == CAUSE_FILE_LOCK || plan->target[0] >= 0) && plan->cause != CAUSE_KILL)
		add_file_lock(history, plan, type, event, &call);
	/*
	 * Two kinds of calls explain nothing and are not kept: calls without a duration, and calls
	 * that are not known to wait, did not fail, and took less than a microsecond.
	 */
	if (call.cause == CAUSE_NONE || (call.cause == CAUSE_CALL && time < 1000 && !call.error))
		return;
	/*
	 * A call past the limit is dropped. The text output contains the number of dropped calls,
	 * and their time counts as time without a call.
	 */
	if (history->calls + history->holds.count == HISTORY_CALLS) {
		history->dropped++;
		return;
	}
	if (call.begin_ns < thread->first_ns)
		thread->first_ns = call.begin_ns;
	/*
	 * A hold is not a call that explains time: the thread does other things meanwhile, and its
	 * calls explain them.
	 */
	if (plan->cause == CAUSE_HELD) {
		if (!holds_add(&history->holds, &(const struct hold){
			.pid = thread->pid, .thread = call.thread, .lock = call.key,
			.begin_ns = call.begin_ns, .end_ns = call.end_ns }))
			history->err = ENOMEM;
	} else if (vec_grow(&history->call, history->calls, 1)) {
		history->call[history->calls++] = call;
	} else {
		history->err = ENOMEM;
	}
}

/*
 * Copies a name that an event has. A thread may name another thread of its process by the pthread_t
 * of that thread, also before that thread has recorded an event. If the log has no pthread_t of the
 * thread that recorded the event, this thread gets the name. An event of a program has a path, and
 * the last part of the path is the name.
 */
static void name_thread(struct history *history, struct history_thread *thread,
			const struct plan *plan, const struct log_type *type,
			const struct posix_trace_event_np *event)
{
	const uint32_t text = history_text(history, type, event, plan->text);
	const uint64_t pthread = plan->kind == PLAN_NAME ?
				 classify_number(type, event, plan->key) : 0;
	const uint32_t other = pthread ? history_find_pthread(history, thread->pid, pthread) :
			       HISTORY_NONE;

	if (!text)
		return;
	if (pthread && other == HISTORY_NONE && thread->pthread)
		name_later(history, thread, pthread, text);
	else
		set_name(other == HISTORY_NONE ? thread : &history->thread[other],
			 plan->kind == PLAN_PROGRAM ? path_last(history->text[text - 1]) :
			 history->text[text - 1]);
}

/*
 * Gives a child of fork() the name of its parent, whose program it executes. The parent may execute
 * another one later.
 */
static void name_child(const struct history *history, struct history_thread *child,
		       int64_t time_ns)
{
	const uint32_t parent = history_find_at(history, child->parent, child->parent, time_ns);
	const char *name = child->parent == history->attached ? history->attached_name : "";

	if (parent != HISTORY_NONE && *history->thread[parent].name)
		name = history->thread[parent].name;
	if (!*child->name)
		snprintf(child->name, sizeof(child->name), "%s", name);
}

/*
 * Returns the plan of a type; NULL if memory is lacking. Each type is classified once, at its first
 * event: comparing names for each event would take most of the time.
 */
static const struct plan *plan_of(struct history *history, const struct log_type *type)
{
	size_t id = type->id;

	if (!vec_reach(&history->plan, &history->plans, id))
		return NULL;
	if (!history->plan[id]) {
		history->plan[id] = malloc(sizeof(struct plan));
		if (history->plan[id])
			classify_type(type, history->plan[id]);
	}
	return history->plan[id];
}

/*
 * Notes that a signal has ended a process. The event is recorded by the parent or by the recorder.
 * If both have recorded an event, the earlier time is nearer to the real end.
 */
static void add_ended(struct history *history, pid_t pid, int32_t signal, int64_t time_ns)
{
	if (signal <= 0 || history->endeds == HISTORY_THREADS)
		return;
	if (vec_grow(&history->ended, history->endeds, 1))
		history->ended[history->endeds++] = (struct process_end){ pid, signal, time_ns };
	else
		history->err = ENOMEM;
}

/*
 * Returns whether the process executes no code of the program after an event of its end: the event
 * is process.end, which has no text, or a call of _exit(). After exit(), handlers of the program
 * run, and after abort() the program may continue.
 */
static bool is_last(struct history *history, const struct plan *plan, const struct log_type *type,
		    const struct posix_trace_event_np *event)
{
	const uint32_t text = history_text(history, type, event, plan->text);

	return !text || !strcasecmp(history->text[text - 1], "_exit");
}

/* Notes that a limit kept a process from running. The recorder has recorded the event. */
static void add_throttle(struct history *history, const struct plan *plan,
			 const struct log_type *type, const struct posix_trace_event_np *event)
{
	const int64_t since = field_integer(type->schema, "since", event, 0);

	if (history->throttles == HISTORY_THREADS)
		return;
	if (!vec_grow(&history->throttle, history->throttles, 1)) {
		history->err = ENOMEM;
		return;
	}
	history->throttle[history->throttles++] = (struct throttle){
		.pid = (pid_t)field_integer(type->schema, "pid", event, 0),
		.text = history_text(history, type, event, plan->text), .time_ns = event->time_ns,
		.since_ns = since > 0 && since < event->time_ns ? event->time_ns - since : 0,
		.ns = classify_number(type, event, plan->key),
		.periods = (uint64_t)field_integer(type->schema, "periods", event, 0),
	};
}

/* Notes the interval of a timerfd, unless the call failed. */
static void note_timer(struct history *history, pid_t pid, const struct log_type *type,
		       const struct posix_trace_event_np *event)
{
	const int64_t interval_ns = field_integer(type->schema, "interval", event, 0);

	if (history->timers == HISTORY_THREADS || field_integer(type->schema, "error", event, 0))
		return;
	if (vec_grow(&history->timer, history->timers, 1))
		history->timer[history->timers++] = (struct history_timer){
			pid, (int32_t)field_integer(type->schema, "fd", event, -1), event->time_ns,
			interval_ns };
	else
		history->err = ENOMEM;
}

/*
 * Adds one event to the history of its thread. Even an event that explains nothing extends the time
 * in which the thread is known to exist.
 */
static void add_event(struct history *history, const struct log_type *type,
		      const struct posix_trace_event_np *event)
{
	const struct plan *plan = plan_of(history, type);
	struct history_thread *thread;
	char name[PROGRAM_NAME_BYTES];
	pid_t ended, parent;
	bool is_first;

	if (!plan) {
		history->err = ENOMEM;
		return;
	}
	/*
	 * The controller records the events of the stream itself, such as START. Such events belong
	 * to no thread that is explained.
	 */
	if (type->id < POSIX_TRACE_UNNAMED_USER_EVENT)
		return;
	lives_note(history, plan, type, event);
	thread = thread_of(history, plan, event);
	if (!thread || stacks_take(&history->stacks, type, event))
		return;
	/*
	 * The log may have states of the thread, from the kernel, before the first event that the
	 * thread itself recorded. So last_call shows whether this is its first event.
	 */
	is_first = !thread->last_call;
	thread_life_event(&thread->lived, type->name, event->time_ns);
	if (thread->vchild || plan->kind == PLAN_PARENT)
		note_vchild(thread, type, event);
	switch (plan->kind) {
	case PLAN_CALL:
		if (thread->connecting.type && plan->name == NAME_CONNECT)
			thread->connecting.type = NULL;
		/* The recorder has events of its own, which do not describe the program. */
		if (plan->name == NAME_LAUNCH)
			history->launched = thread->pid;
		if (plan->name == NAME_LAUNCH || plan->name == NAME_RECORDER)
			break;
		if (plan->cause != CAUSE_HELD || !thread->last_call)
			history_note_last(thread, type, event);
		thread->last_call_ns = event->time_ns;
		thread->listens |= plan->name == NAME_LISTEN;
		if (plan->name == NAME_TIMERFD)
			note_timer(history, thread->pid, type, event);
		if (plan->made[0] >= 0 || plan->closed >= 0 || plan->time >= 0)
			add_call(history, thread, plan, type, event);
		break;
	case PLAN_IN:
		add_stay(history, thread, event->time_ns, STATE_RUNS,
			 (unsigned)classify_number(type, event, plan->other),
			 keep_waker(history, thread, plan, type, event));
		break;
	case PLAN_OUT:
		add_out(history, thread, plan, type, event);
		break;
	case PLAN_WAKE:
		add_stay(history, thread, event->time_ns, STATE_READY, UINT16_MAX,
			 keep_waker(history, thread, plan, type, event));
		break;
	case PLAN_STATE:
		add_state(history, thread, plan, type, event);
		break;
	case PLAN_GAP:
		history->gaps++;
		if (event->time_ns > thread->gap_ns)
			thread->gap_ns = event->time_ns;
		if (thread->stays)
			thread->stay[thread->stays - 1].state = STATE_UNKNOWN;
		break;
	case PLAN_EXIT:
		add_stay(history, thread, event->time_ns, STATE_OVER, 0, 0);
		break;
	case PLAN_CONNECTING:
		history_note_last(thread, type, event);
		thread->connecting = (struct connecting){
			.type = type, .from_ns = event->time_ns,
			.fd = classify_number(type, event, plan->key),
			.address = (uintptr_t)event->info.posix_prog_address,
			.text = history_text(history, type, event, plan->text),
		};
		break;
	case PLAN_BLOCKED:
	case PLAN_WAITING:
		stuck_take(history, plan->kind == PLAN_WAITING, type, event);
		break;
	case PLAN_TAKEN:
		stuck_take_taken(history, type, event);
		break;
	case PLAN_ENDED:
		add_ended(history, (pid_t)classify_number(type, event, plan->key),
			  (int32_t)classify_number(type, event, plan->more), event->time_ns);
		objects_end_process(history, (pid_t)classify_number(type, event, plan->key),
				    event->time_ns);
		break;
	case PLAN_OVER:
		history_note_last(thread, type, event);
		/*
		 * An event of a child of vfork() has the pid of the parent. The pid of the child is
		 * in the field plan->key.
		 */
		ended = (pid_t)classify_number(type, event, plan->key);
		if (is_last(history, plan, type, event))
			objects_end_process(history, ended > 0 ? ended : thread->pid,
					    event->time_ns);
		break;
	case PLAN_CLOCK:
		history->clock_error_ns = (int64_t)classify_number(type, event, plan->key);
		history->sample_hz = (unsigned)classify_number(type, event, plan->more);
		break;
	case PLAN_FAULT:
		add_fault(history, thread, plan, type, event);
		break;
	case PLAN_SAMPLE:
		add_sample(history, thread, type, event);
		break;
	case PLAN_THROTTLED:
		add_throttle(history, plan, type, event);
		break;
	case PLAN_OPENED:
		objects_opened(history, type, event);
		break;
	case PLAN_ATTACHED:
		ended = program_from_event(type->name, type->schema, event->data, event->data_len,
					   thread->pid, name);
		if (ended > 0) {
			history->attached = ended;
			memcpy(history->attached_name, name, sizeof(name));
		}
		break;
	case PLAN_PARENT:
	case PLAN_PROGRAM:
		history_note_last(thread, type, event);
		/* If a child of vfork() records its parent, the event has the pid of the parent. */
		if (field_integer(type->schema, "pid", event, thread->pid) != thread->pid)
			break;
		/*
		 * If the parent is outside of the PID namespace of the program, its number in the
		 * event is 0.
		 */
		parent = (pid_t)classify_number(type, event, plan->key);
		thread->parent = parent ? parent : thread->parent;
		if (plan->kind == PLAN_PROGRAM && is_first && parent > 0)
			objects_start(history, thread->pid, parent, event->time_ns);
		if (plan->kind == PLAN_PROGRAM)
			objects_execute(history, thread->pid, event->time_ns);
		if (plan->kind == PLAN_PARENT)
			name_child(history, thread, event->time_ns);
		name_thread(history, thread, plan, type, event);
		break;
	case PLAN_NAME:
		history_note_last(thread, type, event);
		name_thread(history, thread, plan, type, event);
		break;
	}
}

/*
 * If no event names a main thread, it gets the name of the program that its process executes. If
 * the recorder attached to a process, the log has an event with the name of its program. Otherwise
 * the name is the name of the program's file. A child without mappings executes the program of its
 * parent. A program that recorded nothing itself gets no name: see history_is_bare().
 */
static void name_programs(struct history *history)
{
	for (size_t i = 0; i < history->threads; i++) {
		struct history_thread *thread = &history->thread[i];
		char name[PROGRAM_NAME_BYTES];
		pid_t parent = 0;
		uint32_t of_parent;

		if (thread->tid != thread->pid || *thread->name)
			continue;
		if (thread->pid == history->attached && !thread->life) {
			snprintf(thread->name, sizeof(thread->name), "%s",
				 history->attached_name);
			continue;
		}
		if (program_mapped(history->log->trid, thread->pid, thread->last_ns, name,
				   &parent)) {
			if (history_is_bare(history))
				continue;
			snprintf(thread->name, sizeof(thread->name), "%s", name);
			continue;
		}
		/* If the child had started another program, the log would have an event of it. */
		of_parent = thread->parent ? history_find_at(history, thread->parent,
							     thread->parent, thread->first_ns) :
			    HISTORY_NONE;
		if (of_parent != HISTORY_NONE && of_parent != i)
			memcpy(thread->name, history->thread[of_parent].name,
			       sizeof(thread->name));
	}
}

/*
 * Returns an upper bound for the number of lost events of types whose names begin with a text. A
 * lost event of unknown type may be of any type.
 */
static uint64_t count_lost(const struct logfile *log, const char *begin)
{
	uint64_t count = losses_of_type(log->trid, 0);

	for (size_t i = 0; i < log->types; i++)
		if (!strncmp(log->list[i]->name, begin, strlen(begin)))
			count += losses_of_type(log->trid, log->list[i]->id);
	return count;
}

static void mark_gaps(struct history *history, const struct posix_trace_thread_np *of)
{
	for (size_t i = 0; i < history->threads; i++)
		if (history->thread[i].pid == of->pid && history->thread[i].tid == of->tid)
			history->thread[i].gap_ns = INT64_MAX;
}

/*
 * Finds the threads of which states are missing. The ledger has the losses by type and by thread,
 * but not by both. So the threads are known only if all lost events are states. Returns false if
 * states of any thread may be missing.
 */
static bool find_gaps(struct history *history)
{
	const struct logfile *log = history->log;
	struct posix_trace_thread_np thread;
	struct posix_trace_ledger_np ledger;
	uint64_t left = count_lost(log, "sched.");
	int end = 0;

	if (left == 0)
		return true;
	if (left != count_lost(log, ""))
		return false;
	for (size_t i = 0; left; i++) {
		uint64_t lost;

		if (posix_trace_get_ledger_thread_np(log->trid, i, &thread, &ledger, &end) || end)
			return false;
		lost = losses_count(&ledger);
		if (!lost)
			continue;
		if (thread.pid <= 0 || lost > left)
			return false;
		left -= lost;
		mark_gaps(history, &thread);
	}
	return true;
}

/*
 * If the last event of a thread shows that the thread is blocked, it was blocked until the end of
 * the log. If a later state may be missing, the thread may have run, and its time is not extended.
 */
static void extend_blocked(struct history *history)
{
	for (size_t i = 0; i < history->threads; i++) {
		struct history_thread *thread = &history->thread[i];

		if (thread->stays && !history_lacks_after(thread, thread->last_ns) &&
		    thread->stay[thread->stays - 1].state == STATE_BLOCKED &&
		    thread->stay[thread->stays - 1].from_ns == thread->last_ns &&
		    thread->last_ns < history->last_ns)
			thread->last_ns = history->last_ns;
	}
}

void history_note_last(struct history_thread *thread, const struct log_type *type,
		       const struct posix_trace_event_np *event)
{
	thread->last_call = type;
	thread->last_call_ns = event->time_ns;
	thread->last_call_address = (uintptr_t)event->info.posix_prog_address;
}

bool history_is_bare(const struct history *history)
{
	const uint32_t main = history->launched <= 0 ? HISTORY_NONE :
			      history_find_at(history, history->launched, history->launched,
					      history->first_ns);

	return main != HISTORY_NONE && !history->thread[main].last_call;
}

bool history_ended_itself(const struct history_thread *thread)
{
	const char *name = thread->last_call ? thread->last_call->name : "";

	return !strcmp(name, "thread.end") || !strcmp(name, "process.end") ||
	       !strcmp(name, "process.exit") || !strcmp(name, "process.exec");
}

/* Orders the ends of processes by process, then by time. */
static int by_process(const void *a, const void *b)
{
	const struct process_end *x = a, *y = b;

	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	return (x->time_ns > y->time_ns) - (x->time_ns < y->time_ns);
}

/* Returns the first end of a process that is not before a time, or NULL. */
static const struct process_end *end_of(const struct history *history, pid_t pid, int64_t time_ns)
{
	size_t low = 0, high = history->endeds;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct process_end *end = &history->ended[middle];

		if (end->pid < pid || (end->pid == pid && end->time_ns < time_ns))
			low = middle + 1;
		else
			high = middle;
	}
	return low < history->endeds && history->ended[low].pid == pid ? &history->ended[low] :
	       NULL;
}

/*
 * If a signal ended a process, the threads that had not ended before existed until then. If the log
 * does not show when such a thread had a CPU, last_ns becomes at least the time of this signal: an
 * event of the thread may be later.
 */
static void extend_killed(struct history *history)
{
	if (history->endeds)
		qsort(history->ended, history->endeds, sizeof(*history->ended), by_process);
	for (size_t i = 0; i < history->threads; i++) {
		struct history_thread *thread = &history->thread[i];
		/*
		 * last_ns is no measure here: the kernel's last record of the thread may be later
		 * than the event of the process's end.
		 */
		const struct process_end *end = end_of(history, thread->pid, thread->last_call_ns);

		if (!thread->last_call || history_ended_itself(thread) || !end)
			continue;
		thread->kill_signal = end->signal;
		thread->quiet_ns = thread->stays ? INT64_MAX : thread->last_ns;
		if (!thread->stays && thread->last_ns < end->time_ns)
			thread->last_ns = end->time_ns;
	}
}

/*
 * Adds each connect that has begun and not returned, as a call until the end of its thread. The
 * caller does not call this function if events of connects were lost, because the connect may then
 * have returned.
 */
static void add_connecting(struct history *history)
{
	for (size_t i = 0; i < history->threads && history->calls < HISTORY_CALLS; i++) {
		const struct history_thread *thread = &history->thread[i];
		const struct connecting *from = &thread->connecting;

		if (!from->type || !from->text || from->type != thread->last_call ||
		    thread->last_ns <= from->from_ns)
			continue;
		if (!vec_grow(&history->call, history->calls, 1)) {
			history->err = ENOMEM;
			return;
		}
		history->call[history->calls++] = (struct call){
			.begin_ns = from->from_ns, .end_ns = thread->last_ns, .key = from->fd,
			.address = from->address, .type = from->type, .thread = (uint32_t)i,
			.text = from->text, .cause = CAUSE_PEER, .is_open = true,
		};
	}
}

/* A thread's calls of accept() that returned a connection, and its use of the connections. */
struct accepts {
	size_t count;
	size_t blocked;   /* calls in which the thread was blocked */
	size_t alone;     /* connections that it answered before its next poll or accept */
	uint64_t fd;      /* the last connection */
	bool is_alone;    /* since the last accept there was no poll and no answer */
	bool has_read;    /* the thread has read from the last connection */
};

/*
 * Sets is_serial of each thread that serves one client after the other: it finishes the work for a
 * client before it accepts the next one. Such a thread was blocked in most of its calls of
 * accept(). Or, if clients always waited for the thread, it read from most connections and answered
 * before its next poll. A server that serves several clients at a time does not block in accept(),
 * because its clients would wait meanwhile. Such a server polls for the requests of its clients.
 * Before that poll it may write a greeting to a new client, but it has not read a request then.
 */
static int find_serial(struct history *history)
{
	struct accepts *accepts = calloc(history->threads + 1, sizeof(*accepts));

	if (!accepts)
		return ENOMEM;
	for (size_t i = 0; i < history->calls; i++) {
		const struct call *call = &history->call[i];
		struct accepts *of = &accepts[call->thread];

		if (history_has_accepted(call)) {
			of->count++;
			of->blocked += history_was_blocked(history, call);
			of->fd = call->accepted;
			of->is_alone = true;
			of->has_read = false;
		} else if (call->cause == CAUSE_POLL) {
			of->is_alone = false;
		} else if (!of->is_alone || call->fd_kind != FD_CLIENT || call->key != of->fd ||
			   call->error) {
			continue;
		} else if (call->cause == CAUSE_READ && !call->is_empty) {
			of->has_read = true;
		} else if (call->cause == CAUSE_WRITE && of->has_read) {
			of->alone++;
			of->is_alone = false;
		}
	}
	for (size_t i = 0; i < history->threads; i++)
		history->thread[i].is_serial = accepts[i].blocked > accepts[i].count / 2 ||
					       accepts[i].alone > accepts[i].count / 2;
	free(accepts);
	return 0;
}

/*
 * One pass over the log serves both the history and the caller, because standard input cannot be
 * read twice. see() is called after the event is in the history, so it finds the thread of each
 * event.
 */
int history_read(struct history *history, struct logfile *log, struct wanted *wanted,
		 void (*see)(void *arg, const struct reading *reading), void *arg)
{
	int err;

	memset(history, 0, sizeof(*history));
	history->log = log;
	history->clock_error_ns = -1;
	err = reading_begin(&history->reading, log, wanted);
	while (!err && !history->err && reading_next(&history->reading, &err)) {
		/*
		 * reading_next() also returns events after --end, up to the end of a block of the
		 * log. Their stacks are kept, because samples before --end may refer to them.
		 * Otherwise these events are ignored.
		 */
		if (history->reading.is_wanted)
			add_event(history, history->reading.type, &history->reading.event);
		else
			stacks_take(&history->stacks, history->reading.type,
				    &history->reading.event);
		see(arg, &history->reading);
	}
	reading_end(&history->reading);
	history->events = history->reading.taken;
	history->first_ns = history->reading.first_ns;
	history->last_ns = history->reading.last_ns;
	if (!err)
		err = history->err;
	if (!err)
		name_programs(history);
	history->knows_end = find_gaps(history) && !wanted->end_text;
	if (!err && history->knows_end)
		extend_blocked(history);
	if (!err && !wanted->end_text)
		extend_killed(history);
	if (!err && !wanted->end_text && !count_lost(log, "net.connect"))
		add_connecting(history);
	end_names(history);
	stuck_sort_looks(history);
	if (!err)
		lives_find_outer(history);
	if (!err)
		objects_end(history);
	if (!err)
		err = history->err;
	if (!err)
		err = index_blocked(history);
	if (!err)
		err = find_serial(history);
	if (!err)
		err = tries_mark(history);
	if (!err)
		err = stops_collect(history);
	if (!err)
		err = connections_pair(history);
	if (!err)
		err = answers_collect(history);
	/*
	 * Calls that did not return are added after answers_collect(), because a read that did not
	 * return is no answer.
	 */
	if (!err && !wanted->end_text &&
	    (!count_lost(log, "") || (history->knows_end && count_lost(log, "sched."))))
		stuck_add(history);
	if (!err)
		err = history->err;
	if (!err)
		err = history_arrange(history);
	if (!err)
		err = gil_collect(history);
	return err ? err : pools_collect(history);
}

void history_fini(struct history *history)
{
	for (size_t i = 0; i < history->threads; i++) {
		free(history->thread[i].stay);
		free(history->thread[i].next_blocked);
		free(history->thread[i].sample);
		free(history->thread[i].fault);
	}
	for (size_t i = 0; i < history->texts; i++)
		free(history->text[i]);
	for (size_t i = 0; i < history->plans; i++)
		free(history->plan[i]);
	free(history->thread);
	free(history->call);
	free(history->piece);
	holds_fini(&history->holds);
	free(history->transfer);
	free(history->end);
	free(history->request);
	free(history->connect);
	free(history->stop);
	free(history->throttle);
	free(history->run);
	free(history->pending);
	free(history->text);
	free(history->waker);
	table_fini(&history->of_waker);
	table_fini(&history->of_text);
	objects_fini(history);
	lives_fini(history);
	nagle_fini(history);
	free(history->timer);
	free(history->ended);
	free(history->stuck);
	free(history->look);
	free(history->child);
	free(history->plan);
	table_fini(&history->of_thread);
	stacks_fini(&history->stacks);
	pools_fini(history);
	gil_fini(history);
}
