/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * preload/next.c - finds the next definitions behind the shim's functions.
 *
 * All of them are looked up when the shim begins. A first call may come from a signal handler, or
 * from a child of a program with threads, where the dynamic linker's lock cannot be acquired. A
 * function that is called before that is looked up at its call, which needs nothing but that
 * lock.
 */
#include <dlfcn.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "preload/shim.h"

/* The linker defines these symbols around a section whose name is an identifier. */
extern struct shim_next *const __start_shim_nexts[] __attribute__((visibility("hidden")));
extern struct shim_next *const __stop_shim_nexts[] __attribute__((visibility("hidden")));

/* The version of the oldest functions of glibc, which the architecture has. */
#if defined __x86_64__
#define FIRST_GLIBC "GLIBC_2.2.5"
#elif defined __aarch64__
#define FIRST_GLIBC "GLIBC_2.17"
#endif

/*
 * dlsym() does not find functions that glibc has only for programs of the past. Those that the shim
 * wraps are __xstat() and similar ones. They have the version of glibc's first release.
 */
static void *find_old(const char *name)
{
#ifdef FIRST_GLIBC
	if (name[0] == '_' && name[1] == '_' && strstr(name, "xstat"))
		return dlvsym(RTLD_NEXT, name, FIRST_GLIBC);
#else
	(void)name;
#endif
	return NULL;
}

/*
 * dlsym() may set errno even if it succeeds. RTLD_NEXT means behind the object of the caller, so
 * that the call must be in the shim itself.
 */
void *shim_look_up(const struct shim_next *next)
{
	int saved = errno;
	void *function = dlsym(RTLD_NEXT, next->name);

	/* The second search is made once for each of the few old names. */
	if (!function)
		function = find_old(next->name);
	errno = saved;
	return function ? function : next->otherwise;
}

/* Several threads may look up one function at once. They find the same. */
void *shim_find(struct shim_next *next)
{
	void *function = shim_look_up(next);

	atomic_store_explicit(&next->function, function, memory_order_release);
	return function;
}

void shim_find_all(void)
{
	/* Functions that a wrapper has already looked up are skipped. */
	for (struct shim_next *const *at = __start_shim_nexts; at < __stop_shim_nexts; at++)
		if (!atomic_load_explicit(&(*at)->function, memory_order_relaxed))
			shim_find(*at);
}

/*
 * These replace functions that do not exist behind the shim. Each has the form of a failure of
 * the functions that it replaces; their arguments are ignored.
 */
long shim_no_number(void)
{
	errno = ENOSYS;
	return -1;
}

void *shim_no_pointer(void)
{
	errno = ENOSYS;
	return NULL;
}

int shim_no_error(void)
{
	return ENOSYS;
}

/* 127 is the status of a shell for a command that cannot be executed. */
void shim_no_return(void)
{
	for (;;)
		syscall(SYS_exit_group, 127);
}
