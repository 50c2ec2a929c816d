/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bench.h"

#define UNIT_CALLS 2000

static bool any_law_broken;

double bench_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1e9 + now.tv_nsec;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

double bench_median(double *value, size_t n)
{
	qsort(value, n, sizeof(*value), by_value);
	return n % 2 ? value[n / 2] : (value[n / 2 - 1] + value[n / 2]) / 2;
}

double bench_clock_cost_ns(void)
{
	double sample[101];

	for (size_t i = 0; i < 101; i++) {
		double begin = bench_now_ns();

		sample[i] = bench_now_ns() - begin;
	}
	return bench_median(sample, 101);
}

static double unit_round(void)
{
	struct timespec now;
	double begin = bench_now_ns();

	for (int i = 0; i < UNIT_CALLS; i++)
		clock_gettime(CLOCK_REALTIME, &now);
	return (bench_now_ns() - begin) / UNIT_CALLS;
}

struct bench_figure bench_measure(bench_loop *loop, void *arg, long calls)
{
	double cost[BENCH_ROUNDS], unit[BENCH_ROUNDS];
	struct bench_figure figure;

	loop(arg, calls); /* The first events of a thread cost more and are another figure. */
	for (int i = 0; i < BENCH_ROUNDS; i++) {
		double begin;

		unit[i] = unit_round();
		begin = bench_now_ns();
		loop(arg, calls);
		cost[i] = (bench_now_ns() - begin) / calls;
	}
	figure.median_ns = bench_median(cost, BENCH_ROUNDS);
	figure.min_ns = cost[0];
	figure.unit_median_ns = bench_median(unit, BENCH_ROUNDS);
	figure.unit_min_ns = unit[0];
	figure.calls = (uint64_t)calls * (BENCH_ROUNDS + 1);
	return figure;
}

static cpu_set_t allowed;

int bench_cpus(void)
{
	static int cpus;

	if (!cpus)
		cpus = sched_getaffinity(0, sizeof(allowed), &allowed) ? 1 : CPU_COUNT(&allowed);
	return cpus;
}

void bench_pin(int cpu_index)
{
	cpu_set_t one;

	if (cpu_index >= bench_cpus())
		return;
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		if (!CPU_ISSET(cpu, &allowed) || cpu_index--)
			continue;
		CPU_ZERO(&one);
		CPU_SET(cpu, &one);
		sched_setaffinity(0, sizeof(one), &one);
		return;
	}
}

void bench_begin(const char *format, ...)
{
	va_list args;

	printf("BENCH ");
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
}

void bench_end(bool law)
{
	if (!law)
		any_law_broken = true;
	printf(" law=%s\n", law ? "ok" : "BROKEN");
	fflush(stdout);
}

void bench_end_limit(const char *key, double value, double limit, bool law)
{
	printf(" %s=%.4g limit=%.4g verdict=%s", key, value, limit,
	       value <= limit ? "met" : "missed");
	bench_end(law);
}

void bench_end_floor(const char *key, double value, double floor, bool law)
{
	printf(" %s=%.4g floor=%.4g verdict=%s", key, value, floor,
	       value >= floor ? "met" : "missed");
	bench_end(law);
}

int bench_status(void)
{
	return any_law_broken;
}

void bench_die(const char *what, int err)
{
	fflush(stdout);
	fprintf(stderr, "%s: %s\n", what, strerror(err));
	exit(2);
}
