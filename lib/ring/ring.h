/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * ring/ring.h - a stream's memory: rings made of chunks from one pool. DESIGN has the argument.
 *
 * A region holds a pool of equal chunks. A ring is a chain of chunks that one writer fills: one
 * thread at one nesting level of signal handlers. When its chunk is full the writer takes another
 * from the pool: a free one or, in a LOOP stream, the one that was closed longest ago. The reader
 * claims bytes of chunks and frees closed chunks that it has claimed whole. A thread that ends
 * leaves its rings, open chunks and all, to the next thread.
 *
 * Owner     the caller gives the memory and its geometry; nothing here allocates or maps.
 * Threads   any number of writers, each in its own rings; one reader at a time.
 * Signals   the write side is async-signal-safe: a handler writes at the next nesting level.
 * Progress  writer wait-free (loops are bounded by the pool), reader lock-free.
 * Errors    the write side has none: what does not fit is counted.
 * Units     sizes and offsets in bytes, multiples of 8; times in ticks.
 *
 * What one side stores for the other:
 *
 *   writer                                    reader
 *   (A) store head, release       <- pairs -> (B) load head, acquire      a record is whole before
 *                                                                         it is seen
 *   (C) store state OPEN/CLOSED,  <- pairs -> (D) load state, acquire     header, next and last are
 *       release                                                           seen
 *   (E) exchange claimed, acq_rel <- pairs -> (F) cas claimed, acq_rel    bytes are copied before
 *                                                                         they are reused, or the
 *                                                                         copy is thrown away
 *   (G) cas state, acq_rel        <- pairs -> (H) store state FREE,       the reader is done before
 *                                                 release                 a chunk is filled again
 *   (I) raise cut, release,       <- pairs -> (J) load cut, acquire,      who loses a claim knows
 *       before (E)                                after a failed (F)      how far back the loss
 *                                                                         reaches
 *   (O) fence release behind (G), <- pairs -> (P) fence acquire behind a  what a chunk holds in its
 *       then anything of the                      copy, then load state   next life is not taken
 *       chunk                                                             for its last
 *   (K) store window, then clock, <- pairs -> (L) clock, barrier, load    what is not visible yet
 *       then (A), no fence                        window, then head       will be stamped later
 *                                                                         than the clock read
 *   (M) store head, then load     <- pairs -> (N) store waiters, barrier,  either the writer sees
 *       waiters, no fence                         load heads              the sleeper or the reader
 *                                                                         sees the event
 */
#ifndef PTX_RING_RING_H
#define PTX_RING_RING_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/clock.h"
#include "base/compiler.h"
#include "record/ledger.h"
#include "record/record.h"
#include "ring/words.h"

#define PTX_CACHE_LINE  64
#define PTX_LEVELS      8    /* a trace point and seven nested signal handlers */
/*
 * Rings that a stream can have, and slots: threads that it tells apart at a time. The few are those
 * of a stream whose memory must not take much address space in a file (arena/region.c). Their
 * chunks lie near, in the mapping that every process has; those of further rings lie far, in one
 * that a process makes when it needs it.
 */
#define PTX_RINGS_FEW   1024
#define PTX_RINGS       65536
#define PTX_RINGS_BASE  64   /* whose part of each table is memory from the beginning */
/* Chunks by which each ring lets the pool grow; in a stream of tight chunks (ring_layout.c). */
#define PTX_RING_CHUNKS 3
#define PTX_RING_TIGHT  4
#define PTX_TIERS       3    /* of hints: for base rings, for few, for all */
#define PTX_NONE        UINT32_MAX
/* Of a region, for its reader: flush/checkpoint.h. */
#define PTX_CHECKPOINT_BASE  8192u
#define PTX_CHECKPOINT_RING  32u
#define PTX_STREAM_INFO_BYTES 512 /* of a region, for observers: observe/stream_info.h */

#define PTX_WORDS (PTX_TYPE_MAX / 64)

/* A queue of hints about chunks or rings; what is true stands in their own words. */
struct ptx_hints {
	_Alignas(PTX_CACHE_LINE) _Atomic uint64_t head;
	_Alignas(PTX_CACHE_LINE) _Atomic uint64_t tail;
};

/* What a hint is about: a free chunk, a closed one, a ring that no thread holds. */
enum ptx_hint { PTX_HINT_FREE, PTX_HINT_CLOSED, PTX_HINT_IDLE, PTX_HINTS };

/* The losses that a writer counts, as rows of lost_type and of a slot. */
enum ptx_writer_loss {
	PTX_WRITER_OVERWRITTEN,
	PTX_WRITER_STREAM_FULL,
	PTX_WRITER_NO_MEMORY,
	PTX_WRITER_NO_SLOT,
	PTX_WRITER_NESTING,
	PTX_WRITER_LOSSES
};

/*
 * What the stream's ticks are, for who reads a region when nobody is left to ask. The creator
 * writes it; once in a second a writer that changes chunks adds the newest anchor, and after it the
 * count.
 */
struct ptx_calibration {
	/* when an anchor is to be added; UINT64_MAX: never */
	_Alignas(PTX_CACHE_LINE) _Atomic uint64_t due;
	_Atomic uint64_t count;                        /* the newest is anchor[count % 2] */
	struct ptx_anchor anchor[2];
	struct ptx_anchor created;
	uint64_t hz;
};

struct ptx_region {
	/*
	 * Read by every event; written by the controller, state also by a writer that finds no
	 * room.
	 */
	/* event types not filtered out */
	_Alignas(PTX_CACHE_LINE) _Atomic uint64_t admit[PTX_WORDS];
	_Atomic uint64_t state;
	_Atomic uint32_t waiters;    /* futex: not 0 = a reader sleeps; see wake.c */
	_Atomic uint32_t flush_wish; /* futex: 1 = the flusher sleeps, wake it at half full */
	_Atomic uint32_t max_level;  /* of types described later, 0 = none; no event reads it */

	/* Written by writers when they change chunks, and by the reader when it frees one. */
	_Alignas(PTX_CACHE_LINE) _Atomic uint32_t free_chunks;
	_Atomic uint32_t chunks; /* of the pool, which grows (pool.c) */
	_Atomic uint32_t rings;  /* numbers given out */
	_Atomic uint32_t slots;
	struct ptx_hints hints[PTX_HINTS][PTX_TIERS];
	_Atomic uint64_t searched_at; /* all rings were, for one without a thread: in ticks */

	/* Written by who overwrites or finds the stream full; read and reset by the reader. */
	_Alignas(PTX_CACHE_LINE) _Atomic uint64_t cut; /* events up to this time are gone */
	/* time of the first one, UINT64_MAX = none */
	_Atomic uint64_t first_overwritten;
	/* up to this time chunks may be overwritten, also if the pool can grow: spare.c */
	_Atomic uint64_t spare;
	_Atomic uint32_t spare_looks; /* at chunks, for one that may be */
	_Atomic uint32_t overrun;
	_Atomic uint32_t looped; /* a LOOP stream is full */
	_Atomic uint64_t taken;  /* records that the reader has delivered; written by it alone */
	/*
	 * Since when it was full, and from when on it was not: the last time that it went on by
	 * itself. Written by the reader, for who goes on in its place.
	 */
	_Atomic uint64_t full_from, full_until;
	/*
	 * When the reader last looked, in ticks: as long as that is young, nobody asks whether it
	 * lives.
	 */
	_Atomic uint64_t looked_at;

	_Alignas(PTX_CACHE_LINE) _Atomic uint64_t lost_type[PTX_WRITER_LOSSES][PTX_TYPE_MAX];

	struct ptx_calibration calibration;
};

/* A piece of the pool: words.h has the states of its word. */
struct ptx_chunk {
	/* Written by the ring's writer at every event. */
	_Atomic uint64_t head;   /* records 32 | offset of the first free byte 32 */
	_Atomic uint64_t window; /* the head at which the writer last went to read the clock */
	/* Written by the ring's writer while OPENING or when it closes. */
	_Atomic uint64_t next;   /* the ring's next chunk: generation 32 | number + 1 */
	_Atomic uint64_t last;   /* time of the last record */
	uint64_t opened;
	struct ptx_ident ident;  /* of the records up to the first IDENT record; spare: records of
				  * the ring in the chunks before, modulo 2^32 */
	unsigned char records[];
};

struct ptx_ring {
	_Alignas(PTX_CACHE_LINE) _Atomic uint64_t holder;
	/* generation 32 | number + 1 of its first chunk, 0 = none yet */
	_Atomic uint64_t first;
	_Atomic uint64_t current;   /* likewise, the chunk being filled */
	_Atomic uint64_t published; /* records in its closed chunks */
	/*
	 * Written by the reader: up to where it has delivered them, ptx_delivered(). What it has
	 * claimed and not delivered is with it alone, but still there for who looks on.
	 */
	_Atomic uint64_t delivered;
};

/* One thread of a traced process, as the region sees it. */
struct ptx_slot {
	_Alignas(PTX_CACHE_LINE) _Atomic uint32_t word;
	_Atomic uint32_t pid;
	_Atomic uint32_t tid;
	_Atomic uint64_t thread;
	_Atomic uint64_t lost[PTX_WRITER_LOSSES];
};

/* Sizes of a region; each process keeps its own copy and never takes them from shared memory. */
struct ptx_geometry {
	size_t asked;       /* the stream_size that it was planned for */
	size_t chunk_bytes;
	size_t chunk_room;  /* for records */
	size_t record_max;  /* the largest record */
	uint32_t rings;     /* at most; PTX_RINGS or PTX_RINGS_FEW. As many slots */
	uint32_t chunks;    /* in the pool from the beginning */
	uint32_t present;   /* of them, those that are memory from the beginning */
	uint32_t useful;    /* of them, those that the stream's size asked for */
	uint32_t chunks_max;
	uint32_t ring_chunks; /* by which each ring lets the pool grow */
	uint32_t near_chunks; /* the others lie behind the region, in its far part */
	uint32_t hint_mask[PTX_TIERS];
	size_t words_at, claimed_at, present_at, rings_at, slots_at, hints_at[PTX_TIERS];
	size_t checkpoint_at, info_at, chunks_at;
	size_t bytes;       /* of the region without its far part */
	size_t bytes_first; /* up to the end of the first chunks: what the stream's size asks for */
	size_t far_bytes;   /* a multiple of the page size, as bytes is */
	size_t capacity;    /* event bytes that are never lost for lack of room */
	size_t memory;      /* of chunks that a LOOP stream has before it spares more, */
	size_t ring_memory; /* and for each ring but the controller's */
};

/* A region as one process maps it. Private memory; constant while mapped. */
struct ptx_rings {
	struct ptx_region *region;
	_Atomic uint64_t *word;    /* of the chunks */
	_Atomic uint64_t *claimed; /* generation 32 | bytes that the reader has claimed */
	/* bytes from the chunk's beginning that are memory; its writer's */
	_Atomic uint32_t *present;
	struct ptx_ring *ring;
	struct ptx_slot *slot;
	_Atomic uint64_t *queue[PTX_HINTS][PTX_TIERS];
	unsigned char *chunk;
	_Atomic(unsigned char *) far; /* chunks from near_chunks on; NULL: not mapped yet */
	struct ptx_geometry geometry;
	size_t max_data_size;
	bool loop;
	/*
	 * The reader keeps what it reads until it says that it is done; NULL: it is done at once.
	 */
	struct ptx_debts *debts;
	/* Makes memory of the region real that was only address space; async-signal-safe. */
	bool (*back)(void *memory, size_t bytes);
	/*
	 * Maps the far part and sets far, unless another thread did so first; false if that cannot
	 * be. Async-signal-safe. NULL: this process has no use for the far part.
	 */
	bool (*map_far)(struct ptx_rings *rings);
};

/* A region for so many rings at most: PTX_RINGS_FEW, or PTX_RINGS, of which large chunks make few.
 * ENOMEM when no such region can exist. */
int ptx_ring_plan(size_t stream_size, size_t max_data_size, uint32_t rings,
		  struct ptx_geometry *geometry);

/* Calls each() with the parts of a region, but for the first chunks, that have to be memory before
 * ptx_ring_init(); false if one call gave false. */
bool ptx_ring_first_tables(const struct ptx_geometry *geometry,
			   bool (*each)(void *arg, size_t at, size_t bytes), void *arg);

/* Lays the view over memory. */
void ptx_ring_view(struct ptx_rings *rings, void *memory, const struct ptx_geometry *geometry,
		   size_t max_data_size, bool loop);

/* Makes zeroed memory an empty, suspended region. */
void ptx_ring_init(struct ptx_rings *rings);

/* From now on its writers keep its calibration, which begins with created. */
void ptx_ring_calibrate(struct ptx_rings *rings, struct ptx_anchor created);

/* Maps the far part of the region for this process, unless that was tried in vain before. */
bool ptx_ring_map_far(struct ptx_rings *rings);

/* This process has it mapped. */
bool ptx_ring_has_far(const struct ptx_rings *rings);

/* There can be a chunk of that number, and this process can reach it. */
static inline bool ptx_ring_reaches(const struct ptx_rings *rings, uint32_t number)
{
	if (ptx_likely(number < rings->geometry.near_chunks))
		return true;
	return number < rings->geometry.chunks_max && ptx_ring_map_far((struct ptx_rings *)rings);
}

/* Of a number that this process reaches. */
static inline struct ptx_chunk *ptx_ring_chunk(const struct ptx_rings *rings, uint32_t number)
{
	unsigned char *chunks = rings->chunk;

	if (ptx_unlikely(number >= rings->geometry.near_chunks)) {
		chunks = atomic_load_explicit(&rings->far, memory_order_relaxed);
		number -= rings->geometry.near_chunks;
	}
	return (struct ptx_chunk *)(void *)(chunks + (size_t)number * rings->geometry.chunk_bytes);
}

/* The stream's filter lets events of that type pass. */
static inline bool ptx_region_admits(const struct ptx_region *region, unsigned type)
{
	return atomic_load_explicit(&region->admit[type / 64], memory_order_relaxed) >>
		       (type % 64) & 1;
}

/* So many chunks the pool has by now. */
static inline uint32_t ptx_ring_chunks(const struct ptx_rings *rings)
{
	uint32_t chunks = atomic_load_explicit(&rings->region->chunks, memory_order_acquire);

	return chunks < rings->geometry.chunks_max ? chunks : rings->geometry.chunks_max;
}

/* And so many rings were given a number. */
static inline uint32_t ptx_ring_count(const struct ptx_rings *rings)
{
	uint32_t count = atomic_load_explicit(&rings->region->rings, memory_order_acquire);

	return count < rings->geometry.rings ? count : rings->geometry.rings;
}

/* Records of the ring up to the end of the chunk that begins so, modulo 2^32. */
static inline uint32_t ptx_chunk_records(const struct ptx_ident *ident, uint64_t head)
{
	return ident->spare + ptx_head_records(head);
}

/* One queue of hints: hint.c. One that grows no more is read past the holes in it. */
void ptx_hint_push(struct ptx_hints *hints, _Atomic uint64_t *queue, uint32_t mask,
		   uint32_t number, uint32_t generation);
bool ptx_hint_pop(struct ptx_hints *hints, _Atomic uint64_t *queue, uint32_t mask, bool grows,
		  uint32_t *number, uint32_t *generation);

/* A stream's queues of one kind: as one queue, whose memory grows with the number of rings. */
void ptx_ring_hint(struct ptx_rings *rings, enum ptx_hint kind, uint32_t number,
		   uint32_t generation);
bool ptx_ring_hinted(struct ptx_rings *rings, enum ptx_hint kind, uint32_t *number,
		     uint32_t *generation);
bool ptx_ring_has_hints(const struct ptx_rings *rings, enum ptx_hint kind);

#endif
