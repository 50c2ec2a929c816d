/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * perfetto_sched.c - switches and wake-ups of threads as events of the kernel's tracing
 * (ftrace_event_bundle.proto, sched.proto). Readers compute the states of threads from them.
 *
 * The kernel records a switch once: the thread that left a CPU and the thread that got it. A log
 * has an event for each of the two threads that is recorded: sched.out, which this file holds back,
 * and sched.in at the same time. The log has no events of other threads. Another thread is shown
 * only while a recorded thread waits for the CPU that the other thread got. At other times, a CPU
 * without a recorded thread is shown as idle.
 */
#include "convert/viewer/perfetto.h"

#include <errno.h>

#include "base/vec.h"
#include "convert/plain.h"

enum { /* FtraceEventBundle, FtraceEvent, SchedSwitchFtraceEvent, SchedWakingFtraceEvent */
	BUNDLE_CPU = 1,
	BUNDLE_EVENT = 2,
	FTRACE_TIMESTAMP = 1,
	FTRACE_TID = 2,
	FTRACE_SWITCH = 4,
	FTRACE_FLAGS = 5,
	FTRACE_WAKING = 20,
	SWITCH_PREV_TID = 2,
	SWITCH_PREV_STATE = 4,
	SWITCH_NEXT_NAME = 5,
	SWITCH_NEXT_TID = 6,
	WAKING_TID = 2,
};

enum { /* ProcessTree, its messages for a process and a thread */
	TREE_PROCESS = 1,
	TREE_THREAD = 2,
	TREE_PROCESS_PID = 1,
	TREE_PROCESS_NAME = 3,
	TREE_THREAD_TID = 1,
	TREE_THREAD_PID = 3,
	TREE_THREAD_NAME = 2,
};

/* The kernel's flags of a record that an interrupt made, by the value of the field context. */
static const unsigned flags_of_context[] = { 0, 0x10, 0x08 };

/*
 * The kernel's numbers of states. The numbers below 64 are the same in all kernels. The log has the
 * numbers of Linux 4.14 and later. Readers that do not know the kernel expect the numbers of Linux
 * 4.4.
 */
#define STATE_READY    0
#define STATE_SLEEPS   1
#define STATE_DEAD     16
#define STATE_PARKED   64
#define STATE_IDLE     128
#define STATE_PARKED_4 512
#define STATE_IDLE_4   1026

bool perfetto_sched_takes(const struct plan *plan)
{
	switch (plan->kind) {
	case PLAN_IN:
		return plan->key >= 0;
	case PLAN_OUT:
		return plan->key >= 0 && plan->other >= 0;
	case PLAN_WAKE:
		return plan->key >= 0 && plan->other >= 0 && plan->by[1] >= 0;
	case PLAN_EXIT:
		return plan->other >= 0;
	default:
		return false;
	}
}

/*
 * Begins a packet with an event of the kernel on a CPU. The event has the thread that the CPU
 * executed; for a wake-up this is the waker. Readers assume that the kernel's events have times of
 * CLOCK_BOOTTIME, but here these events have the clock of the other packets. So the first event
 * follows a snapshot in which the two clocks are equal.
 */
static int begin_kernel(struct perfetto *perfetto, uint32_t cpu, int64_t time_ns, uint32_t tid,
			size_t open[3])
{
	struct proto *p = &perfetto->packet;
	int err = perfetto->sched.has_clock ? 0 :
		  perfetto_snapshot(perfetto, time_ns, CLOCK_ID_BOOTTIME);

	if (err)
		return err;
	perfetto->sched.has_clock = true;
	open[0] = perfetto_begin_untimed(perfetto);
	open[1] = proto_begin(p, PACKET_FTRACE);
	proto_number(p, BUNDLE_CPU, cpu);
	open[2] = proto_begin(p, BUNDLE_EVENT);
	proto_number(p, FTRACE_TIMESTAMP, (uint64_t)time_ns);
	proto_number(p, FTRACE_TID, tid);
	return 0;
}

static int end_kernel(struct perfetto *perfetto, const size_t open[3])
{
	proto_end(&perfetto->packet, open[2]);
	proto_end(&perfetto->packet, open[1]);
	return perfetto_end(perfetto, open[0]);
}

void perfetto_sched_named(struct perfetto *perfetto, uint32_t pid)
{
	struct thread *process = threads_of(&perfetto->sched.people, pid, 0, 0);

	if (process)
		process->mark = 1;
}

/* Returns whether the trace has a name for a process. */
static bool has_name(struct perfetto *perfetto, uint32_t pid)
{
	const struct thread *process = threads_of(&perfetto->sched.people, pid, 0, 0);

	return process && process->mark;
}

/*
 * Names a thread, which may have no events. The name is written once, or more often if the table is
 * full. The name of the first thread is also the name of its process, unless the trace has another
 * name for the process.
 */
static int put_person(struct perfetto *perfetto, uint32_t pid, uint32_t tid, const char *name,
		      int64_t time_ns)
{
	struct thread *known = pid && tid ? threads_of(&perfetto->sched.people, pid, tid, 0) : NULL;
	struct proto *p = &perfetto->packet;
	size_t packet, tree, inner;

	if (!pid || !tid || (known && known->mark))
		return 0;
	if (known)
		known->mark = 1;
	packet = perfetto_begin(perfetto, time_ns);
	tree = proto_begin(p, PACKET_PROCESS_TREE);
	inner = proto_begin(p, TREE_PROCESS);
	proto_number(p, TREE_PROCESS_PID, pid);
	if (pid == tid && *name && !has_name(perfetto, pid))
		proto_text(p, TREE_PROCESS_NAME, name);
	proto_end(p, inner);
	inner = proto_begin(p, TREE_THREAD);
	proto_number(p, TREE_THREAD_TID, tid);
	proto_number(p, TREE_THREAD_PID, pid);
	if (*name)
		proto_text(p, TREE_THREAD_NAME, name);
	proto_end(p, inner);
	proto_end(p, tree);
	return perfetto_end(perfetto, packet);
}

/*
 * Writes that the thread "next" got a CPU. If "next" is 0, no thread has the CPU. "name" may be
 * empty.
 */
static int put_switch(struct perfetto *perfetto, uint32_t cpu, int64_t time_ns, uint32_t prev,
		      uint64_t state, uint32_t next, const char *name)
{
	struct proto *p = &perfetto->packet;
	size_t open[3], inner;
	int err = begin_kernel(perfetto, cpu, time_ns, prev, open);

	if (err)
		return err;
	inner = proto_begin(p, FTRACE_SWITCH);
	proto_number(p, SWITCH_PREV_TID, prev);
	proto_number(p, SWITCH_PREV_STATE, state);
	if (*name)
		proto_text(p, SWITCH_NEXT_NAME, name);
	proto_number(p, SWITCH_NEXT_TID, next);
	proto_end(p, inner);
	perfetto->sched.cpu[cpu] = (struct perfetto_cpu){ .now = next };
	return end_kernel(perfetto, open);
}

/*
 * Writes that a thread has left the CPU: the thread that got it by the last switch of this CPU. The
 * state of the thread is not known. The function writes that the thread sleeps, because a thread in
 * the state ready would seem to wait for a CPU.
 */
static int leave_other(struct perfetto *perfetto, uint32_t cpu, int64_t time_ns)
{
	return put_switch(perfetto, cpu, time_ns, perfetto->sched.cpu[cpu].now, STATE_SLEEPS, 0,
			  "");
}

/*
 * Called when a thread has got a CPU: corrects other CPUs that concern this thread. There are two
 * cases. The thread has waited for another CPU: then the thread to which it lost that CPU is no
 * longer shown. Or the log lacks the event by which the thread left another CPU: then the thread
 * leaves that CPU at this time.
 */
static int leave_others(struct perfetto *perfetto, uint32_t tid, uint32_t cpu, int64_t time_ns)
{
	const struct perfetto_sched *sched = &perfetto->sched;
	int err = 0;

	for (uint32_t i = 0; !err && i < sched->cpus; i++)
		if (i != cpu && (sched->cpu[i].now == tid || sched->cpu[i].waiter == tid))
			err = leave_other(perfetto, i, time_ns);
	return err;
}

/* Writes the switch that is held back. is_next is true if the next thread is recorded. */
static int write_out(struct perfetto *perfetto, bool is_next)
{
	struct perfetto_out *out = &perfetto->sched.out;
	uint32_t next = is_next || out->is_preempted ? out->next_tid : 0;
	struct perfetto_cpu *cpu;
	int err = 0;

	if (!out->is_held)
		return 0;
	out->is_held = false;
	cpu = &perfetto->sched.cpu[out->cpu];
	/*
	 * If cpu->now is not this thread, the log lacks the event by which this thread got the CPU.
	 * The time of that event is unknown, so this thread gets the CPU at the time at which it
	 * leaves the CPU.
	 */
	if (cpu->now != out->tid)
		err = leave_others(perfetto, out->tid, out->cpu, out->time_ns);
	if (!err && cpu->now != out->tid)
		err = put_switch(perfetto, out->cpu, out->time_ns, cpu->now,
				 cpu->now ? STATE_SLEEPS : STATE_READY, out->tid, "");
	if (!err && next && !is_next)
		err = put_person(perfetto, out->next_pid, next, out->next, out->time_ns);
	if (!err)
		err = put_switch(perfetto, out->cpu, out->time_ns, out->tid, out->state, next,
				 next && !is_next ? out->next : "");
	if (next && !is_next)
		cpu->waiter = out->tid;
	return err;
}

int perfetto_sched_end(struct perfetto *perfetto)
{
	return write_out(perfetto, false);
}

/*
 * Handles a thread that got a CPU. Packets with equal times remain in the order of the file, so the
 * thread leaves other CPUs before it gets this CPU by the held switch.
 */
static int enter_cpu(struct perfetto *perfetto, const struct fmt_event *event, uint32_t cpu)
{
	struct perfetto_sched *sched = &perfetto->sched;
	const struct perfetto_out *out = &sched->out;
	bool is_next = out->is_held && out->cpu == cpu && out->time_ns == event->time_ns &&
		       (!out->next_tid || out->next_tid == event->tid);
	int err = is_next ? 0 : write_out(perfetto, false);

	if (is_next)
		sched->out.next_tid = event->tid;
	if (!err)
		err = leave_others(perfetto, event->tid, cpu, event->time_ns);
	if (!err)
		err = write_out(perfetto, is_next);
	if (err || sched->cpu[cpu].now == event->tid)
		return err;
	return put_switch(perfetto, cpu, event->time_ns, sched->cpu[cpu].now,
			  sched->cpu[cpu].now ? STATE_SLEEPS : STATE_READY, event->tid, "");
}

/*
 * Stores at most 16 bytes of the text of the last field, which may have any bytes, as plain UTF-8.
 */
static void copy_name(const struct fmt_event *event, char name[PERFETTO_COMM])
{
	const struct posix_trace_schema_np *schema = event->type->fields;
	struct posix_trace_value_np value;

	*name = '\0';
	if (posix_trace_field_get_np(schema, schema->fields - 1, 0, event->data, event->data_len, 0,
				     &value) &&
	    value.field->type == POSIX_TRACE_TYPE_STR_NP)
		plain_text(name, value.data, value.len < 16 ? value.len : 16, NULL);
}

/* Returns the state in which a thread left a CPU, by the numbers that readers expect. */
static uint64_t state_of(uint64_t reason, bool has_state, uint64_t state)
{
	if (reason)
		return STATE_READY;
	/*
	 * A record of perf_event_open() does not have the kind of wait. Most waits can be
	 * interrupted.
	 */
	if (!has_state)
		return STATE_SLEEPS;
	if (state == STATE_PARKED)
		return STATE_PARKED_4;
	if (state == STATE_IDLE)
		return STATE_IDLE_4;
	state &= STATE_PARKED - 1;
	return state ? state : STATE_SLEEPS;
}

/* Handles a thread that left a CPU. */
static int leave_cpu(struct perfetto *perfetto, const struct fmt_event *event,
		     const struct plan *plan, uint32_t cpu)
{
	struct perfetto_out *out = &perfetto->sched.out;
	int err = write_out(perfetto, false);

	*out = (struct perfetto_out){
		.is_held = true, .cpu = cpu, .tid = event->tid, .time_ns = event->time_ns,
		.is_preempted = perfetto_field(perfetto, event, plan->key),
		.next_pid = (uint32_t)perfetto_field(perfetto, event, plan->by[0]),
		.next_tid = (uint32_t)perfetto_field(perfetto, event, plan->by[1]),
	};
	out->state = state_of(out->is_preempted, plan->more >= 0,
			      perfetto_field(perfetto, event, plan->more));
	if (out->next_tid)
		copy_name(event, out->next);
	return err;
}

/*
 * Handles a wake-up. If the log has no waker, an interrupt woke the thread, and readers show the
 * idle thread as the waker.
 */
static int wake_thread(struct perfetto *perfetto, const struct fmt_event *event,
		       const struct plan *plan, uint32_t cpu)
{
	const uint64_t context = perfetto_field(perfetto, event, plan->key);
	const uint32_t by_pid = (uint32_t)perfetto_field(perfetto, event, plan->by[0]);
	const uint32_t by_tid = (uint32_t)perfetto_field(perfetto, event, plan->by[1]);
	struct proto *p = &perfetto->packet;
	size_t open[3], inner;
	char name[PERFETTO_COMM];
	int err = write_out(perfetto, false);

	copy_name(event, name);
	if (!err)
		err = put_person(perfetto, by_pid, by_tid, name, event->time_ns);
	if (!err)
		err = begin_kernel(perfetto, cpu, event->time_ns, by_tid, open);
	if (err)
		return err;
	if (context && context < sizeof(flags_of_context) / sizeof(*flags_of_context))
		proto_number(p, FTRACE_FLAGS, flags_of_context[context]);
	inner = proto_begin(p, FTRACE_WAKING);
	proto_number(p, WAKING_TID, event->tid);
	proto_end(p, inner);
	return end_kernel(perfetto, open);
}

/*
 * Handles the end of a thread. perf_event_open() does not record the last switch of a thread. With
 * other sources, the thread has left the CPU before, or leaves it later.
 */
static int end_thread(struct perfetto *perfetto, const struct fmt_event *event, uint32_t cpu)
{
	int err = write_out(perfetto, false);

	return err || perfetto->sched.cpu[cpu].now != event->tid ? err :
	       put_switch(perfetto, cpu, event->time_ns, event->tid, STATE_DEAD, 0, "");
}

int perfetto_sched_event(struct perfetto *perfetto, const struct fmt_event *event, bool *is_shown)
{
	const struct plan *plan = &perfetto->kind[event->type->index].plan;
	const uint64_t cpu = perfetto_field(perfetto, event, plan->kind == PLAN_IN ? plan->key :
					    plan->other);

	*is_shown = cpu < PERFETTO_CPUS && event->tid;
	if (!*is_shown)
		return 0;
	if (!vec_reach(&perfetto->sched.cpu, &perfetto->sched.cpus, (size_t)cpu))
		return ENOMEM;
	switch (plan->kind) {
	case PLAN_IN:
		return enter_cpu(perfetto, event, (uint32_t)cpu);
	case PLAN_OUT:
		return leave_cpu(perfetto, event, plan, (uint32_t)cpu);
	case PLAN_WAKE:
		return wake_thread(perfetto, event, plan, (uint32_t)cpu);
	default:
		*is_shown = false;
		return end_thread(perfetto, event, (uint32_t)cpu);
	}
}

void perfetto_sched_fini(struct perfetto_sched *sched)
{
	free(sched->cpu);
	threads_fini(&sched->people);
}
