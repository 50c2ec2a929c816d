/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * crash_cause.h - why a signal kills a stopped process, as far as its registers, its memory, its
 * mappings and its stack show it.
 */
#ifndef POSIXTRACE_LIVE_CRASH_CAUSE_H
#define POSIXTRACE_LIVE_CRASH_CAUSE_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/user.h>

#include "live/crash_stack.h"

/* A signal that a thread got, and the place of the thread at that time. */
struct crash_fault {
	siginfo_t info;    /* si_signo is 0: there was none */
	bool is_described; /* the kernel has described the signal: info has more than its number */
	uint64_t pc, sp;
	struct user_regs_struct registers; /* zeros: they could not be read */
};

struct crash_cause {
	uint64_t fault;    /* the address of a memory access; 0: none */
	char reason[100];  /* such as "stack overflow"; empty: not known */
	char message[500]; /* a text of the program or its libraries, or a detail; may be empty */
	/*
	 * If a handler of an earlier signal has sent this one: the earlier signal, and the number
	 * of the frame that it interrupted. The cause is that of the earlier signal. Otherwise both
	 * are 0.
	 */
	int handled;
	unsigned first;
};

/*
 * Stores the registers and the place of a stopped thread. Returns false if its registers cannot be
 * read.
 */
bool crash_fault_place(struct crash_fault *fault, pid_t tid);

/*
 * Finds the cause of a signal. "before" is a signal of a fault that a handler of the thread got
 * before: the handler may have ended the process.
 */
void crash_cause_find(struct crash_cause *cause, pid_t pid, pid_t tid,
		      const struct crash_fault *fault, const struct crash_fault *before,
		      const struct unwind *unwind, const struct crash_stack *stack);

#endif
