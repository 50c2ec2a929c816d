/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * preload/newer.c - a library behind the shim with the functions of newer versions of glibc. Each
 * function calls functions behind itself, not those of the shim. With a C library that has all of
 * them, this library has none.
 */
#include "preload/newer.h"

#include <dlfcn.h>
#include <sys/syscall.h>

#define BEHIND(name) dlsym(RTLD_NEXT, name)

typedef long syscall_function(long number, ...);

#if !__GLIBC_PREREQ(2, 39)
#define SPAWN(name, by) \
	int name(int *child, const char *path, const posix_spawn_file_actions_t *actions, \
		 const posix_spawnattr_t *attr, char *const argv[], char *const envp[]) \
	{ \
		__typeof__(by) *spawn = (__typeof__(by) *)BEHIND(#by); \
		syscall_function *real = (syscall_function *)BEHIND("syscall"); \
		pid_t pid; \
		int error = spawn(&pid, path, actions, attr, argv, envp); \
		if (!error) \
			*child = (int)real(SYS_pidfd_open, pid, 0); \
		return error; \
	}

SPAWN(pidfd_spawn, posix_spawn)
SPAWN(pidfd_spawnp, posix_spawnp)
#endif

#if !__GLIBC_PREREQ(2, 43)
void free_sized(void *old, size_t size)
{
	(void)size;
	free(old);
}

void free_aligned_sized(void *old, size_t alignment, size_t size)
{
	(void)alignment, (void)size;
	free(old);
}

int openat2(int folder, const char *path, const struct open_how *how, size_t size)
{
	syscall_function *real = (syscall_function *)BEHIND("syscall");

	return (int)real(SYS_openat2, folder, path, how, size);
}
#endif
