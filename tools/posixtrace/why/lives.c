/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * lives.c - keeps, for each number of a process, the times of its last fork(), begin, start of a
 * program and end.
 */
#include "why/lives.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "log/field.h"

#define BEGIN_NS INT64_C(10000000)   /* the longest time from fork() to the child's first event */
#define OUTER_STEPS (UINT64_C(1) << 26) /* limit of lives_find_outer(), for hostile logs */
#define SHARED_MOST 16 /* the most processes with one number that an event is compared with */

static struct history_process *find_process(const struct history *history, pid_t pid)
{
	const uint32_t index = pidset_find(&history->of_process, pid);

	return index < history->processes ? &history->process[index] : NULL;
}

/*
 * Returns the entry of a process, and adds it if it is new. Returns NULL past the limit or if
 * memory is lacking.
 */
static struct history_process *make_process(struct history *history, pid_t pid)
{
	struct history_process *process = find_process(history, pid);

	if (process || history->processes == HISTORY_THREADS)
		return process;
	if (!vec_grow(&history->process, history->processes, 1) ||
	    pidset_index(&history->of_process, pid) == TABLE_NONE) {
		history->err = ENOMEM;
		return NULL;
	}
	process = &history->process[history->processes++];
	*process = (struct history_process){
		.pid = pid, .begun_ns = INT64_MIN, .ended_ns = INT64_MIN,
		.executed_ns = INT64_MIN, .forked_ns = INT64_MIN,
	};
	return process;
}

uint32_t lives_life(const struct history *history, pid_t pid)
{
	const struct history_process *process = find_process(history, pid);

	return process ? process->life : 0;
}

/* Returns whether the scheduler has recorded the end of the main thread of a process. */
static bool main_is_over(const struct history *history, pid_t pid)
{
	const uint32_t main = history_find(history, pid, pid);
	const struct history_thread *thread;

	if (main == HISTORY_NONE)
		return false;
	thread = &history->thread[main];
	return thread->stays && thread->stay[thread->stays - 1].state == STATE_OVER;
}

/* Notes the begin of a call of fork(). The parent records the event. */
static void note_fork(struct history *history, const struct plan *plan,
		      const struct log_type *type, const struct posix_trace_event_np *event)
{
	const pid_t child = (pid_t)classify_number(type, event, plan->child);
	const uint64_t time = classify_number(type, event, plan->time);
	struct history_process *process = child > 0 ? make_process(history, child) : NULL;
	int64_t begin_ns;

	if (process && time <= INT64_MAX &&
	    !__builtin_sub_overflow(event->time_ns, (int64_t)time, &begin_ns)) {
		process->forked_ns = begin_ns;
		process->forked_end_ns = event->time_ns;
		process->forker = event->info.posix_pid;
	}
}

int64_t lives_forked(const struct history *history, pid_t pid)
{
	const struct history_process *process = find_process(history, pid);

	return process && process->forked_ns > process->ended_ns ? process->forked_ns : INT64_MAX;
}

/*
 * Notes the first event of a process that fork() made. If a process with this number has begun and
 * not ended, the two processes are in PID namespaces of their own, or the log lacks an end.
 */
static void note_begin(struct history_process *process, int64_t time_ns)
{
	const bool has_begun = process->begun_ns != INT64_MIN || process->executed_ns != INT64_MIN;

	if (has_begun && !process->is_over && time_ns > process->begun_ns &&
	    time_ns > process->executed_ns) {
		process->life++;
		process->is_shared = true;
	}
	process->begun_ns = time_ns;
}

/*
 * After an end of the process, a life begins with the first event that only a new process has.
 * Other events begin no life: the log is not strictly in the order of time, so they may be events
 * of the ended process.
 */
void lives_note(struct history *history, const struct plan *plan,
		const struct log_type *type, const struct posix_trace_event_np *event)
{
	const pid_t pid = event->info.posix_pid;
	const bool is_begin = plan->kind == PLAN_PARENT && !strcmp(type->name, "process.child") &&
			      field_integer(type->schema, "pid", event, 0) == pid;
	struct history_process *process;

	if (plan->child >= 0)
		note_fork(history, plan, type, event);

	if (plan->kind != PLAN_PARENT && plan->kind != PLAN_PROGRAM && plan->kind != PLAN_IN)
		return;
	process = plan->kind == PLAN_PROGRAM || is_begin ? make_process(history, pid) :
		  find_process(history, pid);
	if (!process)
		return;
	if (is_begin)
		note_begin(process, event->time_ns);
	/* The scheduler records the last switches of a process after the process's own end. */
	if (process->is_over && event->time_ns > process->ended_ns &&
	    !(process->is_shared && plan->kind == PLAN_PROGRAM) &&
	    (plan->kind != PLAN_IN || (event->tid == pid && main_is_over(history, pid)))) {
		process->life++;
		process->is_over = false;
	}
	if (plan->kind == PLAN_PROGRAM)
		process->executed_ns = event->time_ns;
}

uint32_t lives_of_event(const struct history *history, const struct posix_trace_event_np *event)
{
	const struct history_process *process = find_process(history, event->info.posix_pid);
	const uint64_t pthread = (uint64_t)event->info.posix_thread_id;
	uint32_t executes = HISTORY_NONE;

	if (!process || !process->is_shared || !pthread)
		return process ? process->life : 0;
	for (uint32_t n = 0; n <= process->life && n < SHARED_MOST; n++) {
		const uint32_t life = process->life - n;
		const uint32_t found = history_find_life(history, process->pid, event->tid, life);
		const struct history_thread *thread;

		if (found == HISTORY_NONE && !n)
			return life; /* the first event of the process */
		if (found == HISTORY_NONE)
			continue;
		thread = &history->thread[found];
		if (thread->pthread == pthread)
			return life;
		/* A new program has another pthread_t. */
		if (executes == HISTORY_NONE && thread->last_call &&
		    !strcmp(thread->last_call->name, "process.exec"))
			executes = life;
	}
	return executes == HISTORY_NONE ? process->life : executes;
}

/*
 * Returns whether the parent's fork() may have returned the number that a process has outside of
 * its PID namespace. This is possible if the log has no event with this number, and if the process
 * began during the call or directly after it.
 */
static bool may_be_outer(const struct history *history, const struct history_process *forked,
			 const struct history_thread *main)
{
	return forked->forker == main->parent && forked->forked_ns <= main->first_ns &&
	       main->first_ns - BEGIN_NS <= forked->forked_end_ns &&
	       history_find(history, forked->pid, forked->pid) == HISTORY_NONE;
}

void lives_find_outer(struct history *history)
{
	for (size_t i = 0, steps = 0; i < history->threads && steps < OUTER_STEPS; i++) {
		struct history_thread *main = &history->thread[i];
		const struct history_process *own = find_process(history, main->pid);
		unsigned count = 0;

		/*
		 * If the process is in the namespace of its parent, fork() returned its own number.
		 */
		if (main->tid != main->pid || main->parent <= 0 || !own ||
		    own->begun_ns == INT64_MIN || own->forker == main->parent)
			continue;
		for (size_t k = 0; k < history->processes; k++, steps++) {
			if (!may_be_outer(history, &history->process[k], main))
				continue;
			main->outer = count++ ? 0 : history->process[k].pid;
		}
		history->has_outer |= main->outer != 0;
	}
}

uint32_t lives_by_outer(const struct history *history, pid_t parent, pid_t outer)
{
	for (size_t i = 0; history->has_outer && i < history->threads; i++)
		if (history->thread[i].outer == outer && history->thread[i].parent == parent)
			return (uint32_t)i;
	return HISTORY_NONE;
}

pid_t lives_shared(const struct history *history)
{
	for (size_t i = 0; i < history->processes; i++)
		if (history->process[i].is_shared)
			return history->process[i].pid;
	return 0;
}

void lives_end(struct history *history, pid_t pid, int64_t time_ns)
{
	struct history_process *process = make_process(history, pid);

	if (!process)
		return;
	process->is_over = true;
	process->ended_ns = time_ns;
}

bool lives_has(const struct history *history, pid_t pid, int64_t since_ns, int64_t at_ns)
{
	const struct history_process *process = find_process(history, pid);

	return !process || since_ns > process->ended_ns || at_ns <= process->ended_ns;
}

bool lives_executed(const struct history *history, pid_t pid, int64_t since_ns, int64_t at_ns)
{
	const struct history_process *process = find_process(history, pid);

	return process && process->executed_ns > since_ns && process->executed_ns <= at_ns;
}

int64_t lives_last_ns(const struct history *history, uint32_t thread)
{
	int64_t last_ns = INT64_MIN;

	for (uint32_t i = 0; i < history->threads; i++)
		if (lives_same(history, i, thread) && history->thread[i].last_ns > last_ns)
			last_ns = history->thread[i].last_ns;
	return last_ns;
}

void lives_fini(struct history *history)
{
	free(history->process);
	pidset_fini(&history->of_process);
}
