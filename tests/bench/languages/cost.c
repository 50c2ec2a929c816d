/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdio.h>
#include <time.h>
#include <trace_np.h>

enum { ROUNDS = 1000, CALLS = 1000 };
static FILE *null;

static double now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static void trace(int i)
{
	POSIX_TRACE_EVENT_NP(cost, (s32, fd, i), (str, peer, "localhost"));
}

static void tool(int i)
{
	fprintf(null, "cost fd=%d peer=%s\n", i, "localhost");
}

static double measure(void (*call)(int))
{
	double least = 1e9;

	for (int round = 0; round < ROUNDS; round++) {
		const double begin = now_ns();

		for (int i = 0; i < CALLS; i++)
			call(i);
		if (now_ns() - begin < least * CALLS)
			least = (now_ns() - begin) / CALLS;
	}
	return least;
}

int main(void)
{
	double off = measure(trace), on;
	trace_id_t trid;

	null = fopen("/dev/null", "w");
	if (!null || posix_trace_create(0, NULL, &trid) || posix_trace_start(trid))
		return 1;
	on = measure(trace);
	posix_trace_shutdown(trid);
	printf("C|%.1f|%.0f|fprintf|%.0f\n", off, on, measure(tool));
	return 0;
}
