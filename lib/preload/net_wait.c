/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * preload/net_wait.c - family net: descriptors are waited for. timeout is in nanoseconds, -1: for
 * ever; where memory may not be there it is asked after the call, and then what select() left of
 * it.
 */
#include <poll.h>
#include <sys/epoll.h>
#include <sys/select.h>

#include "preload/shim.h"

struct wait {
	uint64_t time;
	int64_t timeout;
	int32_t fds, result, error;
};

#define WAIT_BYTES (offsetof(struct wait, error) + 4)

static int64_t of_ms(int ms)
{
	return ms < 0 ? -1 : (int64_t)ms * 1000000;
}

static int64_t of_timespec(const struct timespec *time, int error)
{
	return !time || error == EFAULT ? -1 : shim_span(time->tv_sec, time->tv_nsec);
}

static int64_t of_timeval(const struct timeval *time, int error)
{
	int64_t ns;

	if (!time || error == EFAULT)
		return -1;
	if (__builtin_mul_overflow(time->tv_usec, INT64_C(1000), &ns))
		ns = 0; /* the kernel refuses it */
	return shim_span(time->tv_sec, ns);
}

#define WAIT(name, type, params, args, fds_, timeout_) \
	SHIM_NEXT(name, shim_no_number); \
	SHIM_WRAPPER int name params \
	{ \
		if (!shim_on(type)) \
			return next(name) args; \
		struct wait data = { .fds = (int32_t)(fds_), .result = -1, .error = ECANCELED }; \
		SHIM_CALL(type, data); \
		call.len = WAIT_BYTES; \
		data.result = next(name) args; \
		data.error = data.result < 0 ? errno : 0; \
		data.timeout = (timeout_); \
		return data.result; \
	}

int __poll_chk(struct pollfd *fds, nfds_t count, int timeout, size_t room);
int __ppoll_chk(struct pollfd *fds, nfds_t count, const struct timespec *timeout,
		const sigset_t *mask, size_t room);

WAIT(poll, NET_POLL, (struct pollfd *fds, nfds_t count, int timeout), (fds, count, timeout), count,
     of_ms(timeout))
WAIT(__poll_chk, NET_POLL, (struct pollfd *fds, nfds_t count, int timeout, size_t room),
     (fds, count, timeout, room), count, of_ms(timeout))
WAIT(ppoll, NET_POLL,
     (struct pollfd *fds, nfds_t count, const struct timespec *timeout, const sigset_t *mask),
     (fds, count, timeout, mask), count, of_timespec(timeout, data.error))
WAIT(__ppoll_chk, NET_POLL,
     (struct pollfd *fds, nfds_t count, const struct timespec *timeout, const sigset_t *mask,
      size_t room),
     (fds, count, timeout, mask, room), count, of_timespec(timeout, data.error))
WAIT(select, NET_SELECT,
     (int count, fd_set *reads, fd_set *writes, fd_set *excepts, struct timeval *timeout),
     (count, reads, writes, excepts, timeout), count, of_timeval(timeout, data.error))
WAIT(pselect, NET_SELECT,
     (int count, fd_set *reads, fd_set *writes, fd_set *excepts, const struct timespec *timeout,
      const sigset_t *mask),
     (count, reads, writes, excepts, timeout, mask), count, of_timespec(timeout, data.error))
WAIT(epoll_wait, NET_EPOLL, (int fd, struct epoll_event *events, int count, int timeout),
     (fd, events, count, timeout), fd, of_ms(timeout))
WAIT(epoll_pwait, NET_EPOLL,
     (int fd, struct epoll_event *events, int count, int timeout, const sigset_t *mask),
     (fd, events, count, timeout, mask), fd, of_ms(timeout))
WAIT(epoll_pwait2, NET_EPOLL,
     (int fd, struct epoll_event *events, int count, const struct timespec *timeout,
      const sigset_t *mask),
     (fd, events, count, timeout, mask), fd, of_timespec(timeout, data.error))
