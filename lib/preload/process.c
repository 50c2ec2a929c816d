/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * preload/process.c - family process: a program begins, forks, ends.
 *
 * The child of fork() inherits what its parent is traced into, or nothing; an event says which of
 * the two it is by coming. vfork() is in process_vfork.c.
 */
#include <stdlib.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "preload/shim.h"
#include "preload/start.h"
#include "preload/text.h"

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

void shim_process_ends(void)
{
	int32_t pid;

	if (!*shim_switch[PROCESS_END])
		return;
	pid = shim_pid();
	shim_put(PROCESS_END, &pid, sizeof pid, NULL);
}

static void child_begins(const void *caller)
{
	const int32_t data[2] = { shim_pid(), shim_parent() };

	if (*shim_switch[PROCESS_CHILD])
		shim_put(PROCESS_CHILD, data, sizeof data, caller);
}

/* The event is the parent's; in the child there may be nobody who traces any more. */
#define FORK(name) \
	SHIM_NEXT(name, shim_no_number); \
	SHIM_WRAPPER pid_t name(void) \
	{ \
		if (!shim_on(PROCESS_FORK)) \
			return next(name)(); \
		struct { \
			uint64_t time; \
			int32_t child, error; \
		} data = { .time = shim_now() }; \
		data.child = next(name)(); \
		if (data.child == 0) { \
			shim_self_forked(); \
			child_begins(shim_caller()); \
			return 0; \
		} \
		data.error = data.child < 0 ? errno : 0; \
		data.time = shim_now() - data.time; \
		shim_put(PROCESS_FORK, &data, sizeof data, shim_caller()); \
		return data.child; \
	}

FORK(fork)
FORK(_Fork)

/* By: the function that was called; main() that returns calls none that can be seen. */
static void exits(int status, const char *by, const void *caller)
{
	struct {
		int32_t pid, status;
		char by[16];
	} data = { .pid = shim_pid(), .status = status };

	shim_put(PROCESS_EXIT, &data, 8 + shim_text(data.by, sizeof data.by, by), caller);
}

#define EXIT(name) \
	SHIM_NEXT(name, shim_no_return); \
	SHIM_WRAPPER void name(int status) \
	{ \
		if (shim_on(PROCESS_EXIT)) \
			exits(status, #name, shim_caller()); \
		next(name)(status); \
		__builtin_unreachable(); \
	}

EXIT(exit)
EXIT(_exit)
EXIT(_Exit)
EXIT(quick_exit)
