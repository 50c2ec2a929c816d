/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * preload/net_wait.c - family net: threads wait for descriptors.
 *
 * The field `timeout` is in nanoseconds; -1 means for ever. A timeout in memory of the program is
 * read after the call, when it is known to be readable. After select() this memory has the time
 * that is left.
 */
#include <poll.h>
#include <sys/epoll.h>
#include <sys/select.h>

#include "preload/shim.h"
#include "preload/text.h"

/* The fields of net.poll. The events net.select and net.epoll do not have the field `fd`. */
struct wait {
	uint64_t time;
	int64_t timeout;
	int32_t fds, result, error, fd;
};

/* The number of recorded bytes of net.select and net.epoll. */
#define WAIT_BYTES offsetof(struct wait, fd)

/*
 * Converts the timeout of poll() and epoll_wait() to nanoseconds. A negative number of milliseconds
 * means for ever; the result is then -1.
 */
static int64_t of_ms(int ms)
{
	return ms < 0 ? -1 : (int64_t)ms * 1000000;
}

/*
 * Converts the timeout of ppoll(), pselect() and epoll_pwait2() to nanoseconds. A null pointer
 * means for ever; the result is then -1. After an error the timeout may be unreadable; the result
 * is then -1, too.
 */
static int64_t of_timespec(const struct timespec *time, int error)
{
	if (!time || (error && !shim_can_read(time, sizeof *time)))
		return -1;
	return shim_span(time->tv_sec, time->tv_nsec);
}

/*
 * Converts the timeout of select(), which has microseconds, to nanoseconds. A null pointer means
 * for ever; the result is then -1, as for an unreadable timeout. The numbers may be so large that a
 * product overflows. After a call that succeeded, the kernel has replaced these numbers by the time
 * that is left.
 */
static int64_t of_timeval(const struct timeval *time, int error)
{
	int64_t ns;

	if (!time || (error && !shim_can_read(time, sizeof *time)))
		return -1;
	if (__builtin_mul_overflow(time->tv_usec, INT64_C(1000), &ns))
		ns = 0; /* the kernel refuses such a timeout */
	return shim_span(time->tv_sec, ns);
}

/*
 * Returns the first ready descriptor of a call of poll(), or its first descriptor if none is ready.
 * Returns -1 without a descriptor. After an error other than EINTR, the kernel may not have read
 * the array, which may then be unreadable.
 */
static int32_t of_pollfds(const struct pollfd *fds, nfds_t count, int result, int error)
{
	if (!count || (result < 0 && error != EINTR))
		return -1;
	for (nfds_t i = 0; i < count && result > 0; i++)
		if (fds[i].revents)
			return fds[i].fd;
	return fds->fd;
}

/*
 * The wrapper of a function that waits. fds_ is the number of descriptors, or the epoll
 * descriptor. fd_ is the field `fd` of poll().
 */
#define WAIT(name, type, params, args, fds_, timeout_) \
	WAIT_FOR(name, type, WAIT_BYTES, params, args, fds_, timeout_, -1)
#define POLL(name, params, args, timeout_) \
	WAIT_FOR(name, NET_POLL, sizeof(struct wait), params, args, count, timeout_, \
		 of_pollfds(fds, count, data.result, data.error))
#define WAIT_FOR(name, type, bytes, params, args, fds_, timeout_, fd_) \
	SHIM_NEXT(name, shim_no_number); \
	SHIM_WRAPPER int name params \
	{ \
		/* An untraced call is passed on with its arguments as they are. */ \
		if (!shim_on_alone(type)) \
			return next(name) args; \
		struct wait data = { .fds = (int32_t)(fds_), .result = -1, .error = ECANCELED, \
				     .fd = -1 }; \
		SHIM_CALL(type, data); \
		call.len = (bytes); \
		data.result = next(name) args; \
		data.error = data.result < 0 ? errno : 0; \
		/* \
		 * The timeout is read after the call: if the call succeeded, the kernel has read \
		 * the timeout. \
		 */ \
		data.timeout = (timeout_); \
		data.fd = (fd_); \
		return data.result; \
	}

/* With _FORTIFY_SOURCE, programs call these functions if the compiler knows the array's size. */
int __poll_chk(struct pollfd *fds, nfds_t count, int timeout, size_t room);
int __ppoll_chk(struct pollfd *fds, nfds_t count, const struct timespec *timeout,
		const sigset_t *mask, size_t room);

/*
 * The events have the number of descriptors; the events of poll() and ppoll() also have one
 * descriptor. The sets of descriptors are not recorded, because they are in memory of the program
 * and can be large.
 */
POLL(poll, (struct pollfd *fds, nfds_t count, int timeout), (fds, count, timeout), of_ms(timeout))
SHIM_ALIAS(__poll, poll);
POLL(__poll_chk, (struct pollfd *fds, nfds_t count, int timeout, size_t room),
     (fds, count, timeout, room), of_ms(timeout))
POLL(ppoll,
     (struct pollfd *fds, nfds_t count, const struct timespec *timeout, const sigset_t *mask),
     (fds, count, timeout, mask), of_timespec(timeout, data.error))
POLL(__ppoll_chk,
     (struct pollfd *fds, nfds_t count, const struct timespec *timeout, const sigset_t *mask,
      size_t room),
     (fds, count, timeout, mask, room), of_timespec(timeout, data.error))
WAIT(select, NET_SELECT,
     (int count, fd_set *reads, fd_set *writes, fd_set *excepts, struct timeval *timeout),
     (count, reads, writes, excepts, timeout), count, of_timeval(timeout, data.error))
SHIM_ALIAS(__select, select);
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
