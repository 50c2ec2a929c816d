/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * preload/own_syscall.h - a program that defines syscall(3). The shim makes its own calls by this
 * function. Before each call, it calls refuse(), which the program defines: 0, or the error with
 * which the call fails. The program is compiled with _GNU_SOURCE and -rdynamic.
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdarg.h>
#include <sys/syscall.h>

static int refuse(long number, const long args[6]);

long syscall(long number, ...)
{
	static long (*real)(long, ...);
	long args[6];
	va_list list;
	int error;

	va_start(list, number);
	for (int i = 0; i < 6; i++)
		args[i] = va_arg(list, long);
	va_end(list);
	error = refuse(number, args);
	if (error) {
		errno = error;
		return -1;
	}
	if (!real)
		real = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
	return real(number, args[0], args[1], args[2], args[3], args[4], args[5]);
}
