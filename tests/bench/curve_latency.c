/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * curve_latency.c - the durations of single calls, including the slowest of a million.
 *
 * The end of one call is the beginning of the next: an iteration of the loop reads the clock once
 * and records one event. The floor is an iteration without the event, measured in the same way.
 * With the default max-data-size one call of 510 needs a new chunk, so the percentile 99.9 of calls
 * is near the median of the calls that acquire a chunk.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "bench.h"
#include "curve.h"

#define SAMPLES     2000000
#define TRIES       3
#define LINEAR      2048 /* ticks that have a counter each */
#define SUB         64   /* and counters for each octave above them */
#define OCTAVES     40
#define THREADS_MAX 64

struct histogram {
	uint64_t count[LINEAR + OCTAVES * SUB];
	uint64_t most;
};

static const unsigned char data[8];
static atomic_bool over;

static unsigned place_of(uint64_t ticks)
{
	unsigned octave;

	if (ticks < LINEAR)
		return (unsigned)ticks;
	octave = 63 - (unsigned)__builtin_clzll(ticks) - 11;
	if (octave >= OCTAVES)
		return LINEAR + OCTAVES * SUB - 1;
	return LINEAR + octave * SUB + (unsigned)(ticks >> (octave + 5) & (SUB - 1));
}

static uint64_t ticks_of(unsigned place)
{
	unsigned octave;

	if (place < LINEAR)
		return place;
	octave = (place - LINEAR) / SUB;
	return ((uint64_t)SUB + (place - LINEAR) % SUB) << (octave + 5);
}

static void take(struct histogram *histogram, const struct curve_tracer *tracer)
{
	uint64_t before = ptx_clock_counter();

	for (long i = 0; i < SAMPLES; i++) {
		uint64_t now;

		if (tracer)
			tracer->trace(1, data, sizeof(data), 1);
		now = ptx_clock_counter();
		histogram->count[place_of(now - before)]++;
		if (now - before > histogram->most)
			histogram->most = now - before;
		before = ptx_clock_counter(); /* The time of counting belongs to no event. */
	}
}

static double ns_per_tick(void)
{
	double ns = bench_now_ns();
	uint64_t ticks = ptx_clock_counter();

	while (bench_now_ns() - ns < 50e6)
		;
	ns = bench_now_ns() - ns;
	return ns / (double)(ptx_clock_counter() - ticks);
}

static uint64_t ticks_at(const struct histogram *histogram, double percent)
{
	uint64_t seen = 0;
	unsigned place = 0;

	while (seen + histogram->count[place] < SAMPLES * percent / 100)
		seen += histogram->count[place++];
	return ticks_of(place);
}

static void tell(const struct histogram *histogram, const char *tracer, const char *how, bool law)
{
	static const double percents[] = { 50, 90, 99, 99.9, 99.99 };
	double ns = ns_per_tick();
	char series[80];

	snprintf(series, sizeof(series), "%s %s", tracer, how);
	for (size_t i = 0; i < sizeof(percents) / sizeof(*percents); i++) {
		double value = (double)ticks_at(histogram, percents[i]) * ns;

		curve_point("latency", percents[i], series, value, value, "ns", law);
	}
	curve_point("latency", 100, series, (double)histogram->most * ns,
		    (double)histogram->most * ns, "ns", law);
}

static void *load(void *arg)
{
	const struct curve_tracer *tracer = arg;
	uint64_t calls = 0;

	while (!atomic_load_explicit(&over, memory_order_relaxed)) {
		tracer->trace(1, data, sizeof(data), 100);
		calls += 100;
	}
	return (void *)(uintptr_t)calls;
}

/* Two threads for each processor. */
static unsigned load_threads(void)
{
	unsigned threads = 2 * (unsigned)bench_cpus();

	return threads < THREADS_MAX ? threads : THREADS_MAX;
}

/* Takes SAMPLES calls beside these threads at full speed. Returns the number of their calls. */
static uint64_t take_beside(struct histogram *histogram, const struct curve_tracer *tracer,
			    unsigned threads)
{
	pthread_t thread[THREADS_MAX];
	uint64_t calls = 0;

	atomic_store(&over, false);
	for (unsigned i = 0; i < threads; i++)
		pthread_create(&thread[i], NULL, load, (void *)tracer);
	take(histogram, tracer);
	atomic_store(&over, true);
	for (unsigned i = 0; i < threads; i++) {
		void *result;

		pthread_join(thread[i], &result);
		calls += (uintptr_t)result;
	}
	return calls;
}

/* Returns the percentile 99.9 in microseconds, the least of a few tries, and adds the calls. */
static double new_chunk_us(const struct curve_tracer *tracer, unsigned threads, uint64_t *calls)
{
	double least = 0;

	tracer->trace(1, data, sizeof(data), 1);
	*calls = 1;
	for (int try = 0; try < TRIES; try++) {
		static struct histogram loaded;
		double us;

		memset(&loaded, 0, sizeof(loaded));
		*calls += SAMPLES + take_beside(&loaded, tracer, threads);
		us = (double)ticks_at(&loaded, 99.9) * ns_per_tick() / 1000;
		if (try == 0 || us < least)
			least = us;
	}
	return least;
}

void curve_new_chunk(const struct curve_tracer *tracer, const char *name, double limit,
		     const struct curve_tracer *change, const struct curve_tracer *count)
{
	unsigned threads = load_threads();
	uint64_t calls, ignored;
	double us;
	bool law;

	bench_pin(0);
	us = new_chunk_us(tracer, threads, &calls);
	law = !tracer->law || tracer->law(calls);
	bench_begin("%s threads=%u payload_bytes=8", name, threads + 1);
	if (change)
		printf(" change_us=%.4g count_us=%.4g", new_chunk_us(change, threads, &ignored),
		       new_chunk_us(count, threads, &ignored));
	if (limit > 0) {
		bench_end_limit("us_99.9", us, limit, law);
	} else {
		printf(" us_99.9=%.4g", us);
		bench_end(law);
	}
}

void curve_latency(const struct curve_tracer *tracer)
{
	static struct histogram floor, alone, loaded;
	uint64_t calls = 2 * SAMPLES;
	bool law;

	bench_pin(0);
	tracer->trace(1, data, sizeof(data), 1);
	take(&floor, NULL);
	take(&alone, tracer);
	calls += take_beside(&loaded, tracer, load_threads());
	law = !tracer->law || tracer->law(calls + 1);
	if (tracer->floor)
		tell(&floor, tracer->floor, "alone", law);
	tell(&alone, tracer->series, "alone", law);
	tell(&loaded, tracer->series, "loaded", law);
}
