/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * preload/next.c - finds the definitions of functions that follow those of the shim.
 *
 * The first call of a wrapper may come from a signal handler, or from a child of a program with
 * threads. In both cases the wrapper must not acquire the dynamic linker's lock. Therefore, once
 * start.c has noted the loaded objects, scope.c finds the functions without that lock. If scope.c
 * cannot do that, the constructor looks up all functions in advance. A function that is called
 * before the objects are noted is looked up at that call, under the lock.
 */
#include <dlfcn.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "preload/scope.h"
#include "preload/shim.h"

/* The linker defines these symbols around a section whose name is an identifier. */
extern struct shim_next __start_shim_nexts[] __attribute__((visibility("hidden")));
extern struct shim_next __stop_shim_nexts[] __attribute__((visibility("hidden")));

/* The symbol version of the oldest functions of glibc on this architecture. */
#if defined __x86_64__
#define FIRST_GLIBC "GLIBC_2.2.5"
#elif defined __aarch64__
#define FIRST_GLIBC "GLIBC_2.17"
#endif

/*
 * Returns whether the text begins with `with`. Replaces strncmp(): a sanitizer may define a
 * strncmp() that cannot be called before the sanitizer has started.
 */
static bool next_begins(const char *text, const char *with)
{
	while (*with)
		if (*text++ != *with++)
			return false;
	return true;
}

/*
 * Returns whether glibc may have the function only for old programs. dlsym() does not find such
 * functions, because it searches without a version. The shim wraps __xstat() and similar functions
 * of this kind.
 */
static bool is_old(const char *name)
{
	return next_begins(name, "__xstat") || next_begins(name, "__lxstat") ||
	       next_begins(name, "__fxstat") || next_begins(name, "__xmknod");
}

/*
 * Returns a function that glibc has only for old programs, or NULL. Such a function has the version
 * FIRST_GLIBC or GLIBC_2.4.
 */
static void *find_old(const char *name)
{
	void *function = NULL;

#ifdef FIRST_GLIBC
	if (is_old(name))
		function = dlvsym(RTLD_NEXT, name, FIRST_GLIBC);
	/* The functions whose names end in "at" are newer, so they have the second version. */
	if (is_old(name) && !function)
		function = dlvsym(RTLD_NEXT, name, "GLIBC_2.4");
#else
	(void)name;
#endif
	return function;
}

/*
 * dlsym() may set errno even if it succeeds. RTLD_NEXT searches behind the object of the caller, so
 * this call must be in the shim itself.
 */
void *shim_look_up(const struct shim_next *next)
{
	int saved = errno;
	void *function = shim_scope_find(next->name, is_old(next->name));

	if (function)
		return function;
	/*
	 * dlsym() is needed before the objects are noted, and for functions of libraries behind the
	 * C library.
	 */
	function = dlsym(RTLD_NEXT, next->name);
	/* The second search is needed only for a few old names, once for each. */
	if (!function)
		function = find_old(next->name);
	errno = saved;
	return function ? function : shim_otherwise(next);
}

/* Several threads may look up one function at the same time. They get the same result. */
void *shim_find(struct shim_next *next)
{
	void *function = shim_look_up(next);

	atomic_store_explicit(&next->function, function, memory_order_release);
	return function;
}

void shim_find_begin(void)
{
	if (shim_scope_is_known())
		return;
	/* Functions that a wrapper has already looked up are skipped. */
	for (struct shim_next *at = __start_shim_nexts; at < __stop_shim_nexts; at++)
		if (!atomic_load_explicit(&at->function, memory_order_relaxed))
			shim_find(at);
}

/* The addresses are in code and not in a table, because a table of addresses needs relocations. */
void *shim_otherwise(const struct shim_next *next)
{
	switch ((enum shim_otherwise)next->otherwise) {
	case SHIM_OTHERWISE_shim_no_pointer:
		return (void *)shim_no_pointer;
	case SHIM_OTHERWISE_shim_no_map:
		return (void *)shim_no_map;
	case SHIM_OTHERWISE_shim_no_error:
		return (void *)shim_no_error;
	case SHIM_OTHERWISE_shim_no_return:
		return (void *)shim_no_return;
	default:
		return (void *)shim_no_number;
	}
}

/*
 * The functions below replace functions that do not exist behind the shim. Each function below
 * ignores its arguments. The first four return what the replaced functions return after a failure.
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

/* The functions that map memory report a failure by MAP_FAILED and not by a null pointer. */
void *shim_no_map(void)
{
	errno = ENOSYS;
	return MAP_FAILED;
}

int shim_no_error(void)
{
	return ENOSYS;
}

/*
 * The caller does not expect this function to return, so the function ends the process, with the
 * status 127, by which a shell reports that it has not found a command.
 */
void shim_no_return(void)
{
	for (;;)
		syscall(SYS_exit_group, 127);
}
