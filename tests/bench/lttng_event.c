/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * lttng_event.c - the loops of the other benchmarks on LTTng-UST; ./lttng_sessions prepares the
 * sessions.
 *
 *	lttng_event emit                      one thread, 8 and 32 bytes, and two threads
 *	lttng_event produce SECONDS [BYTES]   events of 8 or of BYTES bytes at full speed; prints
 *	                                      the events called and their rate
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "lttng_provider.h"

#define CALLS 2000
#define PAYLOAD_MAX 4096

static void eight_loop(void *arg, long calls)
{
	(void)arg;
	for (long i = 0; i < calls; i++)
		lttng_ust_tracepoint(posixtrace_bench, eight, (uint64_t)i);
}

static void thirty_two_loop(void *arg, long calls)
{
	for (long i = 0; i < calls; i++)
		lttng_ust_tracepoint(posixtrace_bench, thirty_two, arg);
}

static void emit(bench_loop *loop, int payload_bytes)
{
	static unsigned char data[32];
	struct bench_figure cost = bench_measure(loop, data, CALLS);

	bench_begin("lttng_emit threads=1 payload_bytes=%d ns=%.2f p50_ns=%.2f U_ns=%.2f "
		    "p50_ratio_U=%.3f ratio_U=%.3f",
		    payload_bytes, cost.min_ns, cost.median_ns, cost.unit_min_ns,
		    cost.median_ns / cost.unit_median_ns, cost.min_ns / cost.unit_min_ns);
	bench_end(true);
}

static void bytes_loop(size_t len, long calls)
{
	static const unsigned char data[PAYLOAD_MAX];

	for (long i = 0; i < calls; i++)
		lttng_ust_tracepoint(posixtrace_bench, bytes, data, len);
}

static void produce(double seconds, size_t len)
{
	double begin = bench_now_ns(), took;
	uint64_t n = 0;

	do {
		if (len)
			bytes_loop(len, CALLS);
		else
			eight_loop(NULL, CALLS);
		n += CALLS;
		took = bench_now_ns() - begin;
	} while (took < seconds * 1e9);
	printf("%" PRIu64 " %.0f\n", n, n / took * 1e9);
}

int main(int argc, char **argv)
{
	size_t len = argc == 4 ? strtoul(argv[3], NULL, 10) : 0;

	if ((argc == 3 || argc == 4) && !strcmp(argv[1], "produce") && len <= PAYLOAD_MAX) {
		produce(atof(argv[2]), len);
		return 0;
	}
	if (argc != 2 || strcmp(argv[1], "emit")) {
		fprintf(stderr, "usage: lttng_event emit | produce SECONDS [BYTES]\n");
		return 2;
	}
	struct bench_pair pair = bench_measure_pair(eight_loop, NULL, CALLS);

	bench_begin("lttng_two_threads threads=2 payload_bytes=8");
	bench_end_pair(&pair, 0, true);
	bench_pin(0);
	emit(eight_loop, 8);
	emit(thirty_two_loop, 32);
	return bench_status();
}
