/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "support/payload.h"

#include <string.h>

struct head {
	uint32_t who;
	uint32_t len;
	uint64_t sequence;
	uint64_t check;
};

_Static_assert(sizeof(struct head) == PAYLOAD_MIN, "the smallest payload is its head");

static uint64_t mix(uint64_t x)
{
	x ^= x >> 30;
	x *= UINT64_C(0xbf58476d1ce4e5b9);
	x ^= x >> 27;
	x *= UINT64_C(0x94d049bb133111eb);
	return x ^ x >> 31;
}

static uint64_t head_check(const struct head *head)
{
	return mix(head->sequence ^ mix((uint64_t)head->who << 32 | head->len));
}

/* The byte at one place after the head. */
static unsigned char noise(uint64_t check, size_t at)
{
	return (unsigned char)(mix(check + at / 8) >> 8 * (at % 8));
}

void payload_make(void *data, size_t len, uint32_t who, uint64_t sequence)
{
	struct head head = { .who = who, .len = (uint32_t)len, .sequence = sequence };
	unsigned char *byte = data;

	head.check = head_check(&head);
	memcpy(byte, &head, sizeof(head));
	for (size_t i = sizeof(head); i < len; i++)
		byte[i] = noise(head.check, i);
}

int payload_read(const void *data, size_t len, uint32_t *who, uint64_t *sequence)
{
	const unsigned char *byte = data;
	struct head head;

	if (len < sizeof(head))
		return 0;
	memcpy(&head, byte, sizeof(head));
	if (head.len != len || head.check != head_check(&head))
		return 0;
	for (size_t i = sizeof(head); i < len; i++)
		if (byte[i] != noise(head.check, i))
			return 0;
	*who = head.who;
	*sequence = head.sequence;
	return 1;
}

uint32_t random_next(uint64_t *state)
{
	*state += UINT64_C(0x9e3779b97f4a7c15);
	return (uint32_t)(mix(*state) >> 32);
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
