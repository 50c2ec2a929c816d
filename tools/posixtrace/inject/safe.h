/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * safe.h - whether a thread is at a place where it can safely call dlopen(). The thread must not be
 * in the dynamic linker, in the allocator, or in a signal handler that may have interrupted one of
 * these.
 */
#ifndef POSIXTRACE_INJECT_SAFE_H
#define POSIXTRACE_INJECT_SAFE_H

#include <stdbool.h>
#include <sys/types.h>

#include "inject/stop.h"
#include "inject/target.h"

enum safe_rank {
	SAFE_NOT,     /* the thread must not be interrupted */
	SAFE_PARENT,  /* the thread has children, and the process has other threads */
	SAFE_RUNNING, /* the thread runs, so it may be anywhere */
	SAFE_TIMED,   /* the thread waits in a call that is restarted with its whole time limit */
	SAFE_WAITING  /* the thread waits in a call that is restarted exactly */
};

/* Ranks a thread without stopping it. is_alone is true if the process has no other thread. */
enum safe_rank safe_look(pid_t pid, pid_t tid, bool is_alone);

/*
 * Returns whether the thread has children. The result is true if the thread cannot be examined, and
 * false if the thread has ended or the kernel does not list children.
 */
bool safe_has_children(pid_t pid, pid_t tid);

#if defined __x86_64__
/* Returns whether a stopped thread is at a safe place. "stack" is the mapping of its stack. */
bool safe_is_here(const struct target *target, const struct stopped *thread,
		  const struct mapping *stack);
#endif

#endif
