/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * curve.h - what an event costs as one thing varies, for any tracer.
 *
 * A point is a line "curve,x,series,median,low,unit,law" on standard output; ./measure_curves puts
 * them together and draws them. Costs are of a thread's own CPU time, so that a machine with fewer
 * CPUs than threads tells of the tracer, not of waiting for a CPU.
 */
#ifndef CURVE_H
#define CURVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CURVE_DATA_MAX 4096

struct curve_tracer {
	const char *series;
	const char *floor; /* series of the clock's own cost; NULL: beside another tracer already */
	/* Traces so many events of len bytes. The n-th is of type n % types. */
	void (*trace)(unsigned types, const void *data, size_t len, long calls);
	/*
	 * Whether all is accounted for after so many calls since the curve's begin; NULL: not
	 * asked.
	 */
	bool (*law)(uint64_t calls);
};

void curve_point(const char *curve, double x, const char *series, double median, double low,
		 const char *unit, bool law);

/* ns an event of len bytes, and the page faults per million events. */
struct curve_cost {
	double median, low, faults;
	uint64_t calls; /* of all threads */
};
struct curve_cost curve_measure(const struct curve_tracer *tracer, unsigned threads, unsigned types,
				size_t len);

void curve_threads(const struct curve_tracer *tracer);
void curve_payload(const struct curve_tracer *tracer);
/* Percentiles of single calls: alone, and while every CPU has two threads that trace. */
void curve_latency(const struct curve_tracer *tracer);

#endif
