/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * bench.h - what the benchmarks share: short runs, the unit, the law, one line per figure.
 *
 * A figure is measured in many short rounds. In every round the unit U (one
 * clock_gettime(CLOCK_REALTIME) through the vDSO) is measured as well, so that a ratio to U
 * belongs to the same moments of the same machine. Minimum and median are both printed; the
 * minimum is judged, because other tenants of a machine only ever make a round slower.
 *
 * A line is "BENCH name key=value ... limit=X verdict=met|missed law=ok|BROKEN". The key before
 * limit= (at most) or floor= (at least) is the one that is judged. The exit status tells of
 * broken laws only; a missed limit is a finding, not a failure.
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
	uint64_t calls; /* of the loop, warming up included */
};

typedef void bench_loop(void *arg, long calls);

/* Measures BENCH_ROUNDS rounds of calls turns of loop, U beside each. */
struct bench_figure bench_measure(bench_loop *loop, void *arg, long calls);

/* Two threads at once, each on a CPU of its own, beside one of them alone. */
struct bench_pair {
	double one_min_ns, one_median_ns;
	double both_min_ns, both_median_ns; /* per call of one thread */
	size_t rounds;                      /* in which the two ran at once; 0: not measured */
	uint64_t calls;
};

struct bench_pair bench_measure_pair(bench_loop *loop, void *arg, long calls);
/* Ends a line. limit 0: none. */
void bench_end_pair(const struct bench_pair *pair, double limit, bool law);

double bench_now_ns(void);           /* CLOCK_MONOTONIC */
double bench_clock_cost_ns(void);    /* of bench_now_ns itself */
double bench_median(double *value, size_t n); /* sorts */
int bench_cpus(void);                /* that this process may use; first asked before pinning */
void bench_pin(int cpu_index);       /* the n-th of them */

/* Prints the middle of a line; end it with one of the three. */
void bench_begin(const char *format, ...) __attribute__((format(printf, 1, 2)));
void bench_end_limit(const char *key, double value, double limit, bool law);
void bench_end_floor(const char *key, double value, double floor, bool law);
void bench_end(bool law);

/* Non-zero once a law was broken: the exit status. */
int bench_status(void);

void bench_die(const char *what, int err) __attribute__((noreturn));

#endif
