/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Calls from known callers, on every kind of stack. Each call that the test looks for closes a
 * descriptor that does not exist: close(-NUMBER). A store after each call keeps the compiler from
 * replacing the call by a jump.
 */
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>
#include <unistd.h>

#include "preload/probe.h"

#ifdef __clang__ /* it makes no clones */
# define KEPT __attribute__((noinline))
#else
# define KEPT __attribute__((noinline, noclone))
#endif

static volatile int after;

static KEPT void stack_inner(int number)
{
	close(-number);
	after++;
}

static KEPT void stack_middle(int number)
{
	stack_inner(number);
	after++;
}

static KEPT void stack_outer(int number)
{
	stack_middle(number);
	after++;
}

/* A frame whose size only the program knows: its unwind table needs the frame pointer. */
static KEPT void stack_variable(int number, size_t bytes)
{
	volatile char *memory = __builtin_alloca(bytes);

	memory[bytes - 1] = 1;
	stack_middle(number);
	after += memory[bytes - 1];
}

static KEPT void stack_deep(int number, int levels)
{
	volatile char fill[100];

	fill[levels % 100] = 1;
	if (levels)
		stack_deep(number, levels - 1);
	else
		stack_inner(number);
	after += fill[levels % 100];
}

static void *stack_thread(void *number)
{
	stack_outer(*(int *)number);
	after++;
	return NULL;
}

static void stack_handler(int signal)
{
	(void)signal;
	stack_outer(54);
	after++;
}

static ucontext_t there, back;

static void stack_coroutine(void)
{
	stack_outer(55);
	after++;
}

static void on_thread(const pthread_attr_t *attr, int number)
{
	pthread_t thread;

	MUST(pthread_create(&thread, attr, stack_thread, &number) == 0);
	MUST(pthread_join(thread, NULL) == 0);
}

static int stack(int argc, char **argv)
{
	static char signal_stack[16384], coroutine_stack[65536];
	static char thread_stack[262144] __attribute__((aligned(4096)));
	stack_t alternate = { .ss_sp = signal_stack, .ss_size = sizeof signal_stack };
	struct sigaction action = { .sa_handler = stack_handler, .sa_flags = SA_ONSTACK };
	pthread_attr_t attr;

	(void)argc, (void)argv;
	stack_outer(51);
	on_thread(NULL, 52);
	stack_deep(53, 100);
	MUST(sigaltstack(&alternate, NULL) == 0 && sigaction(SIGUSR1, &action, NULL) == 0);
	MUST(raise(SIGUSR1) == 0);
	MUST(getcontext(&there) == 0);
	there.uc_stack.ss_sp = coroutine_stack;
	there.uc_stack.ss_size = sizeof coroutine_stack;
	there.uc_link = &back;
	makecontext(&there, stack_coroutine, 0);
	MUST(swapcontext(&back, &there) == 0);
	MUST(pthread_attr_init(&attr) == 0);
	MUST(pthread_attr_setstacksize(&attr, PTHREAD_STACK_MIN) == 0);
	on_thread(&attr, 56);
	MUST(pthread_attr_setstack(&attr, thread_stack, sizeof thread_stack) == 0);
	on_thread(&attr, 57);
	for (int i = 0; i < 1000; i++)
		stack_outer(58);
	for (size_t i = 0; i < 50; i++)
		stack_variable(59, 16 + 8 * i);
	return 0;
}

const struct probe probes_stack[] = { { "stack", stack }, { NULL, NULL } };
