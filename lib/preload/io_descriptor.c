/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * preload/io_descriptor.c - descriptors that are duplicated, controlled, and made without a file.
 *
 * Each event has the descriptors that exist after the call, so that a reader of the log can find
 * the file of a number. If a thread makes a descriptor while another thread closes the same number,
 * the two events may be in the wrong order.
 */
#include <fcntl.h>
#include <stdarg.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "preload/call.h"

/*
 * `copy` is the descriptor that now refers to the same file. After an error `copy` is the number
 * that the program asked for, or -1 for dup().
 */
SHIM_INT(dup, IO_DUP, (int fd), (fd), (fd, result, 0), (), ())
SHIM_INT(dup2, IO_DUP, (int fd, int copy), (fd, copy), (fd, result < 0 ? copy : result, 0), (), ())
SHIM_ALIAS(__dup2, dup2);
SHIM_INT(dup3, IO_DUP, (int fd, int copy, int flags), (fd, copy, flags),
	 (fd, result < 0 ? copy : result, flags), (), ())

/* The descriptors are read only after success, when the kernel has written them. */
SHIM_INT(pipe, IO_PIPE, (int fds[2]), (fds), (result ? -1 : fds[0], result ? -1 : fds[1], 0), (),
	 ())
SHIM_ALIAS(__pipe, pipe);
SHIM_INT(pipe2, IO_PIPE, (int fds[2], int flags), (fds, flags),
	 (result ? -1 : fds[0], result ? -1 : fds[1], flags), (), ())

/*
 * fcntl(2) has a third argument, whose type depends on the command, or no third argument. If the
 * caller did not pass one, the wrapper reads an arbitrary value, which the kernel ignores.
 */
#define FCNTL(name) \
	SHIM_NEXT(name, shim_no_number); \
	SHIM_WRAPPED(name, IO_FCNTL); \
	SHIM_WRAPPER int name(int fd, int command, ...) \
	{ \
		va_list list; \
		va_start(list, command); \
		long value = va_arg(list, long); \
		va_end(list); \
		if (!shim_on(IO_FCNTL)) \
			return next(name)(fd, command, value); \
		const int lock = lock_of(command, value); \
		/* \
		 * Only -1 is an error: F_GETOWN returns a negative number for a group of \
		 * processes. For commands without a value the event has 0. \
		 */ \
		SHIM_TRACE(int, IO_FCNTL, next(name)(fd, command, value), \
			   result == -1 ? errno : 0, \
			   (fd, command, result, result == -1 ? -1 : lock, \
			    flags_of(command, value, result)), \
			   (has_value(command) ? value : 0), ()); \
	}

/*
 * Returns the type of a lock that the kernel will set or remove; -1 for other commands, or if the
 * struct cannot be read. The wrapper calls this function before the call: a thread that has waited
 * for the lock may free the struct as soon as the kernel has removed the lock.
 */
static int lock_of(int command, long value)
{
	short type = -1;

	if (command == F_SETLK || command == F_SETLKW || command == F_OFD_SETLK ||
	    command == F_OFD_SETLKW)
		shim_copy_input(&type, &((const struct flock *)value)->l_type, sizeof type);
	return type;
}

/*
 * Returns the value of the field `flags`. F_SETFL and F_SETFD have the flags that the program has
 * passed, also if the call fails. F_GETFL and F_GETFD have the flags that the call has returned, or
 * 0 if `result` is -1: before the call, and after an error. Other commands have 0.
 */
static int flags_of(int command, long value, int result)
{
	switch (command) {
	case F_GETFL:
		return result < 0 ? 0 : result | SHIM_FCNTL_STATUS;
	case F_SETFL:
		return (int)value | SHIM_FCNTL_STATUS;
	case F_GETFD:
		return result < 0 ? 0 : result | SHIM_FCNTL_CLOSING;
	case F_SETFD:
		return (int)value | SHIM_FCNTL_CLOSING;
	default:
		return 0;
	}
}

/* Returns whether the command has a third argument. */
static bool has_value(int command)
{
	return command != F_GETFD && command != F_GETFL && command != F_GETOWN &&
	       command != F_GETSIG && command != F_GETLEASE && command != F_GETPIPE_SZ &&
	       command != F_GET_SEALS;
}

/* glibc has both names; on 64-bit systems they are one function. */
FCNTL(fcntl)
FCNTL(fcntl64)
SHIM_ALIAS(__fcntl, fcntl);

SHIM_NEXT(ioctl, shim_no_number);
SHIM_WRAPPED(ioctl, IO_IOCTL);

/* ioctl(2). The third argument is a number or a pointer, which the request determines. */
SHIM_WRAPPER int ioctl(int fd, unsigned long request, ...)
{
	va_list list;
	long value;

	va_start(list, request);
	value = va_arg(list, long);
	va_end(list);
	/* The value was read before this check, because it must be passed on in any case. */
	if (!shim_on(IO_IOCTL))
		return next(ioctl)(fd, request, value);
	/*
	 * The C library returns -1 for errors of the kernel; every other result is the driver's
	 * answer. Some requests return a number, such as a descriptor.
	 */
	SHIM_TRACE(int, IO_IOCTL, next(ioctl)(fd, request, value), result == -1 ? errno : 0,
		   (fd, result), ((int64_t)request, value), ());
}

/* flock(2) may wait for a lock of another process; the duration of the event shows that. */
SHIM_INT(flock, IO_FLOCK, (int fd, int operation), (fd, operation), (fd, operation), (), ())

/*
 * Functions that move bytes between descriptors. Offsets are not recorded: they are in memory of
 * the program, and the call changes them.
 */
#define MOVE(name, type, params, args, small) \
	SHIM_TRACED(ssize_t, name, type, shim_no_number, params, args, result < 0, small, \
		    ((int64_t)size, result), ())
/* The call reads from fd and writes to `to`. tee() leaves the bytes in the first pipe. */
MOVE(splice, IO_SPLICE,
     (int fd, off64_t *at, int to, off64_t *to_at, size_t size, unsigned flags),
     (fd, at, to, to_at, size, flags), (fd, to, (int32_t)flags))
MOVE(tee, IO_SPLICE, (int fd, int to, size_t size, unsigned flags), (fd, to, size, flags),
     (fd, to, (int32_t)flags))
/* `size` is the number of parts. */
MOVE(vmsplice, IO_SPLICE, (int to, const struct iovec *parts, size_t size, unsigned flags),
     (to, parts, size, flags), (-1, to, (int32_t)flags))
MOVE(copy_file_range, IO_COPY,
     (int fd, off64_t *at, int to, off64_t *to_at, size_t size, unsigned flags),
     (fd, at, to, to_at, size, flags), (fd, to))

/*
 * The next functions make descriptors without a file name, or set and read a timer by such a
 * descriptor. The name of a memfd is only shown in /proc.
 */
SHIM_INT(memfd_create, IO_MEMFD, (const char *name, unsigned flags), (name, flags),
	 (result, (int32_t)flags), (), (SHIM_IN(name)))
/* `value` is the initial counter. */
SHIM_INT(eventfd, IO_EVENTFD, (unsigned value, int flags), (value, flags),
	 (result, (int32_t)value, flags), (), ())
SHIM_INT(timerfd_create, IO_TIMERFD, (clockid_t clock, int flags), (clock, flags),
	 (result, clock, flags), (), ())
SHIM_NEXT(timerfd_settime, shim_no_number);
SHIM_WRAPPED(timerfd_settime, IO_TIMERSET);

/*
 * timerfd_settime(2). The wrapper copies the times before the call, because another thread may
 * change or unmap their memory when the timer expires. If the wrapper cannot copy them, the fields
 * are 0.
 */
SHIM_WRAPPER int timerfd_settime(int fd, int flags, const struct itimerspec *time,
				 struct itimerspec *old)
{
	struct itimerspec times = { .it_value = { .tv_sec = 0 } };

	if (!shim_on_alone(IO_TIMERSET))
		return next(timerfd_settime)(fd, flags, time, old);
	shim_copy_input(&times, time, sizeof times);
	SHIM_TRACE(int, IO_TIMERSET, next(timerfd_settime)(fd, flags, time, old),
		   result == -1 ? errno : 0, (fd, flags),
		   (shim_span(times.it_value.tv_sec, times.it_value.tv_nsec),
		    shim_span(times.it_interval.tv_sec, times.it_interval.tv_nsec)), ());
}

SHIM_INT(timerfd_gettime, IO_TIMERGET, (int fd, struct itimerspec *time), (fd, time), (fd), (), ())
/* `old` is -1 for a new descriptor. The set of signals is not recorded. */
SHIM_INT(signalfd, IO_SIGNALFD, (int old, const sigset_t *set, int flags), (old, set, flags),
	 (result, old, flags), (), ())

/*
 * The size of epoll_create() has no meaning in today's kernels. The events belong to the family
 * net, like those of epoll_wait().
 */
SHIM_INT(epoll_create, NET_EPOLL_CREATE, (int size), (size), (result, 0), (), ())
SHIM_INT(epoll_create1, NET_EPOLL_CREATE, (int flags), (flags), (result, flags), (), ())

SHIM_NEXT(epoll_ctl, shim_no_number);
SHIM_WRAPPED(epoll_ctl, NET_EPOLL_CTL);

/*
 * epoll_ctl(2). The events are copied before the call: a thread that waits for the descriptor may
 * serve the connection and free its memory, which may contain *event. If the events cannot be
 * copied, or if the call fails, the field `events` is 0.
 */
SHIM_WRAPPER int epoll_ctl(int epoll, int operation, int fd, struct epoll_event *event)
{
	uint32_t events = 0;

	if (!shim_on_alone(NET_EPOLL_CTL))
		return next(epoll_ctl)(epoll, operation, fd, event);
	if (operation != EPOLL_CTL_DEL)
		shim_copy_input(&events, event, sizeof events);
	SHIM_TRACE(int, NET_EPOLL_CTL, next(epoll_ctl)(epoll, operation, fd, event),
		   result == -1 ? errno : 0,
		   (epoll, operation, fd, result ? 0 : (int32_t)events), (), ());
}
