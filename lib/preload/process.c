/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * preload/process.c - family process: a program begins, forks, ends.
 *
 * The child of fork() may inherit streams of its parent. The event process.child is recorded only
 * if the child inherits a stream. vfork() is in process_vfork.c, and functions that execute
 * programs in process_exec.c and process_spawn.c.
 */
#include <pty.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "preload/patch.h"
#include "preload/process.h"
#include "preload/shim.h"
#include "preload/start.h"
#include "preload/text.h"

/*
 * The first event of a program. AT_EXECFN is the path that was passed to execve(2); argv[0] may be
 * any text.
 */
void shim_process_begins(void)
{
	struct {
		int32_t pid, parent;
		char program[SHIM_TEXT];
	} data;
	const char *program = (const char *)getauxval(AT_EXECFN);

	if (!*shim_switch[PROCESS_START])
		return;
	data.pid = shim_pid();
	data.parent = shim_parent();
	shim_put(PROCESS_START, &data,
		 8 + shim_text(data.program, sizeof data.program, program), NULL);
}

/*
 * Called by the shim's destructor. Records the last event of a program that ends by exit() or by a
 * return from main().
 */
void shim_process_ends(void)
{
	int32_t pid;

	if (*posix_trace_active_np)
		shim_patch_process_ends();
	if (!*shim_switch[PROCESS_END])
		return;
	pid = shim_pid();
	shim_put(PROCESS_END, &pid, sizeof pid, NULL);
}

/*
 * The first event of a child. The switch is examined in the child, because the child may inherit no
 * stream.
 */
void shim_child_begins(const void *caller)
{
	const int32_t data[2] = { shim_pid(), shim_parent() };

	if (*shim_switch[PROCESS_CHILD])
		shim_put(PROCESS_CHILD, data, sizeof data, caller);
}

void shim_put_fork(uint64_t begin, uint64_t flags, long result, int error, const void *caller)
{
	struct shim_fork data = {
		.child = result < 0 ? -1 : (int32_t)result,
		.error = result < 0 ? error : 0,
		.flags = flags,
	};

	if (!begin)
		return;
	data.time = shim_now() - begin;
	shim_put(PROCESS_FORK, &data, sizeof data, caller);
}

SHIM_NEXT(fork, shim_no_number);

/*
 * fork(). process.fork is an event of the parent, because the child may have no stream. SHIM_CALL()
 * is not used, because its cleanup would run in the child, too. fork() calls the fork handlers of
 * the shim.
 */
SHIM_WRAPPER pid_t fork(void)
{
	uint64_t begin;
	pid_t child;

	if (!shim_on(PROCESS_FORK))
		return next(fork)();
	begin = shim_now();
	child = next(fork)();
	if (child == 0)
		shim_child_begins(shim_caller());
	else
		shim_put_fork(begin, 0, child, errno, shim_caller());
	return child;
}

SHIM_ALIAS(__fork, fork);

SHIM_NEXT(_Fork, shim_no_number);

/*
 * _Fork() calls no fork handlers. So the child resets the shim here, whether or not the call is
 * traced.
 */
SHIM_WRAPPER pid_t _Fork(void)
{
	const uint64_t begin = shim_on(PROCESS_FORK) ? shim_now() : 0;
	pid_t child = next(_Fork)();

	if (child == 0) {
		shim_self_forked();
		shim_after_copy();
		shim_child_begins(shim_caller());
	} else {
		shim_put_fork(begin, 0, child, errno, shim_caller());
	}
	return child;
}

SHIM_NEXT(forkpty, shim_no_number);

/*
 * forkpty(3) makes a child on a new terminal. No event shows that the child's descriptors 0 to 2
 * are the terminal. The fork handlers of the shim run in the child, as after fork().
 */
SHIM_WRAPPER pid_t forkpty(int *master, char *name, const struct termios *mode,
			   const struct winsize *size)
{
	uint64_t begin;
	pid_t child;

	if (!shim_on(PROCESS_FORK))
		return next(forkpty)(master, name, mode, size);
	begin = shim_now();
	child = next(forkpty)(master, name, mode, size);
	if (child == 0)
		shim_child_begins(shim_caller());
	else
		shim_put_fork(begin, 0, child, errno, shim_caller());
	return child;
}

SHIM_NEXT(daemon, shim_no_number);

/*
 * After success, daemon(3) returns in the child only. The parent ends inside the C library, with
 * the status 0 and without an event.
 */
SHIM_WRAPPER int daemon(int stays, int keeps)
{
	/* The C library forks by its own fork(), which calls the fork handlers of the shim. */
	int result = next(daemon)(stays, keeps);

	if (!result && shim_on(PROCESS_CHILD))
		shim_child_begins(shim_caller());
	return result;
}

/*
 * Records a call that ends the process, before the call is made. `by` is the name of the function
 * that was called. A return from main() calls no function that the shim sees.
 */
static void put_exit(int status, const char *by, const void *caller)
{
	struct {
		int32_t pid, status;
		char by[16];
	} data = { .pid = shim_pid(), .status = status };

	shim_put(PROCESS_EXIT, &data, 8 + shim_text(data.by, sizeof data.by, by), caller);
}

/*
 * Functions that end the process. The real functions never return, so the code behind them is
 * marked as unreachable.
 */
#define EXIT(name) \
	SHIM_NEXT(name, shim_no_return); \
	SHIM_WRAPPER void name(int status) \
	{ \
		if (shim_on(PROCESS_EXIT)) \
			put_exit(status, #name, shim_caller()); \
		next(name)(status); \
		__builtin_unreachable(); \
	}

EXIT(exit)
EXIT(_exit)
EXIT(_Exit)
EXIT(quick_exit)

SHIM_NEXT(abort, shim_no_return);

/*
 * The event precedes the signal. The event has the status that a shell shows for SIGABRT. If a
 * handler leaves by longjmp(), the program continues after this event.
 */
SHIM_WRAPPER void abort(void)
{
	if (shim_on(PROCESS_EXIT))
		put_exit(128 + SIGABRT, "abort", shim_caller());
	next(abort)();
	__builtin_unreachable();
}
