/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * bench_pair.c - the cost of a loop for each of two threads that run it at the same time.
 *
 * Phases with one thread and with two alternate, so that both costs are measured under the same
 * load. A phase has many short runs. A run of the first thread counts as simultaneous only if the
 * undisturbed runs of the other thread cover it without a gap. On a busy machine the kernel may run
 * the threads one after the other, and then they do not compete.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <time.h>

#include "bench.h"

#define PHASES 24
#define RUNS   100

struct span {
	double begin, end;
};

struct arena {
	bench_loop *loop;
	void *arg;
	long calls;
	atomic_int gate;   /* the phase that may begin */
	atomic_int active; /* the number of threads that run in it */
	atomic_int done;
	struct span run[2][RUNS];
};

struct runner {
	struct arena *arena;
	int index;
};

static void *run(void *arg)
{
	struct runner *self = arg;
	struct arena *arena = self->arena;

	bench_pin(self->index);
	for (int phase = 0; phase < PHASES; phase++) {
		while (atomic_load(&arena->gate) <= phase)
			;
		for (int i = 0; self->index < atomic_load(&arena->active) && i < RUNS; i++) {
			struct span *span = &arena->run[self->index][i];

			span->begin = bench_now_ns();
			arena->loop(arena->arg, arena->calls);
			span->end = bench_now_ns();
		}
		atomic_fetch_add(&arena->done, 1);
	}
	return NULL;
}

/* Returns whether the other thread ran during the whole span and was not preempted. */
static bool is_contested(const struct arena *arena, const struct span *span)
{
	double covered = -1, length = span->end - span->begin;

	for (int i = 0; i < RUNS; i++) {
		const struct span *other = &arena->run[1][i];

		if (other->end <= span->begin || other->begin >= span->end)
			continue;
		if (other->end - other->begin > 2 * length)
			return false;
		if (covered < 0 && other->begin > span->begin)
			return false;
		covered = other->end;
	}
	return covered >= span->end;
}

struct bench_pair bench_measure_pair(bench_loop *loop, void *arg, long calls)
{
	static struct arena arena;
	struct runner runner[2] = { { &arena, 0 }, { &arena, 1 } };
	static double one[PHASES * RUNS], both[PHASES * RUNS];
	struct bench_pair pair = { .calls = (uint64_t)PHASES * 3 / 2 * RUNS * (uint64_t)calls };
	size_t ones = 0;
	pthread_t thread[2];

	arena.loop = loop;
	arena.arg = arg;
	arena.calls = calls;
	bench_cpus(); /* before two threads call it at the same time */
	for (int i = 0; i < 2; i++)
		pthread_create(&thread[i], NULL, run, &runner[i]);
	for (int phase = 0; phase < PHASES; phase++) {
		int threads = 1 + phase % 2;

		atomic_store(&arena.active, threads);
		atomic_store(&arena.done, 0);
		atomic_store(&arena.gate, phase + 1);
		/* This thread has no CPU of its own, so it sleeps. */
		while (atomic_load(&arena.done) < 2) {
			struct timespec nap = { .tv_nsec = 200000 };

			clock_nanosleep(CLOCK_MONOTONIC, 0, &nap, NULL);
		}
		/* The first phase of each kind warms up. */
		for (int i = 0; phase >= 2 && i < RUNS; i++) {
			const struct span *span = &arena.run[0][i];
			double cost = (span->end - span->begin) / calls;

			if (threads == 1)
				one[ones++] = cost;
			else if (is_contested(&arena, span))
				both[pair.rounds++] = cost;
		}
	}
	for (int i = 0; i < 2; i++)
		pthread_join(thread[i], NULL);
	if (bench_cpus() < 2)
		pair.rounds = 0;
	if (!pair.rounds)
		return pair;
	pair.one_median_ns = bench_median(one, ones);
	pair.one_min_ns = one[0];
	pair.both_median_ns = bench_median(both, pair.rounds);
	pair.both_min_ns = both[0];
	return pair;
}

void bench_end_pair(const struct bench_pair *pair, double limit, bool law)
{
	double ratio;

	if (!pair->rounds) {
		printf(" verdict=unmeasured reason=never_ran_at_once");
		bench_end(law);
		return;
	}
	ratio = pair->both_min_ns / pair->one_min_ns;
	printf(" ns=%.2f p50_ns=%.2f rounds=%zu p50_ratio=%.3f", pair->both_min_ns,
	       pair->both_median_ns, pair->rounds, pair->both_median_ns / pair->one_median_ns);
	if (limit > 0) {
		bench_end_limit("ratio_to_one", ratio, limit, law);
	} else {
		printf(" ratio_to_one=%.3f", ratio);
		bench_end(law);
	}
}
