/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * preload/io_queue.c - family io: message queues of POSIX.
 *
 * A queue is a descriptor on Linux, so its events have the field fd. mq_notify() and mq_setattr()
 * do not wait and are not traced. The bytes of the messages are not recorded.
 */
#include <fcntl.h>
#include <mqueue.h>
#include <stdarg.h>

#include "preload/call.h"

SHIM_NEXT(mq_open, shim_no_number);

/* mq_open(3). The two last arguments exist only with O_CREAT; the attributes are not recorded. */
SHIM_WRAPPER mqd_t mq_open(const char *name, int flags, ...)
{
	struct mq_attr *attributes = NULL;
	mode_t mode = 0;

	if (flags & O_CREAT) {
		va_list list;

		va_start(list, flags);
		mode = va_arg(list, mode_t);
		attributes = va_arg(list, struct mq_attr *);
		va_end(list);
	}
	if (!shim_on_alone(IO_MQ_OPEN))
		return next(mq_open)(name, flags, mode, attributes);
	SHIM_TRACE(mqd_t, IO_MQ_OPEN, next(mq_open)(name, flags, mode, attributes),
		   result == (mqd_t)-1 ? errno : 0, (result, flags, (int32_t)mode), (),
		   (SHIM_IN(name)));
}

/* The name of mq_open() without O_CREAT in programs that were compiled with _FORTIFY_SOURCE. */
mqd_t __mq_open_2(const char *name, int flags);
SHIM_TRACED(mqd_t, __mq_open_2, IO_MQ_OPEN, shim_no_number, (const char *name, int flags),
	    (name, flags), result == (mqd_t)-1, (result, flags, 0), (), (SHIM_IN(name)))

SHIM_INT(mq_close, IO_MQ_CLOSE, (mqd_t queue), (queue), (queue), (), ())

/* mq_send() waits while the queue is full. */
SHIM_INT(mq_send, IO_MQ_SEND,
	 (mqd_t queue, const char *message, size_t size, unsigned priority),
	 (queue, message, size, priority), (queue, result), ((int64_t)size), ())
SHIM_INT(mq_timedsend, IO_MQ_SEND,
	 (mqd_t queue, const char *message, size_t size, unsigned priority,
	  const struct timespec *until),
	 (queue, message, size, priority, until), (queue, result), ((int64_t)size), ())

/* The result is the size of the message. */
SHIM_TRACED(ssize_t, mq_receive, IO_MQ_RECEIVE, shim_no_number,
	    (mqd_t queue, char *message, size_t size, unsigned *priority),
	    (queue, message, size, priority), result < 0, (queue), ((int64_t)size, result), ())
/* With a time in the past the call fails only if the queue is empty. */
SHIM_TRACED(ssize_t, mq_timedreceive, IO_MQ_RECEIVE, shim_no_number,
	    (mqd_t queue, char *message, size_t size, unsigned *priority,
	     const struct timespec *until),
	    (queue, message, size, priority, until), result < 0, (queue),
	    ((int64_t)size, result), ())
