/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * kernel.c - chooses the way in which the kernel records. Keeps the records, and finds their times
 * and their threads.
 */
#include "live/kernel.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/procfile.h"
#include "base/say.h"
#include "base/tool.h"
#include "base/vec.h"
#include "live/kernel_copies.h"
#include "live/kernel_frames.h"
#include "live/kernel_part.h"
#include "live/kernel_traps.h"
#include "live/kernel_types.h"
#include "syscalls/syscalls.h"

#define SLOW_LOOK_MS 50 /* the time between two looks if the kernel's memory lasts longer */

/*
 * Returns the time of a clock. The result of clock_gettime() is not checked, because it cannot fail
 * for the clocks that are used here.
 */
static int64_t clock_ns(clockid_t clock)
{
	struct timespec time;

	clock_gettime(clock, &time);
	return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

/* ------------------------------------------------------------------ times */

/*
 * Reads the clock of the kernel's records. The fences keep this reading in order with the readings
 * of the other clocks.
 */
static uint64_t read_ticks(const struct kernel *kernel)
{
#if defined __x86_64__
	if (kernel->is_counter) {
		uint64_t ticks;

		__builtin_ia32_lfence();
		ticks = __builtin_ia32_rdtsc();
		__builtin_ia32_lfence();
		return ticks;
	}
#endif
	(void)kernel;
	return (uint64_t)clock_ns(CLOCK_MONOTONIC);
}

/* Returns the nanoseconds of a tick, measured from the previous look to this look. */
static double tick_ns(const struct kernel *kernel)
{
	int64_t ticks = (int64_t)(kernel->now.ticks - kernel->before.ticks);

	if (!kernel->is_counter || ticks <= 0)
		return 1;
	return (double)(kernel->now.monotonic_ns - kernel->before.monotonic_ns) / (double)ticks;
}

/*
 * Measures the clocks several times and uses the fastest measurement, since the thread may lose its
 * processor between two readings. The width of a measurement includes the readings of both other
 * clocks. error_ns keeps the greatest error of all looks.
 */
static void take_anchor(struct kernel *kernel)
{
	struct kernel_anchor best = { .width = UINT64_MAX };
	double error;

	for (int i = 0; i < 5; i++) {
		struct kernel_anchor anchor = { .ticks = read_ticks(kernel) };

		anchor.realtime_ns = clock_ns(CLOCK_REALTIME);
		anchor.monotonic_ns = clock_ns(CLOCK_MONOTONIC);
		anchor.width = read_ticks(kernel) - anchor.ticks;
		anchor.ticks += anchor.width / 2;
		if (anchor.width < best.width)
			best = anchor;
	}
	kernel->before = kernel->anchors++ ? kernel->now : best;
	kernel->now = best;
	error = (double)best.width / 2 * tick_ns(kernel);
	if (kernel->anchors > 1 && error > (double)kernel->error_ns)
		kernel->error_ns = (int64_t)error;
}

/*
 * Converts ticks by the line through the last two anchors. If CLOCK_REALTIME was set between the
 * two anchors, this line has a wrong slope. The rate of CLOCK_MONOTONIC is then used, from the last
 * anchor on.
 */
static int64_t time_of(const struct kernel *kernel, uint64_t ticks)
{
	const struct kernel_anchor *now = &kernel->now, *before = &kernel->before;
	double passed = (double)(int64_t)(ticks - now->ticks);
	double real = (double)(now->realtime_ns - before->realtime_ns);
	double monotonic = (double)(now->monotonic_ns - before->monotonic_ns);
	double rate = tick_ns(kernel);

	if (now->ticks > before->ticks && real > monotonic * 0.99 - 2000 &&
	    real < monotonic * 1.01 + 2000)
		rate = real / (double)(now->ticks - before->ticks);
	return now->realtime_ns + (int64_t)(passed * rate);
}

int64_t kernel_monotonic_time(const struct kernel *kernel, uint64_t ns)
{
	return kernel->is_counter ?
	       (int64_t)ns + kernel->now.realtime_ns - kernel->now.monotonic_ns :
	       time_of(kernel, ns);
}

/*
 * Keeps a record whose time_ns is set. 'event' and 'data' have the same meaning as for
 * kernel_store_keep().
 */
static void kernel_keep(struct kernel *kernel, struct kernel_record record,
			const struct kernel_event *event, const void *data)
{
	/*
	 * lost_memory counts records for which this process has no room. The kernel counts its own
	 * losses.
	 */
	if (!kernel_store_keep(&kernel->period.store, &record, event, data))
		kernel->period.lost_memory++;
	/* The number in the inner namespace is looked up now, because the thread may end soon. */
	if (kernel->has_inner_ids && record.tid > 0)
		kernel_note_task(kernel, record.tid, NULL);
}

void kernel_add(struct kernel *kernel, struct kernel_record record, uint64_t ticks)
{
	record.time_ns = time_of(kernel, ticks);
	kernel_keep(kernel, record, NULL, NULL);
}

void kernel_add_monotonic(struct kernel *kernel, struct kernel_record record, uint64_t ns)
{
	record.time_ns = kernel_monotonic_time(kernel, ns);
	kernel_keep(kernel, record, NULL, NULL);
}

void kernel_add_event(struct kernel *kernel, struct kernel_record record, uint64_t ticks,
		      struct kernel_event event, const void *data)
{
	record.kind = KERNEL_EVENT;
	/*
	 * perf_event_open() reports page faults, and BPF reports system calls and functions. Both
	 * use times of CLOCK_MONOTONIC. The kernel's tracing reports all other events.
	 */
	record.time_ns = event.type >= KERNEL_TYPE_PROBE ? kernel_monotonic_time(kernel, ticks) :
			 time_of(kernel, ticks);
	kernel_keep(kernel, record, &event, data);
}

/* ------------------------------------------------------------------ threads */

/* Compares a task with a key, for table_find(). */
static bool is_task(const void *array, uint32_t index, const void *key)
{
	return ((const struct kernel_task *)array)[index].tid == *(const pid_t *)key;
}

struct kernel_task *kernel_find_task(const struct kernel *kernel, pid_t tid)
{
	uint32_t index = table_find(&kernel->of_task, hash_number(HASH_BEGIN, (unsigned)tid),
				    is_task, kernel->task, &tid);

	return index == TABLE_NONE ? NULL : &kernel->task[index];
}

bool kernel_is_recorded(const struct kernel *kernel, pid_t tid)
{
	const struct kernel_task *task = kernel_find_task(kernel, tid);

	return task && task->is_begun;
}

pid_t kernel_inner_process(const struct kernel *kernel, pid_t pid)
{
	const struct kernel_task *task =
		kernel->has_inner_ids ? kernel_find_task(kernel, pid) : NULL;

	return task && task->inner_pid ? task->inner_pid : pid;
}

void kernel_inner_ids(const struct kernel *kernel, pid_t *pid, pid_t *tid)
{
	const struct kernel_task *task =
		kernel->has_inner_ids ? kernel_find_task(kernel, *tid) : NULL;

	if (!task || !task->inner_pid || !task->inner_tid)
		return;
	*pid = task->inner_pid;
	*tid = task->inner_tid;
}

/*
 * Looks up a thread in /proc. If the thread has ended, its task has only the name that the caller
 * knows. The thread with the number 0 is the idle thread, which runs when a CPU has nothing to do.
 */
static void look_up(struct kernel_task *task)
{
	char path[40], text[PROCFILE_BYTES];
	const char *name;

	if (!task->tid) {
		memcpy(task->name, "idle", sizeof("idle"));
		return;
	}
	snprintf(path, sizeof(path), "/proc/%d/status", (int)task->tid);
	if (!procfile_read(path, text, sizeof(text)))
		return;
	task->pid = (pid_t)procfile_number(text, "Tgid:", 10, 0);
	task->inner_tid = procfile_last_number(text, "NSpid:");
	task->inner_pid = procfile_last_number(text, "NStgid:");
	name = procfile_field(text, "Name:");
	if (name && !*task->name)
		snprintf(task->name, sizeof(task->name), "%.*s", (int)strcspn(name, "\n"), name);
}

void kernel_note_task(struct kernel *kernel, pid_t tid, const char *name)
{
	struct kernel_task *task = kernel_find_task(kernel, tid);

	if (!task) {
		/*
		 * If there is no room for a further task, the thread has no name, and its process
		 * is not known.
		 */
		if (kernel->tasks == KERNEL_TASKS || !vec_grow(&kernel->task, kernel->tasks, 1) ||
		    !table_add(&kernel->of_task, hash_number(HASH_BEGIN, (unsigned)tid),
			       (uint32_t)kernel->tasks))
			return;
		task = &kernel->task[kernel->tasks++];
		*task = (struct kernel_task){ .tid = tid };
		if (name)
			memcpy(task->name, name, KERNEL_NAME - 1);
		look_up(task);
	} else if (name && tid) {
		memcpy(task->name, name, KERNEL_NAME - 1);
	}
}

/* ------------------------------------------------------------------ the recording */

/* Prints why the kernel refuses, and the next step. Returns TOOL_FAILURE. */
static int say_refused(int err)
{
	if (err == EACCES || err == EPERM)
		say("the kernel does not permit to record when threads run: see "
		    "/proc/sys/kernel/perf_event_paranoid (above 2 only root may); "
		    "all else works without --sched and --sample");
	else if (err == EMFILE)
		say("recording when threads run needs more descriptors: %s",
		    say_strerror(err));
	else
		say("the kernel cannot record when threads run: %s", say_strerror(err));
	return TOOL_FAILURE;
}

static int begin_plan(struct kernel *kernel, const struct kernel_plan *plan, pid_t pid,
		      bool starts)
{
	const char *wish = getenv("POSIXTRACE_KERNEL"), *why = NULL;
	int err = 0;

	*kernel = (struct kernel){
		.plan = *plan, .pid = pid, .jit_place = jit_place_begin(pid),
		.starts = starts, .has_inner_ids = !procfile_same_ids(getpid(), pid),
	};
	if (kernel->has_inner_ids)
		kernel_note_task(kernel, pid, NULL);
	if (plan->sample_stack && !kernel_copies_has()) {
		say("--sample-stack: this build or processor does not support it");
		return TOOL_FAILURE;
	}
	if (kernel_has_calls(plan) || kernel_has_traps(plan)) {
		if (kernel_calls_begin(kernel))
			return TOOL_FAILURE;
		kernel->is_active = true;
		snprintf(kernel->way, sizeof(kernel->way), "%s%s%s",
			 kernel_has_calls(plan) ? "system calls by BPF" : "",
			 kernel_has_calls(plan) && kernel_has_traps(plan) ? ", " : "",
			 kernel_has_traps(plan) ? "functions by uprobes" : "");
	}
	/* Without --sched, --sample and --kernel, nothing more must be opened. */
	if (!kernel_is_wanted(plan)) {
		if (kernel->is_active)
			take_anchor(kernel);
		return TOOL_OK;
	}
	if (plan->sample_stack && !(kernel->period.copies = kernel_copies_begin()))
		return TOOL_FAILURE;
	if (plan->sample_hz)
		kernel->frames = kernel_frames_begin();
	/*
	 * With --sched, but without --kernel, perf_event_open() is used, because it misses no
	 * switch. The kernel's tracing misses some switches on some virtual machines. --kernel
	 * needs the kernel's tracing. With --sample alone, the tracing is tried first: it only has
	 * to report the start of each thread.
	 */
	if (wish && strcmp(wish, "perf") == 0)
		why = "POSIXTRACE_KERNEL";
	else if ((wish && strcmp(wish, "tracefs") == 0) || plan->globs || !plan->sched)
		err = kernel_trace_begin(kernel, &why);
	/* If the result is EINVAL, kernel_trace_begin() has printed the error. */
	if (err == EINVAL)
		return TOOL_FAILURE;
	if (!kernel->trace && plan->globs) {
		say("--kernel needs the kernel's tracing, tracefs: %s", why);
		return TOOL_FAILURE;
	}
	if (!kernel->trace)
		snprintf(kernel->way, sizeof(kernel->way), "perf_event_open%s%s%s",
			 why ? " (no tracefs: " : "", why ? why : "", why ? ")" : "");
	kernel->is_active = true;
	take_anchor(kernel);
	err = kernel->trace && !plan->sample_hz ? 0 :
	      kernel_perf_begin(kernel, plan->sched && !kernel->trace, pid, starts);
	if (!err && plan->sample_hz && !starts)
		kernel_maps_read(&kernel->maps, pid, kernel->now.realtime_ns);
	return err ? say_refused(err) : TOOL_OK;
}

int kernel_begin(struct kernel *kernel, const struct kernel_plan *plan, pid_t pid, bool starts)
{
	struct kernel_plan rest = *plan;
	int status = begin_plan(kernel, plan, pid, starts);

	if (!status || !plan->is_optional)
		return status;
	say("so the log will lack the times at which threads ran%s", plan->sample_hz ?
	    ", and samples" : "");
	kernel_fini(kernel);
	rest.sched = rest.sample_stack = false;
	rest.sample_hz = 0;
	return begin_plan(kernel, &rest, pid, starts);
}

/*
 * Each look costs processor time, even if the kernel has no record. The memory of perf_event_open()
 * needs no frequent looks if kernel_wake() reports that it is filling, and that of the tracing if
 * it is large. Looks are frequent in two more cases. The memory for calls does not report that it
 * is filling. A thread that has other numbers in its own namespace of process IDs must be looked up
 * before it ends.
 */
int kernel_look_ms(const struct kernel *kernel)
{
	return kernel->syscalls || kernel->has_inner_ids || (kernel->cpus && !kernel->has_wake) ||
	       (kernel->trace && !kernel_trace_is_large(kernel)) ? KERNEL_LOOK_MS : SLOW_LOOK_MS;
}

int kernel_wake(const struct kernel *kernel)
{
	return kernel->has_wake ? kernel->wake : -1;
}

void kernel_look(struct kernel *kernel)
{
	if (!kernel->is_active)
		return;
	/*
	 * Each look measures the difference of the clocks anew, because a clock may have been set.
	 */
	take_anchor(kernel);
	kernel_perf_mark(kernel);
	if (kernel->trace)
		kernel_trace_look(kernel);
	kernel_perf_look(kernel);
	kernel_frames_look(kernel->frames, &kernel->period.raw);
	kernel_calls_look(kernel);
}

/* ------------------------------------------------------------------ periods */

/* Returns how much a sum has grown since the last call, and keeps the sum in *counted. */
static uint64_t growth_of(uint64_t sum, uint64_t *counted)
{
	const uint64_t growth = sum > *counted ? sum - *counted : 0;

	*counted += growth;
	return growth;
}

/* Adds the losses since the last call to the present period. */
static void count_lost(struct kernel *kernel)
{
	struct kernel_period *period = &kernel->period;

	period->lost_full += growth_of(kernel_perf_lost(kernel) +
				       (kernel->trace ? kernel_trace_lost(kernel) : 0),
				       &kernel->counted_full);
	if (kernel->syscalls) {
		period->lost_syscalls += growth_of(syscalls_lost(kernel->syscalls,
								 SYSCALLS_LOST_CALLS),
						   &kernel->counted_syscalls);
		period->lost_traps += growth_of(syscalls_lost(kernel->syscalls,
							      SYSCALLS_LOST_TRAPS),
						&kernel->counted_traps);
	}
	if (kernel->traps)
		period->lost_calls += growth_of(kernel->traps->match.lost,
						&kernel->counted_calls);
}

/* Reads all records that the kernel has now, and completes the present period with them. */
static void complete_period(struct kernel *kernel)
{
	kernel_look(kernel);
	kernel_frames_complete(kernel->frames, &kernel->period.raw, &kernel->period.stacks);
	count_lost(kernel);
}

void kernel_cut(struct kernel *kernel, bool goes_on, struct kernel_period *period)
{
	const bool has_copies = kernel->period.copies;

	if (kernel->is_active && goes_on)
		complete_period(kernel);
	*period = kernel->period;
	kernel->period = (struct kernel_period){ .calls = 0 };
	/*
	 * If kernel_copies_begin() fails, it prints the error, and the later samples have no copies
	 * of stacks.
	 */
	if (has_copies && goes_on)
		kernel->period.copies = kernel_copies_begin();
}

/* Removes the tasks of threads that have ended, and makes the table of the rest. */
static void clean_tasks(struct kernel *kernel)
{
	size_t count = 0;

	table_fini(&kernel->of_task);
	for (size_t i = 0; i < kernel->tasks; i++) {
		struct kernel_task *task = &kernel->task[i];

		task->absences = kernel_absences(task->tid, task->absences);
		/* If memory is lacking, the thread is looked up again when a record has it. */
		if (task->absences < KERNEL_ABSENCES &&
		    table_add(&kernel->of_task, hash_number(HASH_BEGIN, (unsigned)task->tid),
			      (uint32_t)count))
			kernel->task[count++] = *task;
	}
	kernel->tasks = count;
}

void kernel_clean(struct kernel *kernel)
{
	clean_tasks(kernel);
	kernel_maps_clean(&kernel->maps);
}

void kernel_period_fini(struct kernel_period *period)
{
	kernel_store_fini(&period->store);
	stack_store_fini(&period->stacks);
	kernel_raw_fini(&period->raw);
	kernel_copies_end(period->copies);
	free(period->call);
	*period = (struct kernel_period){ .calls = 0 };
}

/* The kernel stops recording before the last look, so that this look gets all records. */
void kernel_stop(struct kernel *kernel)
{
	kernel_calls_stop(kernel);
	kernel_perf_stop(kernel);
	if (kernel->trace)
		kernel_trace_stop(kernel);
	complete_period(kernel);
	kernel_traps_complete(kernel);
}

void kernel_fini(struct kernel *kernel)
{
	kernel_calls_fini(kernel);
	kernel_perf_fini(kernel);
	if (kernel->trace)
		kernel_trace_fini(kernel);
	kernel_period_fini(&kernel->period);
	kernel_states_fini(&kernel->states);
	weave_callers_end(kernel->callers);
	free(kernel->task);
	free(kernel->type);
	kernel_maps_fini(&kernel->maps);
	kernel_frames_end(kernel->frames);
	jit_place_end(&kernel->jit_place);
	table_fini(&kernel->of_task);
	*kernel = (struct kernel){ .cpus = 0 };
}
