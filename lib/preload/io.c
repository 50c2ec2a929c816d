/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * preload/io.c - family io: files are opened, closed and made durable.
 *
 * fopen() and its relatives open and read files by calls inside the C library, which do not use the
 * dynamic symbol table. io_stdio.c traces fopen() and its relatives themselves.
 *
 * If a thread is cancelled in a call, the event of the call has the error ECANCELED. The cleanup of
 * SHIM_CALL() records this event while the stack is unwound. The event has the values that the data
 * had before the call.
 */
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "preload/io.h"
#include "preload/shim.h"
#include "preload/text.h"

/*
 * The fields of io.open, in the order of its schema. Only the bytes of `path` that are in use are
 * recorded.
 */
struct open_data {
	uint64_t time;
	int32_t fd, error;
	int32_t folder;
	uint32_t flags, mode;
	char path[SHIM_TEXT];
};

/*
 * Completes the data after the call. `len` bytes of the path were copied before the call: a thread
 * that opens the other end of a FIFO may free the path before this call returns.
 */
static void finish_open(struct shim_call *call, struct open_data *data, const char *path,
			size_t len)
{
	data->error = data->fd < 0 ? errno : 0;
	call->len = offsetof(struct open_data, path) +
		    shim_text_finish(data->path, sizeof data->path, path, len, data->error);
}

/*
 * The data before the call. If the thread is cancelled in the call, the call does not return and
 * the data is recorded as it is here.
 */
#define OPEN_DATA(folder_, flags_, mode_) \
	{ \
		.fd = -1, .error = ECANCELED, .folder = (folder_), .flags = (uint32_t)(flags_), \
		.mode = (mode_) \
	}

/* Used for calls that a program makes through syscall(2). */
void shim_put_open(const struct shim_opened *opened, const void *caller)
{
	struct open_data data = {
		.fd = opened->fd, .folder = opened->folder, .flags = opened->flags,
		.mode = opened->mode
	};
	struct shim_call call = { .len = 0 };

	data.time = shim_now() - opened->began;
	memcpy(data.path, opened->text, opened->len);
	finish_open(&call, &data, opened->path, opened->len);
	shim_put(IO_OPEN, &data, call.len, caller);
}

/* Records an opening call. call_ is the real call. */
#define TRACE_OPEN(folder_, flags_, mode_, path_, call_) \
	/* \
	 * The event is recorded at the end of the scope of `data` and `call`, which is the end of \
	 * this macro. \
	 */ \
	do { \
		struct open_data data = OPEN_DATA(folder_, flags_, mode_); \
		const size_t len = shim_text_unsure(data.path, sizeof data.path, (path_)); \
		SHIM_CALL(IO_OPEN, data); \
		call.len = offsetof(struct open_data, path) + len; \
		data.fd = (call_); \
		/* For a call that returns, finish_open() sets the length again. */ \
		finish_open(&call, &data, (path_), len); \
		return data.fd; \
	} while (0)

/* Returns whether open() has a mode as its third argument. O_TMPFILE has more than one bit. */
static bool has_mode(int flags)
{
	return (flags & O_CREAT) || (flags & O_TMPFILE) == O_TMPFILE;
}

/*
 * Reads the mode of a function with variable arguments. Without O_CREAT or O_TMPFILE the caller
 * has passed no mode, and reading it would be undefined.
 */
#define READ_MODE(mode_, flags_) \
	do { \
		if (has_mode(flags_)) { \
			va_list list; \
			va_start(list, flags_); \
			(mode_) = va_arg(list, mode_t); \
			va_end(list); \
		} \
	} while (0)

/* open() and open64() are one function on 64-bit systems, but programs may refer to either. */
#define OPEN(name) \
	SHIM_NEXT(name, shim_no_number); \
	/* The wrapper has variable arguments, as in the declaration of <fcntl.h>. */ \
	SHIM_WRAPPER int name(const char *path, int flags, ...) \
	{ \
		mode_t mode = 0; \
		READ_MODE(mode, flags); \
		if (!shim_on(IO_OPEN)) \
			return next(name)(path, flags, mode); \
		TRACE_OPEN(AT_FDCWD, flags, mode, path, next(name)(path, flags, mode)); \
	}

/* The path is recorded as the program gave it: resolving it would need a system call. */
OPEN(open)
OPEN(open64)
SHIM_ALIAS(__open, open);
SHIM_ALIAS(__open64, open64);

/* Like OPEN(), for functions whose path is relative to a folder. */
#define OPENAT(name) \
	SHIM_NEXT(name, shim_no_number); \
	SHIM_WRAPPER int name(int folder, const char *path, int flags, ...) \
	{ \
		mode_t mode = 0; \
		READ_MODE(mode, flags); \
		/* `folder` is AT_FDCWD or a descriptor. It is recorded as it was given. */ \
		if (!shim_on(IO_OPEN)) \
			return next(name)(folder, path, flags, mode); \
		TRACE_OPEN(folder, flags, mode, path, next(name)(folder, path, flags, mode)); \
	}

OPENAT(openat)
OPENAT(openat64)

/* creat() does the same as open() with constant flags, which the event has. */
#define CREAT(name) \
	SHIM_NEXT(name, shim_no_number); \
	SHIM_WRAPPER int name(const char *path, mode_t mode) \
	{ \
		if (!shim_on(IO_OPEN)) \
			return next(name)(path, mode); \
		TRACE_OPEN(AT_FDCWD, O_CREAT | O_WRONLY | O_TRUNC, mode, path, \
			   next(name)(path, mode)); \
	}

CREAT(creat)
CREAT(creat64)

/*
 * With _FORTIFY_SOURCE a program calls these functions instead of open() without a mode. A wrapper
 * must call the same function, because that function ends the program if the flags need a mode.
 */
int __open_2(const char *path, int flags);
int __open64_2(const char *path, int flags);
int __openat_2(int folder, const char *path, int flags);
/*
 * The names with _2 exist in glibc only; with another C library next() finds the substitute
 * shim_no_number().
 */
int __openat64_2(int folder, const char *path, int flags);

/* The event of these calls has the mode 0, because they create no file. */
#define OPEN_2(name) \
	SHIM_NEXT(name, shim_no_number); \
	SHIM_WRAPPER int name(const char *path, int flags) \
	{ \
		if (!shim_on(IO_OPEN)) \
			return next(name)(path, flags); \
		TRACE_OPEN(AT_FDCWD, flags, 0, path, next(name)(path, flags)); \
	}

OPEN_2(__open_2)
OPEN_2(__open64_2)

/* Like OPEN_2(), for functions whose path is relative to a folder. */
#define OPENAT_2(name) \
	SHIM_NEXT(name, shim_no_number); \
	SHIM_WRAPPER int name(int folder, const char *path, int flags) \
	{ \
		if (!shim_on(IO_OPEN)) \
			return next(name)(folder, path, flags); \
		TRACE_OPEN(folder, flags, 0, path, next(name)(folder, path, flags)); \
	}

OPENAT_2(__openat_2)
OPENAT_2(__openat64_2)

/*
 * openat2() is new in glibc 2.43; syscall.c records the calls by syscall(2). The struct with the
 * flags is copied before the call, if it is readable.
 */
#if !__GLIBC_PREREQ(2, 43)
int openat2(int folder, const char *path, const struct open_how *how, size_t size);
#endif
SHIM_NEXT(openat2, shim_no_number);

SHIM_WRAPPER int openat2(int folder, const char *path, const struct open_how *how, size_t size)
{
	/* The first two words of the struct are `flags` and `mode`. */
	uint64_t words[2] = { 0 };

	if (!shim_on(IO_OPEN))
		return next(openat2)(folder, path, how, size);
	shim_copy_input(words, how, sizeof words);
	TRACE_OPEN(folder, words[0], (mode_t)words[1], path,
		   next(openat2)(folder, path, how, size));
}

SHIM_NEXT(open_by_handle_at, shim_no_number);

/*
 * The program names the file by a handle. `folder` is a descriptor of a file in the same file
 * system.
 */
SHIM_WRAPPER int open_by_handle_at(int folder, struct file_handle *handle, int flags)
{
	if (!shim_on(IO_OPEN))
		return next(open_by_handle_at)(folder, handle, flags);
	TRACE_OPEN(folder, flags, 0, NULL, next(open_by_handle_at)(folder, handle, flags));
}

/*
 * posix_openpt(3) and getpt(3) have no path. They have the same event as open(2), so that
 * posixtrace dump can show a name for the descriptor: the usual path of the multiplexer of
 * terminals, which these functions open.
 */
static const char multiplexer[] = "/dev/ptmx";

SHIM_NEXT(posix_openpt, shim_no_number);

SHIM_WRAPPER int posix_openpt(int flags)
{
	if (!shim_on(IO_OPEN))
		return next(posix_openpt)(flags);
	TRACE_OPEN(AT_FDCWD, flags, 0, multiplexer, next(posix_openpt)(flags));
}

SHIM_NEXT(getpt, shim_no_number);

/* getpt() is posix_openpt(O_RDWR). */
SHIM_WRAPPER int getpt(void)
{
	if (!shim_on(IO_OPEN))
		return next(getpt)();
	TRACE_OPEN(AT_FDCWD, O_RDWR, 0, multiplexer, next(getpt)());
}

/*
 * close(), fsync() and fdatasync(): all have a descriptor and no other argument. close() is a
 * cancellation point. Even if close() fails with EINTR, the descriptor is closed.
 */
#define ON_FD(name, type) \
	SHIM_NEXT(name, shim_no_number); \
	SHIM_WRAPPER int name(int fd) \
	{ \
		if (!shim_on_alone(type)) \
			return next(name)(fd); \
		/* The fields of io.close, io.fsync and io.fdatasync. */ \
		struct { \
			uint64_t time; \
			int32_t fd, error; \
		} data = { .fd = fd, .error = ECANCELED }; \
		SHIM_CALL(type, data); \
		int result = next(name)(fd); \
		data.error = result < 0 ? errno : 0; \
		return result; \
	}

/*
 * The event of close() is recorded after the descriptor was closed. Another thread may have
 * opened a file under the same number by then, and the event of that thread may come first.
 */
ON_FD(close, IO_CLOSE)
SHIM_ALIAS(__close, close);
ON_FD(fsync, IO_FSYNC)
ON_FD(fdatasync, IO_FDATASYNC)
