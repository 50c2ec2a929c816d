/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * ring/ring_write.c - how writers acquire and close chunks. claim.c does the same for rings.
 *
 * Every change of ownership is one compare-and-swap on one word. Hints only show where a search may
 * succeed. A writer searches the words themselves before it reports that there is no chunk.
 */
#include "ring/ring_write.h"

#include "base/clock.h"
#include "ring/chunk.h"
#include "ring/overwrite.h"
#include "ring/pool.h"
#include "ring/spare.h"

/*
 * The most searches that a writer makes. It repeats a search if a reader has freed, or another
 * writer has taken, the chunks that the search has found.
 */
#define LOOP_TRIES      64
/* The most hints that a writer puts back because it cannot access the far chunks that they name. */
#define UNREACHED_TRIES 64
/* A writer searches for free small chunks without a hint only if more than LOST_MIN may exist. */
#define LOST_MIN        64

/*
 * The parameter `chunk` is a pointer of this process into the near or the far part, so the result
 * is below chunks_max.
 */
static uint32_t chunk_number(const struct ptx_rings *rings, const struct ptx_chunk *chunk)
{
	const struct ptx_geometry *g = &rings->geometry;
	const unsigned char *far = atomic_load_explicit(&rings->far, memory_order_relaxed);
	uintptr_t at = (uintptr_t)chunk - (uintptr_t)rings->chunk;

	/*
	 * Unless the geometry is tight (is_tight), the size of a large chunk is a power of two. The
	 * function then shifts, because a shift costs less than a division.
	 */
	if (ptx_likely(at < (size_t)g->large * g->chunk_bytes))
		return (uint32_t)(g->chunk_bytes & (g->chunk_bytes - 1) ?
					  at / g->chunk_bytes :
					  at >> __builtin_ctzll(g->chunk_bytes));
	at = (uintptr_t)chunk - (uintptr_t)rings->region - g->small_at;
	if (ptx_likely(at < (size_t)(g->near_chunks - g->large) * g->small_bytes))
		return g->large + (uint32_t)(at / g->small_bytes);
	return g->near_chunks + (uint32_t)(((uintptr_t)chunk - (uintptr_t)far) / g->small_bytes);
}

/* The table is shared memory, so the function limits a hostile value to the size of the chunk. */
uint32_t ptx_ring_room(const struct ptx_rings *rings, const struct ptx_chunk *chunk)
{
	uint32_t number = chunk_number(rings, chunk);
	uint32_t present = atomic_load_explicit(&rings->present[number], memory_order_relaxed);
	uint32_t room = ptx_ring_room_of(&rings->geometry, number);

	present = present < sizeof *chunk ? 0 : present - (uint32_t)sizeof *chunk;
	return present < room ? present : room;
}

/*
 * The holder of the chunk calls this function. The function may make a system call, but not in a
 * quiet process. *loss changes only if the room was too small at first.
 */
uint32_t ptx_ring_extend(struct ptx_rings *rings, const struct ptx_chunk *chunk, size_t end,
			 enum ptx_writer_loss *loss)
{
	uint32_t room = ptx_ring_room(rings, chunk);

	if (ptx_likely(end <= room))
		return room;
	*loss = PTX_WRITER_NO_MEMORY;
	ptx_pool_present(rings, chunk_number(rings, chunk), sizeof *chunk + end);
	return ptx_ring_room(rings, chunk);
}

/*
 * Acquires the chunk with this number for the ring, if it is in the given state. *word becomes the
 * chunk's word as it was before. The new generation makes all links to the chunk's former use
 * invalid. The caller has checked ptx_ring_reaches().
 */
static bool take_word(struct ptx_rings *rings, uint32_t number, enum ptx_chunk_state state,
		      uint64_t *word, uint32_t ring)
{
	*word = atomic_load_explicit(&rings->word[number], memory_order_acquire);
	return ptx_word_state(*word) == state &&
	       atomic_compare_exchange_strong_explicit( /* (G) with (H) in ring_read.c */
		       &rings->word[number], word,
		       ptx_chunk_word(ptx_word_generation(*word) + 1, ring, PTX_CHUNK_OPENING),
		       memory_order_acq_rel, memory_order_relaxed);
}

/*
 * Lowers the counts of free chunks, and returns `number`. The caller has taken the chunk before. So
 * the counts are too high for a moment, and another writer may search without success.
 */
static uint32_t took_free(struct ptx_rings *rings, uint32_t number)
{
	atomic_fetch_sub_explicit(&rings->region->free_chunks, 1, memory_order_relaxed);
	if (ptx_ring_is_small(&rings->geometry, number))
		atomic_fetch_sub_explicit(&rings->region->free_small, 1, memory_order_relaxed);
	return number;
}

/*
 * Acquires a chunk that a hint names. If this process cannot access that chunk, the function puts
 * the hint back at the end of the queue.
 */
static uint32_t take_hinted(struct ptx_rings *rings, enum ptx_hint kind, uint32_t ring)
{
	uint32_t number, generation, passed = 0;
	uint64_t word;

	for (uint32_t i = 0; i < rings->geometry.chunks_max && passed < UNREACHED_TRIES; i++) {
		if (!ptx_ring_hinted(rings, kind, &number, &generation))
			break;
		if (number >= rings->geometry.chunks_max)
			continue;
		if (!ptx_ring_reaches(rings, number)) {
			ptx_ring_hint(rings, kind, number, generation);
			passed++;
			continue;
		}
		if (take_word(rings, number, PTX_CHUNK_FREE, &word, ring))
			return took_free(rings, number);
	}
	return PTX_NONE;
}

/*
 * Acquires the chunk with this number if it is FREE. If the number has no chunk (ABSENT) although a
 * writer has taken the number, that writer was killed or is slow. The function then adds the chunk
 * in place of that writer.
 */
static bool take_number(struct ptx_rings *rings, uint32_t number, uint32_t ring)
{
	uint64_t word;

	if (!ptx_ring_reaches(rings, number))
		return false;
	if (take_word(rings, number, PTX_CHUNK_FREE, &word, ring)) {
		took_free(rings, number);
		return true;
	}
	/*
	 * When the pool has a small chunk, no large chunk is added any more: the remaining numbers
	 * of large chunks stay ABSENT.
	 */
	return ptx_word_state(word) == PTX_CHUNK_ABSENT &&
	       (ptx_ring_is_small(&rings->geometry, number) ||
		ptx_ring_chunks(rings) <= rings->geometry.large) &&
	       ptx_pool_add(rings, number, ring);
}

/*
 * Acquires a free small chunk whose hint was lost. A search begins where the last search ended.
 * Otherwise each of many searches would visit the same chunks again.
 *
 * A writer searches only if the count of free small chunks exceeds the surplus (free_surplus) by
 * more than LOST_MIN. A few chunks are not worth a search, and the count may be too high by a few
 * for a moment. If a writer is killed in took_free(), the count stays too high. So a search that
 * finds no chunk stores the count as the surplus. If other writers and a reader change the count
 * during the search, the surplus may become too large. Then writers overlook free chunks, and the
 * pool grows instead. No event is lost, because take_free() searches all words before the writer
 * gives up.
 */
static uint32_t take_lost(struct ptx_rings *rings, uint32_t ring)
{
	struct ptx_region *region = rings->region;
	const uint32_t large = rings->geometry.large, chunks = ptx_ring_chunks(rings);
	const uint32_t count = chunks > large ? chunks - large : 0;
	uint32_t before = atomic_load_explicit(&region->free_small, memory_order_relaxed), after;
	uint32_t surplus = atomic_load_explicit(&region->free_surplus, memory_order_relaxed);
	uint32_t from = atomic_load_explicit(&region->lost_at, memory_order_relaxed);
	bool reaches_all = true;
	uint64_t word;

	/* A hostile surplus may exceed the count. */
	if (count == 0 || before <= surplus || before - surplus <= LOST_MIN)
		return PTX_NONE;
	for (uint32_t i = 0; i < count; i++) {
		uint32_t number = large + (from % count + i) % count;

		if (!ptx_ring_reaches(rings, number)) {
			reaches_all = false;
		} else if (take_word(rings, number, PTX_CHUNK_FREE, &word, ring)) {
			atomic_store_explicit(&region->lost_at, number - large + 1,
					      memory_order_relaxed);
			return took_free(rings, number);
		}
	}
	after = atomic_load_explicit(&region->free_small, memory_order_relaxed);
	/* Free chunks that only other processes can access are real, so they are no surplus. */
	if (reaches_all)
		atomic_store_explicit(&region->free_surplus, before < after ? before : after,
				      memory_order_relaxed);
	return PTX_NONE;
}

/*
 * Acquires a free chunk by a hint, or a small chunk whose hint was lost. In a stream with many
 * rings, a ring begins with a small chunk, because most writers record little. When the writer has
 * filled the small chunk, it gets a large chunk if one is free.
 */
static uint32_t take_by_hint(struct ptx_rings *rings, uint32_t ring)
{
	bool many = ptx_ring_are_many(rings);
	uint32_t number = PTX_NONE;

	if (!many || rings->geometry.is_tight ||
	    atomic_load_explicit(&rings->ring[ring].current, memory_order_relaxed) != 0)
		number = take_hinted(rings, PTX_HINT_FREE, ring);
	if (number == PTX_NONE && many)
		number = take_hinted(rings, PTX_HINT_SMALL, ring);
	return number == PTX_NONE && many ? take_lost(rings, ring) : number;
}

/*
 * Acquires a chunk without loss of events: a free chunk, a spare chunk of a LOOP stream, or a new
 * chunk of the pool. If no hint leads to a chunk, searches all words, because hints may be missing.
 */
static uint32_t take_free(struct ptx_rings *rings, uint32_t ring, enum ptx_writer_loss *loss)
{
	uint32_t number = PTX_NONE;

	/*
	 * free_chunks is never too low. So if it is 0, no chunk is free, and all hints are out of
	 * date. If a reader frees a chunk during this search, the search may miss the chunk. The
	 * result is as if the reader had freed the chunk later.
	 */
	if (atomic_load_explicit(&rings->region->free_chunks, memory_order_relaxed) != 0)
		number = take_by_hint(rings, ring);
	if (number == PTX_NONE && ptx_pool_can_grow(rings)) {
		if (rings->loop && ptx_pool_has_its_memory(rings))
			number = ptx_spare_take(rings, ring);
		if (number == PTX_NONE)
			number = ptx_pool_grow(rings, ring, loss);
	}
	if (number != PTX_NONE)
		return number;
	/*
	 * In a LOOP stream the writer can overwrite a chunk. So it searches all words only if
	 * free_chunks shows that a chunk is free.
	 */
	if (rings->loop &&
	    atomic_load_explicit(&rings->region->free_chunks, memory_order_relaxed) == 0)
		return PTX_NONE;
	for (number = 0; number < ptx_ring_chunks(rings); number++)
		if (take_number(rings, number, ring))
			return number;
	return PTX_NONE;
}

/*
 * The function compares all closed chunks that this process can access. Another writer may reuse
 * the chunk at any time, so ptx_overwrite() checks the generation.
 */
uint32_t ptx_chunk_oldest(const struct ptx_rings *rings, uint64_t *time, uint32_t *generation)
{
	uint64_t oldest = UINT64_MAX;
	uint32_t found = PTX_NONE;

	for (uint32_t i = 0; i < ptx_ring_chunks(rings); i++) {
		uint64_t word = atomic_load_explicit(&rings->word[i], memory_order_acquire), last;

		if (ptx_word_state(word) != PTX_CHUNK_CLOSED || !ptx_ring_reaches(rings, i))
			continue;
		last = atomic_load_explicit(&ptx_ring_chunk(rings, i)->last, memory_order_relaxed);
		if (last < oldest) {
			oldest = last;
			found = i;
			*generation = ptx_word_generation(word) & 0xffff;
		}
	}
	*time = oldest;
	return found;
}

/*
 * A writer may be killed, or leave by longjmp(), after it closed a chunk and before it added the
 * hint. No search by hints would find that chunk, and no writer would reuse it. So each search also
 * examines one chunk directly, one number after the other, and overwrites this chunk if no event of
 * the chunk is younger than the cut.
 */
static uint32_t take_forgotten(struct ptx_rings *rings, uint32_t ring)
{
	const struct ptx_region *region = rings->region;
	uint32_t chunks = ptx_ring_chunks(rings), number;
	uint64_t word;

	if (chunks == 0)
		return PTX_NONE;
	number = ptx_ring_hints_taken(rings, PTX_HINT_CLOSED) % chunks;
	word = atomic_load_explicit(&rings->word[number], memory_order_acquire);
	if (ptx_word_state(word) == PTX_CHUNK_ABSENT && take_number(rings, number, ring))
		return number;
	if (ptx_word_state(word) != PTX_CHUNK_CLOSED || !ptx_ring_reaches(rings, number) ||
	    atomic_load_explicit(&ptx_ring_chunk(rings, number)->last, memory_order_relaxed) >
		    atomic_load_explicit(&region->cut, memory_order_relaxed) ||
	    !ptx_overwrite(rings, number, ptx_word_generation(word) & 0xffff, ring))
		return PTX_NONE;
	return number;
}

/*
 * Acquires a closed chunk: a forgotten chunk, or else the first chunk of the queue of hints, or
 * else the chunk whose last record is the oldest.
 */
static uint32_t take_closed(struct ptx_rings *rings, uint32_t ring)
{
	uint32_t number = take_forgotten(rings, ring), generation, passed = 0;
	uint64_t last;

	if (number != PTX_NONE)
		return number;
	for (uint32_t i = 0; i < rings->geometry.chunks_max && passed < UNREACHED_TRIES; i++) {
		if (!ptx_ring_hinted(rings, PTX_HINT_CLOSED, &number, &generation))
			break;
		if (number >= rings->geometry.chunks_max)
			continue;
		if (!ptx_ring_reaches(rings, number)) {
			ptx_ring_hint(rings, PTX_HINT_CLOSED, number, generation);
			passed++;
		} else if (ptx_overwrite(rings, number, generation, ring)) {
			return number;
		}
	}
	/*
	 * Other writers compete for the oldest chunk. While there is a closed chunk, one of the
	 * writers succeeds.
	 */
	for (uint32_t i = 0; i < rings->geometry.chunks_max; i++) {
		number = ptx_chunk_oldest(rings, &last, &generation);
		/*
		 * The generation must match: a chunk that was reused and closed again meanwhile has
		 * young events.
		 */
		if (number == PTX_NONE || ptx_overwrite(rings, number, generation, ring))
			return number;
	}
	return PTX_NONE;
}

/* Acquires a chunk for the ring, in the state OPENING. Returns PTX_NONE if there is none. */
static uint32_t ring_write_take(struct ptx_rings *rings, uint32_t ring, enum ptx_writer_loss *loss)
{
	uint32_t number = take_free(rings, ring, loss);

	/*
	 * Either search can fail although there is a chunk: a reader may free closed chunks during
	 * the search for closed chunks, and other writers may take and close free chunks during the
	 * search for free chunks. So the writer repeats both searches.
	 */
	for (uint32_t i = 0; number == PTX_NONE && rings->loop && i < LOOP_TRIES; i++) {
		number = take_closed(rings, ring);
		if (number == PTX_NONE)
			number = take_free(rings, ring, loss);
	}
	return number;
}

/*
 * Makes a chunk FREE that the writer holds and will not use. The function raises free_chunks before
 * it stores the word, so that the count is never too low. If a handler leaves by longjmp() between
 * the two stores, the count is one too high. One later search then finds no chunk.
 */
static void drop_chunk(struct ptx_rings *rings, uint32_t number, uint64_t word)
{
	/* A chunk without present memory was never used, so its head needs no reset. */
	if (atomic_load_explicit(&rings->present[number], memory_order_relaxed))
		atomic_store_explicit(&ptx_ring_chunk(rings, number)->head, 0,
				      memory_order_release); /* (O) with (P) in ring_read.c */
	atomic_fetch_add_explicit(&rings->region->free_chunks, 1, memory_order_relaxed);
	if (ptx_ring_is_small(&rings->geometry, number))
		atomic_fetch_add_explicit(&rings->region->free_small, 1, memory_order_relaxed);
	atomic_store_explicit(&rings->word[number],
			      ptx_chunk_word(ptx_word_generation(word), 0, PTX_CHUNK_FREE),
			      memory_order_release); /* (H) with (G) in ring_write.c */
	ptx_ring_hint(rings, ptx_ring_hint_of(rings, number), number, ptx_word_generation(word));
}

/*
 * The function returns an OPEN chunk that belongs to no chain yet. If the writer is killed before
 * it stores the link, ptx_rings_mend() frees the chunk: the chunk's word names the ring, but the
 * chunk is empty and is not the ring's current chunk.
 */
struct ptx_chunk *ptx_chunk_open(struct ptx_rings *rings, uint32_t ring,
				 const struct ptx_ident *ident, uint32_t before, uint64_t *link,
				 enum ptx_writer_loss *loss)
{
	uint32_t number = ring_write_take(rings, ring, loss), generation;
	struct ptx_ident first = *ident;
	struct ptx_chunk *chunk;
	uint64_t word;

	if (number == PTX_NONE)
		return NULL;
	word = atomic_load_explicit(&rings->word[number], memory_order_relaxed);
	if (ptx_unlikely(!ptx_pool_present(rings, number, sizeof *chunk))) {
		*loss = PTX_WRITER_NO_MEMORY;
		drop_chunk(rings, number, word);
		/* A closed chunk has memory, so a LOOP stream can continue with it. */
		number = rings->loop ? take_closed(rings, ring) : PTX_NONE;
		if (number == PTX_NONE)
			return NULL;
		word = atomic_load_explicit(&rings->word[number], memory_order_relaxed);
	}
	chunk = ptx_ring_chunk(rings, number);
	generation = ptx_word_generation(word);
	/*
	 * ident.before is the number of the ring's records before this chunk. By this number a
	 * reader notices that earlier records are missing.
	 */
	first.before = before;
	/* (O) with (P) in ring_read.c. The fence orders the stores of later records, too. */
	atomic_thread_fence(memory_order_release);
	atomic_store_explicit(&chunk->head, 0, memory_order_relaxed);
	atomic_store_explicit(&chunk->window, UINT64_MAX, memory_order_relaxed);
	atomic_store_explicit(&chunk->next, 0, memory_order_relaxed);
	/*
	 * ptx_clock_begin() reads the clock and then has a fence. So no record of the chunk has an
	 * earlier time than `opened`. A ring's chunks are in the order of their times, too, because
	 * the thread that opened the ring's previous chunk has passed such a fence. If that was
	 * another thread, this thread has also passed the fence of claim_hold(). The threads of the
	 * controller claim the controller's ring only once; for that ring, prepare_record() in
	 * posix/control.c has the fence. There is no fence before the clock reading, because the
	 * writer would wait there for its loads of the chunk's former records. Without that fence
	 * the time may be a little too early, but it remains a lower bound.
	 */
	ptx_store_word(&chunk->opened, ptx_clock_begin());
	ptx_copy_in((unsigned char *)&chunk->ident, (const unsigned char *)&first, sizeof first);
	atomic_store_explicit(&rings->claimed[number], (uint64_t)generation << 32,
			      memory_order_relaxed);
	atomic_store_explicit(&rings->word[number],
			      ptx_chunk_word(generation, ring, PTX_CHUNK_OPEN),
			      memory_order_release); /* (C) with (D) in ring_read.c */
	*link = ptx_link(number, generation);
	return chunk;
}

/*
 * Returns the time of the last record, or the time of the opening if the chunk has no record. The
 * window normally has the offset of the last record. If the writer began a further record and
 * discarded it, the window has the offset of the end of the records. Then the function examines the
 * records one by one. It checks all offsets, because any process may have stored them.
 */
static uint64_t last_time(const struct ptx_rings *rings, const struct ptx_chunk *chunk)
{
	uint32_t end = ptx_head_offset(atomic_load_explicit(&chunk->head, memory_order_relaxed));
	uint32_t at = ptx_head_offset(atomic_load_explicit(&chunk->window, memory_order_relaxed) &
				      PTX_HEAD_MASK);
	uint32_t room = ptx_ring_whole_room(rings, chunk);
	uint64_t last = chunk->opened;

	if (end > room)
		end = room;
	if (at < end && at + sizeof(struct ptx_record) <= room)
		return ((const struct ptx_record *)(const void *)(chunk->records + at))->time;
	for (at = 0; at + sizeof(struct ptx_record) <= end;) {
		const struct ptx_record *record = (const void *)(chunk->records + at);

		last = record->time;
		at += (uint32_t)ptx_record_size(ptx_record_len(record->len_flags));
	}
	return last;
}

/*
 * Returns the number of the ring's records up to the end of the chunk, modulo 2^32: the number of
 * records before the chunk, from the chunk's header, plus the number of records in the chunk.
 */
static uint32_t records_so_far(const struct ptx_chunk *chunk)
{
	return ptx_chunk_records(&chunk->ident,
				 atomic_load_explicit(&chunk->head, memory_order_relaxed));
}

/*
 * Makes the chunk CLOSED, with the link to the next chunk. If a handler leaves the function by
 * longjmp(), mend_chunk() calls it again for this chunk. The second call then stores the values
 * that the first call has stored or would have stored. The hint is added last, so that it never
 * names a chunk that is still OPEN.
 */
static void close_chunk(struct ptx_rings *rings, struct ptx_chunk *chunk, uint32_t number,
			uint32_t ring, uint64_t next)
{
	uint64_t word = atomic_load_explicit(&rings->word[number], memory_order_relaxed);
	uint32_t generation = ptx_word_generation(word);
	/*
	 * The member `published` has 64 bits, and records_so_far() has 32. The difference modulo
	 * 2^32 is the number of this chunk's records. The difference is 0 if an interrupted call
	 * has already added these records to `published`.
	 */
	uint64_t published = atomic_load_explicit(&rings->ring[ring].published,
						  memory_order_relaxed);

	atomic_store_explicit(&chunk->next, next, memory_order_relaxed);
	atomic_store_explicit(&chunk->last, last_time(rings, chunk), memory_order_relaxed);
	atomic_store_explicit(&rings->ring[ring].published,
			      published + (uint32_t)(records_so_far(chunk) - (uint32_t)published),
			      memory_order_relaxed);
	atomic_store_explicit(&rings->word[number],
			      ptx_chunk_word(generation, ring, PTX_CHUNK_CLOSED),
			      memory_order_release); /* (C) with (D) in ring_read.c */
	if (rings->loop)
		ptx_ring_hint(rings, PTX_HINT_CLOSED, number, generation);
}

/*
 * Adds an anchor, at most once in a second. The exchange of the member `due` chooses one writer.
 * This writer overwrites the older of the two anchors. It then stores the count, which from then on
 * selects the new anchor. So a reader never uses an incomplete anchor. If the writer is killed
 * between the exchange and the store of the count, no writer adds an anchor for a second, and the
 * count still selects the valid anchor.
 */
ptx_cold static void add_anchor(struct ptx_calibration *calibration, uint64_t now, uint64_t due)
{
	uint64_t count = atomic_load_explicit(&calibration->count, memory_order_relaxed) + 1;

	if (!atomic_compare_exchange_strong_explicit(&calibration->due, &due,
						     now + calibration->hz, memory_order_acquire,
						     memory_order_relaxed))
		return;
	calibration->anchor[count % 2] = ptx_clock_anchor();
	atomic_store_explicit(&calibration->count, count, memory_order_release);
}

/*
 * The holder of the ring calls this function when the next record does not fit into the open chunk.
 * After a failure the ring keeps this chunk, so smaller records may still fit.
 */
bool ptx_ring_turn(struct ptx_rings *rings, struct ptx_chunk **place,
		   const struct ptx_ident *ident, enum ptx_writer_loss *loss)
{
	struct ptx_chunk *chunk = *place, *fresh;
	uint64_t word, link, due;
	uint32_t ring, number;

	*loss = PTX_WRITER_STREAM_FULL;
	if (!chunk)
		return false; /* this process is a child, in which the kernel has zeroed *place */
	number = chunk_number(rings, chunk);
	word = atomic_load_explicit(&rings->word[number], memory_order_relaxed);
	ring = ptx_word_ring(word);
	if (ring >= rings->geometry.rings)
		return false; /* a hostile process has changed the word */
	fresh = ptx_chunk_open(rings, ring, ident, records_so_far(chunk), &link, loss);
	if (!fresh)
		return false;
	/*
	 * *place names the new chunk before the old chunk is closed, because a handler may leave
	 * the function here by longjmp().
	 */
	*place = fresh;
	atomic_signal_fence(memory_order_seq_cst);
	atomic_store_explicit(&rings->ring[ring].current, link, memory_order_release);
	close_chunk(rings, chunk, number, ring, link);
	due = atomic_load_explicit(&rings->region->calibration.due, memory_order_relaxed);
	if (ptx_unlikely(fresh->opened >= due))
		add_anchor(&rings->region->calibration, fresh->opened, due);
	return true;
}

/*
 * Completes or reverses a change of chunks that the ring's writer did not finish. The parameter `i`
 * is the number of a chunk of the ring, and `word` is the chunk's word. The current chunk stays as
 * it is. The caller holds the ring, so no writer works in it.
 *
 * If the chunk is OPENING, the writer had acquired it and not yet linked it. The function counts
 * the records that were overwritten in the chunk, and frees it. If the chunk is OPEN without a
 * record, the writer had not linked it either, so the function frees it. If the chunk is OPEN with
 * records, it was the current chunk before: the writer had linked the next chunk and had not closed
 * this chunk yet. So the function closes it.
 */
static void mend_chunk(struct ptx_rings *rings, uint32_t ring, uint32_t i, uint64_t word)
{
	uint64_t current = atomic_load_explicit(&rings->ring[ring].current, memory_order_acquire);
	struct ptx_chunk *chunk;

	if (ptx_link(i, ptx_word_generation(word)) == current || !ptx_ring_reaches(rings, i))
		return;
	chunk = ptx_ring_chunk(rings, i);
	if (ptx_word_state(word) == PTX_CHUNK_OPENING) {
		if (atomic_load_explicit(&rings->present[i], memory_order_relaxed))
			ptx_overwrite_finish(rings, i);
		drop_chunk(rings, i, word);
	} else if (ptx_word_state(word) != PTX_CHUNK_OPEN) {
		return;
	} else if (atomic_load_explicit(&chunk->head, memory_order_relaxed) == 0) {
		drop_chunk(rings, i, word); /* opened, but not yet in the ring */
	} else {
		close_chunk(rings, chunk, i, ring, current);
	}
}

/*
 * A walk must visit the chunks of all rings even for one ring, so one walk mends many rings. For a
 * ring whose number is below `first`, the difference wraps and is then at least `count`.
 */
void ptx_rings_mend(struct ptx_rings *rings, uint32_t first, uint32_t count,
		    const unsigned char *held)
{
	for (uint32_t i = 0; i < ptx_ring_chunks(rings); i++) {
		uint64_t word = atomic_load_explicit(&rings->word[i], memory_order_acquire);
		uint32_t at = ptx_word_ring(word) - first;

		if (ptx_word_state(word) > PTX_CHUNK_FREE && at < count &&
		    held[at / 8] >> at % 8 & 1)
			mend_chunk(rings, first + at, i, word);
	}
}

/*
 * A thread calls this function for its own ring after a longjmp() and before it releases the ring.
 * A guardian calls this function for the controller's ring. Async-signal-safe. Returns NULL if the
 * ring has no chunk, or if this process cannot map the chunk.
 */
struct ptx_chunk *ptx_ring_mend(struct ptx_rings *rings, uint32_t ring)
{
	const unsigned char held = 1;
	uint64_t current;

	ptx_rings_mend(rings, ring, 1, &held);
	current = atomic_load_explicit(&rings->ring[ring].current, memory_order_acquire);
	if (current == 0 || !ptx_ring_reaches(rings, ptx_link_number(current)))
		return NULL;
	return ptx_ring_chunk(rings, ptx_link_number(current));
}
