/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "unit/ring/steps.h"

#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include "support/support.h"

/* ThreadSanitizer does not accept the actions of this handler, and one thread has no races. */
#if defined __x86_64__
#define STEPS_WORK 1
#else
#define STEPS_WORK 0
#endif
#define STRIDE 1

#if defined __SANITIZE_ADDRESS__
#undef STRIDE
#define STRIDE 31 /* a step is some instructions, because a fork needs a millisecond */
#elif defined __SANITIZE_THREAD__
#undef STEPS_WORK
#define STEPS_WORK 0
#elif defined __has_feature
#if __has_feature(address_sanitizer)
#undef STRIDE
#define STRIDE 31
#elif __has_feature(thread_sanitizer)
#undef STEPS_WORK
#define STEPS_WORK 0
#endif
#endif

pid_t (*steps_fork)(void) = fork;
static bool happened, failed;
static unsigned moments;
static void *where;

bool steps_happened(void)
{
	return happened;
}

static bool machine_steps(void);

void steps_end(unsigned at_least)
{
	if (happened)
		_exit(EXIT_SUCCESS);
	ck_assert_msg(!failed, "it failed when it happened at moment %u, at %p", moments, where);
	if (machine_steps())
		ck_assert_uint_ge(moments, at_least);
	else
		puts("nothing happened: this machine does not step");
}

#if STEPS_WORK
#define TRAP_FLAG 0x100

static void (*action)(void *);
static void *action_state;
static sigjmp_buf way_out;

static void step(int signal, siginfo_t *info, void *context)
{
	ucontext_t *machine = context;
	int status = 0;
	pid_t child;

	(void)signal;
	(void)info;
	if (failed || ++moments % STRIDE)
		return;
	where = (void *)machine->uc_mcontext.gregs[REG_RIP];
	child = steps_fork();
	if (child > 0) {
		waitpid(child, &status, 0);
		failed = status != 0;
		return;
	}
	if (child < 0) {
		failed = true;
		return;
	}
	happened = true;
	if (!action)
		siglongjmp(way_out, 1);
	machine->uc_mcontext.gregs[REG_EFL] &= ~(greg_t)TRAP_FLAG;
	action(action_state);
}

/* Below the red zone, which the compiler may use for data. */
#define SET_FLAGS(operation)                                                                      \
	__asm__ volatile("lea -128(%%rsp), %%rsp\n\tpushfq\n\t" operation                         \
			 "\n\tpopfq\n\tlea 128(%%rsp), %%rsp" ::: "memory", "cc")

static volatile sig_atomic_t traps;

static void count_trap(int signal)
{
	(void)signal;
	traps++;
}

/* Returns false under valgrind, which accepts the flag and ignores it. */
static bool machine_steps(void)
{
	struct sigaction trap = { .sa_handler = count_trap }, before;

	sigemptyset(&trap.sa_mask);
	sigaction(SIGTRAP, &trap, &before);
	traps = 0;
	SET_FLAGS("orq $0x100, (%%rsp)");
	SET_FLAGS("andq $~0x100, (%%rsp)");
	sigaction(SIGTRAP, &before, NULL);
	return traps > 0;
}

static void run(void (*code)(void *), void (*other)(void *), void *state)
{
	struct sigaction trap = { .sa_sigaction = step, .sa_flags = SA_SIGINFO }, before;

	sigemptyset(&trap.sa_mask);
	sigaction(SIGTRAP, &trap, &before);
	happened = failed = false;
	moments = 0;
	action = other;
	action_state = state;
	if (sigsetjmp(way_out, 1) == 0) {
		SET_FLAGS("orq $0x100, (%%rsp)");
		code(state);
		SET_FLAGS("andq $~0x100, (%%rsp)");
	}
	sigaction(SIGTRAP, &before, NULL);
}
#else
static bool machine_steps(void)
{
	return false;
}

static void run(void (*code)(void *), void (*other)(void *), void *state)
{
	(void)other;
	code(state);
}
#endif

void steps_interrupt(void (*code)(void *), void (*other)(void *), void *state)
{
	run(code, other, state);
}

void steps_leave(void (*code)(void *), void *state)
{
	run(code, NULL, state);
}
