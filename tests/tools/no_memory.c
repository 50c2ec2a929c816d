/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * no_memory.c - a library for LD_PRELOAD that lets one allocation of a program fail.
 * test_no_memory.sh compiles it.
 *
 *	NO_MEMORY_AT    the number of the call that fails, counted from 1
 *	NO_MEMORY_MARK  a file that the library makes when this call occurs; it gets the offsets of
 *	                the call and its callers in the program, for addr2line(1)
 *
 * Only calls in the code of the program itself count. Other libraries allocate for themselves, and
 * their faults are not of interest.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <link.h>
#include <search.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The allocator of glibc. */
void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t count, size_t bytes);
void *__libc_realloc(void *old, size_t bytes);
int __vasprintf_chk(char **to, int flag, const char *format, va_list args);
int __asprintf_chk(char **to, int flag, const char *format, ...);

static uintptr_t base, code_begin, code_end;
static long left;
static const char *mark;

static bool is_of_program(const void *place)
{
	return (uintptr_t)place >= code_begin && (uintptr_t)place < code_end;
}

/* Stores where the program's code is. The first object is the program, so the search ends there. */
static int find_code(struct dl_phdr_info *info, size_t size, void *arg)
{
	(void)size;
	(void)arg;
	base = info->dlpi_addr;
	for (int i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_LOAD && info->dlpi_phdr[i].p_flags & PF_X) {
			code_begin = base + info->dlpi_phdr[i].p_vaddr;
			code_end = code_begin + info->dlpi_phdr[i].p_memsz;
		}
	return 1;
}

__attribute__((constructor)) static void begin_counting(void)
{
	const char *at = getenv("NO_MEMORY_AT");

	mark = getenv("NO_MEMORY_MARK");
	dl_iterate_phdr(find_code, NULL);
	left = at ? atol(at) : 0;
}

/* Makes the file NO_MEMORY_MARK. */
static void make_mark(void)
{
	void *frame[24];
	char text[400];
	size_t len = 0;
	const int frames = backtrace(frame, 24);
	const int fd = mark ? open(mark, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600) : -1;

	for (int i = 0; i < frames && len < 300; i++)
		if (is_of_program(frame[i]))
			len += (size_t)snprintf(text + len, sizeof(text) - len, "%#lx ",
						(unsigned long)((uintptr_t)frame[i] - base - 1));
	if (fd >= 0 && write(fd, text, len) < 0)
		_exit(99);
	close(fd);
}

/* Returns true for the call that must fail. */
static bool fails(const void *caller)
{
	if (!is_of_program(caller) || __atomic_sub_fetch(&left, 1, __ATOMIC_RELAXED) != 0)
		return false;
	make_mark();
	errno = ENOMEM;
	return true;
}

#define CALLER __builtin_return_address(0)

void *malloc(size_t bytes)
{
	return fails(CALLER) ? NULL : __libc_malloc(bytes);
}

void *calloc(size_t count, size_t bytes)
{
	return fails(CALLER) ? NULL : __libc_calloc(count, bytes);
}

void *realloc(void *old, size_t bytes)
{
	return fails(CALLER) ? NULL : __libc_realloc(old, bytes);
}

void *reallocarray(void *old, size_t count, size_t bytes)
{
	size_t all;

	if (__builtin_mul_overflow(count, bytes, &all)) {
		errno = ENOMEM;
		return NULL;
	}
	return fails(CALLER) ? NULL : __libc_realloc(old, all);
}

static char *copy(const char *text, size_t len)
{
	char *to = __libc_malloc(len + 1);

	if (to) {
		memcpy(to, text, len);
		to[len] = '\0';
	}
	return to;
}

char *strdup(const char *text)
{
	return fails(CALLER) ? NULL : copy(text, strlen(text));
}

char *strndup(const char *text, size_t most)
{
	return fails(CALLER) ? NULL : copy(text, strnlen(text, most));
}

void *tsearch(const void *key, void **root, int (*order)(const void *, const void *))
{
	void *(*real)(const void *, void **, int (*)(const void *, const void *)) =
		(void *(*)(const void *, void **, int (*)(const void *, const void *)))dlsym(
			RTLD_NEXT, "tsearch");

	return fails(CALLER) ? NULL : real(key, root, order);
}

/* The standard does not say what *to is after an error, so it is not a valid pointer. */
static int print(char **to, const char *format, va_list args, bool has_failed)
{
	va_list again;
	int len;

	*to = (char *)1;
	if (has_failed)
		return -1;
	va_copy(again, args);
	len = vsnprintf(NULL, 0, format, again);
	va_end(again);
	if (len < 0)
		return -1;
	*to = __libc_malloc((size_t)len + 1);
	return *to ? vsnprintf(*to, (size_t)len + 1, format, args) : -1;
}

int vasprintf(char **to, const char *format, va_list args)
{
	return print(to, format, args, fails(CALLER));
}

int asprintf(char **to, const char *format, ...)
{
	const bool has_failed = fails(CALLER);
	va_list args;
	int len;

	va_start(args, format);
	len = print(to, format, args, has_failed);
	va_end(args);
	return len;
}

/* The names of the same functions with _FORTIFY_SOURCE. */
int __vasprintf_chk(char **to, int flag, const char *format, va_list args)
{
	(void)flag;
	return print(to, format, args, fails(CALLER));
}

int __asprintf_chk(char **to, int flag, const char *format, ...)
{
	const bool has_failed = fails(CALLER);
	va_list args;
	int len;

	(void)flag;
	va_start(args, format);
	len = print(to, format, args, has_failed);
	va_end(args);
	return len;
}
