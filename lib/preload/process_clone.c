/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * preload/process_clone.c - family process: children that the C library does not know.
 *
 * A program that needs flags of clone(2), for example new name spaces for a sandbox, makes its
 * child by clone(3) or by syscall(2), not by fork(). No fork handlers run then. If the child gets a
 * copy of the memory, it is a process like a child of fork() and has the same events. If it shares
 * the memory, it is a thread, or like a child of vfork(): then the call is passed on, and only the
 * events of its calls are recorded. The call is also passed on if the child has other thread-local
 * memory.
 */
#include <sched.h>
#include <stdarg.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "preload/process.h"
#include "preload/shim.h"
#include "preload/start.h"

/* The first event of the child. A quiet process must not call getpid(), so it has no such event. */
static void copy_begins(const void *caller)
{
	shim_forget_lost();
	if (!shim_is_quiet())
		shim_child_begins(caller);
}

/* The begin of process.fork. */
struct fork_data {
	uint64_t time;
	int32_t child, error;
};

/* The event of the parent. errno is that of the call. */
static void put_fork(struct fork_data *data, long result, const void *caller)
{
	data->child = result < 0 ? -1 : (int32_t)result;
	data->error = result < 0 ? errno : 0;
	data->time = shim_now() - data->time;
	shim_put(PROCESS_FORK, data, sizeof *data, caller);
}

bool shim_forks(long number, long flags, long stack)
{
#ifdef SYS_fork
	if (number == SYS_fork)
		return true;
#endif
	return number == SYS_clone && !stack && !(flags & SHIM_NO_COPY);
}

/* The child continues in the same frames, because its stack is a copy. */
long shim_fork_call(shim_syscall_function *call, long number, const long *a, const void *caller)
{
	struct fork_data data;
	long result;

	if (!*shim_switch[PROCESS_FORK] || !shim_is_wanted(PROCESS_FORK, caller))
		return call(number, a[0], a[1], a[2], a[3], a[4], a[5]);
	data.time = shim_now();
	result = call(number, a[0], a[1], a[2], a[3], a[4], a[5]);
	if (result == 0)
		copy_begins(caller);
	else
		put_fork(&data, result, caller);
	return result;
}

SHIM_NEXT(clone, shim_no_number);

/* The child reads this in its copy of the parent's frame. */
struct clone_call {
	int (*function)(void *argument);
	void *argument;
	const void *caller;
};

/* The function of a child with a stack of its own. */
static int clone_begins(void *argument)
{
	const struct clone_call call = *(const struct clone_call *)argument;

	copy_begins(call.caller);
	return call.function(call.argument);
}

/*
 * clone(3). Most programs pass only some of the last three arguments, which the real function reads
 * if the flags say so.
 */
SHIM_WRAPPER int clone(int (*function)(void *), void *stack, int flags, void *argument, ...)
{
	struct clone_call call = { function, argument, shim_caller() };
	struct fork_data data;
	pid_t *parent, *child;
	va_list list;
	void *local;
	int result;

	va_start(list, argument);
	parent = va_arg(list, pid_t *);
	local = va_arg(list, void *);
	child = va_arg(list, pid_t *);
	va_end(list);
	/* Without a function or a stack the call fails. */
	if ((flags & SHIM_NO_COPY) || !function || !stack || !shim_on(PROCESS_FORK))
		return next(clone)(function, stack, flags, argument, parent, local, child);
	data.time = shim_now();
	result = next(clone)(clone_begins, stack, flags, &call, parent, local, child);
	put_fork(&data, result, call.caller);
	return result;
}
