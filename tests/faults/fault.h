/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * faults/fault.h - makes the n-th call of a function by the library fail.
 *
 * The linker redirects calls in the objects of the library and of the test to fault.c, for the
 * functions that FAULT_WRAPS of Makefile.inc names. Calls inside the C library are not redirected.
 */
#ifndef PTX_TESTS_FAULT_H
#define PTX_TESTS_FAULT_H

#include <stdbool.h>

/* Functions, and system calls made by syscall(). */
#define FAULT_LIST(X) \
	X(malloc) X(calloc) X(aligned_alloc) X(realloc) X(strdup) X(memfd_create) X(ftruncate) \
	X(mmap) X(fallocate) X(posix_fallocate) X(madvise) X(open) X(openat) X(dup) X(lock) \
	X(flock) X(fstatat) X(stat) X(lstat) X(readlink) X(access) X(fchown) \
	X(pthread_mutex_init) X(pthread_attr_init) X(pthread_setspecific) X(lseek) X(read) \
	X(opendir) X(fdopendir) X(readlinkat) X(symlinkat) X(mkdirat) X(unlinkat) \
	X(getrandom) X(kill) X(prctl) X(clone) X(pthread_create) X(pthread_key_create) \
	X(waitpid) X(sys_write) X(sys_pwrite) X(sys_pread) X(sys_openat) X(sys_futex) \
	X(sys_membarrier) X(sys_pidfd_open) X(sys_getdents)

#define FAULT_NUMBER(name) FAULT_##name,
enum fault_call { FAULT_LIST(FAULT_NUMBER) FAULT_CALLS };

extern const char *const fault_name[FAULT_CALLS];

/* No error: the call does half of the request and returns that amount. */
#define FAULT_SHORT (-1)

/*
 * From now on, call number nth (the first is 1) fails with err; with lasts, all later calls fail
 * too.
 */
void fault_arm(enum fault_call call, unsigned nth, int err, bool lasts);

/* Ends it. Returns whether a call failed. */
bool fault_disarm(void);

/* Returns the number of allocations that the library has not freed. */
long fault_pieces(void);

#endif
