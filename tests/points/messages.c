/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * messages.c - prints each message with printf(), one on each line, and traces the same message:
 * messages LOG. test_points.sh compares the output with that of dump.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <trace_np.h>
#include <wchar.h>

#define BOTH(...) \
	do { \
		printf(__VA_ARGS__); \
		putchar('\n'); \
		POSIX_TRACE_LOG_NP(__VA_ARGS__); \
	} while (0)

static void integers(void)
{
	BOTH("took %d ms for %s", 3, "the name");
	BOTH("plain");
	BOTH("%%|%5d|%-5d|%05d|%+d|% d|%x|%#X|%o|%u|%i", 1, 2, 3, 4, 5, 255, 255, 8,
	     4000000000u, 6);
	BOTH("%hhd %hd %ld %lld %zu %zd %jd %td %hhu %hu", (signed char)-1, (short)-7, -5L,
	     1LL << 60, sizeof(int), (ssize_t)-3, (intmax_t)-9, (ptrdiff_t)7, (unsigned char)200,
	     (unsigned short)65535);
	BOTH("%" PRIu64 " %" PRIx32 " %" PRId8, UINT64_MAX, (uint32_t)7, (int8_t)-8);
	BOTH("%*d|%-*d|%*d|%.3d|%8.3d|%.0d", 6, 42, 6, 42, -6, 1, 7, 7, 0);
	BOTH("%c%c%5c|%-5c|", 'x', 'y', 'z', 'w');
}

static void reals(void)
{
	BOTH("%f %.3f %e %g %G %a %10.2f|%-10.1f|%+.0f", 1.5, 2.0 / 3, 1e10, 1e-5, 1e100, 1.0,
	     3.14159, 2.5, 3.5);
	BOTH("%f %e %G %A", 1e308, -1e-308, 0.0, -0.5);
	BOTH("%.*f|%*.*f|%Lf|%.2Le", 2, 3.14159, 8, 3, 2.71828, 1.25L, 100.0L);
	BOTH("%.1f%% of %'d", 99.5, 1000);
}

static void strings(void)
{
	const char raw[4] = { 'a', 'b', 'c', 'd' }; /* without a NUL */
	/* volatile, because the compiler warns about a null pointer that it knows */
	const char *volatile nothing = NULL;
	const wchar_t *volatile nothing_wide = NULL;

	BOTH("%.3s|%.*s|%10s|%-10s|%10.2s|%.0s|%s", "abcdef", 4, raw, "right", "left", "cut",
	     "x", "");
	BOTH("%s|%.2s|%.6s|%.*s|%.*s|%.5ls|%8.0s|%8s", nothing, nothing, nothing, 5, nothing, -1,
	     nothing, nothing_wide, nothing, nothing);
	BOTH("%2$s is %1$d, %2$s", 5, "five");
	BOTH("%p|%20p|%-20p|%p", (void *)0x1234, (void *)0x1, (void *)0x2, (void *)0);
	BOTH("quotes \" and \\, \001 and \177 and \xc3\xa4");
	BOTH("%s %s %s %s %s %s %s %s %s %s", "1", "2", "3", "4", "5", "6", "7", "8", "9", "10");
	BOTH("%ls|%lc", L"wide", (wint_t)L'w');
	errno = ENOENT;
	BOTH("failed: %m");
	errno = EACCES;
	BOTH("%d: %m (%s)", 7, "text");
}

int main(int argc, char **argv)
{
	trace_attr_t attr;
	trace_id_t trid;
	int log = argc > 1 ? open(argv[1], O_RDWR | O_CREAT | O_TRUNC, 0600) : -1;

	posix_trace_attr_init(&attr);
	posix_trace_attr_setlogfullpolicy(&attr, POSIX_TRACE_APPEND);
	if (posix_trace_create_withlog(0, &attr, log, &trid) || posix_trace_start(trid))
		return 2;
	integers();
	reals();
	strings();
	POSIX_TRACE_LOG_LEVEL_NP(2, "level %d", 2);
	printf("level 2\n");
	for (int i = 0; i < 3; i++)
		BOTH("turn %d", i);
	return posix_trace_shutdown(trid);
}
