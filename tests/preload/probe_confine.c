/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Programs that may make few system calls: filters, strict mode, handlers of SIGSYS, no
 * descriptors.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "preload/probe.h"

#define MOST_CALLS 40

/* The filter answers all calls but these with action; how is "prctl", "syscall" or "seccomp". */
static void limit(const char *how, uint32_t action, const int *calls, unsigned count)
{
	struct sock_filter filter[2 * MOST_CALLS + 2];
	struct sock_fprog program = { .filter = filter };
	unsigned n = 0;
	long result;

	filter[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
						   offsetof(struct seccomp_data, nr));
	for (unsigned i = 0; i < count; i++) {
		filter[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K,
							   (uint32_t)calls[i], 0, 1);
		filter[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	}
	filter[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, action);
	program.len = (unsigned short)n;
	MUST(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
	if (!strcmp(how, "seccomp"))
		result = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC,
				 &program);
	else if (!strcmp(how, "syscall"))
		result = syscall(SYS_prctl, PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0);
	else
		result = prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0);
	MUST(result == 0);
}

#define LIMIT(how, action, ...) \
	do { \
		const int calls[] = { __VA_ARGS__ }; \
		limit(how, action, calls, sizeof calls / sizeof calls[0]); \
	} while (0)

static void touch(int fd, int times)
{
	for (int i = 0; i < times; i++)
		MUST(write(fd, "x", 1) == 1);
}

static int null(void)
{
	int fd = open("/dev/null", O_RDWR);

	MUST(fd >= 0);
	return fd;
}

/* filter HOW TIMES: only write() and exit are permitted. */
static int filter(int argc, char **argv)
{
	int fd = null();

	MUST(argc == 2);
	LIMIT(argv[0], SECCOMP_RET_KILL_PROCESS, SYS_write, SYS_exit_group);
	touch(fd, atoi(argv[1]));
	return 3;
}

static void *touch_in_thread(void *fd)
{
	touch(*(int *)fd, 50);
	return NULL;
}

static void touch_beside(int fd)
{
	pthread_t thread;

	MUST(pthread_create(&thread, NULL, touch_in_thread, &fd) == 0);
	MUST(pthread_join(thread, NULL) == 0);
}

static void touch_in_child(int fd)
{
	pid_t child = fork();
	int status;

	if (child == 0) {
		touch(fd, 100);
		_exit(4);
	}
	MUST(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 4);
}

/* The calls that pthread_create() and its threads need, and no others. */
static int filter_threads(int argc, char **argv)
{
	int fd = null();
	pthread_t thread[100];

	MUST(argc == 1);
	LIMIT(argv[0], SECCOMP_RET_KILL_PROCESS, SYS_write, SYS_exit_group, SYS_exit, SYS_mmap,
	      SYS_mprotect, SYS_munmap, SYS_rt_sigprocmask, SYS_clone3, SYS_clone, SYS_rseq,
	      SYS_set_robust_list, SYS_futex, SYS_madvise, SYS_getrandom, SYS_brk,
	      SYS_rt_sigaction);
	for (int i = 0; i < 100; i++)
		MUST(pthread_create(&thread[i], NULL, touch_in_thread, &fd) == 0);
	for (int i = 0; i < 100; i++)
		MUST(pthread_join(thread[i], NULL) == 0);
	return 3;
}

static int filter_fork(int argc, char **argv)
{
	int fd = null(), status;
	pid_t child;

	MUST(argc == 1);
	LIMIT(argv[0], SECCOMP_RET_KILL_PROCESS, SYS_write, SYS_exit_group, SYS_clone,
	      SYS_set_robust_list, SYS_wait4);
	for (int i = 0; i < 3; i++) {
		child = fork();
		if (child == 0) {
			child = fork();
			touch(fd, 100);
			if (child == 0)
				_exit(5);
			MUST(waitpid(child, &status, 0) == child && WEXITSTATUS(status) == 5);
			exit(4);
		}
		MUST(waitpid(child, &status, 0) == child && WIFEXITED(status) &&
		     WEXITSTATUS(status) == 4);
	}
	return 3;
}

/*
 * filter-clone HOW: children without fork handlers. The library asks for their ids, and for memory,
 * if they have a stream.
 */
static int filter_clone(int argc, char **argv)
{
	int fd = null(), status;
	void *gone = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	pid_t child;

	MUST(argc == 1 && gone != MAP_FAILED && munmap(gone, 4096) == 0);
	LIMIT(argv[0], SECCOMP_RET_KILL_PROCESS, SYS_write, SYS_exit_group, SYS_clone, SYS_clone3,
	      SYS_set_robust_list, SYS_rt_sigprocmask, SYS_wait4, SYS_getpid, SYS_gettid,
	      SYS_mmap, SYS_munmap, SYS_madvise);
	for (int i = 0; i < 2; i++) {
		child = i ? _Fork() : (pid_t)syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);
		if (child == 0) {
			touch(fd, 100);
			exit(4);
		}
		MUST(waitpid(child, &status, 0) == child && WIFEXITED(status) &&
		     WEXITSTATUS(status) == 4);
	}
	/* The kernel cannot read the struct. The shim must not read it either. */
	MUST(syscall(SYS_clone3, gone, 88) == -1 && errno == EFAULT);
	MUST(syscall(SYS_clone3, (char *)gone + 4080, 88) == -1 && errno == EFAULT);
	touch(fd, 100);
	return 3;
}

/* Counts how often the program's own calls were trapped. No other call may be trapped. */
static volatile sig_atomic_t trapped, unexpected;
static int trap_fd;

static void on_trap(int number, siginfo_t *info, void *context)
{
	(void)number, (void)context;
	if (info->si_syscall == SYS_getppid)
		trapped = trapped + 1;
	else
		unexpected = unexpected + 1;
	touch(trap_fd, 2); /* the shim traces it, too */
}

static int filter_trap(int argc, char **argv)
{
	struct sigaction action = { .sa_sigaction = on_trap, .sa_flags = SA_SIGINFO | SA_NODEFER };

	MUST(argc == 1);
	trap_fd = null();
	MUST(sigaction(SIGSYS, &action, NULL) == 0);
	LIMIT(argv[0], SECCOMP_RET_TRAP, SYS_write, SYS_exit_group, SYS_exit, SYS_rt_sigreturn,
	      SYS_mmap, SYS_mprotect, SYS_munmap, SYS_rt_sigprocmask, SYS_clone3, SYS_clone,
	      SYS_rseq, SYS_set_robust_list, SYS_futex, SYS_madvise, SYS_getrandom, SYS_brk,
	      SYS_rt_sigaction);
	for (int i = 0; i < 100; i++)
		getppid();
	touch(trap_fd, 20000);
	touch_beside(trap_fd);
	if (unexpected || trapped != 100)
		_exit(1);
	return 3;
}

static int filter_errno(int argc, char **argv)
{
	int fd = null();

	MUST(argc == 1);
	LIMIT(argv[0], SECCOMP_RET_ERRNO | ENOSYS, SYS_write, SYS_exit_group);
	touch(fd, 20000);
	return 3;
}

/*
 * filter-exec CALL PROGRAM ARGUMENT...: the program inherits a filter that kills for the call. CALL
 * is copy, wait, memory, move or signal. A small program makes none of these calls itself.
 */
static int filter_exec(int argc, char **argv)
{
	const uint32_t call = !strcmp(argv[0], "copy") ? SYS_process_vm_readv :
			      !strcmp(argv[0], "wait") ? SYS_waitid :
			      !strcmp(argv[0], "memory") ? SYS_fallocate :
			      !strcmp(argv[0], "action") ? SYS_rt_sigaction :
			      !strcmp(argv[0], "move") ? SYS_mremap : SYS_tgkill;
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { sizeof filter / sizeof filter[0], filter };

	MUST(argc > 1);
	MUST(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
	MUST(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) == 0);
	execv(argv[1], argv + 1);
	return 1;
}

/* Permits only what a small program needs. */
static void limit_few(const char *how, uint32_t action)
{
	LIMIT(how, action, SYS_execve, SYS_write, SYS_exit_group, SYS_brk, SYS_mmap, SYS_munmap,
	      SYS_mprotect, SYS_openat, SYS_close, SYS_read, SYS_pread64, SYS_newfstatat,
	      SYS_fstat, SYS_getrandom, SYS_set_tid_address, SYS_set_robust_list, SYS_rseq,
	      SYS_prlimit64, SYS_ioctl, SYS_faccessat, SYS_futex, SYS_lseek, SYS_statfs,
#ifdef __x86_64__
	      SYS_arch_prctl, SYS_access
#else
	      SYS_faccessat2
#endif
	);
}

/* filter-few HOW ACTION PROGRAM ARGUMENT...: only what a small program needs is permitted. */
static int filter_few(int argc, char **argv)
{
	MUST(argc > 2);
	limit_few(argv[0], argv[1][0] == 't' ? SECCOMP_RET_TRAP : SECCOMP_RET_KILL_PROCESS);
	execv(argv[2], argv + 2);
	return 1;
}

static void wait_well(pid_t child)
{
	int status;

	MUST(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

/*
 * filter-vfork HOW PROGRAM ARGUMENT...: children of vfork() restrict themselves. The parent, its
 * threads and its later children are not restricted.
 */
static int filter_vfork(int argc, char **argv)
{
	int fd = null();
	pid_t child;

	MUST(argc > 1);
	child = vfork();
	if (!child) {
		limit_few(argv[0], SECCOMP_RET_KILL_PROCESS);
		execv(argv[1], argv + 1);
		_exit(1);
	}
	wait_well(child);
	touch(fd, 100);
#if defined __x86_64__
	child = vfork();
	if (!child) {
		MUST(prctl(PR_SET_TSC, PR_TSC_SIGSEGV, 0, 0, 0) == 0);
		_exit(0);
	}
	wait_well(child);
	touch(fd, 100);
#endif
	child = vfork();
	if (!child) {
		MUST(prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT, 0, 0, 0) == 0);
		syscall(SYS_exit, 0);
	}
	wait_well(child);
	touch(fd, 100);
	touch_beside(fd);
	touch_in_child(fd);
	child = vfork();
	if (!child) {
		execv(argv[1], argv + 1);
		_exit(1);
	}
	wait_well(child);
	return 3;
}

/* vfork() by a system call instruction, which no wrapper sees. */
pid_t bare_vfork(void);
#if defined __x86_64__
__asm__(
	"	.text\n"
	"	.globl bare_vfork\n"
	"	.type bare_vfork, @function\n"
	"bare_vfork:\n"
	"	popq %rdi\n"
	"	movl $58, %eax\n"
	"	syscall\n"
	"	pushq %rdi\n"
	"	ret\n"
	"	.size bare_vfork, . - bare_vfork\n");
#elif defined __aarch64__
__asm__(
	"	.text\n"
	"	.globl bare_vfork\n"
	"	.type bare_vfork, %function\n"
	"bare_vfork:\n"
	"	mov x0, #0x4111\n"
	"	mov x1, #0\n"
	"	mov x8, #220\n"
	"	svc #0\n"
	"	ret\n"
	"	.size bare_vfork, . - bare_vfork\n");
#endif

/* The shim finds out the id of a child of vfork() by a system call. */
static void *vfork_in_thread(void *fd)
{
	pid_t child = vfork();
	int status;

	if (child == 0)
		_exit(5);
	MUST(waitpid(child, &status, 0) == child);
	MUST(WIFEXITED(status) && WEXITSTATUS(status) == 5);
	touch(*(int *)fd, 50);
	return NULL;
}

/*
 * filter-bare HOW: such a child restricts itself and forks. All threads of its child have the
 * filter, so the shim makes no system call of its own in any of them.
 */
static int filter_bare(int argc, char **argv)
{
	int fd = null(), status;
	pid_t child;

	MUST(argc == 1);
	child = bare_vfork();
	if (child == 0) {
		LIMIT(argv[0], SECCOMP_RET_KILL_PROCESS, SYS_write, SYS_exit_group, SYS_exit,
		      SYS_mmap, SYS_mprotect, SYS_munmap, SYS_rt_sigprocmask, SYS_clone3,
		      SYS_clone, SYS_rseq, SYS_set_robust_list, SYS_futex, SYS_madvise,
		      SYS_getrandom, SYS_brk, SYS_rt_sigaction, SYS_wait4,
#ifdef SYS_vfork
		      SYS_vfork
#else
		      SYS_clone
#endif
		      );
		child = fork();
		if (child == 0) {
			pthread_t thread;

			MUST(pthread_create(&thread, NULL, vfork_in_thread, &fd) == 0);
			MUST(pthread_join(thread, NULL) == 0);
			_exit(4);
		}
		MUST(waitpid(child, &status, 0) == child);
		MUST(WIFEXITED(status) && WEXITSTATUS(status) == 4);
		_exit(0);
	}
	wait_well(child);
	return 3;
}

static int strict(int argc, char **argv)
{
	int fd = null();

	(void)argv;
	MUST(argc == 1);
	touch(fd, 100);
	if (!strcmp(argv[0], "syscall"))
		MUST(syscall(SYS_seccomp, SECCOMP_SET_MODE_STRICT, 0, NULL) == 0);
	else
		MUST(prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT, 0, 0, 0) == 0);
	touch(fd, 20000);
	syscall(SYS_exit, 3);
	return 1;
}

/* A thread in strict mode beside others that the shim continues to trace. */
static void *strict_in_thread(void *fd)
{
	MUST(prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT, 0, 0, 0) == 0);
	touch(*(int *)fd, 1000);
	syscall(SYS_exit, 0);
	return NULL;
}

static int strict_thread(int argc, char **argv)
{
	int fd = null();
	pthread_t thread;

	(void)argc, (void)argv;
	MUST(pthread_create(&thread, NULL, strict_in_thread, &fd) == 0);
	MUST(pthread_join(thread, NULL) == 0);
	touch(fd, 1000);
	return 3;
}

/* A call that fails changes nothing: the shim continues to trace the thread. */
static int strict_fails(int argc, char **argv)
{
	int fd = null();

	(void)argc, (void)argv;
	LIMIT("prctl", SECCOMP_RET_KILL_PROCESS, SYS_write, SYS_exit_group, SYS_prctl);
	MUST(prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT, 0, 0, 0) == -1 && errno == EINVAL);
	touch(fd, 1000);
	return 3;
}

/* libseccomp finds out in this way which calls the kernel has. The calls restrict nothing. */
static int asks(int argc, char **argv)
{
	int fd = null(), status;
	pid_t child;

	(void)argc, (void)argv;
	MUST(syscall(SYS_seccomp, SECCOMP_SET_MODE_STRICT, 1, NULL) == -1 && errno == EINVAL);
	MUST(syscall(SYS_seccomp, SECCOMP_SET_MODE_STRICT, 0, &fd) == -1 && errno == EINVAL);
	MUST(syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, NULL) == -1);
	touch(fd, 100);
	child = vfork();
	MUST(child >= 0);
	if (!child)
		_exit(4);
	MUST(waitpid(child, &status, 0) == child && WEXITSTATUS(status) == 4);
	return 3;
}

#if defined __x86_64__
/*
 * A thread and the threads that it creates may not read the counter. Later the first thread permits
 * this again.
 */
static int no_counter(int argc, char **argv)
{
	int fd = null();

	(void)argc, (void)argv;
	MUST(prctl(PR_SET_TSC, PR_TSC_SIGSEGV, 0, 0, 0) == 0);
	touch(fd, 150);
	touch_beside(fd);
	touch_in_child(fd);
	MUST(prctl(PR_SET_TSC, PR_TSC_ENABLE, 0, 0, 0) == 0);
	touch(fd, 500);
	return 3;
}
#else
static int no_counter(int argc, char **argv)
{
	(void)argc, (void)argv;
	return 77;
}
#endif

/* a folder that becomes the root */
static int bare(int argc, char **argv)
{
	struct rlimit none = { 0, 0 };
	int fd = null();

	MUST(argc == 1); /* a folder for a root */
	MUST(dup2(fd, 3) == 3);
	fd = 3;
	MUST(close_range(4, ~0u, 0) == 0);
	if (geteuid() == 0)
		MUST(chroot(argv[0]) == 0 && chdir("/") == 0 && setgid(65534) == 0 &&
		     setuid(65534) == 0);
	MUST(setrlimit(RLIMIT_NOFILE, &none) == 0);
	touch(fd, 20000);
	touch_beside(fd);
	touch_in_child(fd);
	return 3;
}

const struct probe probes_confine[] = {
	{ "filter", filter },
	{ "filter-threads", filter_threads },
	{ "filter-fork", filter_fork },
	{ "filter-clone", filter_clone },
	{ "filter-trap", filter_trap },
	{ "filter-errno", filter_errno },
	{ "filter-exec", filter_exec },
	{ "filter-few", filter_few },
	{ "filter-vfork", filter_vfork },
	{ "filter-bare", filter_bare },
	{ "strict", strict },
	{ "strict-thread", strict_thread },
	{ "strict-fails", strict_fails },
	{ "asks", asks },
	{ "no-counter", no_counter },
	{ "bare", bare },
	{ NULL, NULL }
};
