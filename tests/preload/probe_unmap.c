/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * preload/probe_unmap.c - unmaps memory at the worst moments of the shim. It is no test itself.
 *
 *	probe_unmap before|after
 *
 * The program creates a detached thread and stores its identifier in a page. The program defines
 * syscall(), which the shim calls to find out whether the page is readable, and to copy from it.
 * This function unmaps the page before or after the system call, as another thread could.
 */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#define PAGE 4096

static char *_Atomic page;
static bool is_before;

/* Returns whether a system call reads from the page. */
static bool is_read(long number, const long *args)
{
	const char *at = NULL, *begin = page;

	if (number == SYS_rt_sigprocmask)
		at = (const char *)args[1];
	else if (number == SYS_process_vm_readv)
		at = ((const struct iovec *)args[3])->iov_base;
	return begin && at >= begin && at < begin + PAGE;
}

static void unmap_page(void)
{
	const int saved = errno;
	char *begin = atomic_exchange(&page, NULL);

	if (begin)
		munmap(begin, PAGE);
	errno = saved;
}

long syscall(long number, ...)
{
	static long (*_Atomic real)(long, ...);
	const int saved = errno;
	bool reads;
	long args[6], result;
	va_list list;

	va_start(list, number);
	for (int i = 0; i < 6; i++)
		args[i] = va_arg(list, long);
	va_end(list);
	if (!real)
		real = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
	reads = is_read(number, args);
	if (reads && is_before)
		unmap_page();
	errno = saved;
	result = real(number, args[0], args[1], args[2], args[3], args[4], args[5]);
	if (reads)
		unmap_page();
	return result;
}

static void *returns(void *arg)
{
	return arg;
}

int main(int argc, char **argv)
{
	pthread_attr_t attr;

	is_before = argc > 1 && !strcmp(argv[1], "before");
	page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (page == MAP_FAILED || pthread_attr_init(&attr) ||
	    pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED))
		return 2;
	if (pthread_create((pthread_t *)(uintptr_t)page, &attr, returns, NULL) != 0)
		return 3;
	puts(page ? "mapped" : "unmapped");
	return 0;
}
