/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * preload/io_stdio.c - streams of <stdio.h>: opened and closed (family io), and written by fwrite()
 * (family stdio). io_fill.c has the functions that read.
 *
 * In this file, a stream is a stream of <stdio.h>.
 *
 * The C library itself writes the file of a stream, for example inside printf(). The shim does not
 * see these calls.
 */
#include <stdio.h>

#include "preload/shim.h"
#include "preload/text.h"

/* The fields of io.fopen. `text` has the mode and the path, each with its NUL. */
struct fopen_data {
	uint64_t time;
	int32_t fd, error;
	uint64_t file;
	char text[SHIM_TEXT];
};

/* Room for the mode. The C library uses only the first few letters of a mode. */
#define MODE_BYTES 16

/*
 * Copies the mode and the path before the call, as open() does (io.c). Returns the number of bytes.
 */
static size_t copy_names(char text[SHIM_TEXT], const char *mode, const char *path)
{
	const size_t len = shim_text_unsure(text, MODE_BYTES, mode);

	return len + shim_text_unsure(text + len, SHIM_TEXT - len, path);
}

/*
 * Called after a call before which copy_names() has copied `len` bytes. Returns how many bytes the
 * texts have now. In a quiet process one of the texts may be empty because nothing showed that it
 * was readable. Both are then copied again.
 */
static size_t finish_names(char text[SHIM_TEXT], const char *mode, const char *path, size_t len,
			   int error)
{
	size_t mode_len;

	if (!shim_is_quiet() || (text[0] && text[len - 2]))
		return len;
	mode_len = shim_text_after(text, MODE_BYTES, mode, error);
	return mode_len + shim_text_after(text + mode_len, SHIM_TEXT - mode_len, path, error);
}

/* fopen() and fopen64() are one function on 64-bit systems. */
#define FOPEN(name) \
	SHIM_NEXT(name, shim_no_pointer); \
	SHIM_WRAPPER FILE *name(const char *path, const char *mode) \
	{ \
		struct fopen_data data; \
		size_t len; \
		FILE *file; \
		if (!shim_on(IO_FOPEN)) \
			return next(name)(path, mode); \
		len = copy_names(data.text, mode, path); \
		/* If the thread is cancelled in the C library, the event has these values. */ \
		data.fd = -1; \
		data.error = ECANCELED; \
		data.file = 0; \
		SHIM_CALL(IO_FOPEN, data); \
		call.len = offsetof(struct fopen_data, text) + len; \
		file = next(name)(path, mode); \
		data.error = file ? 0 : errno; \
		data.file = (uint64_t)(uintptr_t)file; \
		/* \
		 * A reader of the log finds later calls on the stream's file by this descriptor. \
		 */ \
		data.fd = file ? fileno(file) : -1; \
		len = finish_names(data.text, mode, path, len, data.error); \
		call.len = offsetof(struct fopen_data, text) + len; \
		return file; \
	}

FOPEN(fopen)
FOPEN(fopen64)

/*
 * The wrapper of a function that opens a stream without a path, or for a descriptor that the
 * program has. The mode is a constant or an argument.
 */
#define STREAM(name, params, args, mode_) \
	SHIM_NEXT(name, shim_no_pointer); \
	SHIM_WRAPPER FILE *name params \
	{ \
		struct fopen_data data; \
		FILE *file; \
		if (!shim_on(IO_FOPEN)) \
			return next(name) args; \
		const size_t len = copy_names(data.text, mode_, NULL); \
		data.fd = -1; \
		data.error = ECANCELED; \
		data.file = 0; \
		SHIM_CALL(IO_FOPEN, data); \
		call.len = offsetof(struct fopen_data, text) + len; \
		file = next(name) args; \
		data.error = file ? 0 : errno; \
		data.file = (uint64_t)(uintptr_t)file; \
		data.fd = file ? fileno(file) : -1; \
		return file; \
	}

/*
 * A reader of the log finds the descriptor's name in the event of the call that made the
 * descriptor. fclose() also closes the descriptor, so the name is valid as long as the stream.
 */
STREAM(fdopen, (int fd, const char *mode), (fd, mode), mode)
/* The file has no name. It is deleted when the stream is closed. */
STREAM(tmpfile, (void), (), "w+")
STREAM(tmpfile64, (void), (), "w+")

/* The fields of io.freopen. `text` has the mode and the path, as in io.fopen. */
struct freopen_data {
	uint64_t time;
	int32_t fd, error;
	uint64_t file;
	int32_t old;
	char text[SHIM_TEXT];
};

/*
 * freopen(3) closes the descriptor of the stream and opens the path, usually under the same number.
 * After an error the stream is closed, too. If the path is a null pointer, the call changes only
 * the mode.
 */
#define FREOPEN(name) \
	SHIM_NEXT(name, shim_no_pointer); \
	SHIM_WRAPPER FILE *name(const char *path, const char *mode, FILE *stream) \
	{ \
		struct freopen_data data; \
		size_t len; \
		FILE *file; \
		if (!shim_on(IO_FREOPEN)) \
			return next(name)(path, mode, stream); \
		len = copy_names(data.text, mode, path); \
		/* A stream of memory has no descriptor, and fileno() sets errno. */ \
		const int saved = errno; \
		data.old = fileno(stream); \
		errno = saved; \
		data.fd = -1; \
		data.error = ECANCELED; \
		data.file = (uint64_t)(uintptr_t)stream; \
		SHIM_CALL(IO_FREOPEN, data); \
		call.len = offsetof(struct freopen_data, text) + len; \
		file = next(name)(path, mode, stream); \
		data.error = file ? 0 : errno; \
		data.fd = file ? fileno(file) : -1; \
		len = finish_names(data.text, mode, path, len, data.error); \
		call.len = offsetof(struct freopen_data, text) + len; \
		return file; \
	}

FREOPEN(freopen)
FREOPEN(freopen64)

SHIM_NEXT(fclose, shim_no_number);

/*
 * fclose(3). The descriptor is determined before the call, because the stream does not exist
 * afterwards.
 */
SHIM_WRAPPER int fclose(FILE *file)
{
	struct {
		uint64_t time;
		int32_t fd, error;
		uint64_t file;
	/*
	 * The pointer identifies the stream; after the call it is invalid, but it is only
	 * recorded as a number.
	 */
	} data = { .error = ECANCELED, .file = (uint64_t)(uintptr_t)file };
	int result, saved;

	if (!shim_on(IO_FCLOSE))
		return next(fclose)(file);
	saved = errno;
	data.fd = fileno(file); /* a stream of memory has no descriptor, and fileno() sets errno */
	errno = saved;
	SHIM_CALL(IO_FCLOSE, data);
	result = next(fclose)(file);
	data.error = result ? errno : 0;
	return result;
}

/*
 * In some modes of <stdio.h> this name is a macro, which would prevent the definition of the
 * function.
 */
#undef fwrite_unlocked

/* The fields of stdio.fwrite. */
struct fwrite_data {
	uint64_t time;
	uint64_t file, size, items, result;
};

/* The result is a number of items, not of bytes. The buffer's content is not recorded. */
#define FWRITE(name) \
	SHIM_NEXT(name, shim_no_pointer); \
	SHIM_WRAPPER size_t name(const void *buffer, size_t size, size_t count, FILE *file) \
	{ \
		if (!shim_on_alone(STDIO_FWRITE)) \
			return next(name)(buffer, size, count, file); \
		struct fwrite_data data = { \
			.file = (uint64_t)(uintptr_t)file, .size = size, .items = count \
		}; \
		SHIM_CALL(STDIO_FWRITE, data); \
		data.result = next(name)(buffer, size, count, file); \
		return data.result; \
	}

FWRITE(fwrite)
FWRITE(fwrite_unlocked)
