/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * stop.c - stops a thread by PTRACE_SEIZE and PTRACE_INTERRUPT.
 *
 * Unlike PTRACE_ATTACH these requests send no SIGSTOP, so the program and its parent notice
 * nothing. If this process is killed, the kernel releases the thread.
 */
#include "inject/stop.h"

#include <elf.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>

#include "base/procfile.h"
#include "base/until.h"

#define PAUSE_NS   200000     /* between two calls of waitpid() */
#define STOP_NS    2000000000 /* the limit for a stop; threads that sleep or run need much less */

/*
 * An error with which the kernel marks an interrupted system call. A user program never receives
 * it.
 */
#define ERESTARTNOHAND 514

/*
 * A stop by PTRACE_INTERRUPT and a stop of the whole process have the same event PTRACE_EVENT_STOP,
 * but different signals. If the status does not report a stop, the thread has ended.
 */
static struct stop stop_of(int status)
{
	struct stop stop = { STOP_GONE, 0 };

	if (!WIFSTOPPED(status))
		return stop;
	stop.signal = WSTOPSIG(status);
	if (status >> 16 == PTRACE_EVENT_STOP)
		stop.kind = stop.signal == SIGTRAP ? STOP_EVENT : STOP_GROUP;
	else if (stop.signal == (SIGTRAP | 0x80))
		stop.kind = STOP_SYSCALL;
	else
		stop.kind = STOP_SIGNAL;
	return stop;
}

/* The kernel sends SIGCHLD for a stop only if this process does not ignore SIGCHLD. */
void stop_prepare(void)
{
	sigset_t set;

	signal(SIGCHLD, SIG_DFL);
	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	sigprocmask(SIG_BLOCK, &set, NULL);
}

/*
 * waitpid() has no time limit, so this function calls it without blocking, after each SIGCHLD and
 * at the latest after PAUSE_NS. If this process is killed between the stop and the next steps, a
 * system call of the thread returns EINTR (DESIGN 8). SIGCHLD makes this time short. end_ns is on
 * the clock of until_now_ns(). __WALL is needed because the thread is not a child of this process.
 */
struct stop stop_wait(pid_t tid, int64_t end_ns)
{
	const struct timespec pause = { 0, PAUSE_NS };
	sigset_t set;
	int status;

	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	for (;;) {
		pid_t got = waitpid(tid, &status, __WALL | WNOHANG);

		if (got == tid)
			return stop_of(status);
		if (got < 0 && errno != EINTR)
			return (struct stop){ STOP_GONE, 0 };
		if (until_now_ns() > end_ns)
			return (struct stop){ STOP_LATE, 0 };
		sigtimedwait(&set, NULL, &pause);
	}
}

#if defined __x86_64__

/*
 * Some calls, such as epoll_wait(), return EINTR after any interruption. This function replaces
 * that result by ERESTARTNOHAND, the kernel's own mark for "restart, unless a handler runs". So the
 * call continues, or returns EINTR if a signal with a handler is pending. The function does not
 * mark close(), because close() has closed its descriptor even if it returns EINTR. A second
 * close() could close a new file of another thread. Returns whether the function changed the
 * registers.
 */
static bool mark_restart(struct user_regs_struct *regs)
{
	if ((int64_t)regs->orig_rax < 0 || regs->orig_rax == SYS_close ||
	    (int64_t)regs->rax != -EINTR)
		return false;
	regs->rax = (uint64_t)-ERESTARTNOHAND;
	return true;
}

/*
 * Reads the state that must be restored. Returns false if the thread has ended, or if the kernel
 * refuses. If the whole process was stopped (is_group), calls such as epoll_wait() return EINTR
 * even without a tracer, so their result is not changed.
 */
static bool read_state(struct stopped *thread, bool is_group)
{
	struct iovec vector = { thread->state, sizeof(thread->state) };

	/*
	 * The function writes the mark immediately, so that the kernel restarts the call even if
	 * this process is killed later.
	 */
	if (ptrace(PTRACE_GETREGS, thread->tid, NULL, &thread->regs) ||
	    (!is_group && mark_restart(&thread->regs) &&
	     ptrace(PTRACE_SETREGS, thread->tid, NULL, &thread->regs)) ||
	    ptrace(PTRACE_GETSIGMASK, thread->tid, sizeof(thread->mask), &thread->mask) ||
	    ptrace(PTRACE_GETREGSET, thread->tid, NT_X86_XSTATE, &vector))
		return false;
	thread->state_bytes = vector.iov_len;
	/*
	 * If the state fills the buffer, the buffer may be too small for the state, so the function
	 * fails.
	 */
	return thread->state_bytes < sizeof(thread->state);
}

/*
 * Releases a thread that the kernel has stopped at the delivery of a signal, and delivers the
 * signal. The kernel stops a traced thread also before a signal that the program ignores. Such a
 * signal must not end a system call, so the function marks the call for a restart.
 */
static void stop_deliver(pid_t tid, int signal)
{
	struct user_regs_struct regs;

	if (!ptrace(PTRACE_GETREGS, tid, NULL, &regs) && mark_restart(&regs))
		ptrace(PTRACE_SETREGS, tid, NULL, &regs);
	ptrace(PTRACE_DETACH, tid, NULL, signal);
}

/*
 * Reads a thread's status file. Returns false if the thread has ended. The process may be in
 * another namespace of process ids; pid and tid are the numbers in the namespace of this process.
 */
static bool read_status(pid_t pid, pid_t tid, char text[PROCFILE_BYTES])
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/task/%d/status", (int)pid, (int)tid);
	return procfile_read(path, text, PROCFILE_BYTES);
}

char stop_state(pid_t pid, pid_t tid)
{
	char text[PROCFILE_BYTES];
	const char *state;

	if (!read_status(pid, tid, text))
		return 'X';
	state = procfile_field(text, "State:");
	return state ? *state : '\0';
}

/*
 * Returns whether the thread has ended. A main thread that has ended is still listed if other
 * threads run.
 */
static bool has_ended(pid_t pid, pid_t tid)
{
	char state = stop_state(pid, tid);

	return state == 'Z' || state == 'X';
}

/*
 * If the result is STOP_STUCK, the thread remains seized. Only the end of this process releases it,
 * because PTRACE_DETACH needs a stopped thread.
 */
enum stop_result stop_begin(struct stopped *thread, pid_t pid, pid_t tid)
{
	struct stop stop;

	thread->pid = pid;
	thread->tid = tid;
	if (ptrace(PTRACE_SEIZE, tid, NULL, PTRACE_O_TRACESYSGOOD)) {
		int err = errno;

		/* The kernel returns EPERM also for a thread that has ended. */
		if (err == EPERM && has_ended(pid, tid))
			return STOP_ENDED;
		errno = err;
		return err == ESRCH ? STOP_RETRY : STOP_REFUSED;
	}
	if (ptrace(PTRACE_INTERRUPT, tid, NULL, NULL))
		return STOP_ENDED;
	stop = stop_wait(tid, until_now_ns() + STOP_NS);
	switch (stop.kind) {
	case STOP_GONE:
		return STOP_ENDED;
	case STOP_LATE:
		return STOP_STUCK;
	case STOP_SIGNAL:
		stop_deliver(tid, stop.signal);
		return STOP_RETRY;
	case STOP_GROUP:
		/* After PTRACE_DETACH the kernel stops the thread again with its process. */
		if (thread->takes_group)
			break;
		__attribute__((fallthrough));
	case STOP_SYSCALL:
		stop_deliver(tid, 0);
		return STOP_RETRY;
	case STOP_EVENT:
		break;
	}
	if (read_state(thread, stop.kind == STOP_GROUP))
		return STOP_OK;
	ptrace(PTRACE_DETACH, tid, NULL, NULL);
	return STOP_RETRY;
}

bool stop_has_signal(const struct stopped *thread)
{
	char text[PROCFILE_BYTES];
	uint64_t pending;

	if (!read_status(thread->pid, thread->tid, text))
		return true;
	pending = procfile_number(text, "SigPnd:", 16, 0) | procfile_number(text, "ShdPnd:", 16, 0);
	return pending & ~thread->mask & ~procfile_number(text, "SigIgn:", 16, 0);
}

pid_t stop_inner_id(const struct stopped *thread)
{
	return procfile_inner_id(thread->pid, thread->tid);
}

void stop_end(struct stopped *thread)
{
	ptrace(PTRACE_DETACH, thread->tid, NULL, NULL);
}

#endif
