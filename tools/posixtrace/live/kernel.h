/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * kernel.h - the kernel's records of traced threads: the times at which each thread had a CPU,
 * which thread woke it, and samples of the function that it executed.
 *
 * There are two ways to get these records. With --kernel or POSIXTRACE_KERNEL=tracefs, a privileged
 * user gets a separate instance of the kernel's tracing. Its records have stamps of the same
 * counter as the program's events, and show which thread woke a thread (kernel_trace.c). Otherwise
 * perf_event_open(2) records the user's own processes, if perf_event_paranoid is not above 2
 * (kernel_perf.c). In both cases perf_event_open(2) delivers the samples.
 *
 * This process keeps the records until the end (kernel_store.h). kernel_weave() then writes the log
 * again, with these events at their places. The ledger counts as lost the events for which the
 * kernel or this process had no room.
 *
 * The kernel stamps its records by a counter or by CLOCK_MONOTONIC. A look is a call of
 * kernel_look(). Each look reads that clock and CLOCK_REALTIME. The straight line through the
 * readings of two looks gives the times of the records. The error is half of the time that a
 * reading takes; the event sched.clock reports it.
 */
#ifndef POSIXTRACE_LIVE_KERNEL_H
#define POSIXTRACE_LIVE_KERNEL_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/option.h"
#include "base/table.h"
#include "choose/choose.h"
#include "functions/traps.h"
#include "live/jit_map.h"
#include "live/kernel_frames.h"
#include "live/kernel_maps.h"
#include "live/kernel_states.h"
#include "live/kernel_store.h"
#include "live/stack_plan.h"
#include "live/stack_store.h"

#define KERNEL_TASKS   1000000
#define KERNEL_NAME    16 /* bytes of a thread's name in the kernel, with its NUL */

/*
 * Records with the same time are sorted in the order of these kinds, so that a thread leaves a CPU
 * before another one gets it. The comments quote the members of struct kernel_record.
 */
enum kernel_kind {
	KERNEL_OUT, KERNEL_PREEMPTED, KERNEL_EXIT, KERNEL_IN,
	KERNEL_NEW,      /* "tid" started "other"; "detail": 1 for a new process */
	KERNEL_SWITCH,   /* "tid" left the CPU in the state "detail"; "other" got it */
	KERNEL_WAKE,     /* "tid" woke "other"; "detail": enum kernel_context */
	KERNEL_SAMPLE,   /* "other": number of the stack */
	KERNEL_COPY,     /* a sample with a copy of its stack; "other": index of the copy */
	KERNEL_EVENT,    /* the record has a struct kernel_event, and data */
	KERNEL_CALL      /* "other": index in kernel.call */
};

enum kernel_context { KERNEL_THREAD, KERNEL_SOFTIRQ, KERNEL_INTERRUPT };

/* States of a thread that leaves a CPU, as sched_switch has them. */
#define KERNEL_STATE_RUNS  0u
#define KERNEL_STATE_DEAD  0x30u /* the bits EXIT_DEAD and EXIT_ZOMBIE of the kernel */
#define KERNEL_STATE_MASK  0xffu

/*
 * A thread that a record of the kernel's tracing names: a traced thread, or a thread that woke a
 * traced thread or followed it on a CPU.
 */
struct kernel_task {
	pid_t tid, pid;        /* pid: 0 if it had ended before this process looked */
	/* The numbers in its own namespace of process IDs; 0: unknown */
	pid_t inner_tid, inner_pid;
	bool is_traced;
	/*
	 * the thread that has this number now is recorded: it was found at the beginning, or a
	 * record shows that a recorded thread started it
	 */
	bool is_begun;
	uint8_t absences;      /* of kernel_absences() */
	/*
	 * The last switch of the thread. kernel_weave(), which reads the records in order of time,
	 * sets this member.
	 */
	enum { SWITCH_UNKNOWN, SWITCH_IN, SWITCH_OUT } last_switch;
	char name[KERNEL_NAME];
};

/*
 * A call of a function that had not returned when its process or the trace ended (open_calls.h).
 * This entry is not from a record of the kernel.
 */
struct kernel_call {
	uint64_t function, span_ns;
	uint32_t depth;
};

#define KERNEL_TYPE_FAULT UINT32_MAX       /* a sample of page faults */
#define KERNEL_TYPE_CALL  (UINT32_MAX - 1) /* a record of a system call: syscalls/syscalls.h */
#define KERNEL_TYPE_TRAP  (UINT32_MAX - 2) /* a call of a function: the data of func.call */
/*
 * An event of a probe of plan.traps, or of a function whose arguments are recorded. The index of
 * its type, which has 4 bytes, precedes its data.
 */
#define KERNEL_TYPE_PROBE (UINT32_MAX - 3)

/* The processes of which the kernel records system calls. */
enum kernel_calls {
	/* no option decides; if the library cannot enter, enter_by_kernel() replaces this value */
	KERNEL_CALLS_AUTO,
	KERNEL_CALLS_NONE,
	KERNEL_CALLS_UNSEEN, /* the processes that the library cannot enter */
	/* all processes; if the library has entered a process, its calls become sys.NAME */
	KERNEL_CALLS_ALL
};

struct kernel_plan {
	const char **glob;  /* of --kernel, in the array of the command line */
	size_t globs;
	bool sched;
	bool is_optional;   /* if states and samples cannot be recorded, the rest is recorded */
	unsigned sample_hz; /* 0: no samples */
	bool sample_stack;  /* each sample has a copy of the stack, which is unwound at the end */
	bool alone;         /* only the process itself, not those that it starts */
	enum kernel_calls calls;
	bool has_library;   /* the preload library is in the process, or will be */
	const struct choose *choose; /* chooses the types of calls; NULL: all types */
	const char *families;        /* of --trace, with data=BYTES; NULL: the default */
	struct stack_plan stack;
	const struct traps *traps;   /* functions that the kernel records; NULL: none */
};

/*
 * The rows for --sched, --sample and --kernel of the commands record and attach. The values of
 * these options are above those of the commands' own options.
 */
extern const struct option_row kernel_rows[];

/*
 * Processes an option. Returns 1 if the option was processed, 0 if it is not one of kernel_rows, or
 * -1 after an error was printed.
 */
int kernel_take_option(struct kernel_plan *plan, int option, const char *arg);

/* Returns whether the plan needs the kernel's records of threads. */
static inline bool kernel_is_wanted(const struct kernel_plan *plan)
{
	return plan->sched || plan->sample_hz || plan->globs;
}

static inline bool kernel_chooses(const struct kernel_plan *plan, const char *type)
{
	return !plan->choose || choose_type(plan->choose, type);
}

static inline bool kernel_has_calls(const struct kernel_plan *plan)
{
	return plan->calls == KERNEL_CALLS_UNSEEN || plan->calls == KERNEL_CALLS_ALL;
}

static inline bool kernel_has_traps(const struct kernel_plan *plan)
{
	return plan->traps && (plan->traps->traps || plan->traps->is_forced);
}

/*
 * Returns whether the log is written again at the end, with events of the kernel or with stacks.
 * The function ignores plan->traps, whose functions also need such a log: see enter_allow_traps().
 */
static inline bool kernel_weaves(const struct kernel_plan *plan)
{
	return kernel_is_wanted(plan) || kernel_has_calls(plan) || plan->stack.globs;
}

/* One moment on the clocks of the kernel's records and of the log. */
struct kernel_anchor {
	uint64_t ticks, width; /* width: the number of ticks that the reading took */
	int64_t realtime_ns, monotonic_ns;
};

/*
 * The groups of events that the kernel's records become. The losses of each group count for another
 * event type.
 */
enum kernel_group { KERNEL_GROUP_RECORDS, KERNEL_GROUP_CALLS, KERNEL_GROUP_TRAPS, KERNEL_GROUPS };

/* The records that become events of one log, with their stacks. All zeros: none. */
struct kernel_period {
	struct kernel_store store;
	struct stack_store stacks;
	struct kernel_raw raw;
	struct kernel_copies *copies; /* NULL: none */
	struct kernel_call *call;
	size_t calls;
	uint64_t lost_full;     /* the kernel's memory was full */
	uint64_t lost_memory;   /* this process had no room */
	uint64_t lost_syscalls, lost_traps;
	uint64_t lost_calls;    /* calls of functions for which this process had no memory */
	/* events of the periods before, whose logs could not be written again */
	uint64_t unwritten[KERNEL_GROUPS];
};

struct callers;
struct kernel_trace;
struct kernel_traps;
struct kernel_type;
struct syscalls;
struct forms;

struct kernel {
	struct kernel_plan plan;
	pid_t pid;              /* of the process with which the recording began */
	struct jit_place jit_place; /* of this process */
	bool is_active;
	bool starts;            /* the process waits before execve(2) when recording begins */
	struct syscalls *syscalls; /* NULL: neither system calls nor functions are recorded */
	struct kernel_traps *traps; /* NULL: no functions */
	struct forms *forms;
	char way[128];           /* the way in which the kernel records, as a text */
	struct kernel_trace *trace; /* NULL: the kernel does not record by tracefs */
	struct kernel_cpu {
		int cpu, fd;
		void *memory;
		uint64_t head;  /* the present look reads the records before this position */
	} *cpu;
	size_t cpus;
	int wake;               /* readable when the memory of a CPU is half full */
	bool has_wake;
	int *more;              /* further descriptors, which share the memory */
	size_t mores;
	bool switches;          /* perf_event_open() records switches */
	bool counts_lost;       /* the kernel counts the records that each of the events lost */
	struct kernel_period period; /* the records for the present log */
	/*
	 * the sums of the kernel's counts of lost records at the end of the last period: records of
	 * perf_event_open() and of the tracing, system calls, functions, and calls without memory
	 */
	uint64_t counted_full, counted_syscalls, counted_traps, counted_calls;
	/*
	 * for the next kernel_weave(): whether the stream ran at the beginning of the log, and the
	 * states of the threads at that time
	 */
	bool runs;
	struct kernel_states states;
	struct callers *callers; /* in weave_calls.c; NULL: only the first process is known */
	struct kernel_maps maps; /* which files were mapped, if there are samples */
	struct kernel_frames *frames; /* NULL: samples are of user mode only */
	/*
	 * The process has other numbers in its own namespace of process IDs. The events get those
	 * numbers, as the events of the library have them.
	 */
	bool has_inner_ids;
	struct kernel_task *task;
	size_t tasks;
	struct table of_task;
	struct kernel_type *type;
	size_t types;
	bool is_counter;        /* records are stamped by the counter, else by CLOCK_MONOTONIC */
	struct kernel_anchor before, now; /* of the previous and of this look */
	int64_t error_ns;       /* the greatest error of the anchors so far */
	uint32_t anchors;
};

/*
 * Begins to record a process and everything that it starts. If "starts" is true, the process waits
 * before execve(2), and is recorded from the execution of the program on. If states and samples are
 * optional in the plan, and cannot be recorded, the function prints why and begins without them.
 * Returns TOOL_OK, or TOOL_FAILURE after it printed the error. The caller must call kernel_fini()
 * in both cases.
 */
int kernel_begin(struct kernel *kernel, const struct kernel_plan *plan, pid_t pid, bool starts);

/* The time between two looks at a small memory, which has room for some 10000 records of a CPU. */
#define KERNEL_LOOK_MS 10

/*
 * Returns the time between two looks, in milliseconds. kernel_wake() returns a descriptor that is
 * readable when a look is needed earlier, or -1.
 */
int kernel_look_ms(const struct kernel *kernel);
int kernel_wake(const struct kernel *kernel);

/*
 * Collects the records that the kernel has. The function must be called often, because the kernel's
 * memory is small.
 */
void kernel_look(struct kernel *kernel);

/*
 * Ends the period of a log: stores its records in *period, and begins a new period. If the
 * recording goes on, the function calls kernel_look() first. kernel_period_fini() frees a period.
 */
void kernel_cut(struct kernel *kernel, bool goes_on, struct kernel_period *period);
/* Frees the states of processes. callers may be NULL. */
void weave_callers_end(struct callers *callers);
/* Forgets threads and mappings that no later log needs. No period may be in use. */
void kernel_clean(struct kernel *kernel);
void kernel_period_fini(struct kernel_period *period);

/* Ends the recording, and calls kernel_look() a last time. */
void kernel_stop(struct kernel *kernel);
void kernel_fini(struct kernel *kernel);

/* Returns the task of a thread, or NULL if the thread is not known. */
struct kernel_task *kernel_find_task(const struct kernel *kernel, pid_t tid);

/*
 * These functions return the numbers that the events of a process and of a thread have: those in
 * its own namespace of process IDs. If a thread had ended before this process looked, the number
 * remains that of the record.
 */
pid_t kernel_inner_process(const struct kernel *kernel, pid_t pid);
void kernel_inner_ids(const struct kernel *kernel, pid_t *pid, pid_t *tid);

/* A function that kernel_weave() calls every KERNEL_LOOK_MS. call NULL: none. */
struct kernel_meanwhile {
	void (*call)(void *arg);
	void *arg;
};

/*
 * Ends the period of a log, and writes a new log with the events of the complete log, the stacks
 * that were requested, and the events of the kernel. The new log replaces the old one, and *file is
 * then the new file. Returns TOOL_OK. If it fails, it prints the error, leaves the log unchanged,
 * and returns another status. The ledger of the next log that can be written then has the events
 * and the losses of the period. If there is nothing to add, or if the log cannot be opened, the
 * function leaves the log unchanged and returns TOOL_OK. If the recording goes on in a next log,
 * meanwhile.call() serves it, and must call kernel_look(). Otherwise meanwhile.call is NULL.
 */
struct outfile;
int kernel_weave(struct kernel *kernel, struct outfile *file, struct kernel_meanwhile meanwhile);

/*
 * Returns the number of the kernel's events that are lost, and that no ledger has: the last
 * kernel_weave() failed.
 */
uint64_t kernel_uncounted(const struct kernel *kernel);

#endif
