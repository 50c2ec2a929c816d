/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "curve.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "bench.h"

#define CALLS       10000
#define ROUNDS      40
#define THREADS_MAX 64

static const unsigned char data[CURVE_DATA_MAX];

void curve_point(const char *curve, double x, const char *series, double median, double low,
		 const char *unit, bool law)
{
	printf("%s,%g,%s,%.2f,%.2f,%s,%s\n", curve, x, series, median, low, unit,
	       law ? "ok" : "BROKEN");
	fflush(stdout);
}

struct runner {
	const struct curve_tracer *tracer;
	pthread_barrier_t *together;
	unsigned index, types;
	size_t len;
	double cost[ROUNDS];
	long faults;
};

static double cpu_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return now.tv_sec * 1e9 + now.tv_nsec;
}

static void *run(void *arg)
{
	struct runner *runner = arg;
	const struct curve_tracer *tracer = runner->tracer;
	struct rusage before, after;

	bench_pin((int)runner->index % bench_cpus());
	tracer->trace(runner->types, data, runner->len, CALLS);
	pthread_barrier_wait(runner->together);
	getrusage(RUSAGE_THREAD, &before);
	for (int i = 0; i < ROUNDS; i++) {
		double begin = cpu_ns();

		tracer->trace(runner->types, data, runner->len, CALLS);
		runner->cost[i] = (cpu_ns() - begin) / CALLS;
	}
	getrusage(RUSAGE_THREAD, &after);
	runner->faults = after.ru_minflt - before.ru_minflt;
	return NULL;
}

struct curve_cost curve_measure(const struct curve_tracer *tracer, unsigned threads, unsigned types,
				size_t len)
{
	static struct runner runner[THREADS_MAX];
	static double all[THREADS_MAX * ROUNDS];
	pthread_t thread[THREADS_MAX];
	pthread_barrier_t together;
	struct curve_cost cost = { .calls = (uint64_t)threads * (ROUNDS + 1) * CALLS };
	long faults = 0;

	pthread_barrier_init(&together, NULL, threads);
	for (unsigned i = 0; i < threads; i++) {
		runner[i] = (struct runner){ .tracer = tracer, .together = &together, .index = i,
					     .types = types, .len = len };
		pthread_create(&thread[i], NULL, run, &runner[i]);
	}
	for (unsigned i = 0; i < threads; i++) {
		pthread_join(thread[i], NULL);
		memcpy(all + i * ROUNDS, runner[i].cost, sizeof(runner[i].cost));
		faults += runner[i].faults;
	}
	pthread_barrier_destroy(&together);
	cost.median = bench_median(all, threads * ROUNDS);
	cost.low = all[0];
	cost.faults = faults * 1e6 / ((double)threads * ROUNDS * CALLS);
	return cost;
}

static bool lawful(const struct curve_tracer *tracer, uint64_t calls)
{
	return !tracer->law || tracer->law(calls);
}

void curve_threads(const struct curve_tracer *tracer)
{
	unsigned most = 2 * (unsigned)bench_cpus();
	uint64_t calls = 0;

	for (unsigned threads = 1; threads <= most && threads <= THREADS_MAX; threads *= 2) {
		struct curve_cost cost = curve_measure(tracer, threads, 1, 8);
		bool law;

		calls += cost.calls;
		law = lawful(tracer, calls);
		curve_point("threads", threads, tracer->series, cost.median, cost.low, "ns", law);
		curve_point("faults", threads, tracer->series, cost.faults, cost.faults,
			    "per million", law);
	}
}

void curve_payload(const struct curve_tracer *tracer)
{
	uint64_t calls = 0;

	for (size_t len = 0; len <= CURVE_DATA_MAX; len = len ? len * 2 : 8) {
		struct curve_cost cost = curve_measure(tracer, 1, 1, len);

		calls += cost.calls;
		curve_point("payload", len, tracer->series, cost.median, cost.low, "ns",
			    lawful(tracer, calls));
	}
}
