/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * ring/ring.h - a stream's memory: rings made of chunks from one pool. DESIGN has the argument.
 *
 * A region holds a pool of chunks of two sizes. A ring is a chain of chunks that one writer fills:
 * one thread at one nesting level of signal handlers. When its chunk is full, the writer takes
 * another chunk from the pool: a free chunk or, in a LOOP stream, the chunk that was closed longest
 * ago. The reader claims bytes of chunks. It frees a closed chunk of which it has claimed all
 * bytes; if the stream has a log, it frees the chunk when the log has the events. A thread that
 * ends leaves its rings, with their open chunks, to the next thread.
 *
 * Owner     the caller gives the memory, its geometry, and the functions back() and map_far() that
 *           make further memory available. Only the reader's list of debts is allocated here.
 * Threads   any number of writers, each in its own rings; one reader at a time.
 * Signals   the write side is async-signal-safe: a handler writes at the next nesting level.
 * Progress  writer wait-free (loops are bounded by the pool), reader lock-free.
 * Errors    the write side returns a cause of loss, and its caller counts the event as lost.
 * Units     sizes and offsets in bytes, multiples of 8; times in ticks.
 *
 * The orderings. Each access or fence of one side has a partner on the other side:
 *
 *   writer                                    reader
 *   (A) store head, release       <- pairs -> (B) load head, acquire      a record is complete
 *                                                                         before the reader sees it
 *   (C) store state OPEN/CLOSED,  <- pairs -> (D) load state, acquire     the reader sees header,
 *       release                                                           next and last
 *   (E) exchange claimed, acq_rel <- pairs -> (F) cas claimed, acq_rel    the reader copies bytes
 *                                                                         before their reuse, or
 *                                                                         discards the copy
 *   (G) cas state, acq_rel        <- pairs -> (H) store state FREE,       the reader is done before
 *                                                 release                 a chunk is filled again
 *   (I) raise cut, release,       <- pairs -> (J) load cut, acquire,      after a lost claim, the
 *       before (E)                                after a failed (F)      reader knows up to which
 *                                                                         time events are lost
 *   (O) fence release behind (G), <- pairs -> (P) fence acquire behind a  the reader does not take
 *       then stores in the                        copy, then load state   new content of a reused
 *       chunk                                                             chunk for the old one
 *   (K) store window, then clock, <- pairs -> (L) clock, barrier, load    a record that the reader
 *       then (A), no fence                        window, then head       cannot see has a later
 *                                                                         time than that clock
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
 * PTX_RINGS is the largest number of rings in a stream, and also the largest number of slots. A
 * slot counts the losses of one thread; only slot 0 belongs to no thread. PTX_RINGS_FEW is the
 * largest number of rings for a stream in a file, where address space is scarce (arena/region.c).
 * The chunks of the first PTX_RINGS_FEW rings are near: in the mapping that every process has. The
 * chunks of further rings are far: in a second mapping, which a process makes when it first needs
 * these chunks.
 *
 * The first geometry.few_rings rings get large chunks. A stream with more rings than
 * geometry.few_rings has "many" rings. The first chunk of a further ring is small, so that a thread
 * that records little occupies little memory.
 */
#define PTX_RINGS_FEW   1024
#define PTX_RINGS       65536
#define PTX_RINGS_BASE  64   /* rings whose part of each table is present from the start */
/*
 * For each of the few rings the pool may grow by PTX_RING_CHUNKS large chunks. If the stream has
 * many rings, the pool may grow by PTX_RING_SMALL small chunks for each ring (ring_layout.c).
 */
#define PTX_RING_CHUNKS 3
#define PTX_RING_SMALL  4
/* number of tiers of the queues of hints; the number of rings selects the tier (hint.c) */
#define PTX_TIERS       6
/* Bytes of tables and queues for one chunk: 20 in the tables, 16 for two places in the queues. */
#define PTX_CHUNK_TABLES 36u
#define PTX_NONE        UINT32_MAX
/*
 * Bytes of the checkpoint, which the reader keeps in the region: a fixed part, and a part for each
 * ring.
 */
#define PTX_CHECKPOINT_BASE  8192u
#define PTX_CHECKPOINT_RING  32u
#define PTX_STREAM_INFO_BYTES 512 /* the part for observers: observe/stream_info.h */

#define PTX_WORDS (PTX_TYPE_MAX / 64)

/*
 * A queue of hints about chunks or rings. Only the word of the chunk or ring decides whether a hint
 * is true.
 */
struct ptx_hints {
	_Alignas(PTX_CACHE_LINE) _Atomic uint64_t head;
	_Alignas(PTX_CACHE_LINE) _Atomic uint64_t tail;
};

/*
 * The subject of a hint: a free large chunk, a free small chunk, a closed chunk, or a ring that no
 * thread holds.
 */
enum ptx_hint { PTX_HINT_FREE, PTX_HINT_SMALL, PTX_HINT_CLOSED, PTX_HINT_IDLE, PTX_HINTS };

/*
 * The causes of loss that a writer counts. The causes before PTX_WRITER_ROWS are counted in
 * lost_type and in the member `lost` of a slot. PTX_WRITER_SKIPPED is counted by type only, in the
 * rows of the table `skips`.
 */
enum ptx_writer_loss {
	PTX_WRITER_OVERWRITTEN,
	PTX_WRITER_STREAM_FULL,
	PTX_WRITER_NO_MEMORY,
	PTX_WRITER_NO_SLOT,
	PTX_WRITER_NESTING,
	PTX_WRITER_ROWS,
	PTX_WRITER_SKIPPED = PTX_WRITER_ROWS,
	PTX_WRITER_LOSSES
};

/*
 * Events of skipped types are counted by type in one of these rows, which the thread's id selects.
 * So threads seldom share a cache line. The rows become memory when the stream first skips a type.
 */
#define PTX_SKIP_ROWS  16u
#define PTX_SKIP_BYTES (PTX_SKIP_ROWS * PTX_TYPE_MAX * sizeof(uint64_t))

/*
 * The clock of the stream, for an observer that reads the region after all processes have ended.
 * The creator writes it. At most once in a second, a writer that changes chunks stores a new anchor
 * and then the count.
 */
struct ptx_calibration {
	/* time of the next anchor; UINT64_MAX: never */
	_Alignas(PTX_CACHE_LINE) _Atomic uint64_t due;
	_Atomic uint64_t count;                        /* the newest anchor is anchor[count % 2] */
	struct ptx_anchor anchor[2];
	struct ptx_anchor created;
	uint64_t hz;
};

struct ptx_region {
	/*
	 * A trace point loads these members for each event. So stores in them must be rare: each
	 * store removes the cache line from the other processors. The controller stores `admit`,
	 * `state` and `max_level`. A writer that finds no room stores FULL in `state`.
	 */
	/* event types not filtered out */
	_Alignas(PTX_CACHE_LINE) _Atomic uint64_t admit[PTX_WORDS];
	_Atomic uint64_t state;
	_Atomic uint32_t waiters;    /* futex: not 0 = a reader sleeps; see wake.c */
	/*
	 * futex: 1 = the flusher sleeps; a writer wakes it when the pool is filling (ring/pool.h),
	 * and the writer that gets ring 1 of another process's stream wakes it
	 */
	_Atomic uint32_t flusher_asleep;
	/*
	 * types with a greater level are filtered out, even if the program describes them later; 0
	 * = no limit
	 */
	_Atomic uint32_t max_level;

	/* Written by writers when they change chunks, and by the reader when it frees a chunk. */
	/* number of free chunks of both sizes */
	_Alignas(PTX_CACHE_LINE) _Atomic uint32_t free_chunks;
	_Atomic uint32_t chunks; /* how many numbers of chunks are in use; it only grows (pool.c) */
	_Atomic uint32_t rings;  /* how many numbers of rings are in use; it only grows */
	_Atomic uint32_t slots;
	_Atomic uint32_t free_small; /* number of free small chunks; free_chunks includes them */
	/*
	 * number of large chunks when the first small chunk was added; 0: the pool has no small
	 * chunk
	 */
	_Atomic uint32_t large;
	/*
	 * For take_lost() in ring_write.c: lost_at is the place where its next search begins,
	 * counted from the first small chunk, and free_surplus is the number by which free_small is
	 * known to be too high.
	 */
	_Atomic uint32_t lost_at, free_surplus;
	struct ptx_hints hints[PTX_HINTS][PTX_TIERS];
	/* time of the last search of all rings for an idle ring, in ticks */
	_Atomic uint64_t searched_at;

	/* Written by writers that overwrite, find no room, or search for spare chunks. */
	_Alignas(PTX_CACHE_LINE) _Atomic uint64_t cut; /* events up to this time are overwritten */
	/* time of the first overwritten event, UINT64_MAX = none */
	_Atomic uint64_t first_overwritten;
	/* chunks up to this time may be overwritten although the pool can still grow: spare.c */
	_Atomic uint64_t spare;
	/*
	 * where the next search for a spare chunk begins: a chunk's number, modulo the number of
	 * chunks
	 */
	_Atomic uint32_t spare_looks;
	_Atomic uint32_t overrun;
	/* 1: a LOOP stream has overwritten events, and the reader has delivered none since */
	_Atomic uint32_t looped;
	/*
	 * up to this number of chunks the pool grows without a search of all chunks: spare.c for a
	 * LOOP stream, pool.c for the others
	 */
	_Atomic uint32_t grows_until;
	/* number of records that the reader has delivered; only the reader writes this member */
	_Atomic uint64_t consumed;
	/*
	 * Begin and end of the last time that the stream was full and continued by itself. The
	 * reader writes them for a reader that replaces it.
	 */
	_Atomic uint64_t full_from, full_until;
	/*
	 * The time of the reader's last pass, in ticks. While it is recent, no writer checks
	 * whether the reader is alive.
	 */
	_Atomic uint64_t looked_at;

	/*
	 * Written by the controller, read by threads that fill their lanes: the types whose events
	 * are not recorded but counted as skipped. If has_skips is not 0, the rows of the table
	 * `skips` are memory.
	 */
	_Alignas(PTX_CACHE_LINE) _Atomic uint64_t skip[PTX_WORDS];
	_Atomic uint32_t has_skips;

	_Alignas(PTX_CACHE_LINE) _Atomic uint64_t lost_type[PTX_WRITER_ROWS][PTX_TYPE_MAX];

	struct ptx_calibration calibration;
};

/* A chunk of the pool; words.h has the states of its word. */
struct ptx_chunk {
	/* Written by the ring's writer at every event. */
	_Atomic uint64_t head;   /* records 32 | offset of the first free byte 32 */
	_Atomic uint64_t window; /* the head when the writer last began to read the clock */
	/* Written by the ring's writer while OPENING or when it closes. */
	_Atomic uint64_t next;   /* the ring's next chunk: generation 32 | number + 1 */
	_Atomic uint64_t last;   /* time of the last record */
	uint64_t opened;
	/*
	 * the thread of the records up to the first IDENT record; ident.before is the number of
	 * records in the ring's earlier chunks, modulo 2^32
	 */
	struct ptx_ident ident;
	unsigned char records[];
};

struct ptx_ring {
	_Alignas(PTX_CACHE_LINE) _Atomic uint64_t holder;
	/* generation 32 | number + 1 of its first chunk, 0 = none yet */
	_Atomic uint64_t first;
	_Atomic uint64_t current;   /* the same for the chunk that the writer fills now */
	_Atomic uint64_t published; /* records in its closed chunks */
	/*
	 * The reader stores here how far it has delivered the records (ptx_delivered() in words.h).
	 * From this place on, an observer finds in the chunk the records that the reader has
	 * claimed and copied but not delivered.
	 */
	_Atomic uint64_t delivered;
};

/* One thread of a traced process, as the region describes it. */
struct ptx_slot {
	_Alignas(PTX_CACHE_LINE) _Atomic uint32_t word;
	_Atomic uint32_t pid;
	_Atomic uint32_t tid;
	_Atomic uint64_t thread;
	_Atomic uint64_t lost[PTX_WRITER_ROWS];
};

/* Sizes of a region; each process keeps its own copy and never reads them from shared memory. */
struct ptx_geometry {
	size_t asked;       /* the stream_size that it was planned for */
	size_t chunk_bytes; /* bytes of a large chunk */
	size_t chunk_room;  /* bytes for records in a large chunk */
	size_t small_bytes; /* bytes of a small chunk; not more than chunk_bytes */
	size_t small_room;
	size_t record_max;  /* the largest record */
	/* largest number of rings, PTX_RINGS or PTX_RINGS_FEW; there can be as many slots */
	uint32_t rings;
	/*
	 * a stream with more rings than this number has "many" rings; 0: the stream has many from
	 * its first ring on
	 */
	uint32_t few_rings;
	bool is_tight;      /* large and small chunks have the same size */
	uint32_t chunks;    /* number of chunks in the pool from the beginning, all of them large */
	uint32_t present;   /* how many of the first chunks are present from the start */
	uint32_t required;  /* how many of the first chunks the stream's size requires */
	uint32_t chunks_max;
	/*
	 * large chunks have numbers below this number, small chunks have this number or a greater
	 * one
	 */
	uint32_t large;
	/*
	 * chunks below this number are in the region; the others are in the far part, behind the
	 * region
	 */
	uint32_t near_chunks;
	uint32_t tier_rings[PTX_TIERS];
	uint32_t hint_last[PTX_HINTS][PTX_TIERS]; /* the index of a queue's last place */
	size_t hints_at[PTX_HINTS][PTX_TIERS];
	size_t hints_first; /* the end of the queues that are present from the start */
	size_t words_at, claimed_at, present_at, rings_at, slots_at;
	size_t checkpoint_at, info_at, chunks_at, small_at, skips_at;
	size_t bytes;       /* bytes of the region without its far part */
	/* bytes up to the end of the first chunks, which the stream's size requires */
	size_t bytes_first;
	size_t far_bytes;   /* a multiple of the page size, as the member `bytes` is */
	size_t capacity;    /* bytes of events for which the stream always has room */
	/*
	 * bytes of chunks up to which the pool of a LOOP stream, or of a stream with many rings,
	 * grows without a search
	 */
	size_t memory;
	/* bytes that are added to the member `memory` for each ring except the controller's */
	size_t ring_memory;
};

/* The parts of a region that become present while it is used (pool.c). */
enum ptx_table {
	PTX_TABLE_RINGS,
	PTX_TABLE_SLOTS,
	PTX_TABLE_WORDS,
	PTX_TABLE_CLAIMED,
	PTX_TABLE_PRESENT,
	PTX_TABLE_CHUNKS,
	PTX_TABLES
};

/*
 * A region as one process maps it. This struct is private memory of the process. While the region
 * is mapped, only the members `far` and `backed` change.
 */
struct ptx_rings {
	struct ptx_region *region;
	_Atomic uint64_t *word;    /* the words of the chunks */
	_Atomic uint64_t *claimed; /* generation 32 | bytes that the reader has claimed */
	/*
	 * for each chunk: how many bytes from its beginning are memory; only its writer changes
	 * this number
	 */
	_Atomic uint32_t *present;
	struct ptx_ring *ring;
	struct ptx_slot *slot;
	_Atomic uint64_t *queue[PTX_HINTS][PTX_TIERS];
	_Atomic uint64_t *skips; /* PTX_SKIP_ROWS rows of PTX_TYPE_MAX counts; see has_skips */
	unsigned char *chunk;
	_Atomic(unsigned char *) far; /* small chunks from near_chunks on; NULL: not mapped yet */
	struct ptx_geometry geometry;
	/* For each part, the address of the page that this process made present last, or 0. */
	_Atomic uintptr_t backed[PTX_TABLES];
	size_t max_data_size;
	bool loop;
	/*
	 * The chunks that the reader has left and not freed; NULL: the reader frees a chunk
	 * immediately.
	 */
	struct ptx_debts *debts;
	/* Makes address space of the region present memory. Async-signal-safe. */
	bool (*back)(void *memory, size_t bytes);
	/*
	 * Maps the far part and sets the member `far`, unless another thread did so first. Returns
	 * false if it cannot be mapped. Async-signal-safe. NULL: this process does not use the far
	 * part.
	 */
	bool (*map_far)(struct ptx_rings *rings);
};

/*
 * Computes the sizes of a region for at most this many rings: PTX_RINGS_FEW or PTX_RINGS. The
 * result has PTX_RINGS_FEW if the small chunks of PTX_RINGS rings would need too much address
 * space. Returns ENOMEM if no such region can exist.
 */
int ptx_ring_plan(size_t stream_size, size_t max_data_size, uint32_t rings,
		  struct ptx_geometry *geometry);

/*
 * Returns the limit of the numbers of chunks: while the stream has this many rings, each chunk has
 * a lower number.
 */
uint32_t ptx_ring_most_chunks(const struct ptx_geometry *geometry, uint32_t rings);

/* Returns the number of entries that the tables of chunks have from the start. */
uint32_t ptx_ring_first_entries(const struct ptx_geometry *geometry);

/*
 * Calls each() with the parts of a region that must be present before ptx_ring_init(), except the
 * first chunks. Stops and returns false if a call returns false.
 */
bool ptx_ring_first_tables(const struct ptx_geometry *geometry,
			   bool (*each)(void *arg, size_t at, size_t bytes), void *arg);

/* Makes a view of a region: the addresses of its parts in this memory. */
void ptx_ring_view(struct ptx_rings *rings, void *memory, const struct ptx_geometry *geometry,
		   size_t max_data_size, bool loop);

/* Makes an empty, suspended region of memory that is all zeros. */
void ptx_ring_init(struct ptx_rings *rings);

/* Starts the calibration; `created` is the first anchor. From then on the writers add anchors. */
void ptx_ring_calibrate(struct ptx_rings *rings, struct ptx_anchor created);

/*
 * Maps the far part of the region, unless this process has mapped it or has failed to map it
 * before. Returns true if it is mapped.
 */
bool ptx_ring_map_far(struct ptx_rings *rings);

/* Returns true if this process has mapped the far part of the region. */
bool ptx_ring_has_far(const struct ptx_rings *rings);

/* Returns true if a chunk with this number can exist, and this process can access it. */
static inline bool ptx_ring_reaches(const struct ptx_rings *rings, uint32_t number)
{
	if (ptx_likely(number < rings->geometry.near_chunks))
		return true;
	return number < rings->geometry.chunks_max && ptx_ring_map_far((struct ptx_rings *)rings);
}

/* Returns true if a chunk with this number is small. The pool need not have such a chunk. */
static inline bool ptx_ring_is_small(const struct ptx_geometry *geometry, uint32_t number)
{
	return number >= geometry->large;
}

/* Returns the kind of hint that announces this chunk when it is free. */
static inline enum ptx_hint ptx_ring_hint_of(const struct ptx_rings *rings, uint32_t number)
{
	return ptx_ring_is_small(&rings->geometry, number) ? PTX_HINT_SMALL : PTX_HINT_FREE;
}

/* Returns the bytes for records in the chunk with this number. */
static inline uint32_t ptx_ring_room_of(const struct ptx_geometry *geometry, uint32_t number)
{
	return (uint32_t)(ptx_ring_is_small(geometry, number) ? geometry->small_room :
								geometry->chunk_room);
}

/*
 * Returns the offset of a chunk in the region. The offsets of the far part follow the offsets of
 * the near part.
 */
static inline size_t ptx_ring_chunk_at(const struct ptx_geometry *geometry, uint32_t number)
{
	if (ptx_likely(!ptx_ring_is_small(geometry, number)))
		return geometry->chunks_at + (size_t)number * geometry->chunk_bytes;
	if (ptx_likely(number < geometry->near_chunks))
		return geometry->small_at +
		       (size_t)(number - geometry->large) * geometry->small_bytes;
	return geometry->bytes + (size_t)(number - geometry->near_chunks) * geometry->small_bytes;
}

/* Returns the chunk with a number for which ptx_ring_reaches() is true. */
static inline struct ptx_chunk *ptx_ring_chunk(const struct ptx_rings *rings, uint32_t number)
{
	const struct ptx_geometry *g = &rings->geometry;
	unsigned char *base = (unsigned char *)rings->region;
	size_t at = ptx_ring_chunk_at(g, number);

	if (ptx_unlikely(number >= g->near_chunks)) {
		base = atomic_load_explicit(&rings->far, memory_order_relaxed);
		at -= g->bytes;
	}
	return (struct ptx_chunk *)(void *)(base + at);
}

/* Returns the bytes for records in the chunk at this address of the process. */
static inline uint32_t ptx_ring_whole_room(const struct ptx_rings *rings,
					   const struct ptx_chunk *chunk)
{
	const struct ptx_geometry *g = &rings->geometry;
	uintptr_t at = (uintptr_t)chunk - (uintptr_t)rings->chunk;

	return (uint32_t)(ptx_likely(at < (size_t)g->large * g->chunk_bytes) ? g->chunk_room :
									      g->small_room);
}

/* Returns true if the stream has so many rings that a further ring begins with a small chunk. */
static inline bool ptx_ring_are_many(const struct ptx_rings *rings)
{
	return atomic_load_explicit(&rings->region->rings, memory_order_relaxed) >
	       rings->geometry.few_rings;
}

/* Returns true if the stream's filter accepts events of this type. */
static inline bool ptx_region_admits(const struct ptx_region *region, unsigned type)
{
	return atomic_load_explicit(&region->admit[type / 64], memory_order_relaxed) >>
		       (type % 64) & 1;
}

/* Returns true if events of this type are not recorded but counted as skipped. */
static inline bool ptx_region_skips(const struct ptx_region *region, unsigned type)
{
	return atomic_load_explicit(&region->skip[type / 64], memory_order_relaxed) >>
		       (type % 64) & 1;
}

/* Returns the number of chunks in the pool at this moment. */
static inline uint32_t ptx_ring_chunks(const struct ptx_rings *rings)
{
	uint32_t chunks = atomic_load_explicit(&rings->region->chunks, memory_order_acquire);

	return chunks < rings->geometry.chunks_max ? chunks : rings->geometry.chunks_max;
}

/*
 * Returns the bytes of the chunks that are free at this moment. The counts are shared memory, so
 * the result may be any number of bytes.
 */
static inline size_t ptx_ring_free_bytes(const struct ptx_rings *rings)
{
	const struct ptx_region *region = rings->region;
	uint32_t all = atomic_load_explicit(&region->free_chunks, memory_order_relaxed);
	uint32_t small = atomic_load_explicit(&region->free_small, memory_order_relaxed);

	small = small < all ? small : all;
	return (size_t)(all - small) * rings->geometry.chunk_bytes +
	       (size_t)small * rings->geometry.small_bytes;
}

/* Returns the number of rings of the stream at this moment. */
static inline uint32_t ptx_ring_count(const struct ptx_rings *rings)
{
	uint32_t count = atomic_load_explicit(&rings->region->rings, memory_order_acquire);

	return count < rings->geometry.rings ? count : rings->geometry.rings;
}

/*
 * Returns the number of the ring's records up to the end of a chunk with this identity and head,
 * modulo 2^32.
 */
static inline uint32_t ptx_chunk_records(const struct ptx_ident *ident, uint64_t head)
{
	return ident->before + ptx_head_records(head);
}

/*
 * One queue of hints (hint.c). A push adds a hint and never fails: a full queue loses its oldest
 * hint. A pop removes the oldest hint, and returns false if there is none. If `grows` is false, no
 * thread adds hints to this queue any more, and a pop skips holes immediately.
 */
void ptx_hint_push(struct ptx_hints *hints, _Atomic uint64_t *queue, uint32_t last,
		   uint32_t number, uint32_t generation);
bool ptx_hint_pop(struct ptx_hints *hints, _Atomic uint64_t *queue, uint32_t last, bool grows,
		  uint32_t *number, uint32_t *generation);

/*
 * These functions use all queues of one kind as one queue, whose memory grows with the number of
 * rings. ptx_ring_hint() adds a hint, ptx_ring_hinted() removes one or returns false,
 * ptx_ring_has_hints() returns whether there is one at this moment, and ptx_ring_hints_taken()
 * returns how many were removed so far, modulo 2^32.
 */
void ptx_ring_hint(struct ptx_rings *rings, enum ptx_hint kind, uint32_t number,
		   uint32_t generation);
bool ptx_ring_hinted(struct ptx_rings *rings, enum ptx_hint kind, uint32_t *number,
		     uint32_t *generation);
bool ptx_ring_has_hints(const struct ptx_rings *rings, enum ptx_hint kind);
uint32_t ptx_ring_hints_taken(const struct ptx_rings *rings, enum ptx_hint kind);

#endif
