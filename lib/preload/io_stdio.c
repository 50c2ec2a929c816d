/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * preload/io_stdio.c - streams of <stdio.h>: opened and closed (family io), read and written by
 * fread() and fwrite() (family stdio).
 *
 * When a stream reads from its file or writes to it, and what printf(), getline() and the like do,
 * happens inside the C library and is not seen.
 */
#include <stdio.h>

#include "preload/shim.h"
#include "preload/text.h"

struct fopen_data {
	uint64_t time;
	int32_t fd, error;
	uint64_t file;
	char text[SHIM_TEXT];
};

#define MODE_BYTES 16

#define FOPEN(name) \
	SHIM_NEXT(name, shim_no_pointer); \
	SHIM_WRAPPER FILE *name(const char *path, const char *mode) \
	{ \
		struct fopen_data data; \
		size_t len; \
		FILE *file; \
		if (!shim_on(IO_FOPEN)) \
			return next(name)(path, mode); \
		data.fd = -1; \
		data.error = ECANCELED; \
		data.file = 0; \
		SHIM_CALL(IO_FOPEN, data); \
		call.len = offsetof(struct fopen_data, text); \
		file = next(name)(path, mode); \
		data.error = file ? 0 : errno; \
		data.file = (uint64_t)(uintptr_t)file; \
		data.fd = file ? fileno(file) : -1; \
		len = shim_text_after(data.text, MODE_BYTES, mode, data.error); \
		len += shim_text_after(data.text + len, sizeof data.text - len, path, data.error); \
		call.len += len; \
		return file; \
	}

FOPEN(fopen)
FOPEN(fopen64)

SHIM_NEXT(fclose, shim_no_number);

SHIM_WRAPPER int fclose(FILE *file)
{
	struct {
		uint64_t time;
		int32_t fd, error;
		uint64_t file;
	} data = { .error = ECANCELED, .file = (uint64_t)(uintptr_t)file };
	int result, saved;

	if (!shim_on(IO_FCLOSE))
		return next(fclose)(file);
	saved = errno;
	data.fd = fileno(file); /* not every stream has one */
	errno = saved;
	SHIM_CALL(IO_FCLOSE, data);
	result = next(fclose)(file);
	data.error = result ? errno : 0;
	return result;
}

/* Macros in some modes of <stdio.h>. */
#undef fread_unlocked
#undef fwrite_unlocked

struct items {
	uint64_t time;
	uint64_t file, size, items, result;
};

#define ITEMS(name, type, params, args) \
	SHIM_NEXT(name, shim_no_pointer); \
	SHIM_WRAPPER size_t name params \
	{ \
		if (!shim_on(type)) \
			return next(name) args; \
		struct items data = { \
			.file = (uint64_t)(uintptr_t)file, .size = size, .items = count \
		}; \
		SHIM_CALL(type, data); \
		data.result = next(name) args; \
		return data.result; \
	}

size_t __fread_chk(void *buffer, size_t room, size_t size, size_t count, FILE *file);
size_t __fread_unlocked_chk(void *buffer, size_t room, size_t size, size_t count, FILE *file);

ITEMS(fread, STDIO_FREAD, (void *buffer, size_t size, size_t count, FILE *file),
      (buffer, size, count, file))
ITEMS(fread_unlocked, STDIO_FREAD, (void *buffer, size_t size, size_t count, FILE *file),
      (buffer, size, count, file))
ITEMS(__fread_chk, STDIO_FREAD, (void *buffer, size_t room, size_t size, size_t count, FILE *file),
      (buffer, room, size, count, file))
ITEMS(__fread_unlocked_chk, STDIO_FREAD,
      (void *buffer, size_t room, size_t size, size_t count, FILE *file),
      (buffer, room, size, count, file))
ITEMS(fwrite, STDIO_FWRITE, (const void *buffer, size_t size, size_t count, FILE *file),
      (buffer, size, count, file))
ITEMS(fwrite_unlocked, STDIO_FWRITE, (const void *buffer, size_t size, size_t count, FILE *file),
      (buffer, size, count, file))
