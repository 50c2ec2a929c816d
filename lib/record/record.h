/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * record/record.h - one event as bytes, the same in a ring's chunk and in a log's block.
 *
 * A record is a 24-byte header and its data, padded to 8 bytes. In a ring, time is in ticks of
 * the stream's clock and source is 0; in a log, time is CLOCK_REALTIME in nanoseconds and source
 * is an index into the block's table of threads.
 *
 * Units     len in bytes of data before padding.
 */
#ifndef PTX_RECORD_RECORD_H
#define PTX_RECORD_RECORD_H

#include <stddef.h>
#include <stdint.h>

#define PTX_TYPE_MAX        1024 /* event type ids are 1 .. 1023 */
#define PTX_TYPE_UNNAMED    63
#define PTX_TYPE_FIRST_USER 64
#define PTX_TYPE_NAME_BYTES 64   /* with the terminating NUL */

#define PTX_RECORD_LEN_BITS  28
#define PTX_RECORD_LEN_MAX   ((1u << PTX_RECORD_LEN_BITS) - 1)
#define PTX_RECORD_TRUNCATED (1u << 28) /* the data was longer than max-data-size */
#define PTX_RECORD_IDENT     (1u << 29) /* ring only: the records that follow are of another thread */
#define PTX_RECORD_LATE      (1u << 30) /* stands after younger records: its writer was held up */

struct ptx_record {
	uint32_t len_flags;
	uint16_t type;
	uint16_t source;
	uint64_t address;
	uint64_t time;
};

/* The data of an IDENT record, and of a thread in general. */
struct ptx_ident {
	uint32_t pid;
	uint32_t tid;
	uint64_t thread; /* pthread_t */
	uint32_t slot;   /* thread slot of the region, with its generation in the upper half */
	uint32_t spare;
};

_Static_assert(sizeof(struct ptx_record) == 24, "a record's header is 24 bytes");
_Static_assert(sizeof(struct ptx_ident) == 24, "an identity is 24 bytes");

static inline size_t ptx_record_len(uint32_t len_flags)
{
	return len_flags & PTX_RECORD_LEN_MAX;
}

/* Bytes that a record with len bytes of data takes. */
static inline size_t ptx_record_size(size_t len)
{
	return sizeof(struct ptx_record) + ((len + 7) & ~(size_t)7);
}

#endif
