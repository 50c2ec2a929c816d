/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz/fuzz.h"
#include "support/memory_file.h"

void fuzz_found(const char *format, ...)
{
	va_list args;

	fputs("FOUND: ", stderr);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	abort();
}

int fuzz_file(const uint8_t *data, size_t size)
{
	int fd = memory_file("input", MFD_CLOEXEC);

	FUZZ_MUST(fd >= 0 && pwrite(fd, data, size, 0) == (ssize_t)size, "no file for the input");
	return fd;
}

int fuzz_next_descriptor(void)
{
	int fd = dup(STDERR_FILENO);

	close(fd);
	return fd;
}
