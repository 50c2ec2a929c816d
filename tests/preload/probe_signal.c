/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "preload/probe.h"

static volatile sig_atomic_t plain, info, sender, on_stack;
static sigset_t mask_in_handler;

static void is_plain(int number)
{
	plain = number;
	pthread_sigmask(SIG_BLOCK, NULL, &mask_in_handler);
}

static void has_info(int number, siginfo_t *siginfo, void *context)
{
	stack_t stack;

	info = context ? number : 0;
	sender = siginfo->si_pid;
	sigaltstack(NULL, &stack);
	on_stack = stack.ss_flags & SS_ONSTACK;
}

/* The program reads back its own handlers, and the kernel acts on them. */
static int actions(int argc, char **argv)
{
	static char memory[65536];
	struct sigaction action = { .sa_flags = SA_RESTART }, old;
	stack_t stack = { .ss_sp = memory, .ss_size = sizeof memory };

	(void)argc, (void)argv;
	action.sa_handler = is_plain;
	sigaddset(&action.sa_mask, SIGUSR2);
	MUST(sigaction(SIGUSR1, &action, &old) == 0 && old.sa_handler == SIG_DFL);
	MUST(sigaction(SIGUSR1, NULL, &old) == 0);
	MUST(old.sa_handler == is_plain && (old.sa_flags & SA_RESTART) &&
	     !(old.sa_flags & SA_SIGINFO) && sigismember(&old.sa_mask, SIGUSR2) == 1);
	MUST(raise(SIGUSR1) == 0 && plain == SIGUSR1);
	MUST(sigismember(&mask_in_handler, SIGUSR1) == 1 &&
	     sigismember(&mask_in_handler, SIGUSR2) == 1);
	MUST(sigaltstack(&stack, NULL) == 0);
	action.sa_sigaction = has_info;
	action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESETHAND;
	MUST(sigaction(SIGUSR1, &action, &old) == 0 && old.sa_handler == is_plain);
	MUST(raise(SIGUSR1) == 0 && info == SIGUSR1 && sender == getpid() && on_stack);
	MUST(sigaction(SIGUSR1, NULL, &old) == 0 && old.sa_handler == SIG_DFL);
	MUST(signal(SIGUSR2, is_plain) == SIG_DFL);
	MUST(signal(SIGUSR2, SIG_IGN) == is_plain);
	MUST(raise(SIGUSR2) == 0 && plain == SIGUSR1);
	MUST(signal(SIGUSR2, is_plain) == SIG_IGN);
	MUST(sigaction(SIGUSR2, NULL, &old) == 0 && old.sa_handler == is_plain &&
	     (old.sa_flags & SA_RESTART));
	MUST(raise(SIGUSR2) == 0 && plain == SIGUSR2);
	errno = 0;
	MUST(sigaction(SIGKILL, &action, NULL) == -1 && errno == EINVAL);
	MUST(signal(SIGSTOP, is_plain) == SIG_ERR);
	MUST(sigaction(1000, &action, NULL) == -1);
	return 0;
}

static volatile sig_atomic_t senders;

static void has_sender(int number, siginfo_t *siginfo, void *context)
{
	(void)number, (void)siginfo, (void)context;
	senders++;
}

/* Waits until the handler has run `count` times, at most half a minute. */
static int has_run(int count)
{
	for (int i = 0; senders < count && i < 30000; i++)
		usleep(1000);
	return senders >= count;
}

/* Gets a signal of its second timer, whose number is not 0, and a signal of a child that ends. */
static int senders_of(int argc, char **argv)
{
	struct itimerspec soon = { { 0, 0 }, { 0, 1 } };
	struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGALRM };
	struct sigaction action = { .sa_flags = SA_SIGINFO | SA_RESTART };
	timer_t first, second;
	pid_t child;

	(void)argc, (void)argv;
	action.sa_sigaction = has_sender;
	MUST(sigaction(SIGALRM, &action, NULL) == 0 && sigaction(SIGCHLD, &action, NULL) == 0);
	MUST(timer_create(CLOCK_MONOTONIC, &event, &first) == 0);
	MUST(timer_create(CLOCK_MONOTONIC, &event, &second) == 0);
	MUST(timer_settime(second, 0, &soon, NULL) == 0);
	MUST(has_run(1));
	child = fork();
	if (child == 0)
		_exit(0);
	MUST(child > 0 && waitpid(child, NULL, 0) == child);
	MUST(has_run(2));
	return 0;
}

static sigjmp_buf back;
static volatile int leaps;

static void leaps_away(int number)
{
	(void)number;
	leaps++;
	siglongjmp(back, 1);
}

/*
 * Handlers that never return, in and around wrapped calls. After them, every call is still traced.
 */
static int leap(int argc, char **argv)
{
	struct itimerspec soon = { { 0, 300000 }, { 0, 300000 } };
	struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGALRM };
	timer_t timer;

	(void)argc, (void)argv;
	signal(SIGALRM, leaps_away);
	MUST(timer_create(CLOCK_MONOTONIC, &event, &timer) == 0);
	if (sigsetjmp(back, 1) == 0)
		MUST(timer_settime(timer, 0, &soon, NULL) == 0);
	while (leaps < 500)
		usleep(1);
	MUST(timer_delete(timer) == 0);
	MUST(close(-4711) == -1);
	return 0;
}

static void *closes(void *arg)
{
	for (volatile int *go = arg; *go;)
		close(-1);
	return NULL;
}

static volatile sig_atomic_t storms;

static void storm_comes(int number)
{
	int saved = errno;

	(void)number;
	storms++;
	close(-2);
	errno = saved;
}

/* A timer of 100 us whose handler makes traced calls, in threads that make traced calls too. */
static int storm(int argc, char **argv)
{
	struct itimerspec often = { { 0, 100000 }, { 0, 100000 } };
	struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGALRM };
	struct sigaction action = { .sa_handler = storm_comes, .sa_flags = SA_RESTART };
	pthread_t thread[4];
	volatile int go = 1;
	timer_t timer;

	(void)argc, (void)argv;
	MUST(sigaction(SIGALRM, &action, NULL) == 0);
	for (int i = 0; i < 4; i++)
		MUST(pthread_create(&thread[i], NULL, closes, (void *)&go) == 0);
	MUST(timer_create(CLOCK_MONOTONIC, &event, &timer) == 0);
	MUST(timer_settime(timer, 0, &often, NULL) == 0);
	while (storms < 2000)
		free(malloc(100));
	MUST(timer_delete(timer) == 0);
	go = 0;
	for (int i = 0; i < 4; i++)
		MUST(pthread_join(thread[i], NULL) == 0);
	return 0;
}

/* A child of vfork() changes signal actions; its parent's handlers remain. */
static int vfork_signals(int argc, char **argv)
{
	int status;
	pid_t child;

	(void)argc, (void)argv;
	signal(SIGUSR1, is_plain);
	child = vfork();
	if (child == 0) {
		signal(SIGUSR1, leaps_away);
		signal(SIGUSR2, SIG_DFL);
		signal(SIGUSR1, SIG_DFL);
		_exit(0);
	}
	MUST(waitpid(child, &status, 0) == child && status == 0);
	MUST(raise(SIGUSR1) == 0 && plain == SIGUSR1);
	MUST(signal(SIGUSR1, SIG_DFL) == is_plain);
	return 0;
}

/* A tracer that ends the next child of its parent before the child has executed an instruction. */
static void end_next_child(int ready)
{
	const int children = PTRACE_O_TRACEVFORK | PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK;
	const pid_t parent = getppid();
	pid_t child;
	int status;

	MUST(ptrace(PTRACE_SEIZE, parent, NULL, children) == 0);
	MUST(write(ready, "", 1) == 1);
	do {
		child = waitpid(-1, &status, __WALL);
		MUST(child > 0);
		if (child == parent && WIFSTOPPED(status))
			ptrace(PTRACE_CONT, parent, NULL, WSTOPSIG(status) == SIGTRAP ?
							   0 : WSTOPSIG(status));
	} while (child == parent);
	MUST(kill(child, SIGKILL) == 0);
	_exit(0);
}

static void start_tracer(void)
{
	int ready[2];
	pid_t tracer;
	char byte;

	MUST(pipe(ready) == 0);
	tracer = fork();
	MUST(tracer >= 0);
	if (!tracer)
		end_next_child(ready[1]);
	MUST(read(ready[0], &byte, 1) == 1);
	close(ready[0]);
	close(ready[1]);
}

static int is_child(void *argument)
{
	(void)argument;
	return 0;
}

/*
 * A child of vfork() is killed before it has executed an instruction. The wrappers then still know
 * that this process is the parent, so the handler is traced.
 */
static int vfork_killed(int argc, char **argv)
{
	static char stack[65536] __attribute__((aligned(16)));
	int status;
	pid_t child;

	MUST(argc == 1);
	start_tracer();
	if (!strcmp(argv[0], "clone"))
		child = clone(is_child, stack + sizeof stack, CLONE_VM | CLONE_VFORK | SIGCHLD,
			      NULL);
	else
		child = vfork();
	if (child == 0)
		_exit(0);
	MUST(waitpid(child, &status, 0) == child);
	MUST(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	MUST(signal(SIGUSR1, is_plain) == SIG_DFL);
	MUST(raise(SIGUSR1) == 0 && plain == SIGUSR1);
	return 0;
}

/* The numbers and flags of pidfd_send_signal(2) and pidfd_open(2) that older headers lack. */
#define SELF_THREAD  (-10000)
#define SELF_PROCESS (-10001) /* -20000 in the first versions */
#define OF_THREAD    O_EXCL
#define TO_THREAD    (1u << 0)
#define TO_PROCESS   (1u << 1)
#define TO_GROUP     (1u << 2)

static _Atomic pid_t other_tid;

static void *other_thread(void *unused)
{
	atomic_store(&other_tid, (pid_t)syscall(SYS_gettid));
	for (;;)
		pause();
	return unused;
}

static long by_descriptor(int fd, int number, unsigned flags)
{
	return syscall(SYS_pidfd_send_signal, fd, number, NULL, flags);
}

/* Ends this process or its group by pidfd_send_signal(2), in ways of Linux 6.9 or later. */
static void ends_by_pidfd(const char *how, int number)
{
	pthread_t thread;
	int fd;

	if (!strcmp(how, "self-thread")) {
		by_descriptor(SELF_THREAD, number, 0);
	} else if (!strcmp(how, "self")) {
		if (by_descriptor(SELF_PROCESS, 0, 0) == 0)
			by_descriptor(SELF_PROCESS, number, TO_PROCESS);
		else if (by_descriptor(2 * SELF_THREAD, 0, 0) == 0)
			by_descriptor(2 * SELF_THREAD, number, 0);
	} else if (!strcmp(how, "other-thread")) {
		if (pthread_create(&thread, NULL, other_thread, NULL))
			return;
		while (!atomic_load(&other_tid))
			sched_yield();
		fd = (int)syscall(SYS_pidfd_open, atomic_load(&other_tid), OF_THREAD);
		if (fd >= 0)
			by_descriptor(fd, number, TO_THREAD);
	} else if (!strcmp(how, "of-group")) {
		by_descriptor((int)syscall(SYS_pidfd_open, getpid(), 0), number, TO_GROUP);
	} else if (!strcmp(how, "in-group")) {
		fd = (int)syscall(SYS_pidfd_open, getpid(), 0);
		if (fork() == 0) {
			by_descriptor(fd, number, TO_GROUP);
			_exit(1);
		}
		wait(NULL);
	}
}

/*
 * Ends itself by the function argv[0] and the signal argv[1], in a process group of its own. Before
 * that, raise() does no harm if the signal can be ignored.
 */
static int ends(int argc, char **argv)
{
	const char *how = argv[0];
	const int number = atoi(argv[1]);

	MUST(argc == 2 && setpgid(0, 0) == 0);
	if (signal(number, SIG_IGN) != SIG_ERR) {
		MUST(raise(number) == 0);
		MUST(signal(number, SIG_DFL) == SIG_IGN);
	}
	if (!strcmp(how, "kill"))
		kill(getpid(), number);
	else if (!strcmp(how, "zero"))
		kill(0, number);
	else if (!strcmp(how, "group"))
		kill(-getpgrp(), number);
	else if (!strcmp(how, "killpg"))
		killpg(0, number);
	else if (!strcmp(how, "raise"))
		raise(number);
	else if (!strcmp(how, "thread"))
		pthread_kill(pthread_self(), number);
	else if (!strcmp(how, "queue"))
		sigqueue(getpid(), number, (union sigval){ 0 });
	else if (!strcmp(how, "pidfd"))
		syscall(SYS_pidfd_send_signal, (int)syscall(SYS_pidfd_open, getpid(), 0), number,
			NULL, 0);
	else if (!strcmp(how, "pidfd_send_signal"))
		pidfd_send_signal(pidfd_open(getpid(), 0), number, NULL, 0);
	else if (!strcmp(how, "killpg-number"))
		killpg(getpgrp(), number);
	else
		ends_by_pidfd(how, number);
	return 1;
}

static int sleeps(int argc, char **argv)
{
	struct timespec asked = { 0, 5000000 }, until;

	(void)argc, (void)argv;
	MUST(nanosleep(&asked, NULL) == 0);
	MUST(usleep(6000) == 0);
	MUST(sleep(0) == 0);
	MUST(clock_gettime(CLOCK_MONOTONIC, &until) == 0);
	MUST(clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == 0);
	return 0;
}

const struct probe probes_signal[] = {
	{ "signal", actions },
	{ "leap", leap },
	{ "senders", senders_of },
	{ "storm", storm },
	{ "vfork-signals", vfork_signals },
	{ "vfork-killed", vfork_killed },
	{ "ends", ends },
	{ "sleep", sleeps },
	{ 0 }
};
