/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * base/direct.c - functions that make the library's system calls directly, so that other libraries
 * cannot replace them.
 *
 * Libraries such as libfakeroot and libfakechroot replace functions for files and identities of
 * users. Their functions change the answers: libposixtrace would not find its own files. They also
 * hold locks while they call functions that the preload library traces. If the event of such a call
 * made libposixtrace call the replaced function again, the thread would wait for itself.
 *
 * The linker of libposixtrace.so therefore replaces each call of a function FUNCTION below by a
 * call of __wrap_FUNCTION; lib/Makefile.am has the list. The functions of this file have the
 * results and errors of the C library's functions. All but opendir(), which allocates memory, are
 * async-signal-safe. Any thread may call them, and none is a cancellation point.
 */
#include <dirent.h>
#include <fcntl.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#define DIRECT(type, name, parameters, ...) \
	type __wrap_##name parameters; \
	type __wrap_##name parameters \
	{ \
		return (type)syscall(__VA_ARGS__); \
	} \
	_Static_assert(1, "a semicolon follows")

DIRECT(int, stat, (const char *path, struct stat *st), SYS_newfstatat, AT_FDCWD, path, st, 0);
DIRECT(int, lstat, (const char *path, struct stat *st), SYS_newfstatat, AT_FDCWD, path, st,
       AT_SYMLINK_NOFOLLOW);
DIRECT(int, fstat, (int fd, struct stat *st), SYS_fstat, fd, st);
DIRECT(int, fstatat, (int folder, const char *path, struct stat *st, int flags), SYS_newfstatat,
       folder, path, st, flags);
DIRECT(int, access, (const char *path, int mode), SYS_faccessat, AT_FDCWD, path, mode);
DIRECT(ssize_t, readlink, (const char *path, char *text, size_t size), SYS_readlinkat, AT_FDCWD,
       path, text, size);
DIRECT(ssize_t, readlinkat, (int folder, const char *path, char *text, size_t size),
       SYS_readlinkat, folder, path, text, size);
DIRECT(int, symlinkat, (const char *text, int folder, const char *path), SYS_symlinkat, text,
       folder, path);
DIRECT(int, mkdirat, (int folder, const char *path, mode_t mode), SYS_mkdirat, folder, path, mode);
DIRECT(int, unlinkat, (int folder, const char *path, int flags), SYS_unlinkat, folder, path, flags);
DIRECT(int, unlink, (const char *path), SYS_unlinkat, AT_FDCWD, path, 0);
DIRECT(int, fchown, (int fd, uid_t user, gid_t group), SYS_fchown, fd, user, group);
DIRECT(uid_t, geteuid, (void), SYS_geteuid);
DIRECT(int, fstatfs, (int fd, struct statfs *system), SYS_fstatfs, fd, system);
DIRECT(int, mprotect, (void *memory, size_t size, int access), SYS_mprotect, memory, size, access);
DIRECT(pid_t, getpid, (void), SYS_getpid);
DIRECT(pid_t, getppid, (void), SYS_getppid);

/*
 * Only calls that make a file have an argument behind the flags: its mode. Returns a descriptor, or
 * -1 with errno.
 */
static int open_directly(int folder, const char *path, int flags, va_list arguments)
{
	mode_t mode = flags & O_CREAT || (flags & O_TMPFILE) == O_TMPFILE ?
		      va_arg(arguments, mode_t) : 0;

	return (int)syscall(SYS_openat, folder, path, flags, mode);
}

int __wrap_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...)
{
	va_list arguments;
	int fd;

	va_start(arguments, flags);
	fd = open_directly(AT_FDCWD, path, flags, arguments);
	va_end(arguments);
	return fd;
}

int __wrap_openat(int folder, const char *path, int flags, ...);
int __wrap_openat(int folder, const char *path, int flags, ...)
{
	va_list arguments;
	int fd;

	va_start(arguments, flags);
	fd = open_directly(folder, path, flags, arguments);
	va_end(arguments);
	return fd;
}

/* The C library's fdopendir() is not replaced by these libraries, because it has no path. */
DIR *__wrap_opendir(const char *path);
DIR *__wrap_opendir(const char *path)
{
	int fd = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *folder = fd < 0 ? NULL : fdopendir(fd);

	if (fd >= 0 && !folder)
		syscall(SYS_close, fd); /* fdopendir() has failed for lack of memory */
	return folder;
}
