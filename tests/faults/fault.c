/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/membarrier.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "faults/fault.h"

#define FAULT_TEXT(name) #name,
const char *const fault_name[FAULT_CALLS] = { FAULT_LIST(FAULT_TEXT) };

static struct {
	_Atomic int call; /* FAULT_CALLS: none */
	unsigned nth;
	int err;
	bool lasts;
	_Atomic unsigned calls;
	_Atomic bool struck;
} fault = { .call = FAULT_CALLS };

static _Atomic long pieces;

void fault_arm(enum fault_call call, unsigned nth, int err, bool lasts)
{
	fault.nth = nth;
	fault.err = err;
	fault.lasts = lasts;
	atomic_store(&fault.calls, 0);
	atomic_store(&fault.struck, false);
	atomic_store(&fault.call, call);
}

bool fault_disarm(void)
{
	atomic_store(&fault.call, FAULT_CALLS);
	return atomic_load(&fault.struck);
}

long fault_pieces(void)
{
	return atomic_load(&pieces);
}

/* Returns the error that this call gets, 0 for none. */
static int strikes(enum fault_call call)
{
	unsigned n;

	if (atomic_load(&fault.call) != (int)call)
		return 0;
	n = atomic_fetch_add(&fault.calls, 1) + 1;
	if (n != fault.nth && !(fault.lasts && n > fault.nth))
		return 0;
	atomic_store(&fault.struck, true);
	return fault.err;
}

static void *counted(void *piece)
{
	if (piece)
		atomic_fetch_add(&pieces, 1);
	return piece;
}

/* Defines a wrapper of a function of this type, which returns failure and sets errno. */
#define WRAP(type, failure, name, parameters, arguments)                                          \
	type __real_##name parameters;                                                            \
	type __wrap_##name parameters;                                                            \
	type __wrap_##name parameters                                                             \
	{                                                                                         \
		int err = strikes(FAULT_##name);                                                  \
                                                                                                  \
		if (err) {                                                                        \
			errno = err;                                                              \
			return failure;                                                           \
		}                                                                                 \
		return __real_##name arguments;                                                   \
	}

/* Defines a wrapper of a function that returns the error number. */
#define WRAP_ERROR(name, parameters, arguments)                                                   \
	int __real_##name parameters;                                                             \
	int __wrap_##name parameters;                                                             \
	int __wrap_##name parameters                                                              \
	{                                                                                         \
		int err = strikes(FAULT_##name);                                                  \
                                                                                                  \
		return err ? err : __real_##name arguments;                                       \
	}

#define WRAP_MEMORY(name, parameters, arguments)                                                  \
	void *__real_##name parameters;                                                           \
	void *__wrap_##name parameters;                                                           \
	void *__wrap_##name parameters                                                            \
	{                                                                                         \
		int err = strikes(FAULT_##name);                                                  \
                                                                                                  \
		if (err) {                                                                        \
			errno = err;                                                              \
			return NULL;                                                              \
		}                                                                                 \
		return counted(__real_##name arguments);                                          \
	}

WRAP_MEMORY(malloc, (size_t size), (size))
WRAP_MEMORY(calloc, (size_t n, size_t size), (n, size))
WRAP_MEMORY(aligned_alloc, (size_t alignment, size_t size), (alignment, size))
WRAP_MEMORY(strdup, (const char *text), (text))

void *__real_realloc(void *piece, size_t size);
void *__wrap_realloc(void *piece, size_t size);
void *__wrap_realloc(void *piece, size_t size)
{
	int err = strikes(FAULT_realloc);

	if (err) {
		errno = err;
		return NULL;
	}
	return piece ? __real_realloc(piece, size) : counted(__real_realloc(piece, size));
}

void __real_free(void *piece);
void __wrap_free(void *piece);
void __wrap_free(void *piece)
{
	if (piece)
		atomic_fetch_sub(&pieces, 1);
	__real_free(piece);
}

WRAP(int, -1, memfd_create, (const char *name, unsigned flags), (name, flags))
WRAP(int, -1, ftruncate, (int fd, off_t size), (fd, size))
WRAP(void *, MAP_FAILED, mmap, (void *at, size_t size, int prot, int flags, int fd, off_t offset),
     (at, size, prot, flags, fd, offset))
WRAP(int, -1, fallocate, (int fd, int mode, off_t offset, off_t size), (fd, mode, offset, size))
WRAP_ERROR(posix_fallocate, (int fd, off_t offset, off_t size), (fd, offset, size))
WRAP(int, -1, madvise, (void *at, size_t size, int advice), (at, size, advice))
WRAP(int, -1, flock, (int fd, int what), (fd, what))
WRAP(int, -1, fstatat, (int fd, const char *path, struct stat *stat, int flags),
     (fd, path, stat, flags))
WRAP(int, -1, stat, (const char *path, struct stat *stat), (path, stat))
WRAP(int, -1, lstat, (const char *path, struct stat *stat), (path, stat))
WRAP(ssize_t, -1, readlink, (const char *path, char *to, size_t size), (path, to, size))
WRAP(int, -1, access, (const char *path, int how), (path, how))
WRAP(int, -1, fchown, (int fd, uid_t uid, gid_t gid), (fd, uid, gid))
WRAP_ERROR(pthread_mutex_init, (pthread_mutex_t *mutex, const pthread_mutexattr_t *attr),
	   (mutex, attr))
WRAP_ERROR(pthread_attr_init, (pthread_attr_t *attr), (attr))
WRAP_ERROR(pthread_setspecific, (pthread_key_t key, const void *value), (key, value))
WRAP(off_t, -1, lseek, (int fd, off_t offset, int from), (fd, offset, from))
WRAP(ssize_t, -1, read, (int fd, void *to, size_t size), (fd, to, size))
WRAP(DIR *, NULL, opendir, (const char *path), (path))
WRAP(DIR *, NULL, fdopendir, (int fd), (fd))
WRAP(ssize_t, -1, readlinkat, (int fd, const char *path, char *to, size_t size),
     (fd, path, to, size))
WRAP(int, -1, symlinkat, (const char *to, int fd, const char *path), (to, fd, path))
WRAP(int, -1, mkdirat, (int fd, const char *path, mode_t mode), (fd, path, mode))
WRAP(int, -1, unlinkat, (int fd, const char *path, int flags), (fd, path, flags))
WRAP(ssize_t, -1, getrandom, (void *to, size_t size, unsigned flags), (to, size, flags))
WRAP(int, -1, kill, (pid_t pid, int signal), (pid, signal))
WRAP(pid_t, -1, waitpid, (pid_t pid, int *status, int options), (pid, status, options))
WRAP_ERROR(pthread_create,
	   (pthread_t *thread, const pthread_attr_t *attr, void *(*work)(void *), void *arg),
	   (thread, attr, work, arg))
WRAP_ERROR(pthread_key_create, (pthread_key_t *key, void (*end)(void *)), (key, end))

/*
 * The caller may have passed further arguments or not. As in the kernel, the wrapper reads their
 * registers in any case.
 */
#define READS_ON __attribute__((no_sanitize("address")))
static READS_ON long argument(va_list *args)
{
	return va_arg(*args, long);
}

#define WRAP_MORE(name, first, last, more)                                                        \
	int __real_##name(first, ...);                                                            \
	int __wrap_##name(first, ...);                                                            \
	READS_ON int __wrap_##name(first, ...)                                                    \
	{                                                                                         \
		int err = strikes(FAULT_##name);                                                  \
		va_list args;                                                                     \
		long a;                                                                           \
                                                                                                  \
		va_start(args, last);                                                             \
		a = argument(&args);                                                              \
		va_end(args);                                                                     \
		if (err) {                                                                        \
			errno = err;                                                              \
			return -1;                                                                \
		}                                                                                 \
		return __real_##name more;                                                        \
	}
#define COMMA ,

WRAP_MORE(open, const char *path COMMA int flags, flags, (path, flags, a))
WRAP_MORE(openat, int fd COMMA const char *path COMMA int flags, flags, (fd, path, flags, a))

static enum fault_call fcntl_of(int command)
{
	switch (command) {
	case F_DUPFD:
	case F_DUPFD_CLOEXEC:
		return FAULT_dup;
	case F_SETLK:
	case F_OFD_SETLK:
		return FAULT_lock;
	default:
		return FAULT_CALLS;
	}
}

int __real_fcntl(int fd, int command, ...);
int __wrap_fcntl(int fd, int command, ...);
READS_ON int __wrap_fcntl(int fd, int command, ...)
{
	enum fault_call call = fcntl_of(command);
	int err = call == FAULT_CALLS ? 0 : strikes(call);
	va_list args;
	long a;

	va_start(args, command);
	a = argument(&args);
	va_end(args);
	if (err) {
		errno = err;
		return -1;
	}
	return __real_fcntl(fd, command, a);
}

int __real_prctl(int option, ...);
int __wrap_prctl(int option, ...);
READS_ON int __wrap_prctl(int option, ...)
{
	int err = strikes(FAULT_prctl);
	va_list args;
	long a[4];

	va_start(args, option);
	for (int i = 0; i < 4; i++)
		a[i] = argument(&args);
	va_end(args);
	if (err) {
		errno = err;
		return -1;
	}
	return __real_prctl(option, a[0], a[1], a[2], a[3]);
}

int __real_clone(int (*work)(void *), void *stack, int flags, void *arg, ...);
int __wrap_clone(int (*work)(void *), void *stack, int flags, void *arg, ...);
int __wrap_clone(int (*work)(void *), void *stack, int flags, void *arg, ...)
{
	int err = strikes(FAULT_clone);

	if (err) {
		errno = err;
		return -1;
	}
	return __real_clone(work, stack, flags, arg);
}

static enum fault_call call_of(long number)
{
	switch (number) {
	case SYS_write:
		return FAULT_sys_write;
	case SYS_pwrite64:
		return FAULT_sys_pwrite;
	case SYS_pread64:
		return FAULT_sys_pread;
	case SYS_openat:
		return FAULT_sys_openat;
	case SYS_futex:
		return FAULT_sys_futex;
	case SYS_membarrier:
		return FAULT_sys_membarrier;
	case SYS_pidfd_open:
		return FAULT_sys_pidfd_open;
	case SYS_getdents64:
		return FAULT_sys_getdents;
	default:
		return FAULT_CALLS;
	}
}

long __real_syscall(long number, ...);
long __wrap_syscall(long number, ...);

/*
 * Processes of a test would run one after the other. A barrier on the threads of this process is
 * enough, and needs microseconds.
 */
static long sooner(long command)
{
	if (command != MEMBARRIER_CMD_GLOBAL ||
	    __real_syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) != 0)
		return command;
	return MEMBARRIER_CMD_PRIVATE_EXPEDITED;
}

READS_ON long __wrap_syscall(long number, ...)
{
	enum fault_call call = call_of(number);
	int err = call == FAULT_CALLS ? 0 : strikes(call);
	va_list args;
	long a[6];

	va_start(args, number);
	for (int i = 0; i < 6; i++)
		a[i] = argument(&args);
	va_end(args);
	if (err > 0) {
		errno = err;
		return -1;
	}
	if (err == FAULT_SHORT)
		a[2] = a[2] > 1 ? a[2] / 2 : a[2];
	if (number == SYS_membarrier)
		a[0] = sooner(a[0]);
	return __real_syscall(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}
