/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * scan_names.c - finds names for processes and threads. A thread gets the first of these names that
 * exists: the name that the converted input has for the thread, the name of the thread's object in
 * memory, the name of the program if the thread is the first thread of its process, the number or
 * the handle of the thread. Functions that return int return 0 or ENOMEM.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "convert/flow.h"
#include "convert/plain.h"
#include "convert/scan.h"
#include "convert/threads.h"
#include "log/program.h"
#include "log/thread_name.h"

/* program_name() searches the programs of at most this number of ancestors, by recursion */
#define GENERATIONS 8

struct named {
	uint32_t pid, tid;     /* if tid and handle are 0, the entry is for a process */
	uint64_t handle;       /* the latest handle that an event of the thread had */
	int64_t last_ns;       /* the time of the last event of the thread or process */
	struct thread_life life;
	char *name;            /* name from the converted input or an event; NULL: none */
};

struct scan_names {
	struct threads threads, processes;
	struct named *named;   /* the index is thread->mark - 1 */
	size_t count;
	/* The thread of the last event, with its entry and the entry of its process. */
	uint32_t pid, tid;
	uint64_t handle;
	size_t thread, process; /* index of the entry + 1; 0: none */
};

struct scan_names *scan_names_new(void)
{
	return calloc(1, sizeof(struct scan_names));
}

void scan_names_free(struct scan_names *names)
{
	if (!names)
		return;
	for (size_t i = 0; i < names->count; i++)
		free(names->named[i].name);
	free(names->named);
	threads_fini(&names->threads);
	threads_fini(&names->processes);
	free(names);
}

/*
 * Stores the address of the entry in *found, and makes the entry if it is new. Returns 0 or ENOMEM.
 * If there are too many entries, returns 0 and sets *found to NULL.
 */
static int find_named(struct scan_names *names, struct threads *in, uint32_t pid, uint32_t tid,
		      uint64_t handle, struct named **found)
{
	struct thread *thread = threads_of(in, pid, tid, handle);

	*found = NULL;
	if (!thread)
		return 0;
	if (!thread->mark) {
		if (!vec_grow(&names->named, names->count, 1))
			return ENOMEM;
		names->named[names->count] =
			(struct named){ .pid = pid, .tid = tid, .handle = handle };
		thread->mark = ++names->count;
	}
	*found = &names->named[thread->mark - 1];
	return 0;
}

/*
 * Replaces the name by a copy that is safe to show. The length is bounded, as it comes from the
 * input.
 */
static int set_name(struct named *named, const char *name, size_t len)
{
	char *copy = plain_copy(name, len < 4096 ? len : 4096);

	if (!copy)
		return ENOMEM;
	free(named->name);
	named->name = copy;
	return 0;
}

int scan_names_event(struct scan_names *names, const struct fmt_event *event)
{
	char program[PROGRAM_NAME_BYTES];
	struct named *named = NULL;
	pid_t program_pid;
	int err;

	if (!event->pid && !event->tid && !event->thread)
		return 0;
	/*
	 * Most events have the same thread as the event before. For such an event no search is
	 * needed.
	 */
	if (names->thread && names->process && event->tid == names->tid &&
	    event->pid == names->pid && event->thread == names->handle &&
	    !program_is_in_event(event->type->name)) {
		names->named[names->thread - 1].last_ns = event->time_ns;
		thread_life_event(&names->named[names->thread - 1].life, event->type->name,
				  event->time_ns);
		names->named[names->process - 1].last_ns = event->time_ns;
		return 0;
	}
	names->pid = event->pid;
	names->tid = event->tid;
	names->handle = event->thread;
	names->thread = names->process = 0;
	err = find_named(names, &names->threads, event->pid, event->tid, event->thread, &named);
	/*
	 * At the end of the reading, a search finds the name that the thread had at its end or its
	 * last event. This name describes the thread better than its earlier names. The search uses
	 * the latest handle, because an earlier handle may belong to another thread at that time.
	 */
	if (named) {
		named->handle = event->thread;
		named->last_ns = event->time_ns;
		thread_life_event(&named->life, event->type->name, event->time_ns);
		names->thread = (size_t)(named - names->named) + 1;
	}
	if (!err && event->pid)
		err = find_named(names, &names->processes, event->pid, 0, 0, &named);
	if (err || !event->pid || !named)
		return err;
	named->last_ns = event->time_ns;
	names->process = (size_t)(named - names->named) + 1;
	if (!program_is_in_event(event->type->name))
		return 0;
	/* The event names a program that the event's process or another process executes now. */
	program_pid = program_from_event(event->type->name, event->type->fields, event->data,
					 event->data_len, (pid_t)event->pid, program);
	if (program_pid > 0)
		err = find_named(names, &names->processes, (uint32_t)program_pid, 0, 0, &named);
	return err || program_pid <= 0 || !named ? err :
	       set_name(named, program, strlen(program));
}

int scan_names_thread(struct scan_names *names, const struct fmt_thread *thread)
{
	bool is_process = !thread->tid && !thread->thread;
	struct named *named;
	int err = find_named(names, is_process ? &names->processes : &names->threads, thread->pid,
			     thread->tid, thread->thread, &named);

	return err || !named ? err : set_name(named, thread->name, thread->name_len);
}

/* ------------------------------------------------------------------ at the end */

/* Returns the entry of a process, or NULL. */
static const struct named *process_of(const struct scan_names *names, uint32_t pid)
{
	for (size_t i = 0; i < names->count; i++)
		if (names->named[i].pid == pid && !names->named[i].tid && !names->named[i].handle)
			return &names->named[i];
	return NULL;
}

/*
 * Stores the name of the program that a process executes. The name comes from an event or from the
 * mappings of the process. A child that has executed no program itself runs the program of its
 * parent. Returns false if the program is not known.
 */
static bool program_name(const struct scan_names *names, const struct fmt_flow *flow, uint32_t pid,
			 int64_t time_ns, char name[PROGRAM_NAME_BYTES], int deep)
{
	const struct named *process = process_of(names, pid);
	pid_t parent;

	if (process && process->name) {
		snprintf(name, PROGRAM_NAME_BYTES, "%s", process->name);
		return true;
	}
	for (size_t i = 0; i < flow->object_logs; i++) {
		if (program_mapped(flow->objects[i], (pid_t)pid, time_ns, name, &parent))
			return true;
		if (parent)
			return deep < GENERATIONS &&
			       program_name(names, flow, (uint32_t)parent, time_ns, name, deep + 1);
	}
	return false;
}

/* Stores the name of the thread's object in memory. Returns false if no log has this object. */
static bool object_name(const struct fmt_flow *flow, const struct named *thread,
			char name[PROGRAM_NAME_BYTES])
{
	struct posix_trace_object_np object;

	for (size_t i = 0; i < flow->object_logs; i++) {
		if (!thread_name_find(flow->objects[i], (pid_t)thread->pid, thread->handle,
				      thread_life_name_ns(&thread->life, thread->last_ns), &object))
			continue;
		snprintf(name, PROGRAM_NAME_BYTES, "%s", object.name);
		return true;
	}
	return false;
}

/*
 * Adds the name of a process to the plan. If no other name is known, the name is the number of the
 * process.
 */
static int plan_process(const struct scan_names *names, const struct fmt_flow *flow,
			const struct named *process, struct plan *plan)
{
	char name[PROGRAM_NAME_BYTES];

	if (process->name)
		return plan_add_name(plan, process->pid, 0, 0, process->name);
	if (!program_name(names, flow, process->pid, process->last_ns, name, 0))
		snprintf(name, sizeof(name), "process %u", process->pid);
	return plan_add_name(plan, process->pid, 0, 0, name);
}

/*
 * Adds the name of a thread to the plan. If a thread has a number, the number identifies it, and
 * its handle in the plan is 0. The first thread of a process has the same number as the process. If
 * the first thread has no other name, it gets the name of the program.
 */
static int plan_thread(const struct scan_names *names, const struct fmt_flow *flow,
		       const struct named *thread, struct plan *plan)
{
	uint64_t handle = thread->tid ? 0 : thread->handle;
	char name[PROGRAM_NAME_BYTES];

	if (thread->name)
		return plan_add_name(plan, thread->pid, thread->tid, handle, thread->name);
	if (!object_name(flow, thread, name) &&
	    (thread->pid != thread->tid ||
	     !program_name(names, flow, thread->pid, thread->last_ns, name, 0))) {
		if (thread->tid)
			snprintf(name, sizeof(name), "thread %u", thread->tid);
		else
			snprintf(name, sizeof(name), "thread 0x%llx", (unsigned long long)handle);
	}
	return plan_add_name(plan, thread->pid, thread->tid, handle, name);
}

int scan_names_report(const struct scan_names *names, const struct fmt_flow *flow,
		      struct plan *plan)
{
	int err = 0;

	for (size_t i = 0; !err && i < names->count; i++) {
		const struct named *named = &names->named[i];

		err = named->tid || named->handle ? plan_thread(names, flow, named, plan)
						  : plan_process(names, flow, named, plan);
	}
	return err;
}
