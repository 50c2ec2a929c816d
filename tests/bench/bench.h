/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * bench.h - shared by the benchmarks: short runs, the unit, the law, one line per figure.
 *
 * A figure is measured in many short rounds. In every round the unit U (one
 * clock_gettime(CLOCK_REALTIME) through the vDSO) is measured as well, so that a ratio to U
 * is measured under the same load of the machine. Minimum and median are both printed. The verdict
 * is about the minimum, because other load of the machine can only make a round slower.
 *
 * A line is "BENCH name key=value ... limit=X verdict=met|missed law=ok|BROKEN". The verdict is
 * about the key before limit= (at most) or floor= (at least). The exit status reports broken laws
 * only; a missed limit is a finding, not a failure.
 */
#ifndef BENCH_H
#define BENCH_H

#include <stdbool.h>
#include <stdint.h>
#include <stddef.h>

#define BENCH_ROUNDS 200

struct bench_figure {
	double min_ns;
	double median_ns;
	double unit_min_ns;
	double unit_median_ns;
	uint64_t calls; /* of the loop, including those that warm up */
};

typedef void bench_loop(void *arg, long calls);

/* Measures BENCH_ROUNDS rounds. A round calls loop for this number of calls, and measures U. */
struct bench_figure bench_measure(bench_loop *loop, void *arg, long calls);

/* Costs of a loop on two threads at once, each on its own CPU, and on one of them alone. */
struct bench_pair {
	double one_min_ns, one_median_ns;
	double both_min_ns, both_median_ns; /* per call of one thread */
	size_t rounds;                      /* rounds in which both ran at the same time; 0: not
					     * measured */
	uint64_t calls;
};

struct bench_pair bench_measure_pair(bench_loop *loop, void *arg, long calls);
/* Ends a line. A limit of 0 means that there is none. */
void bench_end_pair(const struct bench_pair *pair, double limit, bool law);

double bench_now_ns(void);           /* CLOCK_MONOTONIC */
double bench_clock_cost_ns(void);    /* of bench_now_ns itself */
double bench_median(double *value, size_t n); /* CPUs that this process may use; call it first
					       * before bench_pin() */
int bench_cpus(void);                /* to the CPU with this index among those */
void bench_pin(int cpu_index);       /* the n-th of them */

/* Prints the middle of a line. One of the three functions below ends it. */
void bench_begin(const char *format, ...) __attribute__((format(printf, 1, 2)));
void bench_end_limit(const char *key, double value, double limit, bool law);
void bench_end_floor(const char *key, double value, double floor, bool law);
void bench_end(bool law);

/* The exit status: not 0 if a law was broken. */
int bench_status(void);

void bench_die(const char *what, int err) __attribute__((noreturn));

#endif
