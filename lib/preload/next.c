/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * preload/next.c - the functions behind the shim's.
 *
 * All are looked up when the shim begins, since a first call may come from a signal handler or from
 * a child of a threaded program, where the dynamic linker's lock is not to be had. What is called
 * before is looked up then, which needs nothing but that lock.
 */
#include <dlfcn.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "preload/shim.h"

extern struct shim_next *const __start_shim_nexts[] __attribute__((visibility("hidden")));
extern struct shim_next *const __stop_shim_nexts[] __attribute__((visibility("hidden")));

void *shim_look_up(const struct shim_next *next)
{
	int saved = errno;
	void *function = dlsym(RTLD_NEXT, next->name);

	errno = saved;
	return function ? function : next->otherwise;
}

void *shim_find(struct shim_next *next)
{
	void *function = shim_look_up(next);

	atomic_store_explicit(&next->function, function, memory_order_release);
	return function;
}

void shim_find_all(void)
{
	for (struct shim_next *const *at = __start_shim_nexts; at < __stop_shim_nexts; at++)
		if (!atomic_load_explicit(&(*at)->function, memory_order_relaxed))
			shim_find(*at);
}

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

void shim_no_return(void)
{
	for (;;)
		syscall(SYS_exit_group, 127);
}
