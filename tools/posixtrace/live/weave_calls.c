/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * weave_calls.c - makes events of the records of system calls.
 *
 * The preload library and the kernel may have seen the same call. Such a call has the event of the
 * library, and with KERNEL_CALLS_ALL also an event sys.NAME. The records are read in three passes.
 * The first pass finds out, for each program that a process executes, whether the library was in
 * it. If so, the log has the library's event process.start. The second pass finds the types that
 * the log needs. The third pass makes the events while the log is copied. The last two passes
 * examine each record in the same way. So the results need not be stored, and the memory does not
 * depend on the number of calls. The results of the first pass are in a store, which has a file. So
 * the memory does not depend on the number of executed programs either. It depends on the number of
 * different process ids: no record has the end of a process, so each id keeps its struct caller.
 *
 * If the recording goes on in a next log, that log begins with the states that the processes had at
 * the end of this log. A program may be executed in one log, and record process.start in the next
 * one. So the records of a program that was executed shortly before the end of a log, and has not
 * recorded process.start, are kept for the next log, with those of its children.
 */
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/pidset.h"
#include "base/vec.h"
#include "live/image.h"
#include "live/weave.h"
#include "syscalls/form.h"

/* The time that a program may need from its execution until it records process.start. */
#define START_NS INT64_C(10000000000)

/* The state of a process after the records that have been read so far. */
struct caller {
	pid_t parent;
	/*
	 * SEEN: the preload library records the calls of the process. HIDDEN: the process is still
	 * posixtrace's own child, before execve(2), and has no events.
	 */
	enum { CALLER_UNSEEN, CALLER_SEEN, CALLER_HIDDEN } state;
	/*
	 * For the first pass: the number of the process's last execution, until the process.start
	 * of this execution is read; otherwise 0.
	 */
	uint64_t execution;
	/*
	 * Found by the first pass: from this execution on, the records of the process are kept for
	 * the next log. 0: none.
	 */
	uint64_t postponed;
};

struct callers {
	struct pidset pids;
	struct caller *caller; /* the state of each of the pids */
	size_t callers;
};

struct examination {
	struct weave *weave;
	struct kernel_store starts; /* the library's events process.start */
	struct kernel_reader next_start; /* in the first pass */
	/*
	 * The executions whose program had the library. Each is a record whose time_ns has the
	 * number of the execution, so that a reader returns them in the order of the executions.
	 */
	struct kernel_store seen;
	struct kernel_reader next_seen; /* in the other passes */
	uint64_t executions; /* that the pass has read */
	struct callers of;
	struct callers postponed; /* only the member postponed is used */
	bool has_starts;     /* the log has the events process.start */
	bool is_postponed;   /* the record that was examined last belongs to the next log */
	/* the results for the record that was examined last */
	struct form_type *type; /* NULL: it becomes no event */
	pid_t parent;           /* of its process */
};

/* ------------------------------------------------------------------ processes */

/* Returns the process of a set, which the function adds if needed. NULL: memory is lacking. */
static struct caller *caller_in(struct callers *callers, pid_t pid)
{
	const uint32_t index = pidset_index(&callers->pids, pid);

	return index != TABLE_NONE && vec_reach(&callers->caller, &callers->callers, index) ?
	       &callers->caller[index] : NULL;
}

/*
 * Returns the process. If no record has mentioned it before, adds it. Returns NULL if memory is
 * lacking.
 */
static struct caller *find_caller(struct examination *all, pid_t pid)
{
	return caller_in(&all->of, pid);
}

static void empty_callers(struct callers *callers)
{
	free(callers->caller);
	pidset_fini(&callers->pids);
	*callers = (struct callers){ .callers = 0 };
}

void weave_callers_end(struct callers *callers)
{
	if (callers)
		empty_callers(callers);
	free(callers);
}

/* ------------------------------------------------------------------ records */

/* Copies a record. Returns false if it is not a record of a system call. */
static bool load_record(const struct kernel_item *item, struct syscalls_record *record,
			const unsigned char **piece, size_t *bytes)
{
	if (item->record.kind != KERNEL_EVENT || item->event.type != KERNEL_TYPE_CALL)
		return false;
	memcpy(record, item->data, sizeof(*record));
	*piece = item->data + sizeof(*record);
	*bytes = item->event.bytes - sizeof(*record);
	return true;
}

/* Passes each record to take(), in order of time. Returns 0 or an error number. */
static int visit_records(struct examination *all,
			 int (*take)(struct examination *all, const struct kernel_item *item))
{
	const struct kernel_item *item;
	struct kernel_reader reader;
	int err = kernel_reader_begin(&reader, &all->weave->period->store);

	for (; !err && (item = kernel_reader_look(&reader)) != NULL;
	     kernel_reader_skip(&reader)) {
		err = take(all, item);
		weave_serve(all->weave);
	}
	err = err ? err : reader.err;
	kernel_reader_end(&reader);
	return err;
}

/*
 * Reads the events process.start up to a time. Each one belongs to the last execution of its
 * process. Returns 0 or an error number.
 */
static int take_starts(struct examination *all, int64_t time_ns)
{
	const struct kernel_item *item;

	while ((item = kernel_reader_look(&all->next_start)) && item->record.time_ns <= time_ns) {
		struct caller *caller = find_caller(all, item->record.pid);
		struct kernel_record seen = { .kind = KERNEL_IN };

		if (!caller)
			return ENOMEM;
		seen.time_ns = (int64_t)caller->execution;
		if (caller->execution && !kernel_store_keep(&all->seen, &seen, NULL, NULL))
			return ENOMEM;
		caller->execution = 0;
		kernel_reader_skip(&all->next_start);
	}
	return all->next_start.err;
}

/* Notes that a process executes a program. */
static int take_execution(struct examination *all, const struct kernel_item *item)
{
	struct syscalls_record record;
	const unsigned char *piece;
	struct caller *caller;
	size_t bytes;
	int err;

	if (!load_record(item, &record, &piece, &bytes) || record.kind != SYSCALLS_EXEC)
		return 0;
	err = take_starts(all, item->record.time_ns);
	if (err)
		return err;
	caller = find_caller(all, (pid_t)record.pid);
	if (!caller)
		return ENOMEM;
	caller->execution = ++all->executions;
	return 0;
}

/* Stores the events process.start of the log. Returns 0 or an error number. */
static int read_starts(struct examination *all)
{
	char name[TRACE_EVENT_NAME_MAX + 1];
	struct posix_trace_event_np event;
	trace_event_id_t id, start = 0;
	int end = 0, err;

	err = posix_trace_eventtypelist_rewind(all->weave->from);
	while (!err && !(err = posix_trace_eventtypelist_getnext_id(all->weave->from, &id, &end)) &&
	       !end)
		if (!posix_trace_eventid_get_name(all->weave->from, id, name) &&
		    !strcmp(name, "process.start"))
			start = id;
	if (err || !start)
		return err;
	while (!(err = posix_trace_getnext_np(all->weave->from, &event, &end)) && !end) {
		const struct kernel_record record = {
			.time_ns = event.time_ns, .pid = event.info.posix_pid, .kind = KERNEL_IN,
		};

		if (event.info.posix_event_id == start &&
		    !kernel_store_keep(&all->starts, &record, NULL, NULL))
			return ENOMEM;
	}
	return err ? err : posix_trace_rewind(all->weave->from);
}

/* Returns whether the library can be in a program, as far as its file shows. */
static bool may_have_library(int64_t image)
{
	switch ((enum shim_image)image) {
	case SHIM_IMAGE_GLIBC:
	case SHIM_IMAGE_UNKNOWN:
	case SHIM_IMAGE_UNOPENED:
		return true;
	case SHIM_IMAGE_STATIC:
	case SHIM_IMAGE_FOREIGN:
	case SHIM_IMAGE_MACHINE:
	case SHIM_IMAGE_RIGHTS:
		break;
	}
	return false;
}

/* Returns whether the present record of a process is kept for the next log. */
static bool is_postponed(const struct examination *all, pid_t pid)
{
	const uint32_t index = pidset_find(&all->postponed.pids, pid);

	return index != TABLE_NONE && index < all->postponed.callers &&
	       all->executions >= all->postponed.caller[index].postponed;
}

/*
 * Keeps the records of a process for the next log, beginning with the execution that was read last.
 */
static int postpone_process(struct examination *all, pid_t pid)
{
	struct caller *postponed = caller_in(&all->postponed, pid);

	if (!postponed)
		return ENOMEM;
	/* A child may be kept already, because its parent is. */
	if (!postponed->postponed)
		postponed->postponed = all->executions;
	return 0;
}

/*
 * Notes that the last execution of a process, and the records behind it, are kept for the next log,
 * on three conditions: the execution has no process.start yet, its program can have the library,
 * and it was less than START_NS ago. The records of a child that the process has made after this
 * execution are kept, too, because the next log shows whether the child has the library.
 */
static int postpone_execution(struct examination *all, const struct kernel_item *item)
{
	const int64_t now_ns = all->weave->kernel->now.realtime_ns;
	struct syscalls_record record;
	const unsigned char *piece;
	const struct caller *caller;
	size_t bytes;

	if (!load_record(item, &record, &piece, &bytes))
		return 0;
	if (record.kind == SYSCALLS_NEW)
		return !(record.arg[1] & CLONE_THREAD) && is_postponed(all, (pid_t)record.pid) ?
			       postpone_process(all, (pid_t)record.arg[0]) : 0;
	if (record.kind != SYSCALLS_EXEC)
		return 0;
	all->executions++;
	caller = find_caller(all, (pid_t)record.pid);
	if (!caller || caller->execution != all->executions || !may_have_library(record.result) ||
	    now_ns - item->record.time_ns > START_NS)
		return 0;
	return postpone_process(all, (pid_t)record.pid);
}

/*
 * The first pass: finds the executions of programs that had the library, and the records that are
 * kept for the next log.
 */
static int find_seen(struct examination *all)
{
	int err = read_starts(all);

	if (!err)
		err = kernel_reader_begin(&all->next_start, &all->starts);
	if (!err)
		err = visit_records(all, take_execution);
	if (!err)
		err = take_starts(all, INT64_MAX);
	all->executions = 0;
	if (!err && all->weave->meanwhile.call)
		err = visit_records(all, postpone_execution);
	kernel_reader_end(&all->next_start);
	kernel_store_fini(&all->starts);
	return err;
}

/*
 * Returns whether the library was in the program of the last execution. The program had the library
 * if the process recorded process.start before its next execution. Consumes the entry of next_seen.
 */
static bool has_library(struct examination *all)
{
	const struct kernel_item *item = kernel_reader_look(&all->next_seen);

	if (!item || (uint64_t)item->record.time_ns != all->executions)
		return false;
	kernel_reader_skip(&all->next_seen);
	return true;
}

/*
 * Handles a record of the kind SYSCALLS_EXEC. Notes whether the library is in the program that the
 * process executes.
 */
static void note_exec(struct examination *all, struct caller *caller,
		      const struct syscalls_record *record)
{
	const bool has_start = has_library(all);
	const bool is_seen = may_have_library(record->result) &&
			     (all->has_starts ? has_start : all->weave->kernel->plan.has_library);

	caller->state = is_seen ? CALLER_SEEN : CALLER_UNSEEN;
}

/* Returns the type of the event that a record becomes, or NULL if it becomes no event. */
static struct form_type *type_of_record(struct examination *all,
					const struct syscalls_record *record,
					const unsigned char *piece, size_t bytes)
{
	const struct kernel *kernel = all->weave->kernel;
	const bool has_all = kernel->plan.calls == KERNEL_CALLS_ALL;
	struct caller *caller = find_caller(all, (pid_t)record->pid), *child;
	const char *call = syscalls_name(record->number, record->is_32bit);
	bool is_exec = call && !strncmp(call, "execve", 6), as_sys;

	if (!caller)
		return NULL;
	switch ((enum syscalls_kind)record->kind) {
	case SYSCALLS_EXEC:
		note_exec(all, caller, record);
		return caller->state == CALLER_UNSEEN ?
		       forms_named(kernel->forms, "process.start") : NULL;
	case SYSCALLS_NEW:
		if (kernel->plan.alone || record->arg[1] & CLONE_THREAD)
			return NULL;
		child = find_caller(all, (pid_t)record->arg[0]);
		/* find_caller() may have moved the array, so "caller" may be invalid */
		caller = find_caller(all, (pid_t)record->pid);
		if (!child || !caller)
			return NULL;
		child->parent = (pid_t)record->pid;
		child->state = caller->state;
		return child->state == CALLER_UNSEEN ?
		       forms_named(kernel->forms, "process.child") : NULL;
	case SYSCALLS_CALL:
	case SYSCALLS_ENTER:
	case SYSCALLS_DEAD: /* take_call() does not keep records of the kinds DEAD and TRAP */
	case SYSCALLS_TRAP:
		break;
	}
	if (caller->state == CALLER_HIDDEN || (caller->state == CALLER_SEEN && !has_all))
		return NULL;
	as_sys = caller->state == CALLER_SEEN;
	/*
	 * For a process without the library, the begin of a call of execve() becomes process.exec,
	 * and its return with an error process.exec_failed. An event sys.NAME has the result, so it
	 * is made when the call returns. A call of exit() never returns, so its event is made when
	 * it begins.
	 */
	if (is_exec && record->kind == SYSCALLS_ENTER && as_sys)
		return NULL;
	if (is_exec && record->kind == SYSCALLS_CALL && !as_sys)
		return record->result < 0 ? forms_named(kernel->forms, "process.exec_failed") :
					    NULL;
	return forms_type(kernel->forms, record, piece, bytes, as_sys);
}

/*
 * Examines a record, and updates the states of the processes, unless the record is kept for the
 * next log.
 */
static int examine_record(struct examination *all, const struct kernel_item *item)
{
	struct syscalls_record record;
	const struct caller *caller;
	const unsigned char *piece;
	size_t bytes;

	all->type = NULL;
	all->is_postponed = false;
	if (!load_record(item, &record, &piece, &bytes))
		return 0;
	if (record.kind == SYSCALLS_EXEC)
		all->executions++;
	all->is_postponed = is_postponed(all, (pid_t)record.pid);
	if (all->is_postponed)
		return all->next_seen.err;
	all->type = type_of_record(all, &record, piece, bytes);
	if (all->type)
		all->type->is_used = true;
	caller = find_caller(all, (pid_t)record.pid);
	all->parent = caller ? caller->parent : 0;
	return all->next_seen.err;
}

/* Gives the processes the states that they had at the end of the log before. */
static int copy_callers(struct callers *to, const struct callers *from)
{
	for (size_t i = 0; i < from->callers; i++) {
		struct caller *caller = caller_in(to, from->pids.pid[i]);

		if (!caller)
			return ENOMEM;
		*caller = from->caller[i];
		caller->execution = 0;
	}
	return 0;
}

/*
 * Begins the second or the third pass. The processes have the states that they had at the end of
 * the log before. In the first log, only the first process is known. Returns 0 or an error number.
 */
static int begin_pass(struct examination *all)
{
	const struct kernel *kernel = all->weave->kernel;
	struct caller *first;
	int err;

	kernel_reader_end(&all->next_seen);
	err = kernel_reader_begin(&all->next_seen, &all->seen);
	if (err)
		return err;
	all->executions = 0;
	empty_callers(&all->of);
	if (kernel->callers)
		return copy_callers(&all->of, kernel->callers);
	first = find_caller(all, kernel->pid);
	if (!first)
		return ENOMEM;
	first->parent = kernel->starts ? getpid() : 0;
	first->state = kernel->starts ? CALLER_HIDDEN : kernel->plan.has_library ?
		       CALLER_SEEN : CALLER_UNSEEN;
	return 0;
}

/* Adds the names and schemas of the types that will be used. */
static int add_types(struct weave *weave)
{
	const struct forms *forms = weave->kernel->forms;
	int err = 0;

	for (size_t i = 0; !err && i < forms->types; i++) {
		struct form_type *type = forms->type[i];

		/* Each log has numbers of its own. */
		type->id = 0;
		if (!type->is_used)
			continue;
		err = weave_compose_type(weave, type->name, type->text, &type->id);
	}
	return err;
}

int weave_calls_types(struct weave *weave)
{
	struct kernel *kernel = weave->kernel;
	struct examination *all;
	int err;

	if (!kernel->syscalls || !kernel_has_calls(&kernel->plan))
		return 0;
	all = weave->examination = calloc(1, sizeof(*all));
	if (!all)
		return ENOMEM;
	all->weave = weave;
	for (size_t i = 0; i < kernel->forms->types; i++)
		kernel->forms->type[i]->is_used = false;
	all->has_starts = kernel->forms->wants(kernel->forms->arg, "process.start");
	err = all->has_starts ? find_seen(all) : 0;
	if (!err)
		err = begin_pass(all);
	if (!err)
		err = visit_records(all, examine_record);
	if (!err)
		err = add_types(weave);
	if (!err)
		err = begin_pass(all);
	if (!err && (weave->period->lost_syscalls || weave->period->unwritten[KERNEL_GROUP_CALLS]))
		err = weave_compose_type(weave, "sys.call", "ns time; errno error",
					 &weave->lost_call);
	return err;
}

void weave_calls_end(struct weave *weave)
{
	struct examination *all = weave->examination;

	if (!all)
		return;
	kernel_reader_end(&all->next_seen);
	kernel_store_fini(&all->seen);
	empty_callers(&all->of);
	empty_callers(&all->postponed);
	free(all);
	weave->examination = NULL;
}

/* ------------------------------------------------------------------ events */

/*
 * Stores the data of process.start, process.child or process.exec_failed: two numbers, and for
 * process.start the path.
 */
static size_t data_of_process(const struct kernel *kernel, const struct kernel_record *of,
			      const struct syscalls_record *record, const unsigned char *piece,
			      size_t bytes, unsigned char *data)
{
	int32_t numbers[2] = { of->pid, (int32_t)record->arg[2] };
	size_t len;

	if (record->kind == SYSCALLS_CALL) { /* process.exec_failed */
		numbers[1] = (int32_t)-record->result;
	} else if (record->kind == SYSCALLS_NEW) {
		numbers[0] = (int32_t)record->arg[0];
		numbers[1] = of->pid;
	}
	numbers[0] = kernel_inner_process(kernel, numbers[0]);
	if (record->kind != SYSCALLS_CALL)
		numbers[1] = kernel_inner_process(kernel, numbers[1]);
	memcpy(data, numbers, sizeof(numbers));
	if (record->kind != SYSCALLS_EXEC)
		return sizeof(numbers);
	len = bytes ? strnlen((const char *)piece, bytes) : 0;
	if (len >= FORM_TEXT_BYTES)
		len = FORM_TEXT_BYTES - 1;
	memcpy(data + sizeof(numbers), piece, len);
	data[sizeof(numbers) + len] = '\0';
	return sizeof(numbers) + len + 1;
}

void weave_calls_note(struct weave *weave, const struct kernel_item *item)
{
	struct examination *all = weave->examination;
	struct kernel *kernel = weave->kernel;

	if (!all)
		return;
	examine_record(all, item);
	if (all->is_postponed && !kernel_store_keep(&kernel->period.store, &item->record,
						    &item->event, item->data))
		kernel->period.lost_memory++;
}

void weave_calls_complete(struct weave *weave)
{
	struct examination *all = weave->examination;
	struct callers *callers = all ? calloc(1, sizeof(*callers)) : NULL;

	if (!callers)
		return;
	*callers = all->of;
	all->of = (struct callers){ .callers = 0 };
	weave_callers_end(weave->kernel->callers);
	weave->kernel->callers = callers;
}

int weave_call(struct weave *weave, const struct kernel_item *item)
{
	static unsigned char data[FORM_DATA_BYTES];
	const struct kernel_record *of = &item->record;
	const struct examination *all = weave->examination;
	const struct form_type *type = all ? all->type : NULL;
	struct kernel_record by = *of;
	struct syscalls_record record;
	const unsigned char *piece;
	size_t bytes, len;

	if (all && all->next_seen.err)
		return all->next_seen.err;
	if (!type || !load_record(item, &record, &piece, &bytes))
		return 0;
	if (record.kind == SYSCALLS_EXEC) /* for the event process.start */
		record.arg[2] = (uint64_t)all->parent;
	if (record.kind == SYSCALLS_ENTER)
		record.result = 0;
	if (record.kind == SYSCALLS_NEW) /* the event belongs to the child */
		by.pid = by.tid = (pid_t)record.arg[0];
	if (record.kind == SYSCALLS_EXEC || record.kind == SYSCALLS_NEW ||
	    !strcmp(type->name, "process.exec_failed"))
		len = data_of_process(weave->kernel, of, &record, piece, bytes, data);
	else
		len = forms_data(type, &record, piece, bytes, data);
	return weave_put(weave, type->id, &by, 0, data, len);
}
