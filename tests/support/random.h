/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * support/random.h - generators of random numbers for tests. Each run gets the same numbers.
 *
 * Threads   any number; the caller owns the state.
 */
#ifndef PTX_TESTS_RANDOM_H
#define PTX_TESTS_RANDOM_H

#include <stddef.h>
#include <stdint.h>

uint32_t random_next(uint64_t *state);
/* Returns 64 random bits. The state must not be 0. */
uint64_t random_word(uint64_t *state);
/* Returns a random number from low to high, both included. */
size_t random_between(uint64_t *state, size_t low, size_t high);

/* Returns a number in which each bit depends on all bits of x. */
static inline uint64_t random_mix(uint64_t x)
{
	x ^= x >> 30;
	x *= UINT64_C(0xbf58476d1ce4e5b9);
	x ^= x >> 27;
	x *= UINT64_C(0x94d049bb133111eb);
	return x ^ x >> 31;
}

#endif
