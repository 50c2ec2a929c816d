/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * scan_names.c - what processes and threads are called: as the source says, or by the thing that a
 * thread is in memory, or a first thread by the program of its process; else by their numbers.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "convert/flow.h"
#include "convert/plain.h"
#include "convert/scan.h"
#include "convert/threads.h"
#include "log/program.h"

#define GENERATIONS 8 /* of children that execute nothing */

struct named {
	uint32_t pid, tid;
	uint64_t handle;       /* the latest one */
	int64_t last_ns;
	char *name;            /* that the source says; NULL: none */
};

struct scan_names {
	struct threads threads, processes;
	struct named *named;   /* by mark - 1 */
	size_t count, room;
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

/* 0 with NULL: there are too many. */
static int find(struct scan_names *names, struct threads *in, uint32_t pid, uint32_t tid,
		uint64_t handle, struct named **found)
{
	struct thread *thread = threads_of(in, pid, tid, handle);

	*found = NULL;
	if (!thread)
		return 0;
	if (!thread->mark) {
		if (names->count == names->room) {
			size_t room = names->room ? 2 * names->room : 64;
			struct named *more = realloc(names->named, room * sizeof(*more));

			if (!more)
				return ENOMEM;
			names->named = more;
			names->room = room;
		}
		names->named[names->count] =
			(struct named){ .pid = pid, .tid = tid, .handle = handle };
		thread->mark = ++names->count;
	}
	*found = &names->named[thread->mark - 1];
	return 0;
}

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
	struct named *named;
	int err;

	if (!event->pid && !event->tid && !event->thread)
		return 0;
	err = find(names, &names->threads, event->pid, event->tid, event->thread, &named);
	if (named) {
		named->handle = event->thread;
		named->last_ns = event->time_ns;
	}
	if (!err && event->pid)
		err = find(names, &names->processes, event->pid, 0, 0, &named);
	if (err || !event->pid || !named)
		return err;
	named->last_ns = event->time_ns;
	/* After an exec the process executes another program. */
	if (program_told(event->type->name, event->type->fields, event->data, event->data_len,
			 program))
		err = set_name(named, program, strlen(program));
	return err;
}

int scan_names_thread(struct scan_names *names, const struct fmt_thread *thread)
{
	bool is_process = !thread->tid && !thread->thread;
	struct named *named;
	int err = find(names, is_process ? &names->processes : &names->threads, thread->pid,
		       thread->tid, thread->thread, &named);

	return err || !named ? err : set_name(named, thread->name, thread->name_len);
}

/* ------------------------------------------------------------------ at the end */

static const struct named *process_of(const struct scan_names *names, uint32_t pid)
{
	for (size_t i = 0; i < names->count; i++)
		if (names->named[i].pid == pid && !names->named[i].tid && !names->named[i].handle)
			return &names->named[i];
	return NULL;
}

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

static bool object_name(const struct fmt_flow *flow, const struct named *thread,
			char name[PROGRAM_NAME_BYTES])
{
	struct posix_trace_object_np object;

	for (size_t i = 0; thread->handle && i < flow->object_logs; i++) {
		if (posix_trace_object_find_np(flow->objects[i], (pid_t)thread->pid, thread->handle,
					       thread->last_ns, &object) ||
		    object.kind != POSIX_TRACE_OBJECT_THREAD_NP)
			continue;
		snprintf(name, PROGRAM_NAME_BYTES, "%s", object.name);
		return true;
	}
	return false;
}

static int tell_process(const struct scan_names *names, const struct fmt_flow *flow,
			const struct named *process, struct plan *plan)
{
	char name[PROGRAM_NAME_BYTES];

	if (process->name)
		return plan_call(plan, process->pid, 0, 0, process->name);
	if (!program_name(names, flow, process->pid, process->last_ns, name, 0))
		snprintf(name, sizeof(name), "process %u", process->pid);
	return plan_call(plan, process->pid, 0, 0, name);
}

static int tell_thread(const struct scan_names *names, const struct fmt_flow *flow,
		       const struct named *thread, struct plan *plan)
{
	uint64_t handle = thread->tid ? 0 : thread->handle;
	char name[PROGRAM_NAME_BYTES];

	if (thread->name)
		return plan_call(plan, thread->pid, thread->tid, handle, thread->name);
	if (!object_name(flow, thread, name) &&
	    (thread->pid != thread->tid ||
	     !program_name(names, flow, thread->pid, thread->last_ns, name, 0))) {
		if (thread->tid)
			snprintf(name, sizeof(name), "thread %u", thread->tid);
		else
			snprintf(name, sizeof(name), "thread 0x%llx", (unsigned long long)handle);
	}
	return plan_call(plan, thread->pid, thread->tid, handle, name);
}

int scan_names_tell(const struct scan_names *names, const struct fmt_flow *flow, struct plan *plan)
{
	int err = 0;

	for (size_t i = 0; !err && i < names->count; i++) {
		const struct named *named = &names->named[i];

		err = named->tid || named->handle ? tell_thread(names, flow, named, plan)
						  : tell_process(names, flow, named, plan);
	}
	return err;
}
