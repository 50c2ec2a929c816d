/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * stop.h - stops one thread of another process, and releases it so that the program notices
 * nothing.
 *
 * PTRACE_SEIZE sends no signal, and the parent of the process is not informed. If this process
 * ends, the kernel releases the thread with the registers that it has then.
 */
#ifndef POSIXTRACE_INJECT_STOP_H
#define POSIXTRACE_INJECT_STOP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#if defined __x86_64__
# include <sys/user.h>
#endif

#define STOP_STATE_BYTES 16384 /* size of the vector registers; AMX has 11 KiB */

enum stop_kind {
	STOP_EVENT,   /* the thread was stopped by PTRACE_INTERRUPT */
	STOP_SYSCALL, /* before or after a system call */
	STOP_SIGNAL,  /* a signal is about to be delivered */
	STOP_GROUP,   /* the process was stopped by a signal such as SIGSTOP */
	STOP_GONE,    /* the thread has ended */
	STOP_LATE     /* the thread did not stop in time */
};

struct stop {
	enum stop_kind kind;
	int signal;
};

#if defined __x86_64__

/* A thread that is stopped, with all of its state that must be restored before it continues. */
struct stopped {
	pid_t pid, tid;
	struct user_regs_struct regs;
	/* stop_begin() also accepts a thread whose process SIGSTOP has stopped */
	bool takes_group;
	bool has_children; /* set and read by the caller only */
	uint64_t mask;                          /* the blocked signals */
	_Alignas(64) unsigned char state[STOP_STATE_BYTES];
	size_t state_bytes;
};

#endif

enum stop_result {
	STOP_OK,
	STOP_REFUSED, /* the kernel refuses to stop the thread; errno has the reason */
	STOP_RETRY,   /* the thread cannot be stopped now; it continues unchanged */
	STOP_ENDED,
	STOP_STUCK    /* the thread does not stop, and remains seized until this process ends */
};

/*
 * Prepares this process, which has one thread, for stop_wait(): SIGCHLD gets its default action and
 * is blocked. stop_wait() removes each SIGCHLD of the process.
 */
void stop_prepare(void);

/* Waits for the next stop, at most until end_ns on the clock of until_now_ns(). */
struct stop stop_wait(pid_t tid, int64_t end_ns);

#if defined __x86_64__

/*
 * Stops the thread and reads its state. After any result other than STOP_OK the thread is not
 * stopped. The caller sets takes_group before the call. STOP_ENDED is also the result for a thread
 * that has ended but still exists as a zombie, or is about to vanish.
 */
enum stop_result stop_begin(struct stopped *thread, pid_t pid, pid_t tid);

/*
 * Releases the thread. The caller has restored the registers from thread->regs, or has not changed
 * them. If the stop has interrupted a system call, the kernel restarts the call. This is also
 * true for calls that return EINTR after any interruption: stop_begin() has marked them in
 * thread->regs for a restart.
 */
void stop_end(struct stopped *thread);

/*
 * Returns the letter of proc(5) for a thread's state. X means that the thread has ended or does not
 * exist. 0 means that the state is unknown.
 */
char stop_state(pid_t pid, pid_t tid);

/* Returns the number that the thread has in its own namespace of process ids. */
pid_t stop_inner_id(const struct stopped *thread);

/*
 * Returns true if a signal that the thread does not block or ignore is pending, or may be pending.
 */
bool stop_has_signal(const struct stopped *thread);

#endif

#endif
