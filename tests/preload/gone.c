/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * preload/gone.c - a library behind the shim. A wrapper of the shim calls these functions instead
 * of those of the C library. Each function makes the real call, and then unmaps a page of the
 * program, as a thread can that the call has woken.
 */
#include "preload/gone.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static _Atomic(void *) armed;

void gone_arm(void *page)
{
	atomic_store(&armed, page);
}

bool gone_is_unmapped(void)
{
	return !atomic_load(&armed);
}

static void unmap_page(void)
{
	const int saved = errno;
	void *page = atomic_exchange(&armed, NULL);

	if (page)
		munmap(page, GONE_PAGE);
	errno = saved;
}

#define GONE(type, name, params, args) \
	type name params \
	{ \
		type(*real) params = (type(*) params)dlsym(RTLD_NEXT, #name); \
		type result = real args; \
		unmap_page(); \
		return result; \
	}

GONE(ssize_t, sendto,
     (int fd, const void *buffer, size_t size, int flags, __CONST_SOCKADDR_ARG to, socklen_t bytes),
     (fd, buffer, size, flags, to, bytes))
GONE(ssize_t, sendmsg, (int fd, const struct msghdr *message, int flags), (fd, message, flags))
GONE(int, sendmmsg, (int fd, struct mmsghdr *messages, unsigned count, int flags),
     (fd, messages, count, flags))
GONE(int, connect, (int fd, __CONST_SOCKADDR_ARG to, socklen_t bytes), (fd, to, bytes))
GONE(int, bind, (int fd, __CONST_SOCKADDR_ARG to, socklen_t bytes), (fd, to, bytes))
GONE(int, setsockopt, (int fd, int level, int option, const void *value, socklen_t bytes),
     (fd, level, option, value, bytes))
GONE(int, epoll_ctl, (int epoll, int operation, int fd, struct epoll_event *event),
     (epoll, operation, fd, event))
GONE(int, semop, (int id, struct sembuf *operations, size_t count), (id, operations, count))
GONE(int, semtimedop,
     (int id, struct sembuf *operations, size_t count, const struct timespec *limit),
     (id, operations, count, limit))
GONE(int, msgsnd, (int id, const void *message, size_t size, int flags),
     (id, message, size, flags))
GONE(FILE *, fopen, (const char *path, const char *mode), (path, mode))
GONE(FILE *, freopen, (const char *path, const char *mode, FILE *file), (path, mode, file))
GONE(FILE *, popen, (const char *command, const char *mode), (command, mode))
GONE(int, posix_spawn,
     (pid_t *child, const char *path, const posix_spawn_file_actions_t *actions,
      const posix_spawnattr_t *attr, char *const argv[], char *const envp[]),
     (child, path, actions, attr, argv, envp))
GONE(int, setitimer,
     (__itimer_which_t which, const struct itimerval *wanted, struct itimerval *old),
     (which, wanted, old))
GONE(int, timer_settime,
     (timer_t timer, int flags, const struct itimerspec *wanted, struct itimerspec *old),
     (timer, flags, wanted, old))

/* The functions below have variable arguments, which are passed on as numbers. */
static long rest_of(va_list list)
{
	return va_arg(list, long);
}

#define GONE_REST(name, params, args, last) \
	int name params \
	{ \
		int(*real) params = (int(*) params)dlsym(RTLD_NEXT, #name); \
		va_list list; \
		va_start(list, last); \
		const long rest = rest_of(list); \
		va_end(list); \
		int result = real args; \
		unmap_page(); \
		return result; \
	}

GONE_REST(open, (const char *path, int flags, ...), (path, flags, rest), flags)
GONE_REST(openat, (int folder, const char *path, int flags, ...), (folder, path, flags, rest),
	  flags)
GONE_REST(fcntl, (int fd, int command, ...), (fd, command, rest), command)

/* The shim makes its own system calls by this function, too. They do not unmap the page. */
long syscall(long number, ...)
{
	long (*real)(long, ...) = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
	long args[6], result;
	va_list list;

	va_start(list, number);
	for (int i = 0; i < 6; i++)
		args[i] = va_arg(list, long);
	va_end(list);
	result = real(number, args[0], args[1], args[2], args[3], args[4], args[5]);
	if (number == SYS_openat2)
		unmap_page();
	return result;
}

void io_uring_queue_exit(struct io_uring *ring)
{
	(void)ring;
}

/* Ends the ring as another thread could, and writes into the page as a later owner of it. */
static void reuse_page(struct io_uring *ring)
{
	const unsigned tail = *ring->completions.kernel.tail;

	io_uring_queue_exit(ring);
	ring->completions.answers[tail & *ring->completions.kernel.mask].result = 9;
	*ring->completions.kernel.tail = tail + 1;
	gone_arm(NULL);
}

/*
 * In place of the function of liburing, so that no kernel with rings is needed. The ring is in the
 * page. The function writes the answer of one request. Before it returns, the ring has ended, as if
 * another thread had consumed the answer and ended the ring.
 */
int io_uring_submit(struct io_uring *ring)
{
	const unsigned tail = *ring->completions.kernel.tail;

	ring->submissions.head = ring->submissions.tail;
	ring->completions.answers[tail & *ring->completions.kernel.mask].result = 7;
	__atomic_store_n(ring->completions.kernel.tail, tail + 1, __ATOMIC_RELEASE);
	if (ring->fd == GONE_REUSED)
		reuse_page(ring);
	unmap_page();
	return 1;
}
