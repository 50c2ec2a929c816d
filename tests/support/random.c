/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "support/random.h"

uint32_t random_next(uint64_t *state)
{
	*state += UINT64_C(0x9e3779b97f4a7c15);
	return (uint32_t)(random_mix(*state) >> 32);
}

uint64_t random_word(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

size_t random_between(uint64_t *state, size_t low, size_t high)
{
	return low + random_next(state) % (high - low + 1);
}
