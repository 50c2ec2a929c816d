/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * ring/ring_write.h - the write side of ring.h.
 *
 * A writer stores an event beyond the chunk's head, where no reader looks. One store of the head
 * makes the event part of the ring. So a writer that dies, or leaves by siglongjmp(), leaves no
 * incomplete event.
 *
 *	prepare   returns the place for a record, or NULL: the writer then turns to the next chunk
 *	stamp     opens the window: the last step before the clock is read (K)
 *	publish   stores the time and the head (A)
 *
 * Threads   any number of writers, each in its own rings. Signals: async-signal-safe.
 */
#ifndef PTX_RING_RING_WRITE_H
#define PTX_RING_RING_WRITE_H

#include <string.h>

#include "ring/ring.h"

/*
 * Claims a ring for a thread at one nesting level, and returns the ring's open chunk. The records
 * that follow belong to the thread in `ident`. Returns NULL if there is no ring or no room; *loss
 * is the cause.
 */
struct ptx_chunk *ptx_ring_claim(struct ptx_rings *rings, const struct ptx_ident *ident,
				 uint32_t *ring, enum ptx_writer_loss *loss);

/*
 * Turns to the ring's next chunk. Returns false if there is none; *loss is the cause, and *chunk
 * stays the chunk to write in.
 */
bool ptx_ring_turn(struct ptx_rings *rings, struct ptx_chunk **chunk,
		   const struct ptx_ident *ident, enum ptx_writer_loss *loss);

/* Returns how many bytes of the chunk's room for records are present in memory. */
uint32_t ptx_ring_room(const struct ptx_rings *rings, const struct ptx_chunk *chunk);

/*
 * Makes the memory for records up to the offset `end` present. Returns the room that is then
 * present, as ptx_ring_room() does. If that is less than `end`, *loss is the cause.
 */
uint32_t ptx_ring_extend(struct ptx_rings *rings, const struct ptx_chunk *chunk, size_t end,
			 enum ptx_writer_loss *loss);

/*
 * Completes or reverses a change of chunks that a writer has not finished, because a handler jumped
 * out of the writer or because the writer was killed. Returns the ring's current chunk, or NULL.
 */
struct ptx_chunk *ptx_ring_mend(struct ptx_rings *rings, uint32_t ring);

/*
 * Mends several rings in one walk over the chunks: for each i below `count`, the ring with the
 * number `first` + i if bit i of `held` is set. The caller holds these rings.
 */
void ptx_rings_mend(struct ptx_rings *rings, uint32_t first, uint32_t count,
		    const unsigned char *held);

/* Leaves the ring to the next thread that claims it. */
void ptx_ring_release(struct ptx_rings *rings, uint32_t ring);

/*
 * Returns the ring's word. A thread compares this word later to see whether it still holds the
 * ring.
 */
static inline uint64_t ptx_ring_held(const struct ptx_rings *rings, uint32_t ring)
{
	return ring < rings->geometry.rings ? atomic_load_explicit(&rings->ring[ring].holder,
						       memory_order_acquire) : 0;
}

/*
 * Takes rings and slots from processes for which is_dead() returns true; `self` is this process.
 * Returns true if it acquired a ring.
 */
bool ptx_ring_reap(struct ptx_rings *rings, uint32_t self, bool (*is_dead)(uint32_t pid));

/* Returns true if a ring other than the controller's names this process as its holder. */
bool ptx_ring_has_former(const struct ptx_rings *rings, uint32_t self);

/*
 * Takes the rings and slots that this process, `self`, claimed before it executed its present
 * program. The bit `bit` of *fresh is set until a thread of the present program may claim a ring;
 * once it is cleared, the function takes no further ring. Only one thread may make this call, with
 * all signals blocked: a handler that forks would leave the taken rings to two processes.
 */
void ptx_ring_reap_former(struct ptx_rings *rings, uint32_t self, const _Atomic uint64_t *fresh,
			  uint64_t bit);

/*
 * Makes the ring's next records belong to the thread in `ident`. Returns false if there is no room;
 * *loss is the cause.
 */
bool ptx_ring_identify(struct ptx_rings *rings, struct ptx_chunk **chunk,
		       const struct ptx_ident *ident, enum ptx_writer_loss *loss);

/*
 * Claims a slot for the thread. Returns generation and index of the slot, as struct ptx_ident has
 * them. Returns 0, the common slot, if no slot is left or if there is no memory. ptx_slot_release()
 * makes the slot ENDED. An ENDED slot keeps its counts until another thread needs the slot.
 */
uint32_t ptx_slot_claim(struct ptx_rings *rings, uint32_t pid, uint32_t tid, uint64_t thread);
void ptx_slot_release(struct ptx_rings *rings, uint32_t slot);

/* Returns true if the slot still belongs to the thread that claimed it. */
bool ptx_slot_is_held(const struct ptx_rings *rings, uint32_t slot);

/*
 * Counts events of a type as lost for this cause, for the stream and for the thread of the slot.
 * Any writer calls this function, at any time; async-signal-safe.
 */
void ptx_ring_count_loss(struct ptx_rings *rings, enum ptx_writer_loss loss, unsigned type,
			 uint32_t slot, uint64_t count);

/* Wakes the readers that sleep. Called if region->waiters is not 0. */
void ptx_ring_wake(struct ptx_region *region);

/* Raises *word to at least `value`. */
void ptx_raise(_Atomic uint64_t *word, uint64_t value, memory_order order);

#if defined __SANITIZE_THREAD__
#define PTX_COPY_BY_WORDS 1
#elif defined __has_feature
#if __has_feature(thread_sanitizer)
#define PTX_COPY_BY_WORDS 1
#endif
#endif

/* the longest data that ptx_copy_in() copies without a call */
#define PTX_COPY_INLINE 256

#ifndef PTX_COPY_BY_WORDS
/*
 * Copies more than 32 bytes. Up to PTX_COPY_INLINE bytes the copy has pieces of constant size, some
 * of which overlap. For so few bytes a call of memcpy() would cost more, because the trace point
 * would have to save its registers for the call. Source and destination do not overlap.
 */
ptx_inline void ptx_copy_long(unsigned char *to, const unsigned char *from, size_t bytes)
{
	if (bytes <= 64) {
		memcpy(to, from, 32);
		memcpy(to + bytes - 32, from + bytes - 32, 32);
	} else if (bytes <= PTX_COPY_INLINE) {
		memcpy(to, from, 64);
		if (bytes > 128) {
			memcpy(to + 64, from + 64, 64);
			memcpy(to + bytes - 128, from + bytes - 128, 64);
		}
		memcpy(to + bytes - 64, from + bytes - 64, 64);
	} else {
		memcpy(to, from, bytes);
	}
}
#endif

/*
 * Copies data into a record. The reader of a LOOP stream may copy the same bytes at that moment; it
 * notices by (F) and drops its copy. ThreadSanitizer would report these accesses as a race, so a
 * build with it stores the data as relaxed words.
 */
ptx_inline void ptx_copy_in(unsigned char *to, const unsigned char *from, size_t bytes)
{
#ifdef PTX_COPY_BY_WORDS
	for (size_t at = 0; at < bytes; at += 8) {
		uint64_t word = 0;

		memcpy(&word, from + at, bytes - at < 8 ? bytes - at : 8);
		atomic_store_explicit((_Atomic uint64_t *)(void *)(to + at), word,
				      memory_order_relaxed);
	}
#else
	if (bytes == 8) { /* the usual size is tested first */
		memcpy(to, from, 8);
	} else if (bytes > 32) {
		ptx_copy_long(to, from, bytes);
	} else if (bytes >= 16) {
		unsigned char head[16], tail[16];

		memcpy(head, from, 16);
		memcpy(tail, from + bytes - 16, 16);
		memcpy(to, head, 16);
		memcpy(to + bytes - 16, tail, 16);
	} else if (bytes >= 8) {
		uint64_t head, tail;

		memcpy(&head, from, 8);
		memcpy(&tail, from + bytes - 8, 8);
		memcpy(to, &head, 8);
		memcpy(to + bytes - 8, &tail, 8);
	} else if (bytes >= 4) {
		uint32_t head, tail;

		memcpy(&head, from, 4);
		memcpy(&tail, from + bytes - 4, 4);
		memcpy(to, &head, 4);
		memcpy(to + bytes - 4, &tail, 4);
	} else if (bytes) {
		unsigned char first = from[0], middle = from[bytes / 2], last = from[bytes - 1];

		to[0] = first;
		to[bytes / 2] = middle;
		to[bytes - 1] = last;
	}
#endif
}

ptx_inline void ptx_store_word(void *to, uint64_t word)
{
	atomic_store_explicit((_Atomic uint64_t *)to, word, memory_order_relaxed);
}

/*
 * Loads 8 bytes of a chunk that another writer may be filling again. Either the caller checks the
 * chunk's word afterwards, or a wrong value does no harm.
 */
ptx_inline uint64_t ptx_load_word(const void *from)
{
	return atomic_load_explicit((const _Atomic uint64_t *)from, memory_order_relaxed);
}

/*
 * Step 1 of 3. Returns the place for a record of `size` bytes behind the chunk's head, and stores
 * that head in *head. Returns NULL if the chunk has no room. The writer fills the record; readers
 * do not see it yet. The function changes no word that readers use, so a writer may discard the
 * event here.
 */
ptx_inline struct ptx_record *ptx_ring_prepare(const struct ptx_rings *rings,
					       struct ptx_chunk *chunk, size_t size,
					       uint64_t *head)
{
	uint64_t h = atomic_load_explicit(&chunk->head, memory_order_relaxed) & PTX_HEAD_MASK;

	*head = h;
	if (ptx_unlikely(ptx_head_offset(h) + size > ptx_ring_whole_room(rings, chunk)))
		return NULL;
	return (struct ptx_record *)(void *)(chunk->records + ptx_head_offset(h));
}

ptx_inline void ptx_record_fill(struct ptx_record *record, uint32_t len_flags, unsigned type,
				uint64_t address)
{
	/* the second word has the type and, as its upper half, source 0 */
	atomic_store_explicit((_Atomic uint32_t *)&record->len_flags, len_flags,
			      memory_order_relaxed);
	atomic_store_explicit((_Atomic uint32_t *)(void *)&record->type, type,
			      memory_order_relaxed);
	ptx_store_word(&record->address, address);
}

/*
 * Step 2 of 3. Call this function directly before the clock is read. The function opens the window.
 * A reader that sees the open window holds back younger events, since the writer may still publish
 * a record that is older than the reader's clock reading. The parameter `head` is the head that
 * step 1 has stored. A writer that discards the event after this step leaves the window open until
 * its next record.
 */
ptx_inline void ptx_ring_stamp(struct ptx_chunk *chunk, uint64_t head)
{
	atomic_store_explicit(&chunk->window, head, /* (K) with (L) in ring_read.c, drain/pass.c */
			      memory_order_relaxed);
	atomic_signal_fence(memory_order_seq_cst);
}

/*
 * Step 3 of 3. Stores the time and publishes the record by one release store of the head, which
 * also closes the window. The parameter `time` was read after step 2; `size` and `head` are those
 * of step 1.
 */
ptx_inline void ptx_ring_publish(struct ptx_chunk *chunk, struct ptx_record *record, uint64_t head,
				size_t size, uint64_t time)
{
	ptx_store_word(&record->time, time);
	atomic_store_explicit(&chunk->head, head + size + PTX_HEAD_RECORD,
			      memory_order_release); /* (A) with (B) in ring_read.c */
}

#endif
