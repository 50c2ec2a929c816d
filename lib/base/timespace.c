/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * base/timespace.c - reads the offsets of the time namespace from /proc.
 *
 * No system call returns these offsets; /proc/self/timens_offsets has them as text. The parser
 * avoids stdio because a child of fork() may call it inside a trace point.
 */
#include "base/timespace.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/io.h"

#define FIRST_INODE UINT64_C(0xeffffffa) /* of the initial time namespace, PROC_TIME_INIT_INO */

/*
 * Parses a decimal number with an optional minus sign and advances *text past it. Returns false if
 * there is no number, or if the number does not fit.
 */
static bool timespace_number(const char **text, int64_t *value)
{
	const char *at = *text + strspn(*text, " \t");
	bool is_negative = *at == '-';
	int64_t sum = 0;

	at += is_negative;
	if (*at < '0' || *at > '9')
		return false;
	/*
	 * The kernel never prints a number that does not fit, but a file system mounted over /proc
	 * could.
	 */
	for (; *at >= '0' && *at <= '9'; at++)
		if (__builtin_mul_overflow(sum, 10, &sum) ||
		    __builtin_add_overflow(sum, *at - '0', &sum))
			return false;
	*value = is_negative ? -sum : sum;
	*text = at;
	return true;
}

/*
 * Finds the line of a clock, such as "monotonic 100 5" (seconds and nanoseconds), and stores the
 * offset in *ns. Returns false if there is no such line, or if the offset does not fit.
 */
static bool offset_of(const char *text, const char *clock, int64_t *ns)
{
	const char *at = strstr(text, clock);
	int64_t seconds, rest;

	if (!at)
		return false;
	at += strlen(clock);
	return timespace_number(&at, &seconds) && timespace_number(&at, &rest) &&
	       !__builtin_mul_overflow(seconds, PTX_NS_PER_S, ns) &&
	       !__builtin_add_overflow(*ns, rest, ns);
}

int ptx_time_space_read(struct ptx_time_space *space)
{
	struct stat own, children;
	char text[256];
	int saved = errno, err;

	*space = (struct ptx_time_space){ 0 };
	/*
	 * The namespace is compared first: almost every process is in the initial namespace, where
	 * all offsets are 0 and the file need not be read.
	 */
	err = stat("/proc/self/ns/time", &own) ? errno : 0;
	if (!err && own.st_ino == FIRST_INODE)
		goto out;
	/* Kernels before 5.6 have no time namespaces, but /proc/self/ns exists. */
	if (err == ENOENT && stat("/proc/self/ns/pid", &own) == 0) {
		err = 0;
		goto out;
	}
	if (!err)
		err = ptx_io_read_file("/proc/self/timens_offsets", text, sizeof text);
	/*
	 * The file has the offsets that the children of this process will get. If this process has
	 * not called unshare(CLONE_NEWTIME), these are its own offsets, too.
	 */
	if (!err && stat("/proc/self/ns/time_for_children", &children) != 0)
		err = errno;
	if (!err && (children.st_ino != own.st_ino ||
		     !offset_of(text, "monotonic", &space->monotonic_ns) ||
		     !offset_of(text, "boottime", &space->boottime_ns)))
		err = ENXIO;
out:
	/* A caller must not use half of the result. */
	if (err)
		*space = (struct ptx_time_space){ 0 };
	errno = saved;
	return err;
}
