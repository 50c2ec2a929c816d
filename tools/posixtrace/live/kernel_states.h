/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * kernel_states.h - which threads run, are ready to run, or are blocked at the end of a log, for
 * the beginning of the next log of the recording. One thread uses a struct kernel_states.
 */
#ifndef POSIXTRACE_LIVE_KERNEL_STATES_H
#define POSIXTRACE_LIVE_KERNEL_STATES_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/table.h"

/* The values of the field state of the event sched.state. */
enum kernel_condition {
	KERNEL_CONDITION_BLOCKED, KERNEL_CONDITION_READY, KERNEL_CONDITION_RUNNING,
	KERNEL_CONDITION_OVER
};

struct kernel_state {
	int64_t since_ns; /* CLOCK_REALTIME */
	pid_t pid, tid;
	uint16_t cpu;
	uint8_t condition;     /* enum kernel_condition */
	uint8_t absences; /* of kernel_absences() */
};

/*
 * Records of a thread or process that has ended may arrive late. So the facts about it are kept
 * until it is absent at the ends of KERNEL_ABSENCES successive logs. Returns 0 if the thread
 * exists, and otherwise "absences" + 1, at most KERNEL_ABSENCES. The caller passes the result of
 * the log before.
 */
#define KERNEL_ABSENCES 2
uint8_t kernel_absences(pid_t tid, uint8_t absences);

/* All zeros: no threads. */
struct kernel_states {
	struct kernel_state *state;
	size_t states;
	struct table of_tid;
};

/* Notes the state of a thread. If memory is lacking, the thread has no state. */
void kernel_states_set(struct kernel_states *states, const struct kernel_state *state);

/* Returns the state of a thread; KERNEL_CONDITION_OVER if it has none. */
enum kernel_condition kernel_states_get(const struct kernel_states *states, pid_t tid);

/* Removes the threads that are over, also those whose end the kernel has not recorded. */
void kernel_states_clean(struct kernel_states *states);
void kernel_states_fini(struct kernel_states *states);

#endif
