/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "support/payload.h"

#include <string.h>

#include "support/random.h"

struct head {
	uint32_t who;
	uint32_t len;
	uint64_t sequence;
	uint64_t check;
};

_Static_assert(sizeof(struct head) == PAYLOAD_MIN, "the smallest payload is its head");

static uint64_t head_check(const struct head *head)
{
	return random_mix(head->sequence ^ random_mix((uint64_t)head->who << 32 | head->len));
}

/* Returns the byte of noise at an offset behind the head of the payload. */
static unsigned char noise(uint64_t check, size_t at)
{
	return (unsigned char)(random_mix(check + at / 8) >> 8 * (at % 8));
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
