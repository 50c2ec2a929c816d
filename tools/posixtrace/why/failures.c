/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * failures.c - collects the ends of processes, crashes, and the last calls that failed before.
 *
 * Most failed calls are part of normal work. Some of them can be recognized and are not kept: for
 * example, a program reads a socket that has no data yet. Others cannot be recognized: a program
 * looks for a file at several places. Only the last failed calls are kept, because the call that
 * made the program give up is among them.
 */
#include "why/failures.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "log/field.h"
#include "why/classify.h"
#include "why/lives.h"

#define PROCESSES HISTORY_THREADS /* the most processes whose facts are kept */
#define CRASHES   256

bool failures_is_crash(int32_t signal)
{
	switch (signal) {
	case SIGSEGV:
	case SIGABRT:
	case SIGBUS:
	case SIGFPE:
	case SIGILL:
	case SIGSYS:
	case SIGTRAP:
		return true;
	}
	return false;
}

/*
 * Returns whether the name of a type begins with one of the prefixes. Blanks separate the prefixes.
 */
static bool is_of(const struct log_type *type, const char *prefixes)
{
	while (*prefixes) {
		const size_t len = strcspn(prefixes, " ");

		if (!strncmp(type->name, prefixes, len))
			return true;
		prefixes += len;
		prefixes += *prefixes == ' ';
	}
	return false;
}

/*
 * Returns whether an error is an ordinary result of a call that works. The same error of another
 * call is a failure: EAGAIN of read() means that there is no data yet, and EAGAIN of fork() that
 * there is no room for a process.
 */
static bool is_ordinary(const struct log_type *type, int64_t error)
{
	switch (error) {
	case EINTR:
	case ECANCELED:
	case ENOTTY:     /* isatty() of a file */
	case ESPIPE:     /* lseek() of a pipe */
		return true;
	case EAGAIN:
		return is_of(type, "io. net. lock. stdio. process.sig");
	case ETIMEDOUT:
		return is_of(type, "lock. thread. process.sig");
	case EINPROGRESS:
	case EALREADY:
	case EISCONN:
		return is_of(type, "net.");
	case ECHILD:
		return is_of(type, "process.wait");
	}
	return false;
}

/* Returns whether a path names a message catalog, which a program reads to print an error. */
static bool is_catalog(const char *path)
{
	const size_t len = strlen(path);

	return strstr(path, "/locale/") || strstr(path, "/locale-") || strstr(path, "/gconv") ||
	       (len > 3 && !strcmp(path + len - 3, ".mo"));
}

struct process_key {
	pid_t pid;
	uint32_t life;
};

static bool is_process(const void *array, uint32_t index, const void *key)
{
	const struct failures_process *process = (const struct failures_process *)array + index;
	const struct process_key *wanted = key;

	return process->pid == wanted->pid && process->life == wanted->life;
}

static uint32_t find_process(const struct failures *failures, const struct process_key *key)
{
	return table_find(&failures->of_process, hash_number((unsigned)key->pid, key->life),
			  is_process, failures->process, key);
}

/* Returns the facts of a process, and adds them at its first event. NULL: there is no room. */
static struct failures_process *process_of(struct failures *failures, struct history *history,
					   pid_t pid)
{
	const struct process_key key = { pid, lives_life(history, pid) };
	uint32_t index = find_process(failures, &key);

	if (index != TABLE_NONE)
		return &failures->process[index];
	if (failures->processes == PROCESSES)
		return NULL;
	index = (uint32_t)failures->processes;
	if (!vec_grow(&failures->process, failures->processes, 1) ||
	    !table_add(&failures->of_process, hash_number((unsigned)pid, key.life), index)) {
		history->err = ENOMEM;
		return NULL;
	}
	failures->process[index] = (struct failures_process){ .pid = pid, .life = key.life };
	failures->processes++;
	return &failures->process[index];
}

/*
 * Keeps a failed call. The new call replaces the last kept call if both have the same error and the
 * same path, or no path and the same type.
 */
static void add_failed(struct failures_process *process, const struct log_type *type,
		       const struct posix_trace_event_np *event, uint32_t text, int32_t error)
{
	struct failures_call *last;

	last = &process->call[(process->calls + FAILURES_CALLS - 1) % FAILURES_CALLS];
	if (!process->calls || last->text != text || last->error != error ||
	    (!text && last->type != type))
		last = &process->call[process->calls++ % FAILURES_CALLS];
	*last = (struct failures_call){
		.type = type, .time_ns = event->time_ns, .text = text, .error = error,
		.address = (uintptr_t)event->info.posix_prog_address,
	};
}

/* Keeps a connection whose result is not known yet. */
static void add_connect(struct failures_process *process, const struct log_type *type,
			const struct posix_trace_event_np *event, uint32_t text)
{
	process->connect[process->connects++ % FAILURES_CONNECTS] = (struct failures_connect){
		.fd = (int32_t)field_integer(type->schema, "fd", event, -1), .text = text,
		.type = type,
	};
}

static void take_call(struct failures *failures, struct history *history, const struct plan *plan,
		      const struct log_type *type, const struct posix_trace_event_np *event,
		      int32_t error)
{
	const bool is_begun = error == EINPROGRESS && !strcmp(type->name, "net.connect");
	struct failures_process *process;
	uint32_t text;

	if (!is_begun && is_ordinary(type, error))
		return;
	text = history_text(history, type, event, plan->text);
	if (text && is_catalog(history->text[text - 1]))
		return;
	process = process_of(failures, history, event->info.posix_pid);
	if (!process || process->is_over)
		return;
	if (is_begun)
		add_connect(process, type, event, text);
	else
		add_failed(process, type, event, text, error);
}

/* SO_ERROR of SOL_SOCKET, as the preload library records it */
#define OPTION_ERROR 0x100000004

/* Keeps the result of a connection that getsockopt() returned, if it is an error. */
static void take_result(struct failures *failures, struct history *history,
			const struct log_type *type, const struct posix_trace_event_np *event)
{
	const int64_t value = field_integer(type->schema, "value", event, 0);
	const int64_t fd = field_integer(type->schema, "fd", event, -1);
	struct failures_process *process;

	if (value <= 0 || value >= 4096 ||
	    field_integer(type->schema, "option", event, 0) != OPTION_ERROR)
		return;
	process = process_of(failures, history, event->info.posix_pid);
	if (!process || process->is_over)
		return;
	for (unsigned i = 0; i < process->connects && i < FAILURES_CONNECTS; i++) {
		const struct failures_connect *connect =
			&process->connect[(process->connects - 1 - i) % FAILURES_CONNECTS];

		if (connect->fd != fd)
			continue;
		add_failed(process, connect->type, event, connect->text, (int32_t)value);
		return;
	}
	add_failed(process, type, event, 0, (int32_t)value);
}

/* Keeps the parent of a process. */
static void take_parent(struct failures *failures, struct history *history, pid_t pid, pid_t parent)
{
	struct failures_process *process = pid > 0 ? process_of(failures, history, pid) : NULL;

	if (!process || process->is_over || parent == pid)
		return;
	process->parent = parent;
	process->parent_life = lives_life(history, parent);
}

/*
 * Forgets the calls of the program that a process executed before: its new program does not fail
 * because of them. A shell, for example, has looked for the program in several folders.
 */
static void forget_calls(struct failures *failures, struct history *history, pid_t pid)
{
	struct failures_process *process = pid > 0 ? process_of(failures, history, pid) : NULL;

	if (process && !process->is_over)
		process->calls = process->connects = process->executes = 0;
}

/*
 * Keeps the path of a call of exec, and the failure of such a call, which has an event of its own.
 * For a child of vfork(), both events have the pid of the parent, and their field 'pid' has the
 * child.
 */
static void take_exec(struct failures *failures, struct history *history, const struct plan *plan,
		      const struct log_type *type, const struct posix_trace_event_np *event)
{
	const pid_t pid = (pid_t)field_integer(type->schema, "pid", event, 0);
	const int64_t error = field_integer(type->schema, "error", event, 0);
	struct failures_process *process = pid > 0 ? process_of(failures, history, pid) : NULL;

	if (!process || process->is_over)
		return;
	if (!strcmp(type->name, "process.exec"))
		process->executes = history_text(history, type, event, plan->text);
	else if (error > 0 && error < 4096)
		add_failed(process, type, event, process->executes, (int32_t)error);
}

/*
 * Keeps the time at which a process recorded that it ends. The field 'pid' may name a child of
 * vfork().
 */
static void take_over(struct failures *failures, struct history *history,
		      const struct log_type *type, const struct posix_trace_event_np *event)
{
	const pid_t pid = (pid_t)field_integer(type->schema, "pid", event, event->info.posix_pid);
	struct failures_process *process = pid > 0 ? process_of(failures, history, pid) : NULL;

	if (process && !process->is_over)
		process->ended_ns = event->time_ns;
}

/* Keeps how a process ended. Its parent and the recorder may both have recorded it. */
static void take_end(struct failures *failures, struct history *history,
		     const struct log_type *type, const struct posix_trace_event_np *event)
{
	const pid_t pid = (pid_t)field_integer(type->schema, "pid", event, 0);
	struct failures_process *process = pid > 0 ? process_of(failures, history, pid) : NULL;
	const int64_t code = field_integer(type->schema, "code", event, -1);
	const int64_t signal = field_integer(type->schema, "signal", event, 0);

	/* If the status is not known, the code is -1 and the signal is 0. */
	if (!process || process->is_over || (code < 0 && signal <= 0))
		return;
	process->is_over = true;
	process->code = (int32_t)code;
	process->signal = (int32_t)signal;
	if (!process->ended_ns)
		process->ended_ns = event->time_ns;
}

/* Keeps the sender of a signal that ends a process and is no crash. */
static void take_sender(struct failures *failures, struct history *history,
			const struct log_type *type, const struct posix_trace_event_np *event)
{
	const pid_t pid = (pid_t)field_integer(type->schema, "pid", event, 0);
	struct failures_process *process = pid > 0 ? process_of(failures, history, pid) : NULL;

	if (!process || process->is_over)
		return;
	process->has_sender = true;
	process->sender_code = (int32_t)field_integer(type->schema, "code", event, 0);
	process->sender = (pid_t)field_integer(type->schema, "sender", event, 0);
	process->sent = history_text(history, type, event, field_index(type->schema, "signal"));
	process->sender_name = history_text(history, type, event,
					    field_index(type->schema, "name"));
}

/* Keeps the signal of a crash, as the recorder saw it in the stopped process. */
static void take_crash(struct failures *failures, struct history *history,
		       const struct log_type *type, const struct posix_trace_event_np *event)
{
	struct failures_crash *crash;

	if (failures->crashes == CRASHES)
		return;
	if (!vec_grow(&failures->crash, failures->crashes, 1)) {
		history->err = ENOMEM;
		return;
	}
	crash = &failures->crash[failures->crashes++];
	*crash = (struct failures_crash){
		.pid = (pid_t)field_integer(type->schema, "pid", event, 0),
		.tid = (pid_t)field_integer(type->schema, "tid", event, 0),
		.fault = (uint64_t)field_integer(type->schema, "fault", event, 0),
		.signal = history_text(history, type, event, field_index(type->schema, "signal")),
		.reason = history_text(history, type, event, field_index(type->schema, "reason")),
		.message = history_text(history, type, event,
					field_index(type->schema, "message")),
		.handler = history_text(history, type, event,
					field_index(type->schema, "handler")),
		.first = field_integer(type->schema, "first", event, 0),
		.time_ns = event->time_ns,
	};
	crash->life = lives_life(history, crash->pid);
}

/* Returns the last crash if an event is about the thread that crashed, or NULL. */
static struct failures_crash *crash_of(struct failures *failures, const struct log_type *type,
				       const struct posix_trace_event_np *event)
{
	struct failures_crash *crash = failures->crashes ?
				       &failures->crash[failures->crashes - 1] : NULL;

	return crash && field_integer(type->schema, "pid", event, 0) == crash->pid &&
	       field_integer(type->schema, "tid", event, 0) == crash->tid ? crash : NULL;
}

/* Keeps a frame of the thread that crashed. The log has the frames in their order, from 0. */
static void take_frame(struct failures *failures, struct history *history,
		       const struct log_type *type, const struct posix_trace_event_np *event)
{
	struct failures_crash *crash = crash_of(failures, type, event);
	const int64_t number = field_integer(type->schema, "frame", event, -1);

	if (!crash || crash->frames == FAILURES_FRAMES || number < 0 ||
	    (crash->frames ? number <= crash->frame[crash->frames - 1].number : number))
		return;
	crash->frame[crash->frames++] = (struct failures_frame){
		.pc = (uint64_t)field_integer(type->schema, "pc", event, 0), .number = number,
		.function = history_text(history, type, event,
					 field_index(type->schema, "function")),
		.module = history_text(history, type, event, field_index(type->schema, "module")),
	};
}

/* Keeps a function that has several frames in the stack of the thread that crashed. */
static void take_repeat(struct failures *failures, struct history *history,
			const struct log_type *type, const struct posix_trace_event_np *event)
{
	struct failures_crash *crash = crash_of(failures, type, event);

	if (!crash || crash->repeats == FAILURES_REPEATS)
		return;
	crash->is_cut |= !field_integer(type->schema, "complete", event, 1);
	crash->repeat[crash->repeats++] = (struct failures_repeat){
		.pc = (uint64_t)field_integer(type->schema, "pc", event, 0),
		.times = (uint64_t)field_integer(type->schema, "times", event, 0),
		.function = history_text(history, type, event,
					 field_index(type->schema, "function")),
		.module = history_text(history, type, event, field_index(type->schema, "module")),
	};
}

void failures_take(struct failures *failures, struct history *history,
		   const struct reading *reading)
{
	const struct log_type *type = reading->type;
	const struct posix_trace_event_np *event = &reading->event;
	const size_t id = type->id < history->plans ? type->id : 0;
	const struct plan *plan = history->plans ? history->plan[id] : NULL;
	int64_t error;

	if (!reading->is_wanted || !plan || history->err)
		return;
	if (plan->kind == PLAN_ENDED) {
		take_end(failures, history, type, event);
	} else if (plan->kind == PLAN_OVER) {
		take_over(failures, history, type, event);
	} else if (plan->kind == PLAN_PARENT || plan->kind == PLAN_PROGRAM) {
		take_parent(failures, history,
			    (pid_t)field_integer(type->schema, "pid", event, 0),
			    (pid_t)field_integer(type->schema, "parent", event, 0));
		if (plan->kind == PLAN_PROGRAM)
			forget_calls(failures, history, event->info.posix_pid);
	} else if (plan->kind == PLAN_CALL && plan->child >= 0) {
		take_parent(failures, history, (pid_t)classify_number(type, event, plan->child),
			    event->info.posix_pid);
	} else if (plan->kind == PLAN_CALL && plan->name == NAME_EXEC) {
		take_exec(failures, history, plan, type, event);
	} else if (plan->kind == PLAN_CALL && plan->error >= 0) {
		error = (int64_t)classify_number(type, event, plan->error);
		if (error > 0 && error < 4096)
			take_call(failures, history, plan, type, event, (int32_t)error);
		else if (!error && plan->name == NAME_GETSOCKOPT)
			take_result(failures, history, type, event);
	} else if (plan->name == NAME_CRASH) {
		take_crash(failures, history, type, event);
	} else if (plan->name == NAME_FRAME) {
		take_frame(failures, history, type, event);
	} else if (!strcmp(type->name, "posixtrace_killed")) {
		take_sender(failures, history, type, event);
	} else if (!strcmp(type->name, "crash.repeat")) {
		take_repeat(failures, history, type, event);
	}
}

bool failures_has_crash(const struct failures *failures, const struct failures_process *process)
{
	for (size_t i = 0; i < failures->crashes; i++)
		if (failures->crash[i].pid == process->pid &&
		    failures->crash[i].life == process->life)
			return true;
	return false;
}

void failures_fini(struct failures *failures)
{
	free(failures->process);
	free(failures->crash);
	table_fini(&failures->of_process);
	memset(failures, 0, sizeof(*failures));
}

/* Returns whether the log shows that a process failed. */
static bool has_failed(const struct failures_process *process)
{
	return process->is_over && (process->signal > 0 || process->code > 0);
}

const struct failures_process *failures_of(const struct failures *failures, pid_t pid,
					   uint32_t life)
{
	const struct process_key key = { pid, life };
	const uint32_t index = find_process(failures, &key);

	return index != TABLE_NONE && has_failed(&failures->process[index])
		       ? &failures->process[index] : NULL;
}

/* Returns the parent of a process, if the log shows how the parent ended. */
static const struct failures_process *parent_of(const struct failures *failures,
						const struct failures_process *child)
{
	const struct process_key key = { child->parent, child->parent_life };
	const uint32_t index = find_process(failures, &key);

	return index != TABLE_NONE && failures->process[index].is_over ? &failures->process[index]
								       : NULL;
}

const struct failures_process *failures_orphan(const struct failures *failures)
{
	const struct failures_process *found = NULL, *parent;

	for (size_t i = 0; i < failures->processes; i++) {
		const struct failures_process *process = &failures->process[i];

		if (!has_failed(process) || !process->parent ||
		    (found && process->ended_ns <= found->ended_ns))
			continue;
		parent = parent_of(failures, process);
		if (parent && parent->ended_ns < process->ended_ns)
			found = process;
	}
	return found;
}

const struct failures_process *failures_child(const struct failures *failures,
					      const struct failures_process *parent)
{
	const struct failures_process *found = NULL;

	for (size_t i = 0; i < failures->processes; i++) {
		const struct failures_process *process = &failures->process[i];

		if (has_failed(process) && process != parent && process->parent == parent->pid &&
		    process->parent_life == parent->life &&
		    process->ended_ns <= parent->ended_ns &&
		    (!found || process->ended_ns > found->ended_ns))
			found = process;
	}
	return found;
}
