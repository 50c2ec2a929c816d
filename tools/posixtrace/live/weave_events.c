/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * weave_events.c - makes events of the kernel's records.
 *
 * A record of the kernel's tracing usually concerns two threads: one that left a CPU and one that
 * got it, or one that woke another. For a switch, each of the two threads gets an event if it is
 * traced. For a wake-up, the woken thread gets an event if it is traced. The records, in order of
 * time, show which threads are traced, and to which processes they belong.
 */
#include "live/weave.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "live/kernel_copies.h"
#include "live/kernel_frames.h"
#include "live/kernel_types.h"

/*
 * If the kernel records by tracefs, sched.in and sched.out have the further fields of in_by_trace
 * and out_by_trace, because these records also name the other thread of the switch.
 */
static const struct {
	const char *name, *schema;
} types[WEAVE_TYPES] = {
	[WEAVE_IN] = { "sched.in", "u32 cpu; @begin running" },
	[WEAVE_OUT] = { "sched.out", "u32 cpu; u8 reason{0=blocked,1=preempted}; @end running" },
	[WEAVE_EXIT] = { "sched.exit", "u32 cpu" },
	[WEAVE_GAP] = { "sched.gap", "u32 cpu; u8 missing{0=in,1=out}" },
	[WEAVE_WAKE] = { "sched.wake", "u32 cpu; u8 context{0=thread,1=softirq,2=interrupt}; "
			 "s32 by_pid; s32 by_tid; str by" },
	[WEAVE_SAMPLE] = { "cpu.sample", "u32 cpu; u32 stack" },
	[WEAVE_STACK] = { "cpu.stack", "u32 stack; bytes frames" },
	[WEAVE_FAULT] = { "cpu.fault", "u32 cpu; x64 address; u64 faults" },
	[WEAVE_STATE] = { "sched.state", "u32 cpu; u8 state{0=blocked,1=ready,2=running}; "
			  "u64 since_ns" },
	[WEAVE_CLOCK] = { "sched.clock", "u64 error_ns; u32 anchors; u32 hz; str way" },
	/* These two schemas must be equal to those in lib/preload/types.h. */
	[WEAVE_OPEN] = { "func.open", "ns time; ptr function; u32 depth; @span function" },
	[WEAVE_CALL] = { "func.call", "ns time; ptr function; u32 depth; @span function" },
};

static const char in_by_trace[] =
	"u32 cpu; s32 prev_pid; s32 prev_tid; str prev; @begin running";
static const char out_by_trace[] =
	"u32 cpu; u8 reason{0=blocked,1=preempted}; u8 state{0=running,1=interruptible,"
	"2=uninterruptible,4=stopped,8=traced,16=dead,32=zombie,64=parked,128=idle}; "
	"s32 next_pid; s32 next_tid; str next; @end running";

int weave_types(struct weave *weave)
{
	const struct kernel *kernel = weave->kernel;
	int err = 0;

	for (size_t i = 0; !err && i < WEAVE_TYPES; i++) {
		const char *schema = i == WEAVE_OUT && kernel->trace ? out_by_trace :
				     i == WEAVE_IN && kernel->trace ? in_by_trace :
				     types[i].schema;

		if ((i == WEAVE_GAP && !kernel->trace) ||
		    (i == WEAVE_STATE && !kernel->states.states))
			continue;
		if (i == WEAVE_CALL ? !kernel->traps : i == WEAVE_OPEN ? !weave->period->calls :
		    !kernel->is_active && !kernel->plan.stack.globs)
			continue;
		err = weave_compose_type(weave, types[i].name, schema, &weave->id[i]);
	}
	weave->kernel_id = calloc(kernel->types + 1, sizeof(*weave->kernel_id));
	if (!weave->kernel_id)
		return ENOMEM;
	for (size_t i = 0; !err && i < kernel->types; i++)
		err = weave_compose_type(weave, kernel->type[i].name, kernel->type[i].schema,
					 &weave->kernel_id[i]);
	if (!err)
		err = weave_traps_types(weave);
	return err ? err : weave_calls_types(weave);
}

/* Returns the pthread_t of a thread, or 0 if the old log does not have the thread. */
static pthread_t pthread_of(const struct weave *weave, pid_t pid, pid_t tid)
{
	struct posix_trace_thread_np wanted = { .pid = pid, .tid = tid };
	const struct posix_trace_thread_np *found =
		weave->threads ? bsearch(&wanted, weave->thread, weave->threads, sizeof(wanted),
					 weave_by_thread) : NULL;

	return found ? found->thread : 0;
}

/* ------------------------------------------------------------------ events */

/*
 * Appends an event with the numbers of process and thread that the record has. If the recorder has
 * stopped the stream, the event is not later than the stop.
 */
static int put_as(struct weave *weave, trace_event_id_t id, const struct kernel_record *record,
		  uint64_t address, const void *data, size_t len)
{
	struct posix_trace_event_np event = {
		.info.posix_event_id = id,
		.info.posix_pid = record->pid,
		.info.posix_prog_address = (void *)(uintptr_t)address,
		.info.posix_thread_id = pthread_of(weave, record->pid, record->tid),
		.info.posix_truncation_status = POSIX_TRACE_NOT_TRUNCATED,
		.tid = record->tid, .time_ns = record->time_ns, .data = data, .data_len = len,
	};

	if (weave->is_ending && event.time_ns > weave->end_ns)
		event.time_ns = weave->end_ns;
	weave->put[weave->group]++;
	return weave_compose(weave, &event);
}

int weave_put(struct weave *weave, trace_event_id_t id, const struct kernel_record *record,
	      uint64_t address, const void *data, size_t len)
{
	struct kernel_record of = *record;

	kernel_inner_ids(weave->kernel, &of.pid, &of.tid);
	return put_as(weave, id, &of, address, data, len);
}

static int weave_events_put(struct weave *weave, size_t type, const struct kernel_record *record,
			    uint64_t address, const void *data, size_t len)
{
	return weave_put(weave, weave->id[type], record, address, data, len);
}

/* ------------------------------------------------------------------ data */

/* The data of an event, in the order of the schema's fields and without gaps. */
struct data {
	unsigned char byte[256];
	size_t len;
};

static void weave_events_add(struct data *data, const void *value, size_t bytes)
{
	memcpy(data->byte + data->len, value, bytes);
	data->len += bytes;
}

static void add_u32(struct data *data, uint32_t value)
{
	weave_events_add(data, &value, sizeof(value));
}

static void add_u8(struct data *data, unsigned value)
{
	data->byte[data->len++] = (unsigned char)value;
}

/*
 * Adds process, number and name of a thread. If the thread is not known, the process is 0 and the
 * name is empty.
 */
static void add_task(struct data *data, const struct kernel *kernel, pid_t tid)
{
	const struct kernel_task *task = kernel_find_task(kernel, tid);
	const char *name = task ? task->name : "";
	pid_t pid = task ? task->pid : 0;

	kernel_inner_ids(kernel, &pid, &tid);
	add_u32(data, (uint32_t)pid);
	add_u32(data, (uint32_t)tid);
	weave_events_add(data, name, strlen(name) + 1);
}

/* ------------------------------------------------------------------ threads */

/*
 * Returns the task of a thread if it is traced and its process is known, otherwise NULL. If
 * plan.alone is true, only threads of the first process count as traced. If the record of the
 * thread's start was lost, the thread counts as traced if the first thread of its process is
 * traced.
 */
static const struct kernel_task *weave_events_traced(const struct weave *weave, pid_t tid)
{
	const struct kernel *kernel = weave->kernel;
	struct kernel_task *task = kernel_find_task(kernel, tid);
	const struct kernel_task *leader;

	if (!task || !tid)
		return NULL;
	if (!task->is_traced && task->pid) {
		leader = kernel_find_task(kernel, task->pid);
		task->is_traced = leader && leader->is_traced && leader->pid == task->pid;
	}
	if (!task->is_traced || !task->pid || (kernel->plan.alone && task->pid != kernel->pid))
		return NULL;
	return task;
}

/*
 * Notes that a traced thread started another one. The kernel may use a number again, so the
 * function replaces the facts about an earlier thread with the same number.
 */
static void note_new(const struct weave *weave, const struct kernel_record *record)
{
	const struct kernel_task *parent = kernel_find_task(weave->kernel, record->tid);
	struct kernel_task *task = kernel_find_task(weave->kernel, (pid_t)record->other);

	if (!parent || !task)
		return;
	task->is_traced = true;
	task->last_switch = SWITCH_UNKNOWN;
	task->pid = record->detail ? task->tid : parent->pid;
}

/* Notes the state that a thread has after a record. */
static void note_state(const struct weave *weave, const struct kernel_record *record, pid_t pid,
		       pid_t tid, enum kernel_condition condition)
{
	kernel_states_set(&weave->kernel->states, &(struct kernel_state){
		.since_ns = record->time_ns, .pid = pid, .tid = tid, .cpu = record->cpu,
		.condition = (uint8_t)condition });
}

/* ------------------------------------------------------------------ records */

/*
 * Appends an event that a thread left its CPU. If the state of the thread is dead, also appends an
 * event that the thread ended.
 */
static int put_out(struct weave *weave, const struct kernel_record *record,
		   const struct kernel_task *task)
{
	struct kernel_record of = *record;
	struct data data = { .len = 0 };
	int err;

	of.pid = task->pid;
	of.tid = task->tid;
	note_state(weave, record, of.pid, of.tid,
		   record->detail & KERNEL_STATE_DEAD ? KERNEL_CONDITION_OVER :
		   record->detail == KERNEL_STATE_RUNS ? KERNEL_CONDITION_READY :
		   KERNEL_CONDITION_BLOCKED);
	add_u32(&data, record->cpu);
	/*
	 * If a thread leaves the CPU while its state is running, it was preempted and is still
	 * ready to run.
	 */
	add_u8(&data, record->detail == KERNEL_STATE_RUNS);
	add_u8(&data, record->detail);
	add_task(&data, weave->kernel, (pid_t)record->other);
	err = weave_events_put(weave, WEAVE_OUT, &of, 0, data.byte, data.len);
	if (err || !(record->detail & KERNEL_STATE_DEAD))
		return err;
	return weave_events_put(weave, WEAVE_EXIT, &of, 0, data.byte, sizeof(uint32_t));
}

/*
 * Appends an event if the kernel did not record a switch: a thread has left a CPU twice in
 * succession, or got one twice. On some virtual machines the kernel's tracing has no record of one
 * switch in a hundred. No buffer was full, so these switches do not count as lost. The event has
 * the time of the later switch. The missing switch was between the thread's previous event and this
 * time.
 */
static int put_gap(struct weave *weave, const struct kernel_record *record, pid_t tid, int which)
{
	struct kernel_task *task = kernel_find_task(weave->kernel, tid);
	struct kernel_record of = *record;
	struct data data = { .len = 0 };
	const bool is_gap = task && (int)task->last_switch == which;

	if (task)
		task->last_switch = which;
	if (!is_gap)
		return 0;
	of.pid = task->pid;
	of.tid = task->tid;
	add_u32(&data, record->cpu);
	add_u8(&data, which == SWITCH_IN);
	return weave_events_put(weave, WEAVE_GAP, &of, 0, data.byte, data.len);
}

/*
 * Appends sched.out for the thread that left a CPU, and sched.in for the thread that got the CPU,
 * for each of them that is traced. If a switch of this thread is missing, sched.gap precedes the
 * event.
 */
static int put_switch(struct weave *weave, const struct kernel_record *record)
{
	const struct kernel_task *out = weave_events_traced(weave, record->tid);
	const struct kernel_task *in = weave_events_traced(weave, (pid_t)record->other);
	struct kernel_record of = *record;
	struct data data = { .len = 0 };
	int err = out ? put_gap(weave, record, out->tid, SWITCH_OUT) : 0;

	if (!err && out)
		err = put_out(weave, record, out);
	if (!err && in)
		err = put_gap(weave, record, in->tid, SWITCH_IN);
	if (err || !in)
		return err;
	of.pid = in->pid;
	of.tid = in->tid;
	note_state(weave, record, of.pid, of.tid, KERNEL_CONDITION_RUNNING);
	add_u32(&data, record->cpu);
	add_task(&data, weave->kernel, record->tid);
	return weave_events_put(weave, WEAVE_IN, &of, 0, data.byte, data.len);
}

/* Appends the event that a traced thread was woken. */
static int put_wake(struct weave *weave, const struct kernel_record *record)
{
	const struct kernel_task *task = weave_events_traced(weave, (pid_t)record->other);
	struct kernel_record of = *record;
	struct data data = { .len = 0 };
	unsigned context;

	if (!task)
		return 0;
	of.pid = task->pid;
	of.tid = task->tid;
	/* A thread that runs keeps its CPU when it is woken. */
	if (kernel_states_get(&weave->kernel->states, of.tid) != KERNEL_CONDITION_RUNNING)
		note_state(weave, record, of.pid, of.tid, KERNEL_CONDITION_READY);
	add_u32(&data, record->cpu);
	/*
	 * The idle thread, number 0, wakes no thread itself: an interrupt has woken the thread. If
	 * an interrupt woke the thread, the event does not name the thread that was interrupted.
	 */
	context = record->tid ? record->detail : KERNEL_INTERRUPT;
	add_u8(&data, context);
	if (context == KERNEL_INTERRUPT) {
		add_u32(&data, 0);
		add_u32(&data, 0);
		weave_events_add(&data, "interrupt", sizeof("interrupt"));
	} else {
		add_task(&data, weave->kernel, record->tid);
	}
	return weave_events_put(weave, WEAVE_WAKE, &of, 0, data.byte, data.len);
}

int weave_stack(struct weave *weave, uint32_t number, const struct posix_trace_event_np *event)
{
	struct stack *stack = &weave->period->stacks.stack[number];
	const uint64_t *frame = weave->period->stacks.frame + stack->first;
	uint32_t bytes = stack->count * (uint32_t)sizeof(*frame);
	unsigned char data[2 * sizeof(uint32_t) + STACK_FRAMES * sizeof(*frame)];
	struct posix_trace_event_np of = *event;

	int err;

	if (weave->err)
		return 0;
	/* Processes may have equal stacks, but each has functions of its own. */
	err = weave_maps_process(weave, event->info.posix_pid, event->time_ns);
	if (!err)
		err = weave_jit_stack(weave, number, event->info.posix_pid, event->time_ns);

	/* If the log already has the stack, other events only refer to its number. */
	if (err || stack->is_written)
		return err;
	stack->is_written = true;
	memcpy(data, &number, sizeof(number));
	memcpy(data + sizeof(number), &bytes, sizeof(bytes));
	memcpy(data + 2 * sizeof(number), frame, bytes);
	of.info.posix_event_id = weave->id[WEAVE_STACK];
	of.info.posix_prog_address =
		(void *)(uintptr_t)stack_store_top(&weave->period->stacks, number);
	of.info.posix_truncation_status = POSIX_TRACE_NOT_TRUNCATED;
	of.data = data;
	of.data_len = 2 * sizeof(number) + bytes;
	return weave_compose(weave, &of);
}

/* Appends a sample whose stack is in period.stacks. Before the sample, appends its stack. */
static int put_stacked(struct weave *weave, const struct kernel_record *record)
{
	struct posix_trace_event_np event = { .time_ns = record->time_ns };
	struct data data = { .len = 0 };
	pid_t pid = record->pid, tid = record->tid;
	int err;

	kernel_inner_ids(weave->kernel, &pid, &tid);
	event.info.posix_pid = pid;
	event.info.posix_thread_id = pthread_of(weave, pid, tid);
	event.tid = tid;
	err = weave_stack(weave, record->other, &event);
	add_u32(&data, record->cpu);
	add_u32(&data, record->other);
	return err ? err
		   : weave_events_put(weave, WEAVE_SAMPLE, record,
				      stack_store_top(&weave->period->stacks, record->other),
				      data.byte, data.len);
}

/* Appends a sample with the stack that results from its copy. */
static int put_copy(struct weave *weave, const struct kernel_record *record)
{
	struct kernel *kernel = weave->kernel;
	struct kernel_record of = *record;
	pid_t pid = record->pid, tid = record->tid;

	kernel_inner_ids(kernel, &pid, &tid);
	if (kernel->frames &&
	    !kernel_copies_set_stack(weave->period->copies, record->other,
				     &weave->period->raw)) {
		weave->period->lost_memory++;
		return 0;
	}
	of.kind = KERNEL_SAMPLE;
	of.other = weave->unwinder ?
		   kernel_copies_unwind(weave->period->copies, record->other, weave->unwinder,
					&weave->period->stacks, pid, tid, record->time_ns) :
		   kernel_copies_number(weave->period->copies, record->other);
	return put_stacked(weave, &of);
}

/*
 * Appends a sample. The record may have the number of a stack without the names of the kernel's
 * functions. The function replaces it by the number of the same stack with the names. If the stack
 * with the names had no room, the sample is lost.
 */
static int put_sample(struct weave *weave, const struct kernel_record *record)
{
	struct kernel *kernel = weave->kernel;
	struct kernel_record of = *record;

	if (kernel->frames)
		of.other = kernel_frames_number(&weave->period->raw, record->other);
	if (of.other != STACK_NONE)
		return put_stacked(weave, &of);
	weave->period->lost_memory++;
	return 0;
}

/*
 * Appends the event of a record of the kind KERNEL_EVENT. An event that --kernel selects belongs to
 * the thread that was on the CPU.
 */
static int put_event(struct weave *weave, const struct kernel_item *item)
{
	const struct kernel_event *event = &item->event;
	const struct kernel_task *task;
	struct kernel_record of = item->record;

	if (event->type == KERNEL_TYPE_CALL)
		return weave_call(weave, item);
	if (event->type == KERNEL_TYPE_PROBE)
		return weave_traps_put(weave, item);
	if (event->type == KERNEL_TYPE_FAULT || event->type == KERNEL_TYPE_TRAP)
		return weave_events_put(weave, event->type == KERNEL_TYPE_TRAP ? WEAVE_CALL :
					WEAVE_FAULT, &of, event->address, item->data,
					event->bytes);
	task = weave_events_traced(weave, of.tid);
	if (!task)
		return 0;
	of.pid = task->pid;
	return weave_put(weave, weave->kernel_id[event->type], &of, event->address, item->data,
			 event->bytes);
}

/* Appends the event of a function that had not returned. */
static int put_open(struct weave *weave, const struct kernel_record *record)
{
	const struct kernel_call *call = &weave->period->call[record->other];
	struct data data = { .len = 0 };

	weave_events_add(&data, &call->span_ns, sizeof(call->span_ns));
	weave_events_add(&data, &call->function, sizeof(call->function));
	add_u32(&data, call->depth);
	/*
	 * A record of uprobes has process IDs of the recorder's namespace. A record of the library
	 * has those of the traced process's namespace, so they remain as they are.
	 */
	return (weave->kernel->traps ? weave_put : put_as)(weave, weave->id[WEAVE_OPEN], record, 0,
							   data.byte, data.len);
}

/* Appends the event of a record that concerns one thread only, and notes the thread's state. */
static int put_state(struct weave *weave, const struct kernel_record *record, size_t type)
{
	struct data data = { .len = 0 };

	note_state(weave, record, record->pid, record->tid,
		   type == WEAVE_IN ? KERNEL_CONDITION_RUNNING :
		   type == WEAVE_EXIT ? KERNEL_CONDITION_OVER :
		   record->kind == KERNEL_PREEMPTED ? KERNEL_CONDITION_READY :
		   KERNEL_CONDITION_BLOCKED);
	add_u32(&data, record->cpu);
	if (type == WEAVE_OUT)
		add_u8(&data, record->kind == KERNEL_PREEMPTED);
	return weave_events_put(weave, type, record, 0, data.byte, data.len);
}

/*
 * Appends the first kernel event. The event has the precision of the clock, and the way in which
 * the kernel has recorded.
 */
static int put_clock(struct weave *weave, const struct kernel_record *record)
{
	const struct kernel *kernel = weave->kernel;
	struct kernel_record of = *record;
	struct data data = { .len = 0 };
	uint64_t error = (uint64_t)kernel->error_ns;

	weave->has_clock = true;
	of.pid = of.tid = kernel->pid;
	weave_events_add(&data, &error, sizeof(error));
	add_u32(&data, kernel->anchors);
	add_u32(&data, kernel->plan.sample_hz);
	weave_events_add(&data, kernel->way, strlen(kernel->way) + 1);
	return weave_events_put(weave, WEAVE_CLOCK, &of, 0, data.byte, data.len);
}

int weave_states(struct weave *weave)
{
	const struct kernel_states *states = &weave->kernel->states;
	const struct kernel_item *first = kernel_reader_look(&weave->reader);
	struct kernel_record of = { .time_ns = weave->begin_ns };
	int err = 0;

	/*
	 * A record may be older than the begin of this log, because it arrived after the end of the
	 * log before.
	 */
	if (first && first->record.time_ns < of.time_ns)
		of.time_ns = first->record.time_ns;
	if (states->states)
		err = put_clock(weave, &of);
	for (size_t i = 0; !err && i < states->states; i++) {
		const struct kernel_state *state = &states->state[i];
		const int64_t since_ns = of.time_ns - state->since_ns;
		struct data data = { .len = 0 };

		of.pid = state->pid;
		of.tid = state->tid;
		add_u32(&data, state->cpu);
		add_u8(&data, state->condition);
		weave_events_add(&data, &(uint64_t){ since_ns > 0 ? (uint64_t)since_ns : 0 },
				 sizeof(uint64_t));
		err = weave_events_put(weave, WEAVE_STATE, &of, 0, data.byte, data.len);
	}
	/* The next log begins with states of its own, so these events are never lost. */
	memset(weave->put, 0, sizeof(weave->put));
	return err;
}

/* Returns the group whose losses include the event of a record. */
static enum kernel_group group_of(const struct kernel_item *item)
{
	const uint32_t type = item->record.kind == KERNEL_EVENT ? item->event.type : 0;

	return item->record.kind == KERNEL_CALL || type == KERNEL_TYPE_TRAP ||
	       type == KERNEL_TYPE_PROBE ? KERNEL_GROUP_TRAPS :
	       type == KERNEL_TYPE_CALL ? KERNEL_GROUP_CALLS : KERNEL_GROUP_RECORDS;
}

/*
 * Returns whether a record comes from BPF. BPF records only traced processes, so the record need
 * not be checked.
 */
static bool is_from_bpf(const struct kernel_item *item)
{
	const uint32_t type = item->record.kind == KERNEL_EVENT ? item->event.type : 0;

	return type >= KERNEL_TYPE_PROBE && type != KERNEL_TYPE_FAULT;
}

int weave_record(struct weave *weave, const struct kernel_item *item)
{
	const struct kernel_record *record = &item->record;
	int err;

	weave->group = group_of(item);
	if (record->kind == KERNEL_CALL)
		return put_open(weave, record);
	/*
	 * The start of a thread is noted even while the stream does not run, because later records
	 * of the thread may become events.
	 */
	if (record->kind == KERNEL_NEW)
		note_new(weave, record);
	if (record->kind == KERNEL_EVENT && item->event.type == KERNEL_TYPE_CALL)
		weave_calls_note(weave, item);
	/*
	 * Records of the kernel's tracing have no process yet. Records of perf_event_open() and of
	 * BPF have one. If the kernel's tracing is used, too, the records of perf_event_open() are
	 * samples of all threads of the machine. The function drops samples of threads that are not
	 * traced.
	 */
	if (!weave->runs ||
	    (record->pid && weave->kernel->plan.alone && record->pid != weave->kernel->pid) ||
	    (record->pid && weave->kernel->trace && !is_from_bpf(item) &&
	     !weave_events_traced(weave, record->tid)))
		return 0;
	err = weave->has_clock ? 0 : put_clock(weave, record);
	if (err)
		return err;
	switch ((enum kernel_kind)record->kind) {
	case KERNEL_IN:
		return put_state(weave, record, WEAVE_IN);
	case KERNEL_OUT:
	case KERNEL_PREEMPTED:
		return put_state(weave, record, WEAVE_OUT);
	case KERNEL_EXIT:
		return put_state(weave, record, WEAVE_EXIT);
	case KERNEL_SWITCH:
		return put_switch(weave, record);
	case KERNEL_WAKE:
		return put_wake(weave, record);
	case KERNEL_SAMPLE:
		return put_sample(weave, record);
	case KERNEL_COPY:
		return put_copy(weave, record);
	case KERNEL_EVENT:
		return put_event(weave, item);
	case KERNEL_NEW:
	case KERNEL_CALL:
		break;
	}
	return 0;
}
