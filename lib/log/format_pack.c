/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * log/format_pack.c - packs and unpacks DATA blocks (log/FORMAT 3.4). format_pack.h explains
 * shapes.
 *
 * The writer packs its own records, which are correct. The reader unpacks hostile bytes: each event
 * is checked against the end of the payload and against the end of the room before a byte is
 * copied. A packed time has 2^w bytes, and `width` is w (0 to 3). The code always loads and stores
 * 8 bytes, because a copy of constant size is one instruction, and uses only 2^w of them. The
 * assertions below show that the 8 bytes are always inside the buffers.
 */
#include "log/format_pack.h"

#include "base/compiler.h"
#include "log/read_decode.h"

#define SHAPE_BITS 14
#define SHAPE_MASK ((1u << SHAPE_BITS) - 1)
/* size of the head of an event: its shape and the width of its time */
#define HEAD_BYTES sizeof(uint16_t)
/* data of at most this many bytes is copied by words, if it has no padding */
#define WORDS_BYTES 32
/* bytes of a time that are loaded or stored in one step; 1, 2, 4 or 8 of these bytes are used */
#define TIME_BYTES sizeof(uint64_t)

/*
 * The greatest number of bytes of records for a byte of packed events. The ratio is worst for an
 * event without data, or for an event with a single byte, whose record is padded by 7.
 */
#define GROWTH_MAX 8

/*
 * The code below relies on four bounds. The shape's index fits into 14 bits, and index + 1 fits
 * into recent[]. A packed head with 8 bytes of time, stored where the record would be, stays in the
 * room of that record. GROWTH_MAX is a true bound. The last load of 8 bytes ends at the latest
 * within the first shape, which follows the packed events.
 */
_Static_assert(PTX_LOG_SHAPES_MAX <= SHAPE_MASK + 1, "a shape's number fits");
_Static_assert(PTX_LOG_SHAPES_MAX < UINT16_MAX, "and one more in recent[]");
_Static_assert(HEAD_BYTES + TIME_BYTES <= sizeof(struct ptx_record),
	       "a packed event is stored where its record would have room");
_Static_assert(GROWTH_MAX * (HEAD_BYTES + 1) >= sizeof(struct ptx_record), "without data");
_Static_assert(GROWTH_MAX * (HEAD_BYTES + 2) >= sizeof(struct ptx_record) + 8, "with a byte");
_Static_assert(sizeof(struct ptx_log_shape) >= TIME_BYTES - 1,
	       "the last time may be loaded with the shape, which follows the events");

/* Moves the low bytes of a number to its first bytes in memory, which the packed event keeps. */
ptx_inline uint64_t first_bytes(uint64_t number, unsigned width)
{
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	number <<= 8 * (TIME_BYTES - ((size_t)1 << width));
#else
	(void)width;
#endif
	return number;
}

/* Does the reverse: returns the number in the first bytes of a word of 8 loaded bytes. */
ptx_inline uint64_t of_first_bytes(uint64_t loaded, unsigned width)
{
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	return loaded >> 8 * (TIME_BYTES - ((size_t)1 << width));
#else
	static const uint64_t mask[4] = { 0xff, 0xffff, 0xffffffff, UINT64_MAX };

	return loaded & mask[width];
#endif
}

/*
 * Returns the index of a shape in the table, and adds the shape if necessary. Returns
 * PTX_LOG_SHAPES_MAX if the table is full. recent[] has one entry for each hash value, so no search
 * is needed. Another shape with the same hash value may replace the entry. If the replaced shape
 * occurs again, it is added to the table a second time, which FORMAT D2 permits.
 */
static uint32_t shape_of(struct ptx_log_packer *packer, uint64_t first, uint64_t address)
{
	/* A multiplicative hash: the product's high bits depend on every bit of both words. */
	uint64_t mix = (first * UINT64_C(0xff51afd7ed558ccd) + address) *
		       UINT64_C(0x9e3779b97f4a7c15);
	uint16_t *recent = &packer->recent[mix >> (64 - PTX_LOG_RECENT_SHAPE_BITS)];
	struct ptx_log_shape *shape;

	if (*recent) {
		shape = &packer->shape[*recent - 1u];
		if (ptx_record_word(shape, 0) == first && shape->address == address)
			return *recent - 1u;
	}
	/* With this number of shapes packing gains little, and the block is written plain. */
	if (packer->shapes == PTX_LOG_SHAPES_MAX)
		return PTX_LOG_SHAPES_MAX;
	shape = &packer->shape[packer->shapes++];
	memcpy(shape, &first, sizeof(first));
	shape->address = address;
	*recent = (uint16_t)packer->shapes;
	return packer->shapes - 1;
}

/*
 * Packs the records from `at` to `end`. Returns the end of the packed events, or NULL if there are
 * too many shapes. No packed event is longer than its record, so the room of the records is enough.
 * Runs of one shape are usual, so the function first compares an event with the shape of the event
 * before it.
 */
static uint8_t *pack_events(struct ptx_log_packer *packer, const uint8_t *at, const uint8_t *end,
			    uint64_t time, uint8_t *to)
{
	uint64_t first_before = 0, address_before = 0;
	uint32_t shape = PTX_LOG_SHAPES_MAX;
	size_t len = 0, size = 0;

	while (at < end) {
		/*
		 * The first word has length, flags, type and source. These and the address are the
		 * whole shape.
		 */
		uint64_t first = ptx_record_word(at, 0), address = ptx_record_address(at);
		/*
		 * The span is computed modulo 2^64, because a late event has an earlier time than
		 * the event before it.
		 */
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
		/* `width` is the least w for which 2^w bytes hold the span of time. */
		head = (uint16_t)(shape | width << SHAPE_BITS);
		memcpy(to, &head, HEAD_BYTES);
		span = first_bytes(span, width);
		memcpy(to + HEAD_BYTES, &span, TIME_BYTES);
		to += HEAD_BYTES + ((size_t)1 << width);
		/* 8 bytes of data are usual; a constant size avoids a call of memcpy(). */
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

/* recent[] is cleared for each block, because the indices of shapes begin again with 0. */
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
	/*
	 * The tables behind the events are 8-byte aligned, because the reader uses them in place.
	 */
	bytes = ((size_t)(end - to) + 7) & ~(size_t)7;
	shape_bytes = packer->shapes * sizeof(packer->shape[0]);
	/* The table of threads has the same size in both forms, so it is not compared. */
	if (bytes + shape_bytes >= record_bytes)
		return 0;
	/* FORMAT D1 requires that the padding is zero. */
	memset(end, 0, bytes - (size_t)(end - to));
	memcpy(to + bytes, packer->shape, shape_bytes);
	memcpy(to + bytes + shape_bytes, table, sources * sizeof(*table));
	return bytes + shape_bytes + sources * sizeof(*table);
}

/* All sums have 64 bits and their terms have 32, so no hostile count can make a sum overflow. */
const char *ptx_log_check_packed(const struct ptx_log_block *block)
{
	uint64_t tables = (uint64_t)block->shapes * sizeof(struct ptx_log_shape) +
			  (uint64_t)block->sources * sizeof(struct ptx_log_source);

	/* FORMAT D2: at most 2^14, because an event has 14 bits for its shape. */
	if (block->shapes > SHAPE_MASK + 1)
		return "a block has more shapes than there can be";
	/* Both tables are at the end of the payload: their beginning is computed from there. */
	if (tables > block->payload_bytes)
		return "the tables of a block are longer than it is";
	if (block->record_bytes & 7 || block->record_bytes > PTX_LOG_PAYLOAD_MAX)
		return "the length of a block's records is impossible";
	/* Without this bound a block of a few bytes could make the reader allocate 2^29 bytes. */
	if (block->record_bytes > GROWTH_MAX * (block->payload_bytes - tables))
		return "a block says that it has more bytes of records than it can have";
	return NULL;
}

/*
 * Each shape is checked once, used or not (FORMAT D2), so the loop over events need not check it.
 * Returns NULL, or the reason of a failure.
 */
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

/*
 * The pointer `at` moves over the packed events, which end at the first shape. The pointer `to`
 * moves over the records, which have record_bytes bytes. Each event is checked against both ends.
 * Its type, flags and source are those of a shape, which check_shapes() has accepted. So only the
 * index of the shape, the lengths and the time must be checked for each event.
 */
const char *ptx_log_unpack(const struct ptx_log_block *block, const uint8_t *payload, uint8_t *to)
{
	const size_t table_bytes = block->sources * sizeof(struct ptx_log_source);
	const uint8_t *table = payload + block->payload_bytes - table_bytes;
	const struct ptx_log_shape *shape = (const struct ptx_log_shape *)(const void *)
		(table - block->shapes * sizeof(*shape));
	const uint8_t *at = payload, *end = (const uint8_t *)shape;
	uint8_t *const to_end = to + block->record_bytes;
	const char *why = check_shapes(block, shape);
	const struct ptx_log_shape *kind = NULL;
	/* With this difference one comparison examines both bounds of a time. */
	const uint64_t range = (uint64_t)block->time_max - (uint64_t)block->time_min;
	/*
	 * These are copies, because the compiler must assume that a store of a record changes
	 * *block.
	 */
	const uint64_t time_min = (uint64_t)block->time_min;
	const uint32_t shapes = block->shapes;
	unsigned shape_before = SHAPE_MASK + 1;
	size_t len = 0, size = 0;
	uint64_t span = 0; /* since time_min */

	if (why)
		return why;
	if (block->time_max < block->time_min)
		return "an event's time is outside its block's range";
	/* The table of threads goes behind the records, where it is in a plain block. */
	memcpy(to_end, table, table_bytes);
	for (uint32_t left = block->records; left; left--) {
		struct ptx_record *record = (struct ptx_record *)(void *)to;
		size_t rest = (size_t)(end - at), time_bytes;
		unsigned width;
		uint16_t head;

		if (ptx_unlikely(rest < HEAD_BYTES))
			return "an event runs past its block";
		/* memcpy() is needed because packed events have no alignment. */
		memcpy(&head, at, HEAD_BYTES);
		/* Runs of one shape are usual, as in pack_events(). */
		if ((head & SHAPE_MASK) != shape_before) {
			shape_before = head & SHAPE_MASK;
			if (ptx_unlikely(shape_before >= shapes))
				return "an event's shape is not in the block's table";
			kind = &shape[shape_before];
			len = ptx_record_len(kind->len_flags);
			size = ptx_record_size(len);
		}
		width = head >> SHAPE_BITS;
		time_bytes = (size_t)1 << width;
		if (ptx_unlikely(HEAD_BYTES + time_bytes + len > rest))
			return "an event runs past its block";
		/*
		 * The room has record_bytes bytes. The records of a hostile block may need more,
		 * and must not be written behind the room.
		 */
		if (ptx_unlikely(size > (size_t)(to_end - to)))
			return "a block has more bytes of records than it says";
		/*
		 * The load of 8 bytes may go past the event, but not past the payload: at least one
		 * shape is behind the events.
		 */
		span += of_first_bytes(ptx_record_word(at, HEAD_BYTES), width);
		/* FORMAT D2, as for plain blocks: searches by time rely on the range. */
		if (ptx_unlikely(span > range))
			return "an event's time is outside its block's range";
		/* A record begins with its shape; then its time and its data follow. */
		at += HEAD_BYTES + time_bytes;
		memcpy(record, kind, sizeof(*kind));
		record->time = time_min + span;
		if (ptx_likely(len == 8)) {
			memcpy(to + sizeof(*record), at, 8);
		} else if (len % 8 == 0 && len <= WORDS_BYTES) {
			/*
			 * Whole words are copied, in a loop that takes less time than a call of
			 * memcpy().
			 */
			for (size_t word = 0; word < len; word += 8)
				memcpy(to + sizeof(*record) + word, at + word, 8);
		} else {
			/*
			 * Zeroes the last word, because the padding must be zero (FORMAT D2). Then
			 * the data is copied.
			 */
			memset(to + size - 8, 0, 8);
			memcpy(to + sizeof(*record), at, len);
		}
		at += len;
		to += size;
	}
	/*
	 * FORMAT D1: the records must have exactly the length that the header gives, so fewer bytes
	 * are an error, too.
	 */
	if (to != to_end)
		return "a block has fewer bytes of records than it says";
	/* FORMAT D1: between the last event and the tables there are at most 7 bytes of padding. */
	if (end - at > 7)
		return "a block has another count of records than it says";
	for (; at < end; at++)
		if (*at)
			return "a block's padding is not zero";
	return NULL;
}
