/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * preload/io_transfer.c - family io: bytes are read and written.
 *
 * Each function of <unistd.h> and <sys/uio.h> that transfers bytes between a descriptor and memory
 * has one line below, and so have sendfile() and the functions of <sys/eventfd.h>. The transferred
 * data is recorded only if the user asked for it.
 */
#include <sys/eventfd.h>
#include <sys/sendfile.h>
#include <sys/uio.h>
#include <unistd.h>

#include "preload/content.h"
#include "preload/shim.h"

/*
 * The fields of all transfer events. The events of types without an offset end before the member
 * `offset`.
 */
struct transfer {
	uint64_t time;
	int32_t fd, error;
	uint64_t size; /* bytes requested, or number of buffers */
	int64_t result;
	int64_t offset;
};

/*
 * The wrapper of a function that transfers bytes. last_ is the last member of struct transfer
 * that belongs to the type's schema. size_ is what the program requested; the kernel may transfer
 * less.
 *
 * `error` is ECANCELED before the call, so that the event of a call in which the thread is
 * cancelled has this error.
 */
#define TRANSFER(name, type, params, args, fd_, size_, offset_, last_, form_, at_) \
	SHIM_NEXT(name, shim_no_number); \
	SHIM_WRAPPER ssize_t name params \
	{ \
		if (!shim_on_alone(type)) \
			return next(name) args; \
		struct transfer data = { \
			.fd = (fd_), .error = ECANCELED, .size = (uint64_t)(size_), .result = -1, \
			.offset = (offset_) \
		}; \
		SHIM_CALL(type, data); \
		call.len = offsetof(struct transfer, last_) + 8; \
		data.result = next(name) args; \
		data.error = data.result < 0 ? errno : 0; \
		if (at_) \
			SHIM_MOVED(form_, at_, size_, data.result); \
		return (ssize_t)data.result; \
	}

/* With _FORTIFY_SOURCE, programs call these functions if the compiler knows the buffer's size. */
ssize_t __read_chk(int fd, void *buffer, size_t size, size_t room);
ssize_t __pread_chk(int fd, void *buffer, size_t size, off_t offset, size_t room);
ssize_t __pread64_chk(int fd, void *buffer, size_t size, off64_t offset, size_t room);

/* Plain reads and writes at the file's position. */
TRANSFER(read, IO_READ, (int fd, void *buffer, size_t size), (fd, buffer, size), fd, size, 0,
	 result, SHIM_FLAT, buffer)
TRANSFER(write, IO_WRITE, (int fd, const void *buffer, size_t size), (fd, buffer, size), fd, size,
	 0, result, SHIM_FLAT, buffer)
SHIM_ALIAS(__read, read);
SHIM_ALIAS(__write, write);
TRANSFER(__read_chk, IO_READ, (int fd, void *buffer, size_t size, size_t room),
	 (fd, buffer, size, room), fd, size, 0, result, SHIM_FLAT, buffer)
/*
 * Reads and writes at a given offset. On 64-bit systems the functions with 64 in their names are
 * the same as the others, but programs may refer to either.
 */
TRANSFER(pread, IO_PREAD, (int fd, void *buffer, size_t size, off_t offset),
	 (fd, buffer, size, offset), fd, size, offset, offset, SHIM_FLAT, buffer)
TRANSFER(pread64, IO_PREAD, (int fd, void *buffer, size_t size, off64_t offset),
	 (fd, buffer, size, offset), fd, size, offset, offset, SHIM_FLAT, buffer)
TRANSFER(__pread_chk, IO_PREAD, (int fd, void *buffer, size_t size, off_t offset, size_t room),
	 (fd, buffer, size, offset, room), fd, size, offset, offset, SHIM_FLAT, buffer)
TRANSFER(__pread64_chk, IO_PREAD, (int fd, void *buffer, size_t size, off64_t offset, size_t room),
	 (fd, buffer, size, offset, room), fd, size, offset, offset, SHIM_FLAT, buffer)
TRANSFER(pwrite, IO_PWRITE, (int fd, const void *buffer, size_t size, off_t offset),
	 (fd, buffer, size, offset), fd, size, offset, offset, SHIM_FLAT, buffer)
TRANSFER(pwrite64, IO_PWRITE, (int fd, const void *buffer, size_t size, off64_t offset),
	 (fd, buffer, size, offset), fd, size, offset, offset, SHIM_FLAT, buffer)
SHIM_ALIAS(__pread64, pread64);
SHIM_ALIAS(__pwrite64, pwrite64);
/*
 * These functions transfer several buffers in one call. The field for the size has the number of
 * buffers, because the sizes are in memory of the program, which may be invalid.
 */
TRANSFER(readv, IO_READV, (int fd, const struct iovec *parts, int count), (fd, parts, count), fd,
	 count, 0, result, SHIM_VECTOR, parts)
TRANSFER(writev, IO_WRITEV, (int fd, const struct iovec *parts, int count), (fd, parts, count), fd,
	 count, 0, result, SHIM_VECTOR, parts)
TRANSFER(preadv, IO_PREADV, (int fd, const struct iovec *parts, int count, off_t offset),
	 (fd, parts, count, offset), fd, count, offset, offset, SHIM_VECTOR, parts)
TRANSFER(preadv64, IO_PREADV, (int fd, const struct iovec *parts, int count, off64_t offset),
	 (fd, parts, count, offset), fd, count, offset, offset, SHIM_VECTOR, parts)
TRANSFER(preadv2, IO_PREADV,
	 (int fd, const struct iovec *parts, int count, off_t offset, int flags),
	 (fd, parts, count, offset, flags), fd, count, offset, offset, SHIM_VECTOR, parts)
TRANSFER(preadv64v2, IO_PREADV,
	 (int fd, const struct iovec *parts, int count, off64_t offset, int flags),
	 (fd, parts, count, offset, flags), fd, count, offset, offset, SHIM_VECTOR, parts)
TRANSFER(pwritev, IO_PWRITEV, (int fd, const struct iovec *parts, int count, off_t offset),
	 (fd, parts, count, offset), fd, count, offset, offset, SHIM_VECTOR, parts)
TRANSFER(pwritev64, IO_PWRITEV, (int fd, const struct iovec *parts, int count, off64_t offset),
	 (fd, parts, count, offset), fd, count, offset, offset, SHIM_VECTOR, parts)
TRANSFER(pwritev2, IO_PWRITEV,
	 (int fd, const struct iovec *parts, int count, off_t offset, int flags),
	 (fd, parts, count, offset, flags), fd, count, offset, offset, SHIM_VECTOR, parts)
TRANSFER(pwritev64v2, IO_PWRITEV,
	 (int fd, const struct iovec *parts, int count, off64_t offset, int flags),
	 (fd, parts, count, offset, flags), fd, count, offset, offset, SHIM_VECTOR, parts)
/*
 * sendfile(2). The member `offset` has the descriptor from which the bytes are read. The real
 * offset is not recorded, because it is in memory that may be invalid.
 */
TRANSFER(sendfile, IO_SENDFILE, (int fd, int from, off_t *offset, size_t size),
	 (fd, from, offset, size), fd, size, from, offset, SHIM_FLAT, NULL)
TRANSFER(sendfile64, IO_SENDFILE, (int fd, int from, off64_t *offset, size_t size),
	 (fd, from, offset, size), fd, size, from, offset, SHIM_FLAT, NULL)

/*
 * eventfd_read() and eventfd_write() transfer 8 bytes and return 0. `size` and `result` of the
 * event are numbers of bytes, as for read() and write() of the descriptor.
 */
#define COUNTER(name, type, value_type) \
	SHIM_NEXT(name, shim_no_number); \
	SHIM_WRAPPER int name(int fd, value_type value) \
	{ \
		if (!shim_on_alone(type)) \
			return next(name)(fd, value); \
		struct transfer data = { \
			.fd = fd, .error = ECANCELED, .size = sizeof(eventfd_t), .result = -1 \
		}; \
		SHIM_CALL(type, data); \
		/* The types of read() and write() have no offset. */ \
		call.len = offsetof(struct transfer, offset); \
		int result = next(name)(fd, value); \
		data.result = result ? -1 : (int64_t)sizeof(eventfd_t); \
		data.error = result ? errno : 0; \
		return result; \
	}
/* The value itself is data, so it is not recorded. */
COUNTER(eventfd_read, IO_READ, eventfd_t *)
COUNTER(eventfd_write, IO_WRITE, eventfd_t)
