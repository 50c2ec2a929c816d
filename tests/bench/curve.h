/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * curve.h - the cost of an event while one parameter varies, for any tracer.
 *
 * A point is a line "curve,x,series,median,low,unit,law" on standard output; ./measure_curves
 * collects and draws them. Costs are in a thread's own CPU time, so that they do not include waits
 * for a CPU on a machine with fewer CPUs than threads.
 */
#ifndef CURVE_H
#define CURVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CURVE_DATA_MAX 4096

struct curve_tracer {
	const char *series;
	const char *floor; /* series of the clock's own cost; NULL: another tracer reports it
			    * already */
	/* Traces count events of len bytes. Event n has type n % types. */
	void (*trace)(unsigned types, const void *data, size_t len, long calls);
	/*
	 * Returns whether the account is right after so many calls since the curve began. NULL: not
	 * checked.
	 */
	bool (*law)(uint64_t calls);
};

void curve_point(const char *curve, double x, const char *series, double median, double low,
		 const char *unit, bool law);

/* Prints ns for an event of len bytes, and the page faults per million events. */
struct curve_cost {
	double median, low, faults;
	uint64_t calls; /* of all threads */
};
struct curve_cost curve_measure(const struct curve_tracer *tracer, unsigned threads, unsigned types,
				size_t len);

void curve_threads(const struct curve_tracer *tracer);
void curve_payload(const struct curve_tracer *tracer);
/* Prints percentiles of single calls: with one thread, and while two threads on each CPU trace. */
void curve_latency(const struct curve_tracer *tracer);
/*
 * Prints one line of `make bench`: the percentile 99.9 of single calls beside two threads on each
 * CPU, the least of three tries. A limit of 0 means that there is none. Unless `change` is NULL,
 * the line also has the same figure of two tracers without a library: `change` only changes chunks,
 * and `count` counts the overwritten events, too.
 */
void curve_new_chunk(const struct curve_tracer *tracer, const char *name, double limit,
		     const struct curve_tracer *change, const struct curve_tracer *count);

#endif
