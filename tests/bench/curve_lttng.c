/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * curve_lttng.c - points of the curves on LTTng-UST, in the sessions that ./lttng_curves prepares:
 *
 *	curve_lttng threads | payload | latency | new-chunk
 *	curve_lttng streams N | size KIB      one point of that curve
 *	curve_lttng produce SECONDS BYTES     at full speed; prints the events called and the
 *	                                      seconds
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "curve.h"
#include "lttng_provider.h"

static void trace(unsigned types, const void *data, size_t len, long calls)
{
	(void)types;
	for (long i = 0; i < calls; i++)
		lttng_ust_tracepoint(posixtrace_bench, bytes, data, len);
}

static const struct curve_tracer tracer = { "LTTng-UST", NULL, trace, NULL };

static void one_point(const char *curve, double x)
{
	struct curve_cost cost = curve_measure(&tracer, 1, 1, 8);

	curve_point(curve, x, tracer.series, cost.median, cost.low, "ns", true);
}

static void produce(double seconds, size_t len)
{
	static const unsigned char data[CURVE_DATA_MAX];
	double begin = bench_now_ns(), took;
	uint64_t n = 0;

	do {
		trace(1, data, len, 256);
		n += 256;
		took = bench_now_ns() - begin;
	} while (took < seconds * 1e9);
	printf("%" PRIu64 " %f\n", n, took / 1e9);
}

int main(int argc, char **argv)
{
	bench_cpus();
	if (argc == 2 && !strcmp(argv[1], "threads"))
		curve_threads(&tracer);
	else if (argc == 2 && !strcmp(argv[1], "payload"))
		curve_payload(&tracer);
	else if (argc == 2 && !strcmp(argv[1], "latency"))
		curve_latency(&tracer);
	else if (argc == 2 && !strcmp(argv[1], "new-chunk"))
		curve_new_chunk(&tracer, "lttng_new_chunk", 0, NULL, NULL);
	else if (argc == 3)
		one_point(argv[1], atof(argv[2]));
	else if (argc == 4 && atol(argv[3]) <= CURVE_DATA_MAX)
		produce(atof(argv[2]), (size_t)atol(argv[3]));
	else
		return 2;
	return 0;
}
