/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "preload/text.h"

#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "preload/known.h"
#include "preload/self.h"

#define PAGE 4096

static size_t put(char *to, size_t bytes, const char *text, size_t len)
{
	if (bytes == 0)
		return 0;
	if (len < bytes) {
		if (len)
			memcpy(to, text, len);
		to[len] = '\0';
		return len + 1;
	}
	memcpy(to, text + len - (bytes - 1), bytes);
	if (bytes > 3)
		memcpy(to, "...", 3);
	return bytes;
}

size_t shim_text(char *to, size_t bytes, const char *text)
{
	return put(to, bytes, text, text ? strlen(text) : 0);
}

/* The kernel looks for the NUL of a path no further than there may be one. */
size_t shim_text_after(char *to, size_t bytes, const char *text, int error)
{
	if (error == ENAMETOOLONG)
		return put(to, bytes, text, strnlen(text, PATH_MAX));
	if (error == EFAULT || error == EINVAL || error == ECANCELED || error == ENOSYS)
		text = NULL;
	return shim_text(to, bytes, text);
}

/*
 * What is known to be mapped needs no question. Of other memory the kernel says whether it is
 * there, in a call that changes nothing: no signal mask is changed in a way that there is none, but
 * first the kernel reads the mask. A quiet process believes the program, as most C libraries do.
 */
static bool is_there(const void *from)
{
	/* For a null pointer the kernel reads no mask and finds no fault. */
	if ((uintptr_t)from < PAGE)
		return false;
	if (shim_is_known(from) || shim_is_quiet())
		return true;
	syscall(SYS_rt_sigprocmask, -1, (uintptr_t)from & ~(uintptr_t)7, NULL, 8);
	return errno != EFAULT;
}

/*
 * Copies what can be read, up to where a page ends, and with is_text no further than a NUL. A
 * program with AddressSanitizer has a memcpy() that ends it for a byte behind an object: these
 * bytes are loaded one by one, by code that nothing checks, and the compiler may not make a call of
 * it.
 */
__attribute__((no_sanitize("address"))) static size_t copy(void *to, const void *from, size_t bytes,
							    bool is_text)
{
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

bool shim_copy(void *to, const void *from, size_t bytes)
{
	int saved = errno;
	bool is_whole = copy(to, from, bytes, false) == bytes;

	errno = saved;
	return is_whole;
}

bool shim_is_there(const void *from)
{
	int saved = errno;
	bool there = is_there(from);

	errno = saved;
	return there;
}

/* Its beginning, without a NUL. */
static size_t begin_of(char *to, size_t bytes, const char *text)
{
	size_t len = 0;

	while (len < bytes) {
		size_t part = copy(to + len, text + len, bytes - len, true);
		const char *end = memchr(to + len, '\0', part);

		if (end)
			return (size_t)(end - to);
		len += part;
		if (part == 0)
			break;
	}
	return len;
}

size_t shim_text_before(char *to, size_t bytes, const char *text)
{
	int saved = errno;
	size_t len;

	if (bytes == 0)
		return 0;
	len = begin_of(to, bytes - 1, text);
	to[len] = '\0';
	errno = saved;
	return len + 1;
}

size_t shim_text_arguments(char *to, size_t bytes, char *const argv[])
{
	int saved = errno;
	size_t len = 0;
	char *argument;

	if (bytes == 0)
		return 0;
	for (; len < bytes - 1; argv++) {
		if (copy(&argument, argv, sizeof argument, false) != sizeof argument || !argument)
			break;
		if (len)
			to[len++] = ' ';
		len += begin_of(to + len, bytes - 1 - len, argument);
	}
	to[len] = '\0';
	errno = saved;
	return len + 1;
}
