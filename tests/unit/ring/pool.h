/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * unit/ring/pool.h - a region of a few small chunks in the test's own memory, a writer, a reader.
 *
 * A chunk has room for four records of one word of data. All counters that wrap start just before
 * their maximum: the generations of chunks, the tickets of the hints, the numbers of events that
 * rings have published. The test replaces the clock (link with POOL_CLOCK): each reading is one
 * tick.
 */
#ifndef PTX_TESTS_UNIT_RING_POOL_H
#define PTX_TESTS_UNIT_RING_POOL_H

#include <stdbool.h>
#include <stdint.h>

#include "ring/ring_read.h"
#include "ring/ring_write.h"

#define POOL_RECORDS     4
#define POOL_RECORD      (sizeof(struct ptx_record) + sizeof(uint64_t))
#define POOL_ROOM        (POOL_RECORDS * POOL_RECORD)
#define POOL_RINGS       64
#define POOL_GENERATION  0xfffffffdu
#define POOL_PUBLISHED   UINT64_C(0x2fffffffe) /* before a new ring's first event */
#define POOL_TYPE        100
#define POOL_SEEN        8192
#define POOL_NO_CHUNK    UINT64_C(0xff) /* word of a chunk number that no thread can acquire */

struct pool {
	struct ptx_rings rings;
	void *memory;
	size_t bytes;
	bool young;      /* new rings begin at 0, as a drain expects, and not at POOL_PUBLISHED */
	unsigned claims; /* rings that began at POOL_PUBLISHED */
};

/* There is only one pool. A second call frees the first pool and makes a new one. */
struct pool *pool_make(uint32_t chunks, bool loop);
/* Makes a pool with the chunks and rings of a stream of `stream_size`. */
struct pool *pool_make_planned(size_t stream_size, size_t max_data_size, bool loop);

/*
 * Does the same, but the stream treats more than `few` rings as many rings, whatever its size is.
 */
struct pool *pool_make_many(size_t stream_size, size_t max_data_size, bool loop, uint32_t few);

extern _Atomic uint64_t pool_now;
extern enum ptx_writer_loss pool_loss; /* cause of the last call that was refused */

unsigned pool_chunks_in(const struct pool *pool, enum ptx_chunk_state state);
uint64_t pool_lost(const struct pool *pool, enum ptx_writer_loss loss);         /* by types */
uint64_t pool_lost_by_slots(const struct pool *pool, enum ptx_writer_loss loss);
/* Returns the number of events that were published since the pool was made. */
uint64_t pool_published(const struct pool *pool);
/* Checks that the counter of free chunks is the number of free words. */
void pool_assert_counted(const struct pool *pool);
/*
 * Checks that the counter is never too low, and at most one too high for each interrupted writer.
 */
void pool_assert_counted_after(const struct pool *pool, unsigned jumps);

struct writer {
	struct pool *pool;
	struct ptx_ident ident;
	struct ptx_chunk *chunk;
	uint32_t ring;
};

void writer_begin(struct writer *writer, struct pool *pool, uint32_t tid);
/*
 * Does the same as a trace point: reserve, turn if necessary, fill, enter, commit. Returns false if
 * the event was counted as lost.
 */
bool writer_put(struct writer *writer, unsigned type, uint64_t value);
/*
 * Writes a record of `size` bytes as a trace point does. If there is no room, stores the cause in
 * pool_loss and returns false.
 */
bool writer_record(struct writer *writer, size_t size);
void writer_put_many(struct writer *writer, uint64_t first, unsigned count);
void writer_end(struct writer *writer);
/* Does the first step of the ring's next writer after an interrupted writer. */
void writer_mend(struct writer *writer);

/* The records that a reader has read, in the order of reading. */
struct seen {
	uint64_t value, time;
	uint32_t tid;
	unsigned type;
};

struct reader {
	struct pool *pool;
	struct ptx_place place[POOL_RINGS];
	struct ptx_ident ident[POOL_RINGS];
	struct seen seen[POOL_SEEN];
	unsigned n;
	uint32_t records[POOL_RINGS]; /* of each ring, in its own numbers: modulo 2^32 */
	uint64_t missed;              /* in those numbers */
};

void reader_init(struct reader *reader, struct pool *pool);
/* Reads one batch of records of a ring. */
enum ptx_claim reader_take(struct reader *reader, uint32_t ring);
/* After a lost claim: lets the reader continue at the ring's oldest chunk. */
void reader_find(struct reader *reader, uint32_t ring);
/* Reads all records, ring by ring. */
void reader_read(struct reader *reader);
void reader_read_ring(struct reader *reader, uint32_t ring);

/* Checks that the records of the thread `tid` have the values `first`, `first` + 1, ... `last`. */
void assert_seen(const struct reader *reader, uint32_t tid, uint64_t first, uint64_t last);
/*
 * After everything was read: checks that published = seen + overwritten, and that the reader missed
 * as many events as were overwritten.
 */
void assert_account(const struct reader *reader);

#endif
