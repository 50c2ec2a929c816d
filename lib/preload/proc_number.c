/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * preload/proc_number.c - reads a number of a file in /proc.
 *
 * The kernel escapes newlines in values, so that each line of these files begins with the name of a
 * field.
 */
#include "preload/proc_number.h"

#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The state of a search, which continues over several reads. */
struct search {
	const char *field;
	size_t matched; /* characters of the field */
	long number;    /* -1: no digit yet */
};

/* Examines the next character of the file. Returns true at the end of the number. */
static bool search_next(struct search *search, char c)
{
	if (search->field[search->matched]) {
		/* Only a newline can begin a new match, because the field has no other newline. */
		if (c == search->field[search->matched])
			search->matched++;
		else
			search->matched = c == search->field[0];
		return false;
	}
	if (c < '0' || c > '9')
		return true;
	/* No field that the shim reads has so many digits. */
	if (search->number > LONG_MAX / 20)
		return false;
	search->number = (search->number < 0 ? 0 : search->number * 10) + (c - '0');
	return false;
}

long shim_proc_number(const char *path, const char *field)
{
	struct search search = { .field = field, .number = -1 };
	const int fd = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC);
	bool is_found = false;
	char text[256];
	long n;

	if (fd < 0)
		return -1;
	while (!is_found && (n = syscall(SYS_read, fd, text, sizeof text)) > 0)
		for (long i = 0; i < n && !is_found; i++)
			is_found = search_next(&search, text[i]);
	syscall(SYS_close, fd);
	return is_found ? search.number : -1;
}
