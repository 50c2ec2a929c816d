/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <linux/filter.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "preload/probe.h"
#include "support/named_thread.h"

static void wait_for(pid_t child, int wanted)
{
	int status;

	MUST(waitpid(child, &status, 0) == child);
	MUST(WIFEXITED(status) && WEXITSTATUS(status) == wanted);
}

/* Prints the ids of its children, in order. */
static int process(int argc, char **argv)
{
	char *command[] = { argv[0], argv[1], NULL };
	siginfo_t info;
	pid_t child;
	FILE *pipe;

	MUST(argc == 2); /* a program and its argument */
	child = fork();
	if (child == 0)
		exit(3);
	printf("fork %d\n", (int)child);
	wait_for(child, 3);
	child = vfork();
	if (child == 0)
		execv(argv[0], command);
	printf("vfork %d\n", (int)child);
	wait_for(child, 0);
	child = vfork();
	if (child == 0) {
		execl("/no/such/program", "no", "such", (char *)NULL);
		_exit(errno == ENOENT ? 5 : 6);
	}
	printf("failed %d\n", (int)child);
	wait_for(child, 5);
	MUST(posix_spawn(&child, argv[0], NULL, NULL, command, environ) == 0);
	printf("spawn %d\n", (int)child);
	wait_for(child, 0);
	MUST(posix_spawnp(&child, "no-such-program", NULL, NULL, command, environ) == ENOENT);
	MUST(system("exit 7") == 7 << 8);
	pipe = popen("exit 8", "r");
	MUST(pipe && pclose(pipe) == 8 << 8);
	child = fork();
	if (child == 0)
		_exit(9);
	printf("waitid %d\n", (int)child);
	MUST(waitid(P_PID, (id_t)child, &info, WEXITED) == 0 && info.si_status == 9);
	MUST(waitpid(-1, NULL, 0) == -1 && errno == ECHILD);
	return 0;
}

/* Executes one program after another in the same process. */
static int process_exec(int argc, char **argv)
{
	char *invalid = (char *)(uintptr_t)8, *half[] = { *environ, invalid, NULL };
	char **vectors[] = { (char **)(void *)invalid, (char **)(uintptr_t)-8, half };
	pid_t child;

	MUST(argc >= 1);
	MUST(execve(invalid, argv, environ) == -1 && errno == EFAULT);
	for (int i = 0; i < 3; i++) {
		MUST(execve("/bin/true", argv, vectors[i]) == -1 && errno == EFAULT);
		MUST(execve("/bin/true", vectors[i], environ) == -1 && errno == EFAULT);
		MUST(execve("/bin/true", vectors[i], vectors[i]) == -1 && errno == EFAULT);
		MUST(posix_spawn(&child, "/bin/true", NULL, NULL, argv, vectors[i]) == EFAULT);
	}
	execlp(argv[0], argv[0], "a b", "c", (char *)NULL);
	return 1;
}

/* As daemons do: closes the descriptor by which children would find their trace. */
static int process_closes(int argc, char **argv)
{
	pid_t child;

	MUST(argc >= 1);
	child = vfork();
	if (child == 0) {
		for (int fd = 3; fd < 1024; fd++)
			close(fd);
		execv(argv[0], argv);
		_exit(1);
	}
	wait_for(child, 0);
	return 0;
}

/* The process closes descriptors that it has not opened, then a child executes a program. */
static int process_closes_own(int argc, char **argv)
{
	char *command[] = { argv[0], NULL };
	pid_t child;

	MUST(argc == 1);
	MUST(close_range(3, ~0u, 0) == 0);
	child = fork();
	if (child == 0) {
		execv(argv[0], command);
		_exit(1);
	}
	wait_for(child, 0);
	return 0;
}

/*
 * As a daemon: when all its ancestors have ended, it closes all descriptors, and executes a program
 * in a child and in its own process. Prints the process that is its parent for a moment.
 */
static int process_daemon(int argc, char **argv)
{
	const pid_t first = getpid();
	pid_t child;

	MUST(argc >= 1);
	child = fork();
	if (child) {
		printf("daemon %d\n", (int)child);
		fflush(stdout);
		_exit(0);
	}
	setsid();
	if (fork())
		_exit(0);
	while (kill(first, 0) == 0)
		usleep(10000);
	for (int fd = 0; fd < 1024; fd++)
		close(fd);
	open("/dev/null", O_RDWR);
	dup(0);
	dup(0);
	MUST(posix_spawn(&child, argv[0], NULL, NULL, argv, environ) == 0);
	wait_for(child, 0);
	execv(argv[0], argv);
	return 1;
}

/* A vfork() that is not the last call in its function, in a loop, while the stack is in use. */
static int deep(int depth, volatile int *sum)
{
	volatile int here[64];
	pid_t child;

	for (int i = 0; i < 64; i++)
		here[i] = depth + i;
	child = vfork();
	if (child == 0)
		_exit(depth);
	wait_for(child, depth);
	for (int i = 0; i < 64; i++)
		MUST(here[i] == depth + i);
	*sum += here[0];
	return depth ? deep(depth - 1, sum) : 0;
}

static int process_vfork(int argc, char **argv)
{
	volatile int sum = 0;

	(void)argc, (void)argv;
	deep(50, &sum);
	MUST(sum == 50 * 51 / 2);
	return 0;
}

/* A child by clone(3), with a stack of its own. */
static int ends_with_four(void *argument)
{
	MUST(!strcmp(argument, "argument"));
	_exit(4);
}

/* The end of a child that must call no function, because its thread-local memory is not valid. */
#if defined __x86_64__
#define END_WITH(status) \
	__asm__ volatile("syscall" : : "a"(SYS_exit), "D"(status) : "rcx", "r11", "memory")
#elif defined __aarch64__
#define END_WITH(status) \
	__asm__ volatile("mov x8, %0\n\tmov x0, %1\n\tsvc #0" \
			 : : "r"((long)SYS_exit), "r"((long)(status)) : "x0", "x8", "memory")
#endif

/* Notes which descriptors are open. */
#define DESCRIPTORS 512
static void note_open(bool *is_open)
{
	for (int fd = 0; fd < DESCRIPTORS; fd++)
		is_open[fd] = syscall(SYS_fcntl, fd, F_GETFD) >= 0;
}

/* Records events, and ends. */
static int opens_and_ends(void *argument)
{
	MUST(open("/no/such/file", O_RDONLY) == -1);
	return *(const int *)argument;
}

#if defined __x86_64__

/*
 * Calls clone() with a stack that begins immediately below the return address of the call. A parent
 * that uses its own stack while the child runs would lose data.
 */
int clone_below(int (*function)(void *), int flags, void *argument);
__asm__(
	"	.text\n"
	"	.globl clone_below\n"
	"	.type clone_below, @function\n"
	"clone_below:\n"
	"	movq %rdx, %rcx\n"
	"	movl %esi, %edx\n"
	"	leaq -16(%rsp), %rsi\n"
	"	subq $8, %rsp\n"
	"	call clone@plt\n"
	"	addq $8, %rsp\n"
	"	ret\n"
	"	.size clone_below, . - clone_below\n");

/* Uses more of its stack than a frame of the shim has. */
static int fills_its_stack(void *argument)
{
	volatile char bytes[16384];

	for (size_t i = 0; i < sizeof bytes; i++)
		bytes[i] = 0x5a;
	return opens_and_ends(argument);
}

#endif

/* Children of clone(2) that share something with their parent. */
static int process_shares(int argc, char **argv)
{
	static const struct {
		const char *name;
		int flags;
	} kinds[] = {
		{ "files", CLONE_FILES },
		{ "memory", CLONE_VM },
		{ "sleeping", CLONE_VM | CLONE_VFORK },
		{ "all", CLONE_VM | CLONE_VFORK | CLONE_FILES | CLONE_FS | CLONE_SIGHAND },
		{ "folder", CLONE_VFORK | CLONE_FS | CLONE_FILES },
	};
	static _Alignas(16) char stack[65536];
	static bool before[DESCRIPTORS], after[DESCRIPTORS];
	int status = 6;
	pid_t child;

	(void)argc, (void)argv;
	MUST(open("/no/such/file", O_RDONLY) == -1);
	note_open(before);
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
		child = clone(opens_and_ends, stack + sizeof stack, kinds[i].flags | SIGCHLD,
			      &status);
		printf("%s %d\n", kinds[i].name, (int)child);
		wait_for(child, status);
#if defined __x86_64__
		/* Beside its parent a child may not use its parent's stack. */
		if (!(kinds[i].flags & CLONE_VM) || kinds[i].flags & CLONE_VFORK)
			wait_for(clone_below(fills_its_stack, kinds[i].flags | SIGCHLD, &status),
				 status);
#endif
		note_open(after);
		MUST(!memcmp(before, after, sizeof before));
	}
	for (int i = 0; i < 2; i++) {
		struct clone_args call = { .flags = i ? CLONE_FILES : 0, .exit_signal = SIGCHLD };

		child = (pid_t)syscall(SYS_clone3, &call, sizeof call);
		if (child == 0)
			_exit(opens_and_ends(&status));
		printf("clone3 %d\n", (int)child);
		wait_for(child, status);
		note_open(after);
		MUST(!memcmp(before, after, sizeof before));
	}
#if defined __x86_64__
	/* Sandboxes make such a child. It can call functions of the shim. */
	errno = ERANGE;
	child = clone(opens_and_ends, stack + sizeof stack,
		      CLONE_VM | CLONE_VFORK | CLONE_FS | CLONE_SETTLS | SIGCHLD, &status, NULL,
		      NULL);
	MUST(errno == ERANGE);
	printf("bare %d\n", (int)child);
	wait_for(child, status);
#endif
	MUST(syscall(SYS_clone3, 16, sizeof(struct clone_args)) == -1 && errno == EFAULT);
	MUST(syscall(SYS_clone3, NULL, 8) == -1 && errno == EINVAL);
	MUST(clone(NULL, stack + sizeof stack, SIGCHLD, NULL) == -1 && errno == EINVAL);
	MUST(clone(opens_and_ends, stack + sizeof stack, CLONE_VM | CLONE_VFORK | CLONE_SIGHAND |
		   CLONE_FS | CLONE_NEWNS | SIGCHLD, &status) == -1 && errno == EINVAL);
	return 0;
}

static volatile sig_atomic_t own_signals, other_signals;

static void count_own(int number)
{
	(void)number;
	own_signals++;
}

static void count_other(int number)
{
	(void)number;
	other_signals++;
}

/* Sets a handler, which is not that of the parent, and gets a signal. */
static int sets_a_handler(void *argument)
{
	MUST(kill(getpid(), SIGUSR1) == 0 && own_signals == 1);
	MUST(signal(SIGUSR1, count_other) == count_own);
	return *(const int *)argument;
}

static int makes_a_child(void *argument)
{
	pid_t child = vfork();

	if (child == 0)
		END_WITH(5);
	wait_for(child, 5);
	return *(const int *)argument;
}

/* Installs a filter that permits all system calls. */
static int restricts_itself(void *argument)
{
	struct sock_filter all[] = { BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW) };
	struct sock_fprog filter = { 1, all };

	MUST(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
	MUST(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0);
	MUST(open("/no/such/folder/file", O_RDONLY) == -1);
	return *(const int *)argument;
}

/* The library of the shim has the program's trace points. Without the shim, they do nothing. */
static void records_many(const char *name)
{
	int (*const open_type)(const char *, unsigned *) =
		(int (*)(const char *, unsigned *))dlsym(RTLD_DEFAULT, "posix_trace_eventid_open");
	void (*const record)(unsigned, const void *, size_t) =
		(void (*)(unsigned, const void *, size_t))dlsym(RTLD_DEFAULT, "posix_trace_event");
	unsigned type;

	if (!open_type || !record || open_type(name, &type))
		return;
	for (int i = 0; i < 20000; i++)
		record(type, &i, sizeof i);
}

static int records_beside(void *argument)
{
	records_many("probe.guest");
	return *(const int *)argument;
}

/* Both this thread and a child that uses its thread-local memory pass trace points. */
static int process_records_beside(int argc, char **argv)
{
	static _Alignas(16) char stack[65536];
	int status = 6;
	pid_t child;

	(void)argc, (void)argv;
	records_many("probe.first");
	child = clone(records_beside, stack + sizeof stack, CLONE_VM | SIGCHLD, &status);
	records_many("probe.own");
	wait_for(child, status);
	child = vfork();
	if (child == 0)
		END_WITH(5);
	wait_for(child, 5);
	records_many("probe.last");
	return 0;
}

static int opens_nothing(void *argument)
{
	MUST(open("/no/such/folder/file", O_RDONLY) == -1);
	return *(const int *)argument;
}

/* Such a child of a process that has a filter. */
static int process_filtered_guest(int argc, char **argv)
{
	static _Alignas(16) char stack[65536];
	int status = 6;

	(void)argc, (void)argv;
	MUST(open("/no/such/file", O_RDONLY) == -1);
	MUST(restricts_itself(&status) == status);
	wait_for(clone(opens_nothing, stack + sizeof stack, CLONE_VM | SIGCHLD, &status), status);
	return 0;
}

/* Children that use the thread-local memory of this thread beside it. */
static int process_guests(int argc, char **argv)
{
	static int (*const functions[])(void *) = { sets_a_handler, makes_a_child };
	static _Alignas(16) char stack[65536];
	int status = 6;

	(void)argc, (void)argv;
	signal(SIGUSR1, count_own);
	for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
		wait_for(clone(functions[i], stack + sizeof stack, CLONE_VM | SIGCHLD, &status),
			 status);
		MUST(open("/no/such/file", O_RDONLY) == -1);
	}
	MUST(own_signals == 1 && other_signals == 0);
	MUST(raise(SIGUSR1) == 0 && own_signals == 2 && other_signals == 0);
	wait_for(clone(restricts_itself, stack + sizeof stack, CLONE_VM | SIGCHLD, &status),
		 status);
	return 0;
}

/*
 * Makes a child by syscall(). The child returns from syscall() on its own stack and must continue
 * with `entry`, which never returns.
 */
#if defined __x86_64__

/* The lowest word of the child's stack is its return address. */
static long raw_call(long number, long a, long b, long c, long d, void (*entry)(void),
		     uintptr_t *stack)
{
	*stack = (uintptr_t)entry;
	return syscall(number, a, b, c, d, 0);
}

#elif defined __aarch64__

long raw_call(long number, long a, long b, long c, long d, void (*entry)(void), uintptr_t *stack);
__asm__(
	"	.text\n"
	"	.globl raw_call\n"
	"	.type raw_call, %function\n"
	"raw_call:\n"
	"	stp x29, x30, [sp, #-32]!\n"
	"	str x19, [sp, #16]\n"
	"	mov x19, x5\n"
	"	mov x5, x4\n" /* The last two arguments have another order than on x86-64. */
	"	mov x4, #0\n"
	"	bl syscall\n"
	"	cbz x0, 1f\n"
	"	ldr x19, [sp, #16]\n"
	"	ldp x29, x30, [sp], #32\n"
	"	ret\n"
	"1:	br x19\n"
	"	.size raw_call, . - raw_call\n");

#endif

static void raw_process(void)
{
	const int status = 6;

	_exit(opens_and_ends((void *)(uintptr_t)&status));
}

static void raw_thread(void)
{
	for (;;)
		END_WITH(0);
}

/* Children by syscall() with stacks of their own. */
static int process_raw(int argc, char **argv)
{
	static const struct {
		const char *name;
		uint64_t flags;
		void (*entry)(void);
	} kinds[] = {
		{ "copy", 0, raw_process },
		{ "beside", CLONE_VM, raw_process },
		{ "sleeping", CLONE_VM | CLONE_VFORK, raw_process },
		{ "thread", CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD |
			    CLONE_SYSVSEM | CLONE_CHILD_CLEARTID, raw_thread },
	};
	static _Alignas(16) char stack[65536];
	uintptr_t *top = (uintptr_t *)(stack + sizeof stack - 64);

	(void)argc, (void)argv;
	for (size_t i = 0; i < 2 * sizeof kinds / sizeof *kinds; i++) {
		const bool is_thread = kinds[i / 2].flags & CLONE_THREAD;
		static volatile pid_t tid;
		struct clone_args call = {
			.flags = kinds[i / 2].flags, .exit_signal = is_thread ? 0 : SIGCHLD,
			.stack = (uintptr_t)stack, .stack_size = (size_t)((char *)top - stack),
			.child_tid = (uintptr_t)&tid,
		};
		long child;

		tid = 1;
		if (i % 2)
			child = raw_call(SYS_clone3, (long)&call, sizeof call, 0, 0,
					 kinds[i / 2].entry, top);
		else
			child = raw_call(SYS_clone, (long)(call.flags | call.exit_signal),
					 (long)top, 0, (long)&tid, kinds[i / 2].entry, top);
		printf("%s%s %ld\n", kinds[i / 2].name, i % 2 ? "3" : "", child);
		MUST(child > 0);
		while (is_thread && tid)
			usleep(1000);
		if (!is_thread)
			wait_for((pid_t)child, 6);
		MUST(open("/no/such/folder/file", O_RDONLY) == -1);
	}
	errno = 0;
	MUST(raw_call(SYS_clone, CLONE_VM | CLONE_THREAD, (long)top, 0, 0, raw_thread, top) == -1);
	MUST(errno == EINVAL);
	return 0;
}

/* Children that fork() does not make, and the calls of pidfd_open(2), by syscall(2). */
static int process_clone(int argc, char **argv)
{
	static _Alignas(16) char stack[65536];
	int status, fd;
	pid_t child;

	(void)argc, (void)argv;
	child = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
	if (child == 0) {
		MUST(syscall(SYS_getpid) == getpid());
		exit(3);
	}
	printf("raw %d\n", (int)child);
	wait_for(child, 3);
	child = clone(ends_with_four, stack + sizeof stack, SIGCHLD, (void *)"argument");
	printf("clone %d\n", (int)child);
	wait_for(child, 4);
	/* This child shares the memory, as a child of vfork() does. */
	child = clone(ends_with_four, stack + sizeof stack, CLONE_VM | CLONE_VFORK | SIGCHLD,
		      (void *)"argument");
	printf("shared %d\n", (int)child);
	wait_for(child, 4);
#ifdef END_WITH
	/* The order of the last two arguments depends on the processor. */
	child = (pid_t)syscall(SYS_clone, CLONE_SETTLS | SIGCHLD, 0, 0, stack + 32768,
			       stack + 32768);
	if (child == 0)
		END_WITH(5);
	printf("tls %d\n", (int)child);
	wait_for(child, 5);
#else
	printf("tls none\n");
#endif
	/* It stays until the parent has ended it. */
	child = fork();
	if (child == 0)
		for (;;)
			pause();
	printf("ended %d\n", (int)child);
	fd = (int)syscall(SYS_pidfd_open, child, 0);
	MUST(fd >= 0);
	MUST(syscall(SYS_pidfd_getfd, fd, 77, 0) == -1 && errno == EBADF);
	MUST(syscall(SYS_pidfd_send_signal, fd, SIGKILL, NULL, 0) == 0);
	MUST(waitpid(child, &status, 0) == child && WTERMSIG(status) == SIGKILL);
	MUST(syscall(SYS_clone, CLONE_FS | CLONE_NEWNS, 0, 0, 0, 0) == -1 && errno == EINVAL);
	return 0;
}

/* A child of vfork() that sleeps for 20 ms and then calls vfork(). */
static int process_nested(int argc, char **argv)
{
	pid_t child = vfork();

	(void)argc, (void)argv;
	if (child == 0) {
		pid_t inner;

		usleep(20000);
		inner = vfork();
		if (inner == 0)
			_exit(0);
		_exit(4);
	}
	printf("outer %d\n", (int)child);
	wait_for(child, 4);
	return 0;
}

/* Returns the id of the library's thread that flushes the log, or 0. */
static int flusher(void)
{
	const int found = named_thread("ptx-flush");

	MUST(found >= 0);
	return found;
}

/*
 * Calls that the kernel refuses in a process with several threads, and calls that it does not
 * refuse. With the argument "plain", only finds out whether the process has one thread.
 */
static int process_alone(int argc, char **argv)
{
	const int tid = flusher(), fd = open("/proc/self/ns/pid", O_RDONLY | O_CLOEXEC);

	(void)argv;
	if (argc)
		return unshare(CLONE_VM) != 0;
	MUST(tid && fd >= 0);
	/* These need privilege. */
	setns(fd, CLONE_NEWPID);
	setns(fd, 0);
	syscall(SYS_setns, fd, CLONE_NEWPID);
	MUST(flusher() == tid);
	errno = 0;
	for (int i = 0; i < 20; i++) {
		MUST(unshare(CLONE_VM) == 0);
		MUST(unshare(CLONE_SIGHAND) == 0);
		MUST(syscall(SYS_unshare, CLONE_THREAD) == 0);
	}
	MUST(errno == 0);
	MUST(flusher());
	MUST(setns(-1, 0) == -1 && errno == EBADF);
	MUST(syscall(SYS_setns, -1, 0) == -1 && errno == EBADF);
	MUST(flusher());
	return 0;
}

/* Calls unshare() and setns() until it is cancelled. Both calls fail. */
static void *unshares_for_ever(void *start)
{
	pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
	pthread_barrier_wait(start);
	for (;;) {
		unshare(CLONE_VM);
		setns(-1, 0);
	}
	return NULL;
}

/* Threads are cancelled while the library's thread is paused for their call. */
static int process_alone_cancelled(int argc, char **argv)
{
	pthread_barrier_t start;
	pthread_t thread;

	(void)argc;
	(void)argv;
	MUST(flusher());
	MUST(pthread_barrier_init(&start, NULL, 2) == 0);
	/* The wrappers have found the real functions. */
	MUST(setns(-1, 0) == -1 && errno == EBADF);
	MUST(unshare(-1) == -1);
	for (int i = 0; i < 20; i++) {
		MUST(pthread_create(&thread, NULL, unshares_for_ever, &start) == 0);
		pthread_barrier_wait(&start);
		MUST(pthread_cancel(thread) == 0);
		MUST(pthread_join(thread, NULL) == 0);
		MUST(flusher());
	}
	return 0;
}

const struct probe probes_process[] = {
	{ "process", process },
	{ "exec", process_exec },
	{ "closes", process_closes },
	{ "closes-own", process_closes_own },
	{ "daemon", process_daemon },
	{ "vfork", process_vfork },
	{ "clone", process_clone },
	{ "raw", process_raw },
	{ "alone", process_alone },
	{ "alone-cancelled", process_alone_cancelled },
	{ "nested", process_nested },
	{ "shares", process_shares },
	{ "guests", process_guests },
	{ "filtered-guest", process_filtered_guest },
	{ "records-beside", process_records_beside },
	{ 0 }
};
