/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * ring/words.h - integers of a region that contain several facts and change only as a whole.
 *
 * The functions are pure: they make such a word of its facts, or return one fact of a word. They
 * check nothing: the caller checks a number from a word of shared memory before it uses the number.
 */
#ifndef PTX_RING_WORDS_H
#define PTX_RING_WORDS_H

#include <stdint.h>

/* States, in the low bits of struct ptx_region.state; the other bits are the time of the change. */
#define PTX_STATE_BITS 3
#define PTX_STATE_MASK 7u
enum ptx_state {
	PTX_SUSPENDED,
	PTX_RUNNING,
	/*
	 * the stream stopped by itself; events are counted as lost; the stream runs again when
	 * there is room
	 */
	PTX_FULL,
	/*
	 * the stream was FULL and was then stopped by a call: events do not count as lost any more,
	 * and the stream does not run again by itself
	 */
	PTX_HELD
};

static inline enum ptx_state ptx_state_kind(uint64_t state)
{
	return (enum ptx_state)(state & PTX_STATE_MASK);
}

static inline uint64_t ptx_state_time(uint64_t state)
{
	return state >> PTX_STATE_BITS;
}

static inline uint64_t ptx_state_make(enum ptx_state kind, uint64_t ticks)
{
	return ticks << PTX_STATE_BITS | kind;
}

/*
 * Word of a chunk: generation 32 | unused 8 | ring 16 | state 8. The ring is 0 if the chunk is
 * ABSENT or FREE.
 */
enum ptx_chunk_state {
	PTX_CHUNK_ABSENT, /* the number has no chunk yet */
	PTX_CHUNK_FREE,
	PTX_CHUNK_OPENING,
	PTX_CHUNK_OPEN,
	PTX_CHUNK_CLOSED
};

static inline uint64_t ptx_chunk_word(uint32_t generation, uint32_t ring,
				      enum ptx_chunk_state state)
{
	return (uint64_t)generation << 32 | (uint64_t)ring << 8 | state;
}

static inline enum ptx_chunk_state ptx_word_state(uint64_t word)
{
	return (enum ptx_chunk_state)(word & 0xff);
}

static inline uint32_t ptx_word_ring(uint64_t word)
{
	return (uint32_t)(word >> 8) & 0xffff;
}

static inline uint32_t ptx_word_generation(uint64_t word)
{
	return (uint32_t)(word >> 32);
}

#define PTX_HEAD_RECORD (UINT64_C(1) << 32)
#define PTX_HEAD_MASK   (~UINT64_C(7)) /* offsets are multiples of 8, also in a hostile head */

static inline uint32_t ptx_head_offset(uint64_t head)
{
	return (uint32_t)head;
}

static inline uint32_t ptx_head_records(uint64_t head)
{
	return (uint32_t)(head >> 32);
}

/* Chunk number and generation as one word, 0 for none. */
static inline uint64_t ptx_link(uint32_t number, uint32_t generation)
{
	return (uint64_t)generation << 32 | (number + 1);
}

static inline uint32_t ptx_link_number(uint64_t link)
{
	return (uint32_t)link - 1;
}

static inline uint32_t ptx_link_generation(uint64_t link)
{
	return (uint32_t)(link >> 32);
}

/*
 * Word of a ring: number of claims so far 32 | process id of the holder 22 | state 2. Another
 * process can take a thread's ring by mistake, if it considers the thread's process dead. The
 * thread detects this by the count of claims, even if another thread with the same process id has
 * claimed the ring since.
 */
#define PTX_RING_UNUSED    0u
#define PTX_RING_HELD      1u
#define PTX_RING_IDLE      2u
#define PTX_RING_STATE     3u
#define PTX_RING_PID_SHIFT 2 /* process ids have 22 bits */

static inline uint32_t ptx_ring_held_by(uint32_t pid)
{
	return pid << PTX_RING_PID_SHIFT | PTX_RING_HELD;
}

static inline uint32_t ptx_ring_pid(uint64_t holder)
{
	return (uint32_t)holder >> PTX_RING_PID_SHIFT;
}

/* A chunk and an offset in it, in one word: generation 12 | number 26 | offset / 8 26. */
static inline uint64_t ptx_delivered(uint32_t generation, uint32_t number, uint32_t offset)
{
	return (uint64_t)(generation & 0xfff) << 52 | (uint64_t)(number & 0x3ffffff) << 26 |
	       (offset / 8 & 0x3ffffff);
}

/* Returns the offset if the word names this chunk and generation, otherwise 0. */
static inline uint32_t ptx_delivered_of(uint64_t delivered, uint32_t generation, uint32_t number)
{
	uint32_t offset = (uint32_t)(delivered & 0x3ffffff) * 8;

	return ptx_delivered(generation, number, offset) == delivered ? offset : 0;
}

/* Word of a slot: generation 16 | state 16. */
#define PTX_SLOT_UNUSED 0u /* the state until the slot's next owner has stored who it is */
#define PTX_SLOT_LIVE   1u
#define PTX_SLOT_ENDED  2u /* keeps its counts until the slot is needed */

#endif
