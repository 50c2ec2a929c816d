/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * preload/io_file.c - family io: the position, the space, locks and durability of an open file,
 * several descriptors that are closed by one call, shared memory by name, and openpty(). The
 * functions for mapped memory at the end belong to the family alloc.
 */
#include <fcntl.h>
#include <pty.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "preload/call.h"
#include "preload/known.h"

/*
 * `result` is the new position. The C library does not call these wrappers for the streams of
 * <stdio.h>, so seeks of such streams have no events. SEEK_DATA fails with ENXIO behind the last
 * data of the file, and SEEK_HOLE behind the end of the file.
 */
#define LSEEK(name, offset_type) \
	SHIM_TRACED(offset_type, name, IO_LSEEK, shim_no_number, \
		    (int fd, offset_type offset, int whence), (fd, offset, whence), \
		    result == -1, (fd, whence), (offset, result), ())
LSEEK(lseek, off_t)
LSEEK(lseek64, off64_t)
SHIM_ALIAS(__lseek, lseek);

/*
 * These functions reserve space for a file. posix_fallocate() has no mode, and returns an error
 * number.
 */
#define FALLOCATE(name, offset_type) \
	SHIM_INT(name, IO_FALLOCATE, (int fd, int mode, offset_type offset, offset_type length), \
		 (fd, mode, offset, length), (fd, mode), (offset, length), ())
/* The mode may also remove or move a part of the file. */
FALLOCATE(fallocate, off_t)
FALLOCATE(fallocate64, off64_t)
/*
 * If the file system cannot reserve space, the C library writes to each block instead. These writes
 * have no events.
 */
#define POSIX_FALLOCATE(name, offset_type) \
	SHIM_ERROR(name, IO_FALLOCATE, (int fd, offset_type offset, offset_type length), \
		   (fd, offset, length), (fd, 0), (offset, length), ())
POSIX_FALLOCATE(posix_fallocate, off_t)
POSIX_FALLOCATE(posix_fallocate64, off64_t)

/*
 * The program calls these functions to announce how it will read the file. As posix_fallocate(),
 * posix_fadvise() returns an error number and does not change errno. readahead() is recorded as
 * POSIX_FADV_WILLNEED.
 */
#define FADVISE(name, offset_type) \
	SHIM_ERROR(name, IO_FADVISE, \
		   (int fd, offset_type offset, offset_type length, int advice), \
		   (fd, offset, length, advice), (fd, advice), (offset, length), ())
/* A length of 0 means up to the end of the file. */
FADVISE(posix_fadvise, off_t)
FADVISE(posix_fadvise64, off64_t)
SHIM_TRACED(ssize_t, readahead, IO_FADVISE, shim_no_number,
	    (int fd, off64_t offset, size_t length), (fd, offset, length), result < 0,
	    (fd, POSIX_FADV_WILLNEED), (offset, (int64_t)length), ())

/*
 * The locked part begins at the position of the file. The duration of the event includes the wait
 * for the lock.
 */
SHIM_INT(lockf, IO_LOCKF, (int fd, int operation, off_t length), (fd, operation, length),
	 (fd, operation), (length), ())
/* These locks belong to the process, and end when any descriptor of the file is closed. */
SHIM_INT(lockf64, IO_LOCKF, (int fd, int operation, off64_t length), (fd, operation, length),
	 (fd, operation), (length), ())

/* These functions write parts of a file or whole file systems to the device; fsync() is in io.c. */
SHIM_INT(sync_file_range, IO_SYNC, (int fd, off64_t offset, off64_t length, unsigned flags),
	 (fd, offset, length, flags), (fd, (int32_t)flags), (offset, length), ())
/* syncfs() concerns the file system that contains the file. */
SHIM_INT(syncfs, IO_SYNC, (int fd), (fd), (fd, 0), (0, 0), ())

/*
 * The flags of close_range() decide whether the descriptors are closed now or when a program is
 * executed.
 */
SHIM_INT(close_range, IO_CLOSE_RANGE, (unsigned first, unsigned last, int flags),
	 (first, last, flags), ((int32_t)first, (int32_t)last, flags), (), ())

/*
 * The wrapper of a function that returns no result and no error. The field `error` is always 0. The
 * 32-bit fields and the 64-bit fields follow, as in SHIM_TRACED().
 */
#define NOTHING(name, type, params, args, small, large) \
	SHIM_NEXT(name, shim_no_number); \
	SHIM_WRAPPED(name, type); \
	SHIM_WRAPPER void name params \
	{ \
		if (!shim_on_alone(type)) { \
			next(name) args; \
			return; \
		} \
		const int32_t small_[] = { SHIM_LIST small }; \
		const int64_t large_[] = { SHIM_LIST large }; \
		SHIM_RECORD(sizeof small_ + sizeof large_) record; \
		SHIM_CALL(type, record); \
		record.error = 0; \
		shim_record_fields(&call, record.rest, small_, sizeof small_, large_, \
				   sizeof large_); \
		next(name) args; \
	}
/* sync() writes all file systems and can take seconds. */
NOTHING(sync, IO_SYNC, (void), (), (-1, 0), (0, 0))
/*
 * closefrom() has no errors: if the kernel cannot close a range, the C library closes each
 * descriptor. A negative number has the same effect as 0: all descriptors are closed. So the event
 * has 0 instead of a negative number.
 */
NOTHING(closefrom, IO_CLOSE_RANGE, (int first), (first), (first < 0 ? 0 : first, -1, 0), ())

/*
 * Shared memory has a name, which is not a path. The C library chooses the file system, usually
 * /dev/shm, and opens a file of this name there.
 */
SHIM_INT(shm_open, IO_SHM, (const char *name, int flags, mode_t mode), (name, flags, mode),
	 (result, flags, (int32_t)mode), (), (SHIM_IN(name)))
SHIM_INT(shm_unlink, IO_SHM_UNLINK, (const char *name), (name), (), (), (SHIM_IN(name)))

/*
 * The event has both ends of the terminal. They are read only after success, when the C library has
 * written them.
 */
SHIM_INT(openpty, IO_OPENPTY,
	 (int *master, int *slave, char *name, const struct termios *mode,
	  const struct winsize *size),
	 (master, slave, name, mode, size), (result ? -1 : *master, result ? -1 : *slave), (), ())

/*
 * The functions below act on mapped memory: they write it back to its file, lock it in RAM or
 * unlock it, advise, or protect it. Their events belong to the family alloc, like those of mmap(2).
 */
SHIM_INT(msync, ALLOC_MSYNC, (void *address, size_t size, int flags), (address, size, flags),
	 (flags), ((int64_t)(uintptr_t)address, (int64_t)size), ())
SHIM_INT(mlock, ALLOC_MLOCK, (const void *address, size_t size), (address, size), (1, 0),
	 ((int64_t)(uintptr_t)address, (int64_t)size), ())
/* With MLOCK_ONFAULT a page is kept in RAM only from its first use on. */
SHIM_INT(mlock2, ALLOC_MLOCK, (const void *address, size_t size, unsigned flags),
	 (address, size, flags), (1, (int32_t)flags),
	 ((int64_t)(uintptr_t)address, (int64_t)size), ())
SHIM_INT(munlock, ALLOC_MLOCK, (const void *address, size_t size), (address, size), (0, 0),
	 ((int64_t)(uintptr_t)address, (int64_t)size), ())
/* As for mlockall(), the address is 0, and the size is the greatest number. */
SHIM_INT(munlockall, ALLOC_MLOCK, (void), (), (0, 0), (0, -1), ())

/*
 * A function that changes the properties of memory by the system call `number`. `how` is the third
 * argument of this call. Before it, the shim forgets memory that may become unreadable.
 */
#define CHANGES(name, type, otherwise, number, how, params, args, error_) \
	SHIM_NEXT(name, otherwise); \
	SHIM_WRAPPED(name, type); \
	SHIM_WRAPPER int name params \
	{ \
		shim_forget_by_call(number, (long)address, (long)size, how, 0, 0); \
		if (!shim_on_alone(type)) \
			return next(name) args; \
		SHIM_TRACE(int, type, next(name) args, error_, (how), \
			   ((int64_t)(uintptr_t)address, (int64_t)size), ()); \
	}
CHANGES(mprotect, ALLOC_MPROTECT, shim_no_number, SYS_mprotect, protection,
	(void *address, size_t size, int protection), (address, size, protection),
	result == -1 ? errno : 0)
/* The key is not recorded. */
CHANGES(pkey_mprotect, ALLOC_MPROTECT, shim_no_number, SYS_pkey_mprotect, protection,
	(void *address, size_t size, int protection, int key), (address, size, protection, key),
	result == -1 ? errno : 0)
/* MADV_DONTNEED and MADV_FREE give memory back to the kernel. */
CHANGES(madvise, ALLOC_MADVISE, shim_no_number, SYS_madvise, advice,
	(void *address, size_t size, int advice), (address, size, advice),
	result == -1 ? errno : 0)
/*
 * posix_madvise() returns an error number. The C library also passes values of `advice` that POSIX
 * does not define on to madvise(2).
 */
CHANGES(posix_madvise, ALLOC_MADVISE, shim_no_error, SYS_madvise, advice,
	(void *address, size_t size, int advice), (address, size, advice), result)
