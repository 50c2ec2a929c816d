/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * preload/text.c - copies strings of the program into events.
 *
 * Before a call, or after an error, the strings of the call may be invalid, and the shim must not
 * crash where the program would only get an error. Such memory is checked page by page. After a
 * call that succeeded, a wrapper reads strings without a check only where DESIGN permits that.
 */
#include "preload/text.h"

#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "preload/kernel_copy.h"
#include "preload/known.h"
#include "preload/self.h"

/* The kernel checks memory page by page. */
#define PAGE 4096

/*
 * Returns whether the byte at `from` can be read. Known memory needs no system call. For other
 * memory, the function makes a system call that changes nothing: rt_sigprocmask() with an invalid
 * `how`. The kernel first reads the mask. If the kernel cannot read it, the call fails with EFAULT,
 * and else with EINVAL. A quiet process must not make this call. In such a process, the function
 * trusts the program, as most C libraries do.
 */
static bool is_readable(const void *from)
{
	/* For a null pointer the kernel reads no mask and reports no error. */
	if ((uintptr_t)from < PAGE)
		return false;
	if (shim_is_known(from) || shim_is_quiet())
		return true;
	/* 8 bytes at an aligned address never cross a page. */
	syscall(SYS_rt_sigprocmask, -1, (uintptr_t)from & ~(uintptr_t)7, NULL, 8);
	return errno != EFAULT;
}

/*
 * Like is_readable(), but in a quiet process it returns false for memory that is not known. This
 * function is for memory that may be the reason why a call failed.
 */
static bool is_known_readable(const void *from)
{
	return (!shim_is_quiet() || shim_is_known(from)) && is_readable(from);
}

/*
 * Copies bytes that the shim has checked, but that the memcpy() of a sanitizer may reject. The loop
 * loads single bytes, and the sanitizer does not check this function. Because of volatile, the
 * compiler does not replace the loop by a call of memcpy().
 */
__attribute__((no_sanitize("address")))
static void copy_unchecked(char *to, const char *from, size_t bytes)
{
	const volatile char *byte = from;

	for (size_t i = 0; i < bytes; i++)
		to[i] = byte[i];
}

/*
 * Writes `len` bytes of `text` and a NUL, at most `bytes` bytes in all. A longer text loses its
 * beginning. If `bytes` is 0, nothing is written. Returns the number of bytes that were written,
 * with the NUL. is_read means that a call has read the text, so any memcpy() may read it, too.
 */
static size_t put_text(char *to, size_t bytes, const char *text, size_t len, bool is_read)
{
	size_t skipped;

	if (bytes == 0)
		return 0;
	skipped = len < bytes ? 0 : len - (bytes - 1);
	len -= skipped;
	if (len && is_read)
		memcpy(to, text + skipped, len);
	else if (len)
		copy_unchecked(to, text + skipped, len);
	/* The NUL is stored separately, because `text` may have none after `len` bytes. */
	to[len] = '\0';
	if (skipped && bytes > 3)
		memcpy(to, "...", 3);
	return len + 1;
}

/* Used for constants, and for strings of a call that succeeded. */
size_t shim_text(char *to, size_t bytes, const char *text)
{
	/* A successful call has read the text, so the text was readable. */
	return put_text(to, bytes, text, text ? strlen(text) : 0, true);
}

/*
 * Determines the length of a text that may be invalid memory. The length is at most PATH_MAX,
 * because the kernel reads at most this number of bytes of a path. Each page is checked before its
 * first byte is read. Returns false if there is unreadable memory before the NUL.
 */
__attribute__((no_sanitize("address")))
static bool find_end(const char *text, size_t *len)
{
	const volatile char *byte = text;
	size_t at = 0;

	while (at < PATH_MAX) {
		const size_t rest = PAGE - ((uintptr_t)text + at) % PAGE;
		const size_t end = at + rest < PATH_MAX ? at + rest : PATH_MAX;

		if (!is_known_readable(text + at))
			return false;
		while (at < end && byte[at])
			at++;
		if (at < end)
			break;
	}
	*len = at;
	return true;
}

/* A text that cannot be read is written as an empty text. */
size_t shim_text_unsure(char *to, size_t bytes, const char *text)
{
	int saved = errno;
	size_t len;

	/*
	 * If a part of the text is unreadable, nothing of it is recorded: the pointer may be wrong,
	 * and the readable part may be unrelated memory.
	 */
	if (!find_end(text, &len))
		len = 0;
	errno = saved;
	return put_text(to, bytes, text, len, false);
}

/*
 * Returns whether the kernel found the error while it searched for a file. If a call has only one
 * path, the kernel has then read this path, so the path needs no check. Such errors are frequent.
 */
static bool is_of_search(int error)
{
	return error == ENOENT || error == ENOTDIR || error == EEXIST || error == EISDIR ||
	       error == ELOOP || error == ENAMETOOLONG;
}

/*
 * After other errors the text may not have been read: the kernel may have rejected a descriptor or
 * flags first, or a filter of seccomp(2) may have rejected the call.
 */
size_t shim_text_after(char *to, size_t bytes, const char *text, int error)
{
	if (!error)
		return shim_text(to, bytes, text);
	/* Some calls accept a null pointer, for a file that the descriptor names. */
	if (text && is_of_search(error))
		return put_text(to, bytes, text, strnlen(text, PATH_MAX), true);
	return shim_text_unsure(to, bytes, text);
}

/* `len` is 1 for an empty text, which has only its NUL. */
size_t shim_text_finish(char *to, size_t bytes, const char *text, size_t len, int error)
{
	return len == 1 && shim_is_quiet() ? shim_text_after(to, bytes, text, error) : len;
}

/*
 * Each page is checked. The variable `at` does not wrap around at the end of the address space: the
 * last pages are not readable, so the loop ends before them.
 */
bool shim_can_read(const void *from, size_t bytes)
{
	const int saved = errno;
	uintptr_t at = (uintptr_t)from;
	bool can = true;

	while (bytes && can) {
		const size_t rest = PAGE - at % PAGE;
		const size_t part = bytes < rest ? bytes : rest;

		can = is_known_readable((const void *)at);
		at += part;
		bytes -= part;
	}
	errno = saved;
	return can;
}

/* The memory is the program's, and it stays mapped until the call has read it. */
bool shim_copy_input(void *to, const void *from, size_t bytes)
{
	if (!shim_can_read(from, bytes))
		return false;
	copy_unchecked(to, from, bytes);
	return true;
}

/*
 * Copies memory, at most up to the end of its page, and with is_text at most up to a NUL. Returns
 * the number of bytes.
 *
 * A program with AddressSanitizer has a memcpy() that ends the program if it reads behind an
 * object. The loop therefore loads single bytes, as copy_unchecked() does.
 */
__attribute__((no_sanitize("address")))
static size_t copy_page(void *to, const void *from, size_t bytes, bool is_text)
{
	/*
	 * The check is valid for one page, because other pages can be unmapped. So the copy ends
	 * there.
	 */
	const volatile unsigned char *byte = from;
	size_t rest = PAGE - (uintptr_t)from % PAGE;
	unsigned char *at = to;

	if (bytes > rest)
		bytes = rest;
	if (!is_readable(from))
		return 0;
	for (size_t i = 0; i < bytes; i++) {
		at[i] = byte[i];
		if (is_text && !at[i])
			return i + 1;
	}
	return bytes;
}

/* Used for values in memory at probes and at the beginning and end of patched functions. */
bool shim_copy(void *to, const void *from, size_t bytes)
{
	int saved = errno;
	bool is_whole = copy_page(to, from, bytes, false) == bytes;

	errno = saved;
	return is_whole;
}

/*
 * Memory that lasts is copied without a system call. A process with a seccomp filter copies only
 * such memory: any test of other memory would be outdated when the copy begins.
 */
bool shim_copy_shared(void *to, const void *from, size_t bytes)
{
	const char *first = from;
	int saved = errno;
	bool is_whole = true;

	if (shim_is_lasting(first) && shim_is_lasting(first + bytes - 1))
		copy_unchecked(to, first, bytes);
	else
		is_whole = shim_may_copy() && shim_kernel_copy_all(to, bytes, from);
	errno = saved;
	return is_whole;
}

/* Used for a value of a few bytes, such as a length to which the program passes a pointer. */
bool shim_is_readable(const void *from)
{
	int saved = errno;
	bool there = is_readable(from);

	errno = saved;
	return there;
}

/*
 * Copies the beginning of a text, at most `bytes` bytes, without its NUL. Returns its length. The
 * text may continue on other pages, each of which is checked.
 */
static size_t begin_of(char *to, size_t bytes, const char *text)
{
	size_t len = 0;

	/* Each page is checked once. */
	while (len < bytes) {
		size_t part = copy_page(to + len, text + len, bytes - len, true);
		const char *end = memchr(to + len, '\0', part);

		if (end)
			return (size_t)(end - to);
		len += part;
		if (part == 0)
			break;
	}
	return len;
}

/* One byte is reserved for the NUL. */
size_t shim_text_before(char *to, size_t bytes, const char *text)
{
	int saved = errno;
	size_t len;

	if (bytes == 0)
		return 0;
	len = begin_of(to, bytes - 1, text);
	to[len] = '\0';
	/* The checks may have changed errno; the program must not see that. */
	errno = saved;
	return len + 1;
}

/* The vector ends with NULL, or before a pointer that cannot be read. */
size_t shim_text_arguments(char *to, size_t bytes, char *const argv[])
{
	int saved = errno;
	size_t len = 0;
	char *argument;

	if (bytes == 0)
		return 0;
	/* The pointers may be invalid, too. */
	for (; len < bytes - 1; argv++) {
		if (copy_page(&argument, argv, sizeof argument, false) != sizeof argument ||
		    !argument)
			break;
		/* A blank separates two arguments, also if the arguments contain blanks. */
		if (len)
			to[len++] = ' ';
		len += begin_of(to + len, bytes - 1 - len, argument);
	}
	to[len] = '\0';
	errno = saved;
	return len + 1;
}
