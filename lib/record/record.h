/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * record/record.h - one event as bytes, the same in a ring's chunk and in a log's block.
 *
 * A record is a 24-byte header and its data, padded to 8 bytes. In a ring, `time` is in ticks of
 * the stream's clock and `source` is 0. In a log, `time` is CLOCK_REALTIME in nanoseconds and
 * `source` is an index into the block's table of threads. Records are in the byte order of their
 * machine.
 *
 * Units     len in bytes of data before padding.
 * Threads   no state. Signals: async-signal-safe.
 */
#ifndef PTX_RECORD_RECORD_H
#define PTX_RECORD_RECORD_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define PTX_TYPE_MAX        1024 /* event types are 1 .. 1023 */
#define PTX_TYPE_UNNAMED    63
#define PTX_TYPE_FIRST_USER 64
#define PTX_TYPE_NAME_BYTES 64   /* with the terminating NUL */

#define PTX_RECORD_LEN_BITS  28
#define PTX_RECORD_LEN_MAX   ((1u << PTX_RECORD_LEN_BITS) - 1)
#define PTX_RECORD_TRUNCATED (1u << 28) /* the data was longer than max-data-size */
#define PTX_RECORD_IDENT     (1u << 29) /* ring only: another thread's records follow */
/* The record is behind younger ones, because its writer was suspended in the trace point. */
#define PTX_RECORD_LATE      (1u << 30)

/*
 * The header. The writer of a ring stores the data, then the header, then publishes the record.
 */
struct ptx_record {
	uint32_t len_flags;
	uint16_t type;
	uint16_t source;
	uint64_t address;
	uint64_t time;
};

/* The data of an IDENT record: the identity of a thread. */
struct ptx_ident {
	uint32_t pid;
	uint32_t tid;
	uint64_t thread; /* pthread_t */
	/* The thread's slot in the region, with its generation in the upper half. */
	uint32_t slot;
	/*
	 * In the header of a chunk: the number of the ring's records before the chunk. Otherwise 0.
	 */
	uint32_t before;
};

_Static_assert(sizeof(struct ptx_record) == 24, "a record's header is 24 bytes");
_Static_assert(sizeof(struct ptx_ident) == 24, "an identity is 24 bytes");

/* Returns the number of bytes of data: len_flags without the flags. */
static inline size_t ptx_record_len(uint32_t len_flags)
{
	return len_flags & PTX_RECORD_LEN_MAX;
}

/* Returns the number of bytes that a record with `len` bytes of data occupies. */
static inline size_t ptx_record_size(size_t len)
{
	return sizeof(struct ptx_record) + ((len + 7) & ~(size_t)7);
}

/*
 * The members of a record, loaded by words, for walks over many records. The result of
 * ptx_record_first() has len_flags in its lower 32 bits, then `type`, and `source` in its highest
 * bits, on machines of every byte order. memcpy() is used because a hostile log may place a record
 * at any address.
 */
#define PTX_RECORD_TYPE_SHIFT   32
#define PTX_RECORD_SOURCE_SHIFT 48

static inline uint64_t ptx_record_word(const void *record, size_t at)
{
	uint64_t word;

	memcpy(&word, (const unsigned char *)record + at, sizeof(word));
	return word;
}

static inline uint64_t ptx_record_first(const void *record)
{
	uint64_t word = ptx_record_word(record, 0);

#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	word = word >> 32 | (word & 0xffff) << PTX_RECORD_SOURCE_SHIFT |
	       (word >> 16 & 0xffff) << PTX_RECORD_TYPE_SHIFT;
#endif
	return word;
}

static inline unsigned ptx_record_first_type(uint64_t first)
{
	return first >> PTX_RECORD_TYPE_SHIFT & 0xffff;
}

static inline uint64_t ptx_record_address(const void *record)
{
	return ptx_record_word(record, offsetof(struct ptx_record, address));
}

static inline uint64_t ptx_record_time(const void *record)
{
	return ptx_record_word(record, offsetof(struct ptx_record, time));
}

#endif
