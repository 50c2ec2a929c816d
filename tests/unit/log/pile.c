/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "base/crc32c.h"
#include "log/read_decode.h"
#include "support/random.h"
#include "unit/log/pile.h"

const struct ptx_log_source pile_threads[PILE_THREADS] = {
	{ 500, 501, UINT64_C(0x7f0000001000) },
	{ 500, 502, UINT64_C(0x7f0000002000) },
	{ 600, 601, UINT64_C(0x7f0000001000) },
};

static void *memory(size_t bytes)
{
	void *at = malloc(bytes);

	ck_assert(at || !bytes);
	return at;
}

void pile_add(struct pile *pile, uint32_t len_flags, uint16_t type, uint16_t source,
	      uint64_t address, int64_t time)
{
	size_t len = ptx_record_len(len_flags), size = ptx_record_size(len);
	struct ptx_record *record;

	if (pile->len + size > pile->room) {
		pile->room = 2 * pile->room + size;
		pile->bytes = realloc(pile->bytes, pile->room);
		ck_assert(pile->bytes != NULL);
	}
	record = (struct ptx_record *)(void *)(pile->bytes + pile->len);
	memset(record, 0, size);
	record->len_flags = len_flags;
	record->type = type;
	record->source = source;
	record->address = address;
	record->time = (uint64_t)time;
	for (size_t i = 0; i < len; i++)
		((uint8_t *)(record + 1))[i] = (uint8_t)(1 + (pile->records + i) % 255);
	if (!pile->records || time < pile->time_min)
		pile->time_min = time;
	if (!pile->records || time > pile->time_max)
		pile->time_max = time;
	pile->records++;
	pile->len += size;
}

static uint64_t random_bits(uint64_t *random)
{
	return (uint64_t)random_next(random) << 32 | random_next(random);
}

void pile_random(struct pile *pile, uint64_t *random)
{
	size_t count = random_between(random, 1, 300), data = random_between(random, 0, 3) * 13;
	size_t points = random_between(random, 0, 2) ? random_between(random, 1, 20) : 1000;
	unsigned far = (unsigned)random_between(random, 0, 63);
	int64_t time = (int64_t)random_bits(random);

	while (count--) {
		uint64_t point = random_between(random, 1, points);
		uint32_t len = (uint32_t)(data ? point * 7919 % (data + 1) : 0);

		if (random_between(random, 0, 9) == 0)
			len |= PTX_RECORD_LATE;
		pile_add(pile, len, (uint16_t)point, (uint16_t)(point % PILE_THREADS),
			 point << 12, time);
		time = (int64_t)((uint64_t)time + (random_bits(random) >> far) -
				 (random_between(random, 0, 30) ? 0 : 1000));
	}
}

void pile_free(struct pile *pile)
{
	free(pile->bytes);
	memset(pile, 0, sizeof(*pile));
}

void packed_seal(struct packed *packed)
{
	packed->block.payload_crc = ptx_crc32c(0, packed->payload, packed->block.payload_bytes);
}

bool pile_pack(const struct pile *pile, struct packed *packed)
{
	struct ptx_log_packer *packer = memory(sizeof(*packer));
	uint8_t *records = memory(pile->len), *room = memory(pile->len + sizeof(pile_threads));
	size_t bytes;

	memcpy(records, pile->bytes, pile->len);
	memset(packer, 0xa5, sizeof(*packer)); /* as if left by the previous block */
	bytes = ptx_log_pack(packer, records, pile->len, pile_threads, PILE_THREADS, pile->time_min,
			     room);
	memset(packed, 0, sizeof(*packed));
	packed->block.type = PTX_LOG_DATA;
	packed->block.records = pile->records;
	packed->block.record_bytes = (uint32_t)pile->len;
	packed->block.sources = PILE_THREADS;
	packed->block.shapes = packer->shapes;
	packed->block.payload_bytes = (uint32_t)bytes;
	packed->block.time_min = pile->time_min;
	packed->block.time_max = pile->time_max;
	if (bytes) {
		packed->payload = memory(bytes);
		memcpy(packed->payload, room, bytes);
		packed_seal(packed);
	}
	free(room);
	free(records);
	free(packer);
	return bytes > 0;
}

const char *packed_check(const struct packed *packed)
{
	const struct ptx_log_block *block = &packed->block;
	const char *why = ptx_log_check_sum(block, packed->payload, block->payload_bytes);

	return why ? why : ptx_log_check_content(block, packed->payload);
}

const char *packed_read(const struct packed *packed, uint8_t **records)
{
	const struct ptx_log_block *block = &packed->block;
	const char *why = packed_check(packed);
	size_t bytes;

	*records = NULL;
	if (why)
		return why;
	bytes = block->record_bytes + block->sources * sizeof(struct ptx_log_source);
	*records = memory(bytes);
	memset(*records, 0xa5, bytes);
	if (block->shapes)
		why = ptx_log_unpack(block, packed->payload, *records);
	else
		memcpy(*records, packed->payload, bytes);
	if (why) {
		free(*records);
		*records = NULL;
	}
	return why;
}

struct hand *hand_new(void)
{
	struct hand *hand = calloc(1, sizeof(*hand));

	ck_assert(hand != NULL);
	return hand;
}

void hand_event(struct hand *hand, unsigned shape, unsigned w, uint64_t span)
{
	uint16_t head = (uint16_t)(shape | w << 14);
	uint8_t one = (uint8_t)span;
	uint16_t two = (uint16_t)span;
	uint32_t four = (uint32_t)span;
	const void *const times[] = { &one, &two, &four, &span };

	memcpy(hand->events + hand->len, &head, 2);
	memcpy(hand->events + hand->len + 2, times[w], (size_t)1 << w);
	hand->len += 2 + ((size_t)1 << w);
	for (size_t i = 0; i < ptx_record_len(hand->shape[shape].len_flags); i++)
		hand->events[hand->len++] = (uint8_t)(1 + (hand->records + i) % 255);
	hand->records++;
}

void hand_shape(struct hand *hand, uint32_t len_flags, uint16_t type, uint16_t source,
		uint64_t address)
{
	hand->shape[hand->shapes++] = (struct ptx_log_shape){ len_flags, type, source, address };
}

struct packed hand_over(struct hand *hand, size_t record_bytes, int64_t time_min, int64_t time_max)
{
	size_t events = (hand->len + 7) & ~(size_t)7;
	size_t shapes = hand->shapes * sizeof(hand->shape[0]);
	struct packed packed;

	memset(&packed, 0, sizeof(packed));
	packed.block.type = PTX_LOG_DATA;
	packed.block.records = hand->records;
	packed.block.record_bytes = (uint32_t)record_bytes;
	packed.block.sources = PILE_THREADS;
	packed.block.shapes = hand->shapes;
	packed.block.payload_bytes = (uint32_t)(events + shapes + sizeof(pile_threads));
	packed.block.time_min = time_min;
	packed.block.time_max = time_max;
	packed.payload = calloc(1, packed.block.payload_bytes);
	memcpy(packed.payload, hand->events, hand->len);
	memcpy(packed.payload + events, hand->shape, shapes);
	memcpy(packed.payload + events + shapes, pile_threads, sizeof(pile_threads));
	packed_seal(&packed);
	free(hand);
	return packed;
}
