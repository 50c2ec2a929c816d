/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * preload/io.c - family io: files are opened, closed and made durable.
 *
 * fopen() and its like open and read by calls inside the C library, which nobody sees; they are
 * traced as themselves in io_stdio.c.
 */
#include <fcntl.h>
#include <stdarg.h>
#include <unistd.h>

#include "preload/shim.h"
#include "preload/text.h"

struct open_data {
	uint64_t time;
	int32_t fd, error;
	int32_t folder;
	uint32_t flags, mode;
	char path[SHIM_TEXT];
};

static void opened(struct shim_call *call, struct open_data *data, const char *path)
{
	data->error = data->fd < 0 ? errno : 0;
	call->len = offsetof(struct open_data, path) +
		    shim_text_after(data->path, sizeof data->path, path, data->error);
}

#define OPEN_DATA(folder_, flags_, mode_) \
	{ \
		.fd = -1, .error = ECANCELED, .folder = (folder_), .flags = (uint32_t)(flags_), \
		.mode = (mode_) \
	}

/* call_ is the real call. */
#define TRACE_OPEN(folder_, flags_, mode_, path_, call_) \
	do { \
		struct open_data data = OPEN_DATA(folder_, flags_, mode_); \
		SHIM_CALL(IO_OPEN, data); \
		call.len = offsetof(struct open_data, path); \
		data.fd = (call_); \
		opened(&call, &data, (path_)); \
		return data.fd; \
	} while (0)

static bool has_mode(int flags)
{
	return (flags & O_CREAT) || (flags & O_TMPFILE) == O_TMPFILE;
}

#define READ_MODE(mode_, flags_) \
	do { \
		if (has_mode(flags_)) { \
			va_list list; \
			va_start(list, flags_); \
			(mode_) = va_arg(list, mode_t); \
			va_end(list); \
		} \
	} while (0)

#define OPEN(name) \
	SHIM_NEXT(name, shim_no_number); \
	SHIM_WRAPPER int name(const char *path, int flags, ...) \
	{ \
		mode_t mode = 0; \
		READ_MODE(mode, flags); \
		if (!shim_on(IO_OPEN)) \
			return next(name)(path, flags, mode); \
		TRACE_OPEN(AT_FDCWD, flags, mode, path, next(name)(path, flags, mode)); \
	}

OPEN(open)
OPEN(open64)

#define OPENAT(name) \
	SHIM_NEXT(name, shim_no_number); \
	SHIM_WRAPPER int name(int folder, const char *path, int flags, ...) \
	{ \
		mode_t mode = 0; \
		READ_MODE(mode, flags); \
		if (!shim_on(IO_OPEN)) \
			return next(name)(folder, path, flags, mode); \
		TRACE_OPEN(folder, flags, mode, path, next(name)(folder, path, flags, mode)); \
	}

OPENAT(openat)
OPENAT(openat64)

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

/* What _FORTIFY_SOURCE makes of open() without a mode. */
int __open_2(const char *path, int flags);
int __open64_2(const char *path, int flags);
int __openat_2(int folder, const char *path, int flags);
int __openat64_2(int folder, const char *path, int flags);

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

#define ON_FD(name, type) \
	SHIM_NEXT(name, shim_no_number); \
	SHIM_WRAPPER int name(int fd) \
	{ \
		if (!shim_on(type)) \
			return next(name)(fd); \
		struct { \
			uint64_t time; \
			int32_t fd, error; \
		} data = { .fd = fd, .error = ECANCELED }; \
		SHIM_CALL(type, data); \
		int result = next(name)(fd); \
		data.error = result < 0 ? errno : 0; \
		return result; \
	}

ON_FD(close, IO_CLOSE)
ON_FD(fsync, IO_FSYNC)
ON_FD(fdatasync, IO_FDATASYNC)
