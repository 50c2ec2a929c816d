/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * preload/io_fill.c - family io: functions of <stdio.h> that read the file of their stream, because
 * the stream's buffer lacks the bytes that the program wants.
 *
 * The C library makes the call of read() inside itself, where no wrapper sees it. But the program
 * may wait in it, for example for the output of a command of popen(). So the wrappers look into the
 * buffer before the call. If the buffer has all the bytes, the wrapper records no event io.fill and
 * need not read the clock. fread() also has an event of the family stdio.
 *
 * In this file, a stream is a stream of <stdio.h>.
 *
 * Only the members of glibc's streams are known. With another C library, this file wraps fread()
 * alone.
 *
 * Threads  a stream may be used by several threads. The wrappers of functions that read lines look
 *          at the bytes in the buffer only under the lock of the stream. They do not wait for this
 *          lock: if another thread has it, the call has an event. The other wrappers compare only
 *          the pointers of the stream, without the lock.
 */
#include <stdio.h>
#include <string.h>

#include "preload/shim.h"

/*
 * In some modes of <stdio.h> these names are macros, which would prevent the definition of the
 * functions.
 */
#undef fread_unlocked
#undef fgets_unlocked
#undef fgetc_unlocked
#undef getc
#undef getc_unlocked
#undef getchar
#undef getchar_unlocked

/* The fields of io.fill. `by` is the called function. */
struct fill_data {
	uint64_t time;
	int32_t fd, error;
	uint64_t file;
	int64_t result;
	char by[24];
};

/* The fields of stdio.fread. */
struct fread_data {
	uint64_t time;
	uint64_t file, size, items, result;
};

/* The state of a stream before the call. */
struct before {
	int64_t ready;   /* bytes in the buffer */
	bool had_error;
};

#ifdef __GLIBC__

/*
 * Set in the flags of a stream if ungetc() gave it a character that the file does not have at this
 * place. _IO_read_ptr then points into an array of such characters, and the unread part of the
 * buffer is from _IO_save_base to _IO_save_end. The value is part of the ABI of glibc.
 */
#define IN_BACKUP 0x100

/* A part of a stream's buffer. */
struct span {
	const char *from, *to;
};

/*
 * Returns the unread characters that the stream would read first. Without the lock of the stream
 * the pointers may be out of date.
 */
static struct span first_span(const FILE *file)
{
	return (struct span){
		__atomic_load_n(&file->_IO_read_ptr, __ATOMIC_RELAXED),
		__atomic_load_n(&file->_IO_read_end, __ATOMIC_RELAXED),
	};
}

/* Returns the unread characters after those of first_span(). */
static struct span second_span(const FILE *file)
{
	if (!(__atomic_load_n(&file->_flags, __ATOMIC_RELAXED) & IN_BACKUP))
		return (struct span){ NULL, NULL };
	return (struct span){
		__atomic_load_n(&file->_IO_save_base, __ATOMIC_RELAXED),
		__atomic_load_n(&file->_IO_save_end, __ATOMIC_RELAXED),
	};
}

static size_t span_bytes(struct span span)
{
	return span.from < span.to ? (size_t)(span.to - span.from) : 0;
}

static bool span_has(struct span span, int byte)
{
	const size_t bytes = span_bytes(span);

	return bytes && memchr(span.from, byte, bytes);
}

/* Returns the bytes in the buffer. Without the lock of the stream the number may be out of date. */
static size_t ready_bytes(const FILE *file)
{
	return span_bytes(first_span(file)) + span_bytes(second_span(file));
}

static bool lacks_bytes(const FILE *file, size_t bytes)
{
	return ready_bytes(file) < bytes;
}

/*
 * Returns whether the buffer has neither the end of a line nor `most` bytes. Another thread could
 * change the buffer meanwhile, so the stream is locked. The wrapper does not wait for the lock.
 */
static bool lacks_line(FILE *file, int end, size_t most)
{
	bool lacks;

	if (!ready_bytes(file))
		return true;
	if (ftrylockfile(file))
		return true;
	lacks = ready_bytes(file) < most && !span_has(first_span(file), end) &&
		!span_has(second_span(file), end);
	funlockfile(file);
	return lacks;
}

#else

static size_t ready_bytes(const FILE *file)
{
	(void)file;
	return 0;
}

/* With this C library, it is unknown whether the call reads the file. So the call has no event. */
static bool lacks_bytes(const FILE *file, size_t bytes)
{
	(void)file, (void)bytes;
	return false;
}

#endif

/*
 * Returns the descriptor of a stream, or -1 for a stream of memory, which has none. Keeps errno,
 * which fileno() sets for such a stream.
 */
static int descriptor_of(FILE *file)
{
	const int saved = errno, fd = fileno(file);

	errno = saved;
	return fd;
}

/*
 * Completes the event after the call. `used` is the number of bytes that the call has removed from
 * the stream. The other bytes that were read are in the buffer.
 */
static void fill_finish(struct fill_data *data, const struct before *before, FILE *file,
			size_t used, bool failed)
{
	const int64_t result = (int64_t)used + (int64_t)ready_bytes(file) - before->ready;

	data->error = failed && !before->had_error && ferror_unlocked(file) ? errno : 0;
	data->result = result < 0 ? 0 : result;
}

/*
 * The body of a wrapper for a function that reads stream_. lacks_ is whether the buffer lacks
 * bytes. used_ and failed_ are evaluated after the call.
 */
#define FILL(result_type, name, args, stream_, lacks_, used_, failed_) \
	int fd; \
	if (!shim_on(IO_FILL) || !(lacks_) || (fd = descriptor_of(stream_)) < 0 || \
	    !shim_records(IO_FILL)) \
		return next(name) args; \
	struct fill_data data = { \
		.fd = fd, .error = ECANCELED, .file = (uint64_t)(uintptr_t)(stream_), .by = #name \
	}; \
	const struct before before = { \
		(int64_t)ready_bytes(stream_), ferror_unlocked(stream_) != 0 \
	}; \
	SHIM_CALL(IO_FILL, data); \
	call.len = offsetof(struct fill_data, by) + sizeof #name; \
	result_type result = next(name) args; \
	fill_finish(&data, &before, (stream_), (used_), (failed_)); \
	return result

/*
 * Returns whether the buffer lacks the items. Their size may overflow. fread() of no bytes does not
 * use its stream, which may then be NULL.
 */
static bool lacks_items(const FILE *file, size_t size, size_t count)
{
	size_t bytes;

	return __builtin_mul_overflow(size, count, &bytes) || (bytes && lacks_bytes(file, bytes));
}

/* The result is a number of items, not of bytes. The buffer's content is not recorded. */
#define FREAD(name, params, args) \
	SHIM_NEXT(name, shim_no_pointer); \
	shim_inline size_t fill_##name params \
	{ \
		FILL(size_t, name, args, file, lacks_items(file, size, count), size * result, \
		     result < count); \
	} \
	SHIM_WRAPPER size_t name params \
	{ \
		if (!shim_on_alone(STDIO_FREAD)) \
			return fill_##name args; \
		struct fread_data data = { \
			.file = (uint64_t)(uintptr_t)file, .size = size, .items = count \
		}; \
		SHIM_CALL(STDIO_FREAD, data); \
		data.result = fill_##name args; \
		return data.result; \
	}

/*
 * With _FORTIFY_SOURCE, programs call the functions with _chk if the compiler knows the buffer's
 * size. This size is an additional argument.
 */
size_t __fread_chk(void *buffer, size_t room, size_t size, size_t count, FILE *file);
size_t __fread_unlocked_chk(void *buffer, size_t room, size_t size, size_t count, FILE *file);

FREAD(fread, (void *buffer, size_t size, size_t count, FILE *file), (buffer, size, count, file))
FREAD(fread_unlocked, (void *buffer, size_t size, size_t count, FILE *file),
      (buffer, size, count, file))
FREAD(__fread_chk, (void *buffer, size_t room, size_t size, size_t count, FILE *file),
      (buffer, room, size, count, file))
FREAD(__fread_unlocked_chk, (void *buffer, size_t room, size_t size, size_t count, FILE *file),
      (buffer, room, size, count, file))

#ifdef __GLIBC__

/* The wrapper of a function that reads one character of the stream `file_`. */
#define GETC(name, params, args, file_) \
	SHIM_NEXT(name, shim_no_number); \
	SHIM_WRAPPER int name params \
	{ \
		FILL(int, name, args, file_, lacks_bytes(file_, 1), result != EOF, \
		     result == EOF); \
	}

/*
 * Programs have the code of getc_unlocked() in themselves, and call __uflow() and __underflow()
 * only if the buffer is empty. __underflow() leaves the character in the buffer.
 */
int __underflow(FILE *file);
int _IO_getc(FILE *file);

GETC(fgetc, (FILE *file), (file), file)
GETC(getc, (FILE *file), (file), file)
GETC(_IO_getc, (FILE *file), (file), file)
GETC(getchar, (void), (), stdin)
GETC(fgetc_unlocked, (FILE *file), (file), file)
GETC(getc_unlocked, (FILE *file), (file), file)
GETC(getchar_unlocked, (void), (), stdin)
GETC(__uflow, (FILE *file), (file), file)

SHIM_NEXT(__underflow, shim_no_number);
SHIM_WRAPPER int __underflow(FILE *file)
{
	FILL(int, __underflow, (file), file, lacks_bytes(file, 1), 0, result == EOF);
}

/*
 * The wrapper of a function that reads a line into the array `to`. fgets() keeps one byte for the
 * NUL.
 */
#define FGETS(name, params, args) \
	SHIM_NEXT(name, shim_no_pointer); \
	SHIM_WRAPPER char *name params \
	{ \
		FILL(char *, name, args, file, \
		     size > 1 && lacks_line(file, '\n', (size_t)size - 1), \
		     result ? strlen(result) : 0, !result); \
	}

char *__fgets_chk(char *to, size_t room, int size, FILE *file);
char *__fgets_unlocked_chk(char *to, size_t room, int size, FILE *file);

FGETS(fgets, (char *to, int size, FILE *file), (to, size, file))
FGETS(fgets_unlocked, (char *to, int size, FILE *file), (to, size, file))
FGETS(__fgets_chk, (char *to, size_t room, int size, FILE *file), (to, room, size, file))
FGETS(__fgets_unlocked_chk, (char *to, size_t room, int size, FILE *file), (to, room, size, file))

/* The wrapper of a function that reads a line into memory that the function allocates. */
#define GETLINE(name, params, args, end_) \
	SHIM_NEXT(name, shim_no_number); \
	SHIM_WRAPPER ssize_t name params \
	{ \
		/* Without the two addresses the function fails and does not use the stream. */ \
		FILL(ssize_t, name, args, file, to && size && lacks_line(file, end_, SIZE_MAX), \
		     result > 0 ? (size_t)result : 0, result < 0); \
	}

GETLINE(getline, (char **to, size_t *size, FILE *file), (to, size, file), '\n')
GETLINE(getdelim, (char **to, size_t *size, int end, FILE *file), (to, size, end, file), end)
GETLINE(__getdelim, (char **to, size_t *size, int end, FILE *file), (to, size, end, file), end)

#endif
