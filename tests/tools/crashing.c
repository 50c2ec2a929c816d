/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * crashing.c - a program that a signal kills, for test_crash.sh.
 *
 *	crashing segv      eight threads; the one named "worker3" writes to address 0x30
 *	crashing vfork     the same; the thread "worker1" waits uninterruptibly in vfork()
 *	crashing abort     calls abort()
 *	crashing handled   a handler of SIGSEGV ends the program with 5
 *	crashing ignored   SIGSEGV is ignored until a thread causes it
 *	crashing const     writes to memory that may only be read
 *	crashing wild      reads at an address that no process can have
 *	crashing cut       reads a mapped file behind its end
 *	crashing divide    divides by 0
 *	crashing quotient  divides the least int by -1
 *	crashing illegal   executes an instruction that no processor has
 *	crashing null      calls a null function pointer, as its last instruction
 *	crashing data      calls a function pointer that points to data
 *	crashing filter    makes a system call that its seccomp filter refuses
 *	crashing killed    the same, and the filter kills the process without a signal stop
 *	crashing overflow  a function calls itself without end
 *	crashing mutual    in a thread, two functions call each other without end
 *	crashing large     a function has variables that the stack cannot hold
 *	crashing alternate the same as overflow; a handler of SIGSEGV on its own stack calls abort()
 *	crashing handler   the same as overflow; a handler of SIGSEGV has no room on the stack
 *	crashing below     writes far below the stack pointer
 *	crashing unmapped  writes to memory that was unmapped
 *	crashing assert    an assertion fails
 *	crashing twice     frees memory twice
 *	crashing smashed   writes past the end of a local array, which the C library has noticed
 */
#include <assert.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "support/memory_file.h"

#define THREADS 8

void write_there(void);
void wait_for_end(void);
void call_there(void);
int recurse(int depth);
int even(int depth);
int odd(int depth);
void use_much(void);
void __stack_chk_fail(void) __attribute__((noreturn));

static pthread_barrier_t all;
static volatile sig_atomic_t has_child;
static volatile uintptr_t place = 0x30;

__attribute__((noinline)) void write_there(void)
{
	*(volatile int *)place = 7;
	place++;
}

__attribute__((noinline)) void wait_for_end(void)
{
	pthread_barrier_wait(&all);
	for (;;)
		pause();
}

/*
 * The function has a frame of its own between main() and the wild address. The compiler knows that
 * the call does not return, so no instruction of the function follows the call.
 */
__attribute__((noinline)) void call_there(void)
{
	__attribute__((noreturn)) void (*volatile wild)(void);

	*(void *volatile *)&wild = (void *)place;
	wild();
}

/* No compiler can see that the depth has no end, or make a loop of the calls. */
__attribute__((noinline)) int recurse(int depth)
{
	volatile char frame[200];

	frame[0] = (char)depth;
	return (place ? recurse(depth + 1) : 0) + frame[0];
}

__attribute__((noinline)) int even(int depth)
{
	volatile char frame[200];

	frame[0] = (char)depth;
	return (place ? odd(depth + 1) : 0) + frame[0];
}

__attribute__((noinline)) int odd(int depth)
{
	volatile char frame[200];

	frame[0] = (char)depth;
	return (place ? even(depth + 1) : 0) + frame[0];
}

/* Protection against stack clashes would touch each page of the frame, from its upper end on. */
#if defined __GNUC__ && !defined __clang__
__attribute__((optimize("no-stack-clash-protection")))
#endif
__attribute__((noinline)) void use_much(void)
{
	volatile char frame[64 << 20];

	frame[place] = 1;
	place = (uintptr_t)frame[place + 1];
}

static void *recurse_there(void *arg)
{
	return (void *)(intptr_t)even((int)(intptr_t)arg);
}

static void give_up(int sig)
{
	(void)sig;
	abort();
}

static void overflow_as(const char *how)
{
	static char room[65536];
	const stack_t other = { .ss_sp = room, .ss_size = sizeof(room) };
	struct sigaction action = { .sa_handler = give_up };
	pthread_t thread;

	if (!strcmp(how, "overflow")) {
		recurse(0);
	} else if (!strcmp(how, "mutual")) {
		pthread_create(&thread, NULL, recurse_there, NULL);
		pthread_join(thread, NULL);
	} else if (!strcmp(how, "large")) {
		use_much();
	} else if (!strcmp(how, "alternate")) {
		sigaltstack(&other, NULL);
		action.sa_flags = SA_ONSTACK;
		sigaction(SIGSEGV, &action, NULL);
		recurse(0);
	} else if (!strcmp(how, "handler")) {
		sigaction(SIGSEGV, &action, NULL);
		recurse(0);
	}
}

static void abort_as(const char *how)
{
	char *volatile memory;

	if (!strcmp(how, "assert")) {
		assert(place == 0 && "the place is known");
	} else if (!strcmp(how, "twice")) {
		memory = malloc(100);
		free(memory);
		free(memory);
	} else if (!strcmp(how, "smashed")) {
		__stack_chk_fail();
	}
}

/* Waits in vfork() until the process ends. Its end closes the pipe, and then the child ends. */
static void *wait_for_child(void *arg)
{
	int pipes[2];
	char byte;

	prctl(PR_SET_NAME, "worker1");
	if (pipe(pipes) || vfork() != 0)
		return arg;
	close(pipes[1]);
	has_child = 1;
	_exit(read(pipes[0], &byte, 1) != 0);
}

static void *work(void *arg)
{
	char name[16];

	snprintf(name, sizeof(name), "worker%d", (int)(intptr_t)arg);
	prctl(PR_SET_NAME, name);
	if ((intptr_t)arg != 3)
		wait_for_end();
	pthread_barrier_wait(&all);
	write_there();
	return NULL;
}

static void end(int sig)
{
	(void)sig;
	_exit(5);
}

/* Every call of getppid() gets SIGSYS, or ends the process. */
static void call_refused(unsigned action)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getppid, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, action),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { sizeof(filter) / sizeof(*filter), filter };

	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
	syscall(SYS_getppid);
}

static void fault_as(const char *how)
{
	static volatile int zero;
	volatile char *page;

	if (!strcmp(how, "const")) {
		page = mmap(NULL, 1, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		*page = 1;
	} else if (!strcmp(how, "wild")) {
		place = (uintptr_t)1 << 62;
		write_there();
	} else if (!strcmp(how, "cut")) {
		page = mmap(NULL, 1, PROT_READ, MAP_SHARED, memory_file("empty", 0), 0);
		zero = *page;
	} else if (!strcmp(how, "below")) {
		place = (uintptr_t)__builtin_frame_address(0) - (100 << 20);
		write_there();
	} else if (!strcmp(how, "unmapped")) {
		page = mmap(NULL, 1, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		munmap((void *)page, 1);
		*page = 1;
	} else if (!strcmp(how, "quotient")) {
		static volatile int least = INT_MIN, minus_one = -1;

		zero = least / minus_one;
	} else if (!strcmp(how, "divide")) {
		zero = (int)place / zero;
	} else if (!strcmp(how, "illegal")) {
		__builtin_trap();
	} else if (!strcmp(how, "null")) {
		place = 0;
		call_there();
	} else if (!strcmp(how, "data")) {
		place = (uintptr_t)&place;
		call_there();
	} else if (!strcmp(how, "filter")) {
		call_refused(SECCOMP_RET_TRAP);
	} else if (!strcmp(how, "killed")) {
		call_refused(SECCOMP_RET_KILL_PROCESS);
	}
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";
	pthread_t thread;
	bool is_waiting;

	fault_as(how);
	overflow_as(how);
	abort_as(how);
	if (!strcmp(how, "abort"))
		abort();
	if (strcmp(how, "segv") && strcmp(how, "vfork")) {
		signal(SIGSEGV, strcmp(how, "ignored") ? end : SIG_IGN);
		write_there();
		return 1;
	}
	is_waiting = !strcmp(how, "vfork");
	pthread_barrier_init(&all, NULL, THREADS - (unsigned)is_waiting);
	for (intptr_t i = 1; i < THREADS; i++) {
		if (pthread_create(&thread, NULL, is_waiting && i == 1 ? wait_for_child : work,
				   (void *)i))
			return 99;
		while (is_waiting && !has_child)
			usleep(1000);
	}
	wait_for_end();
}
