/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * support/random.h - generators for tests: the same numbers on every run.
 *
 * Threads   any number; the state is the caller's.
 */
#ifndef PTX_TESTS_RANDOM_H
#define PTX_TESTS_RANDOM_H

#include <stddef.h>
#include <stdint.h>

uint32_t random_next(uint64_t *state);
/* Returns 64 random bits; the state is not 0. */
uint64_t random_word(uint64_t *state);
/* Between low and high, both included. */
size_t random_between(uint64_t *state, size_t low, size_t high);

/* A number in which each bit depends on all bits of x. */
static inline uint64_t random_mix(uint64_t x)
{
	x ^= x >> 30;
	x *= UINT64_C(0xbf58476d1ce4e5b9);
	x ^= x >> 27;
	x *= UINT64_C(0x94d049bb133111eb);
	return x ^ x >> 31;
}

#endif
