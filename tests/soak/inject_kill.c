/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * inject_kill.c - preloaded into a tracer: kills it before the ptrace(2) call number KILL_AT, or
 * after it if the number is negative.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/types.h>
#include <unistd.h>

long ptrace(int request, pid_t pid, void *address, void *data)
{
	static long (*next)(int, pid_t, void *, void *);
	static long calls;
	const char *text = getenv("KILL_AT");
	long at = text ? atol(text) : 0, result;

	if (!next)
		next = (long (*)(int, pid_t, void *, void *))dlsym(RTLD_NEXT, "ptrace");
	calls++;
	if (at == calls)
		kill(getpid(), SIGKILL);
	result = next(request, pid, address, data);
	if (at == -calls)
		kill(getpid(), SIGKILL);
	return result;
}
