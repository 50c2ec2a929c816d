/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "log/format_pack.h"

#include "base/compiler.h"
#include "log/read_decode.h"

#define SHAPE_BITS 14
#define SHAPE_MASK ((1u << SHAPE_BITS) - 1)
#define HEAD_BYTES sizeof(uint16_t) /* of an event: its shape and how wide its time is */
#define TIME_BYTES sizeof(uint64_t) /* stored and loaded, however many of them count */

/* Bytes of records to a byte of events, where it is most: no data, or one byte of it. */
#define GROWTH_MAX 8

_Static_assert(PTX_LOG_SHAPES_MAX <= SHAPE_MASK + 1, "a shape's number fits");
_Static_assert(PTX_LOG_SHAPES_MAX < UINT16_MAX, "and one more in recent[]");
_Static_assert(HEAD_BYTES + TIME_BYTES <= sizeof(struct ptx_record),
	       "a packed event is stored where its record would have room");
_Static_assert(GROWTH_MAX * (HEAD_BYTES + 1) >= sizeof(struct ptx_record), "without data");
_Static_assert(GROWTH_MAX * (HEAD_BYTES + 2) >= sizeof(struct ptx_record) + 8, "with a byte");
_Static_assert(sizeof(struct ptx_log_shape) >= TIME_BYTES - 1,
	       "the last time may be loaded with the shape that stands behind the events");

/* The first bytes in memory of a number are those that count. */
ptx_inline uint64_t first_bytes(uint64_t number, unsigned width)
{
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	number <<= 8 * (TIME_BYTES - ((size_t)1 << width));
#else
	(void)width;
#endif
	return number;
}

ptx_inline uint64_t of_first_bytes(uint64_t loaded, unsigned width)
{
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	return loaded >> 8 * (TIME_BYTES - ((size_t)1 << width));
#else
	static const uint64_t mask[4] = { 0xff, 0xffff, 0xffffffff, UINT64_MAX };

	return loaded & mask[width];
#endif
}

/* A shape may be there twice: one that lost its place in recent[] to another is not found again. */
static uint32_t shape_of(struct ptx_log_packer *packer, uint64_t first, uint64_t address)
{
	uint64_t mix = (first * UINT64_C(0xff51afd7ed558ccd) + address) *
		       UINT64_C(0x9e3779b97f4a7c15);
	uint16_t *recent = &packer->recent[mix >> (64 - PTX_LOG_RECENT_SHAPE_BITS)];
	struct ptx_log_shape *shape;

	if (*recent) {
		shape = &packer->shape[*recent - 1u];
		if (ptx_record_word(shape, 0) == first && shape->address == address)
			return *recent - 1u;
	}
	if (packer->shapes == PTX_LOG_SHAPES_MAX)
		return PTX_LOG_SHAPES_MAX;
	shape = &packer->shape[packer->shapes++];
	memcpy(shape, &first, sizeof(first));
	shape->address = address;
	*recent = (uint16_t)packer->shapes;
	return packer->shapes - 1;
}

/* The end of the events, or NULL with too many shapes. None is longer than its record. */
static uint8_t *pack_events(struct ptx_log_packer *packer, const uint8_t *at, const uint8_t *end,
			    uint64_t time, uint8_t *to)
{
	uint64_t first_before = 0, address_before = 0;
	uint32_t shape = PTX_LOG_SHAPES_MAX;
	size_t len = 0, size = 0;

	while (at < end) {
		uint64_t first = ptx_record_word(at, 0), address = ptx_record_address(at);
		uint64_t stamp = ptx_record_time(at), span = stamp - time;
		unsigned width = (span > 0xff) + (span > 0xffff) + (span > 0xffffffff);
		uint16_t head;

		if (ptx_unlikely(first != first_before || address != address_before ||
				 shape == PTX_LOG_SHAPES_MAX)) {
			shape = shape_of(packer, first, address);
			if (shape == PTX_LOG_SHAPES_MAX)
				return NULL;
			first_before = first;
			address_before = address;
			len = ptx_record_len((uint32_t)ptx_record_first(at));
			size = ptx_record_size(len);
		}
		head = (uint16_t)(shape | width << SHAPE_BITS);
		memcpy(to, &head, HEAD_BYTES);
		span = first_bytes(span, width);
		memcpy(to + HEAD_BYTES, &span, TIME_BYTES);
		to += HEAD_BYTES + ((size_t)1 << width);
		if (len == 8)
			memcpy(to, at + sizeof(struct ptx_record), 8);
		else
			memcpy(to, at + sizeof(struct ptx_record), len);
		to += len;
		at += size;
		time = stamp;
	}
	return to;
}

size_t ptx_log_pack(struct ptx_log_packer *packer, const uint8_t *records, size_t record_bytes,
		    const struct ptx_log_source *table, uint32_t sources, int64_t time_min,
		    uint8_t *to)
{
	uint8_t *end;
	size_t bytes, shape_bytes;

	packer->shapes = 0;
	memset(packer->recent, 0, sizeof(packer->recent));
	end = pack_events(packer, records, records + record_bytes, (uint64_t)time_min, to);
	if (!end)
		return 0;
	bytes = ((size_t)(end - to) + 7) & ~(size_t)7;
	shape_bytes = packer->shapes * sizeof(packer->shape[0]);
	if (bytes + shape_bytes >= record_bytes)
		return 0;
	memset(end, 0, bytes - (size_t)(end - to));
	memcpy(to + bytes, packer->shape, shape_bytes);
	memcpy(to + bytes + shape_bytes, table, sources * sizeof(*table));
	return bytes + shape_bytes + sources * sizeof(*table);
}

const char *ptx_log_check_packed(const struct ptx_log_block *block)
{
	uint64_t tables = (uint64_t)block->shapes * sizeof(struct ptx_log_shape) +
			  (uint64_t)block->sources * sizeof(struct ptx_log_source);

	if (block->shapes > SHAPE_MASK + 1)
		return "a block has more shapes than there can be";
	if (tables > block->payload_bytes)
		return "the tables of a block are longer than it is";
	if (block->record_bytes & 7 || block->record_bytes > PTX_LOG_PAYLOAD_MAX)
		return "the length of a block's records is impossible";
	if (block->record_bytes > GROWTH_MAX * (block->payload_bytes - tables))
		return "a block says that it has more bytes of records than it can have";
	return NULL;
}

static const char *check_shapes(const struct ptx_log_block *block,
				const struct ptx_log_shape *shape)
{
	for (uint32_t i = 0; i < block->shapes; i++) {
		const char *why = ptx_log_check_kind(block, shape[i].len_flags, shape[i].type,
						     shape[i].source);

		if (why)
			return why;
	}
	return NULL;
}

const char *ptx_log_unpack(const struct ptx_log_block *block, const uint8_t *payload, uint8_t *to)
{
	const size_t table_bytes = block->sources * sizeof(struct ptx_log_source);
	const uint8_t *table = payload + block->payload_bytes - table_bytes;
	const struct ptx_log_shape *shape = (const struct ptx_log_shape *)(const void *)
		(table - block->shapes * sizeof(*shape));
	const uint8_t *at = payload, *end = (const uint8_t *)shape;
	uint8_t *const to_end = to + block->record_bytes;
	const char *why = check_shapes(block, shape);
	int64_t time = block->time_min;

	if (why)
		return why;
	memcpy(to_end, table, table_bytes);
	for (uint32_t i = 0; i < block->records; i++) {
		struct ptx_record *record = (struct ptx_record *)(void *)to;
		size_t left = (size_t)(end - at), time_bytes, len, size;
		const struct ptx_log_shape *kind;
		unsigned width;
		uint16_t head;

		if (ptx_unlikely(left < HEAD_BYTES))
			return "an event runs past its block";
		memcpy(&head, at, HEAD_BYTES);
		if (ptx_unlikely((head & SHAPE_MASK) >= block->shapes))
			return "an event's shape is not in the block's table";
		kind = &shape[head & SHAPE_MASK];
		width = head >> SHAPE_BITS;
		time_bytes = (size_t)1 << width;
		len = ptx_record_len(kind->len_flags);
		size = ptx_record_size(len);
		if (ptx_unlikely(HEAD_BYTES + time_bytes + len > left))
			return "an event runs past its block";
		if (ptx_unlikely(size > (size_t)(to_end - to)))
			return "a block has more bytes of records than it says";
		time = (int64_t)((uint64_t)time +
				 of_first_bytes(ptx_record_word(at, HEAD_BYTES), width));
		if (ptx_unlikely(time < block->time_min || time > block->time_max))
			return "an event's time is outside its block's range";
		at += HEAD_BYTES + time_bytes;
		memcpy(record, kind, sizeof(*kind));
		record->time = (uint64_t)time;
		if (len == 8) {
			memcpy(to + sizeof(*record), at, 8);
		} else if (len) {
			memset(to + size - 8, 0, 8);
			memcpy(to + sizeof(*record), at, len);
		}
		at += len;
		to += size;
	}
	if (to != to_end)
		return "a block has fewer bytes of records than it says";
	if (end - at > 7)
		return "a block has another count of records than it says";
	for (; at < end; at++)
		if (*at)
			return "a block's padding is not zero";
	return NULL;
}
