/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * calls_probe.c - the program that ./calls traces with several tools.
 *
 * 	calls_probe read|function|probe CALLS     one loop; prints nanoseconds a call
 * 	calls_probe running                       loops of read until its input ends; a line for
 * 	                                          each: seconds, nanoseconds a call
 *
 * The loop is measured by the program itself, so the start of a tool does not count. The best of
 * several parts is printed, because other load only makes a part slower.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#if __has_include(<sys/sdt.h>)
#include <sys/sdt.h>
#endif

#define PARTS 5

static int zero;
static volatile unsigned sum;

static double now_s(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* Exported, so that every tool finds it by its name. It has more than one instruction. */
__attribute__((noinline, visibility("default"))) unsigned calls_function(unsigned value);
unsigned calls_function(unsigned value)
{
	sum += value * 3;
	return sum ^ value;
}

static void call_read(long calls)
{
	char byte;

	for (long i = 0; i < calls; i++)
		if (read(zero, &byte, 1) != 1)
			exit(1);
}

static void call_function(long calls)
{
	for (long i = 0; i < calls; i++)
		calls_function((unsigned)i);
}

static void call_probe(long calls)
{
	for (long i = 0; i < calls; i++) {
		sum += (unsigned)i;
#ifdef DTRACE_PROBE1
		DTRACE_PROBE1(calls, probe, i);
#endif
	}
}

static double measure(void (*loop)(long calls), long calls)
{
	double begin = now_s();

	loop(calls);
	return (now_s() - begin) * 1e9 / (double)calls;
}

int main(int argc, char **argv)
{
	void (*loop)(long calls) = call_read;
	struct pollfd input = { 0, POLLIN, 0 };
	double best = 0;
	long calls;

	zero = open("/dev/zero", O_RDONLY);
	if (zero < 0 || argc < 2)
		return 2;
	if (!strcmp(argv[1], "running")) {
		setvbuf(stdout, NULL, _IOLBF, 0);
		while (poll(&input, 1, 0) == 0) {
			double ns = measure(call_read, 2000);

			printf("%.3f %.1f\n", now_s(), ns);
		}
		return 0;
	}
	if (!strcmp(argv[1], "function"))
		loop = call_function;
	else if (!strcmp(argv[1], "probe"))
		loop = call_probe;
	calls = argc > 2 ? atol(argv[2]) : 1000;
	for (int i = 0; i < PARTS; i++) {
		double ns = measure(loop, calls / PARTS);

		if (i == 0 || ns < best)
			best = ns;
	}
	printf("%.1f\n", best);
	return 0;
}
