/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * bench_least.h - the least that a recorder of an event does: the stores of the event around one
 * reading of the counter, without any check.
 *
 * The stores are those of posix_trace_event(): header, data, window, time and head, in one ring for
 * each stream. No recorder of these facts costs less on this machine.
 */
#ifndef BENCH_LEAST_H
#define BENCH_LEAST_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "bench.h"

struct bench_least {
	uint64_t *ring; /* `words`, and room for one event more */
	size_t words, at;
	volatile uint64_t window, head;
};

static inline uint64_t bench_counter(void)
{
#if defined __x86_64__
	return __builtin_ia32_rdtsc();
#else
	return (uint64_t)bench_now_ns();
#endif
}

/* Stores one event into so many rings. `rings` is a constant, so that the loops are unrolled. */
static inline __attribute__((always_inline)) void
bench_least_store(struct bench_least *least, unsigned rings, uint64_t type, const void *data,
		  size_t len)
{
	const size_t words = 3 + (len + 7) / 8;
	uint64_t time;

	for (unsigned i = 0; i < rings; i++) {
		uint64_t *to = least[i].ring + least[i].at;

		to[0] = len;
		to[1] = type;
		memcpy(to + 3, data, len);
		least[i].window = least[i].at;
	}
	time = bench_counter();
	for (unsigned i = 0; i < rings; i++) {
		least[i].ring[least[i].at + 2] = time;
		least[i].at += words;
		least[i].head = least[i].at;
		if (least[i].at > least[i].words)
			least[i].at = 0;
	}
}

#endif
