/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * weave.c - writes a log again with the kernel's events at their places.
 *
 * The stream's own events keep their order. A kernel event precedes the first of them that is
 * later. Kernel events of times in which the stream did not run are left out, because readers
 * assume that a stopped stream records nothing. The account of the new log is that of the old one,
 * plus the kernel events as reported, plus those that were lost as lost.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <trace_np.h>

#include "base/outfile.h"
#include "base/say.h"
#include "base/tool.h"
#include "base/vec.h"
#include "live/kernel.h"
#include "log/lost_pairs.h"

/* The event types, by the kind of record; two have no record of their own. */
static const struct {
	const char *name, *schema;
} types[] = {
	[KERNEL_IN] = { "sched.in", "u32 cpu; @begin running" },
	[KERNEL_OUT] = { "sched.out", "u32 cpu; u8 reason{0=blocked,1=preempted}; @end running" },
	[KERNEL_EXIT] = { "sched.exit", "u32 cpu" },
	[KERNEL_SAMPLE] = { "cpu.sample", "u32 cpu; u32 stack" },
	{ "cpu.stack", "u32 stack; bytes frames" },
	{ "sched.clock", "u64 error_ns; u32 anchors" },
};

#define TYPES (sizeof(types) / sizeof(*types))
#define TYPE_STACK (KERNEL_SAMPLE + 1)
#define TYPE_CLOCK (KERNEL_SAMPLE + 2)

/*
 * One copy. record[next] is the first of the kernel's records that was not examined. kernel is
 * sorted by time; from and to are closed by kernel_weave() and by the finish of the composer.
 */
struct weave {
	struct kernel *kernel;
	trace_id_t from;
	struct posix_trace_composer_np *to;
	trace_event_id_t id[TYPES];
	struct posix_trace_thread_np *thread; /* those of the old log */
	size_t threads;
	bool *has_stack;   /* the stack was written */
	size_t next;       /* record */
	bool runs;         /* the stream runs */
	bool has_clock;
};

/* Each CPU's records are in order; those of several CPUs are merged here. */
static int by_time(const void *a, const void *b)
{
	const struct kernel_record *x = a, *y = b;

	if (x->time_ns != y->time_ns)
		return x->time_ns < y->time_ns ? -1 : 1;
	/* A thread leaves a CPU before another one gets it. */
	return (int)(x->kind == KERNEL_IN) - (int)(y->kind == KERNEL_IN);
}

/* ------------------------------------------------------------------ names, lists, threads */

/*
 * Copies the names and schemas of the old log, then adds those of the kernel's events. Names get
 * new numbers in the order of the old ones. Returns 0 or an error number, as the other functions
 * here do.
 */
static int copy_types(struct weave *weave)
{
	char schema[POSIX_TRACE_SCHEMA_MAX_NP + 1], name[TRACE_EVENT_NAME_MAX + 1];
	trace_event_id_t id;
	int end = 0;
	int err = posix_trace_eventtypelist_rewind(weave->from);

	while (!err) {
		err = posix_trace_eventtypelist_getnext_id(weave->from, &id, &end);
		if (err || end)
			break;
		if (posix_trace_eventid_get_name(weave->from, id, name))
			continue;
		err = posix_trace_compose_name_np(weave->to, name, &id);
		if (!err && !posix_trace_eventid_get_schema_np(weave->from, id, schema,
							       sizeof(schema)))
			/* A text that is no schema has no meaning in either log. */
			posix_trace_compose_schema_np(weave->to, id, schema);
	}
	for (size_t i = 0; !err && i < TYPES; i++) {
		if (!types[i].name)
			continue;
		err = posix_trace_compose_name_np(weave->to, types[i].name, &weave->id[i]);
		if (!err)
			err = posix_trace_compose_schema_np(weave->to, weave->id[i],
							    types[i].schema);
	}
	return err;
}

/* Copies names of objects and mapped files. */
static int copy_lists(struct weave *weave)
{
	struct posix_trace_object_np object;
	struct posix_trace_mapping_np mapping;
	int end = 0, err = posix_trace_object_rewind_np(weave->from);

	while (!err) {
		err = posix_trace_object_getnext_np(weave->from, &object, &end);
		if (err || end)
			break;
		err = posix_trace_compose_object_np(weave->to, &object);
	}
	if (!err)
		err = posix_trace_mapping_rewind_np(weave->from);
	while (!err) {
		err = posix_trace_mapping_getnext_np(weave->from, &mapping, &end);
		if (err || end)
			break;
		err = posix_trace_compose_mapping_np(weave->to, &mapping);
	}
	/* A full list of mappings is no error: the log knows fewer functions. */
	return err == ENOSPC ? 0 : err;
}

/* For qsort() and bsearch(). */
static int by_thread(const void *a, const void *b)
{
	const struct posix_trace_thread_np *x = a, *y = b;

	return x->pid == y->pid ? (x->tid > y->tid) - (x->tid < y->tid) :
				  (x->pid > y->pid) - (x->pid < y->pid);
}

/* Reads the threads of the old log: the kernel does not know their pthread_t. */
static int read_threads(struct weave *weave)
{
	for (size_t i = 0;; i++) {
		struct posix_trace_ledger_np ledger;
		int end = 0, err;

		if (!vec_grow(&weave->thread, weave->threads, 1))
			return ENOMEM;
		err = posix_trace_get_ledger_thread_np(weave->from, i,
						       &weave->thread[weave->threads], &ledger,
						       &end);
		if (err)
			return err;
		if (end)
			break;
		weave->threads++;
	}
	if (weave->threads)
		qsort(weave->thread, weave->threads, sizeof(*weave->thread), by_thread);
	return 0;
}

/* Returns the pthread_t of a thread, 0 if the old log does not have the thread. */
static pthread_t pthread_of(const struct weave *weave, pid_t pid, pid_t tid)
{
	struct posix_trace_thread_np wanted = { .pid = pid, .tid = tid };
	const struct posix_trace_thread_np *found =
		weave->threads ? bsearch(&wanted, weave->thread, weave->threads, sizeof(wanted),
					 by_thread) : NULL;

	return found ? found->thread : 0;
}

/* ------------------------------------------------------------------ events */

/* Appends an event of the kernel. Its process and thread are those that it is about. */
static int put(struct weave *weave, size_t type, const struct kernel_record *record,
	       uint64_t address, const void *data, size_t len)
{
	struct posix_trace_event_np event = {
		.info.posix_event_id = weave->id[type],
		.info.posix_pid = record->pid,
		.info.posix_prog_address = (void *)(uintptr_t)address,
		.info.posix_thread_id = pthread_of(weave, record->pid, record->tid),
		.info.posix_truncation_status = POSIX_TRACE_NOT_TRUNCATED,
		.tid = record->tid, .time_ns = record->time_ns, .data = data, .data_len = len,
	};

	return posix_trace_compose_event_np(weave->to, &event);
}

/* Appends a stack, unless the log has it. */
static int put_stack(struct weave *weave, const struct kernel_record *record)
{
	const struct kernel_stack *stack = &weave->kernel->stack[record->stack];
	const uint64_t *frame = weave->kernel->frame + stack->first;
	uint32_t number = record->stack, bytes = stack->count * (uint32_t)sizeof(*frame);
	unsigned char data[2 * sizeof(uint32_t) + KERNEL_FRAMES * sizeof(*frame)];

	/* Samples refer to the number. */
	if (weave->has_stack[number])
		return 0;
	weave->has_stack[number] = true;
	memcpy(data, &number, sizeof(number));
	memcpy(data + sizeof(number), &bytes, sizeof(bytes));
	memcpy(data + 2 * sizeof(number), frame, bytes);
	return put(weave, TYPE_STACK, record, stack->count ? frame[0] : 0, data,
		   2 * sizeof(number) + bytes);
}

/* Appends one record as an event. */
static int put_record(struct weave *weave, const struct kernel_record *record)
{
	const struct kernel *kernel = weave->kernel;
	const struct kernel_stack *stack;
	uint32_t cpu = record->cpu;
	uint8_t reason = record->kind == KERNEL_PREEMPTED;
	unsigned char data[2 * sizeof(uint32_t)];
	int err;

	memcpy(data, &cpu, sizeof(cpu));
	switch ((enum kernel_kind)record->kind) {
	case KERNEL_OUT:
	case KERNEL_PREEMPTED:
		data[sizeof(cpu)] = reason;
		return put(weave, KERNEL_OUT, record, 0, data, sizeof(cpu) + sizeof(reason));
	case KERNEL_SAMPLE:
		err = put_stack(weave, record);
		stack = &kernel->stack[record->stack];
		memcpy(data + sizeof(cpu), &record->stack, sizeof(record->stack));
		return err ? err : put(weave, KERNEL_SAMPLE, record,
				       stack->count ? kernel->frame[stack->first] : 0, data,
				       sizeof(cpu) + sizeof(record->stack));
	default:
		return put(weave, record->kind, record, 0, data, sizeof(cpu));
	}
}

/* The first kernel event says how well its clock is known. */
static int put_clock(struct weave *weave, const struct kernel_record *record)
{
	uint64_t error = (uint64_t)weave->kernel->error_ns;
	unsigned char data[sizeof(error) + sizeof(uint32_t)];

	weave->has_clock = true;
	memcpy(data, &error, sizeof(error));
	memcpy(data + sizeof(error), &weave->kernel->anchors, sizeof(uint32_t));
	return put(weave, TYPE_CLOCK, record, 0, data, sizeof(data));
}

/*
 * Appends the kernel events up to a time, if the stream ran then. Others are passed over for good.
 */
static int put_until(struct weave *weave, int64_t time_ns)
{
	const struct kernel *kernel = weave->kernel;
	int err = 0;

	for (; !err && weave->next < kernel->records &&
	       kernel->record[weave->next].time_ns <= time_ns; weave->next++) {
		const struct kernel_record *record = &kernel->record[weave->next];

		if (weave->runs && !weave->has_clock)
			err = put_clock(weave, record);
		if (!err && weave->runs)
			err = put_record(weave, record);
	}
	return err;
}

/* Copies the events of the old log, with those of the kernel between them. */
static int copy_events(struct weave *weave)
{
	struct posix_trace_event_np event;
	int end = 0, err;

	while (!(err = posix_trace_getnext_np(weave->from, &event, &end)) && !end) {
		/* A late event does not move the place. */
		err = put_until(weave, event.time_ns);
		if (!err)
			err = posix_trace_compose_event_np(weave->to, &event);
		if (err)
			return err;
		if (event.info.posix_event_id == POSIX_TRACE_START)
			weave->runs = true;
		else if (event.info.posix_event_id == POSIX_TRACE_STOP)
			weave->runs = false;
	}
	return err;
}

/*
 * Counts the kernel events that are missing, so that the ledger of the log has them. Their threads
 * and types are not known, so all are counted for one type.
 */
static int count_lost(struct weave *weave)
{
	size_t type = weave->kernel->plan.sched ? KERNEL_OUT : KERNEL_SAMPLE;
	int err = 0;

	if (weave->kernel->lost_full)
		err = posix_trace_compose_lost_np(weave->to, POSIX_TRACE_LOST_STREAM_FULL_NP,
						  weave->kernel->lost_full, weave->id[type], NULL);
	if (!err && weave->kernel->lost_memory)
		err = posix_trace_compose_lost_np(weave->to, POSIX_TRACE_LOST_NO_MEMORY_NP,
						  weave->kernel->lost_memory, weave->id[type],
						  NULL);
	return err;
}

/* ------------------------------------------------------------------ the log */

/*
 * Begins the new log with the attributes and the origin of the old one, so that it describes the
 * stream and not this copy.
 */
static int begin(struct weave *weave, int fd)
{
	struct posix_trace_loginfo_np info;
	struct posix_trace_origin_np origin = { .pid = 0 };
	trace_attr_t attr;
	int err = posix_trace_get_loginfo_np(weave->from, &info);

	if (!err)
		err = posix_trace_get_attr(weave->from, &attr);
	if (err)
		return err;
	origin.pid = info.pid;
	origin.clock_hz = info.clock_hz;
	memcpy(origin.host, info.host, sizeof(origin.host));
	memcpy(origin.clock, info.clock, sizeof(origin.clock));
	err = posix_trace_compose_np(fd, &attr, &origin, &weave->to);
	posix_trace_attr_destroy(&attr);
	return err;
}

/*
 * Writes everything. Names and lists precede the events, since readers need them with the first
 * one; the ledger is last. Returns 0 or an error number.
 */
static int weave_all(struct weave *weave, int fd)
{
	struct posix_trace_status_info status;
	int err = begin(weave, fd);

	if (!err)
		err = copy_types(weave);
	if (!err)
		err = copy_lists(weave);
	if (!err)
		err = read_threads(weave);
	if (!err)
		err = copy_events(weave);
	if (!err)
		err = lost_pairs(weave->to, weave->from);
	if (!err)
		err = count_lost(weave);
	if (!err)
		err = posix_trace_get_status(weave->from, &status);
	if (err) {
		posix_trace_compose_abandon_np(weave->to);
		return err;
	}
	/* The status of a stream says whether events were lost. */
	if (weave->kernel->lost_full || weave->kernel->lost_memory)
		status.posix_stream_overrun_status = POSIX_TRACE_OVERRUN;
	return posix_trace_compose_finish_np(weave->to, &status);
}

int kernel_weave(struct kernel *kernel, struct outfile *file)
{
	struct weave weave = { .kernel = kernel };
	struct outfile made = { .fd = -1 };
	int err, status;

	/* A damaged log stays as it is; capture_read_back() reports it. */
	if (!kernel->cpus || posix_trace_open(file->fd, &weave.from))
		return TOOL_OK;
	if (kernel->records)
		qsort(kernel->record, kernel->records, sizeof(*kernel->record), by_time);
	status = outfile_create(&made, file->path, OUTFILE_REPLACE);
	if (status) {
		posix_trace_close(weave.from);
		return status;
	}
	weave.has_stack = calloc(kernel->stacks + 1, sizeof(*weave.has_stack));
	err = weave.has_stack ? weave_all(&weave, made.fd) : ENOMEM;
	posix_trace_close(weave.from);
	free(weave.has_stack);
	free(weave.thread);
	if (err)
		say("%s: it has no events of the kernel: %s", file->path, strerror(err));
	/* The old log exists until the new one has its name. */
	if (err || outfile_keep(&made)) {
		outfile_drop(&made);
		return TOOL_FAILURE;
	}
	outfile_close(file);
	*file = made;
	return TOOL_OK;
}
