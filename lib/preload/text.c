/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * preload/text.c - copies strings of the program into events.
 *
 * After a call that succeeded, its strings are known to be readable. Before a call, or after some
 * errors, they may be invalid, and the shim must not crash where the program would only get an
 * error. Such memory is checked page by page.
 */
#include "preload/text.h"

#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "preload/known.h"
#include "preload/self.h"

/* The kernel checks memory page by page. */
#define PAGE 4096

/*
 * Writes len bytes of text and a NUL, at most bytes. A longer text loses its beginning. bytes 0:
 * nothing.
 */
static size_t put_text(char *to, size_t bytes, const char *text, size_t len)
{
	if (bytes == 0)
		return 0;
	if (len < bytes) {
		if (len)
			memcpy(to, text, len);
		to[len] = '\0';
		return len + 1;
	}
	/* The last part with its NUL. */
	memcpy(to, text + len - (bytes - 1), bytes);
	if (bytes > 3)
		memcpy(to, "...", 3);
	return bytes;
}

/* For constants, and for strings of a call that succeeded. */
size_t shim_text(char *to, size_t bytes, const char *text)
{
	/* The text was read by a successful call, so that it is readable. */
	return put_text(to, bytes, text, text ? strlen(text) : 0);
}

/*
 * The kernel searches the NUL of a path only within PATH_MAX bytes. After the other errors it may
 * not have read the string at all.
 */
size_t shim_text_after(char *to, size_t bytes, const char *text, int error)
{
	if (error == ENAMETOOLONG)
		return put_text(to, bytes, text, strnlen(text, PATH_MAX));
	if (error == EFAULT || error == EINVAL || error == ECANCELED || error == ENOSYS)
		text = NULL;
	return shim_text(to, bytes, text);
}

/*
 * Returns whether the byte at from can be read. Known memory needs no system call. For other
 * memory the kernel is asked by a call that changes nothing: rt_sigprocmask() with an invalid
 * `how` fails with EINVAL, but reads the mask first and fails with EFAULT if it cannot. A quiet
 * process must not call it, and trusts the program as most C libraries do.
 */
static bool is_there(const void *from)
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
 * Copies memory up to the end of its page; with is_text up to a NUL. Returns the number of bytes.
 *
 * A program with AddressSanitizer has a memcpy() that ends the program if it reads behind an
 * object. These bytes are therefore loaded one by one, by code that is not checked; volatile
 * keeps the compiler from making a call of the loop.
 */
__attribute__((no_sanitize("address")))
static size_t copy_page(void *to, const void *from, size_t bytes, bool is_text)
{
	/* Different pages can be mapped and unmapped independently. */
	const volatile unsigned char *byte = from;
	size_t rest = PAGE - (uintptr_t)from % PAGE;
	unsigned char *at = to;

	if (bytes > rest)
		bytes = rest;
	if (!is_there(from))
		return 0;
	for (size_t i = 0; i < bytes; i++) {
		at[i] = byte[i];
		if (is_text && !at[i])
			return i + 1;
	}
	return bytes;
}

/* A struct in the program's memory, such as a thread id that a call has returned. */
bool shim_copy(void *to, const void *from, size_t bytes)
{
	int saved = errno;
	bool is_whole = copy_page(to, from, bytes, false) == bytes;

	errno = saved;
	return is_whole;
}

/* For a value of a few bytes, such as a length that the program passes by a pointer. */
bool shim_is_there(const void *from)
{
	int saved = errno;
	bool there = is_there(from);

	errno = saved;
	return there;
}

/*
 * Copies the beginning of a text, up to bytes, without a NUL. Returns its length. The text may
 * continue on other pages, each of which is checked.
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
	/* errno of the checks is not the program's. */
	errno = saved;
	return len + 1;
}

/* The vector ends with NULL. A pointer that cannot be read ends it as well. */
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
		/* The arguments are separated by single blanks, whatever they contain. */
		if (len)
			to[len++] = ' ';
		len += begin_of(to + len, bytes - 1 - len, argument);
	}
	to[len] = '\0';
	errno = saved;
	return len + 1;
}
