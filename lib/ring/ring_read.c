/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * ring/ring_read.c - how the reader and observers copy records out of chunks.
 *
 * A read has two steps: copy bytes of the chunk, then claim the bytes or load the chunk's word. The
 * copy is used only if the second step shows that the chunk was not reused during the copy. A place
 * has a link with the chunk's number and generation, so the reader recognizes a chunk that was
 * reused. In a stream with debts no writer overwrites a chunk, so the reader omits the second step.
 *
 * Links, heads and words are hostile. Numbers are checked by ptx_ring_reaches() before each access,
 * heads are limited to the chunk's room, and each walk along links is bounded by the number of
 * chunks.
 *
 * Threads: one reader of a stream at a time, under its lock, and any number of observers. Writers
 * never wait for a reader or an observer.
 */
#include "ring/ring_read.h"

#include <stdlib.h>
#include <string.h>

#include "record/attr.h"
#include "ring/ring_write.h"

/*
 * Copies `bytes` bytes of a chunk that a writer may overwrite at the same time. Loads after this
 * copy cannot move before it (acquire). The caller then loads the chunk's word again, which shows
 * whether the copy is valid.
 */
static void copy_out(unsigned char *to, const unsigned char *from, size_t bytes)
{
#ifdef PTX_COPY_BY_WORDS
	for (size_t at = 0; at < bytes; at += 8) {
		uint64_t word = atomic_load_explicit(
			(const _Atomic uint64_t *)(const void *)(from + at), memory_order_acquire);

		memcpy(to + at, &word, 8);
	}
#else
	memcpy(to, from, bytes);
	atomic_thread_fence(memory_order_acquire); /* (P) with (O) in ring_write.c */
#endif
}

/* Returns true if the chunk still has the link's generation, and has records to read. */
static bool is_there(uint64_t word, uint64_t link)
{
	enum ptx_chunk_state state = ptx_word_state(word);

	return ptx_word_generation(word) == ptx_link_generation(link) &&
	       (state == PTX_CHUNK_OPEN || state == PTX_CHUNK_CLOSED);
}

/*
 * Frees a chunk whose events the reader has claimed. `word` is the chunk's word as the reader saw
 * it. If a writer has overwritten the chunk since, the exchange fails.
 */
static void free_chunk(struct ptx_rings *rings, uint32_t number, uint64_t word)
{
	struct ptx_region *region = rings->region;
	uint32_t generation = ptx_word_generation(word);
	uint32_t small = ptx_ring_is_small(&rings->geometry, number);

	/*
	 * The counts are raised before the chunk is free, because they must never be too low: a
	 * writer that loads 0 does not search for a free chunk.
	 */
	atomic_fetch_add_explicit(&region->free_chunks, 1, memory_order_relaxed);
	atomic_fetch_add_explicit(&region->free_small, small, memory_order_relaxed);
	if (!atomic_compare_exchange_strong_explicit( /* (H) with (G) in ring_write.c */
		    &rings->word[number], &word, ptx_chunk_word(generation, 0, PTX_CHUNK_FREE),
		    memory_order_release, memory_order_relaxed)) {
		atomic_fetch_sub_explicit(&region->free_chunks, 1, memory_order_relaxed);
		atomic_fetch_sub_explicit(&region->free_small, small, memory_order_relaxed);
		return; /* overwritten; the reader had claimed all of it, so nothing was lost */
	}
	ptx_ring_hint(rings, ptx_ring_hint_of(rings, number), number, generation);
}

/*
 * Records a chunk that the reader has left, without freeing it. Returns false if memory is lacking,
 * or if as many chunks are recorded as can exist. A list of so many debts shows that a hostile
 * process has made the chain of chunks a circle. The caller then frees the chunk, and so breaks the
 * circle.
 */
static bool ring_read_owe(struct ptx_debts *debts, uint32_t number, uint64_t word, uint32_t most)
{
	if (debts->count >= most)
		return false;
	if (debts->count == debts->room) {
		uint32_t room = debts->room ? 2 * debts->room : 64;
		struct ptx_debt *more = realloc(debts->chunk, room * sizeof *more);

		if (!more)
			return false;
		debts->chunk = more;
		debts->room = room;
	}
	debts->chunk[debts->count].number = number;
	debts->chunk[debts->count++].word = word;
	return true;
}

/*
 * Called by the flush when the log has the events of these chunks. Until then a guardian that
 * replaces a killed controller can find these events in the chunks.
 */
void ptx_ring_settle(struct ptx_rings *rings)
{
	struct ptx_debts *debts = rings->debts;

	for (uint32_t i = 0; i < debts->count; i++)
		free_chunk(rings, debts->chunk[i].number, debts->chunk[i].word);
	debts->count = 0;
}

/*
 * Stores in the claimed word the offset up to which the log has the chunk's records. In a stream
 * with debts no writer overwrites chunks, so no writer changes the claimed word meanwhile.
 */
void ptx_ring_done(struct ptx_rings *rings, const struct ptx_place *place, uint32_t offset)
{
	uint32_t number = ptx_link_number(place->link);

	if (place->link && number < rings->geometry.chunks_max)
		atomic_store_explicit(&rings->claimed[number],
				      (uint64_t)ptx_link_generation(place->link) << 32 | offset,
				      memory_order_release);
}

/*
 * Claims the bytes up to the offset `end`. Returns false if a writer has overwritten the chunk
 * since the copy, or if another reader has claimed bytes of it. The copy is then invalid.
 */
static bool ring_read_claim(const struct ptx_reader *reader, uint32_t end)
{
	const struct ptx_place *place = &reader->place;
	uint64_t generation = (uint64_t)ptx_link_generation(place->link) << 32;
	uint64_t expected = generation | place->claimed;

	return atomic_compare_exchange_strong_explicit( /* (F) with (E) in overwrite.c */
		&reader->rings->claimed[ptx_link_number(place->link)], &expected, generation | end,
		/* if this fails, the reader does (J) next */
		memory_order_acq_rel, memory_order_acquire);
}

/*
 * If the reader is not in the ring yet, enters the ring at its first chunk. Returns false if the
 * ring has no chunk. The writer stores `first` before `current`. So if `current` is not 0, `first`
 * is valid.
 */
static bool ring_read_enter(struct ptx_reader *reader)
{
	const struct ptx_ring *ring = &reader->rings->ring[reader->ring];

	if (reader->place.link != 0)
		return true;
	reader->place.link = atomic_load_explicit(&ring->current, memory_order_acquire);
	if (reader->place.link == 0)
		return false;
	reader->place.link = atomic_load_explicit(&ring->first, memory_order_relaxed);
	reader->place.claimed = 0;
	return true;
}

/*
 * Returns the reader's chunk and stores its word. Returns NULL if the chunk was overwritten, or if
 * this process cannot access it.
 */
static const struct ptx_chunk *chunk_of(const struct ptx_reader *reader, uint64_t *word)
{
	const struct ptx_rings *rings = reader->rings;
	uint32_t number = ptx_link_number(reader->place.link);

	if (!ptx_ring_reaches(rings, number))
		return NULL;
	*word = atomic_load_explicit(&rings->word[number],
				     memory_order_acquire); /* (D) with (C) in ring_write.c */
	return is_there(*word, reader->place.link) ? ptx_ring_chunk(rings, number) : NULL;
}

/*
 * Copies the bytes behind the reader's place to the reader's buffer. Returns the offset of their
 * end in the chunk, 0 if there are none. The copy is valid only if afterwards the chunk's word is
 * unchanged, or the claim succeeds.
 */
static uint32_t copy_new(struct ptx_reader *reader, const struct ptx_chunk *chunk)
{
	const uint32_t room = ptx_ring_room_of(&reader->rings->geometry,
					       ptx_link_number(reader->place.link));
	const uint32_t claimed = reader->place.claimed;
	uint32_t end = ptx_head_offset(atomic_load_explicit(
		&chunk->head, memory_order_acquire)); /* (B) with (A) in ring_write.h */

	if (end > room)
		end = room;
	end &= ~7u;
	if (end <= claimed)
		return 0;
	reader->fresh = claimed == 0;
	reader->bytes = end - claimed;
	copy_out(reader->buffer, chunk->records + claimed, reader->bytes);
	if (reader->fresh)
		copy_out((unsigned char *)&reader->ident, (const unsigned char *)&chunk->ident,
			 sizeof reader->ident);
	return end;
}

/*
 * Stores the link to the chunk after the reader's chunk. The reader has all bytes that its own
 * chunk had a moment ago. Returns NOTHING if the writer may still add records to the reader's
 * chunk, BYTES if *next is the link, and LOST if the chunk was overwritten or if a hostile process
 * has removed the link.
 */
static enum ptx_claim next_of(const struct ptx_reader *reader, const struct ptx_chunk *chunk,
			      uint64_t word, uint64_t *next)
{
	const uint32_t number = ptx_link_number(reader->place.link);

	if (ptx_word_state(word) != PTX_CHUNK_CLOSED)
		return PTX_CLAIM_NOTHING;
	/* loaded before the word is loaded again */
	*next = atomic_load_explicit(&chunk->next, memory_order_acquire);
	if (atomic_load_explicit(&reader->rings->word[number], memory_order_acquire) != word)
		return PTX_CLAIM_LOST;
	return *next ? PTX_CLAIM_BYTES : PTX_CLAIM_LOST;
}

/*
 * In a stream with debts the reader has no competitor: no writer overwrites, and the chunk is not
 * freed before ptx_ring_settle(). So the copy is valid without a claim.
 */
static bool claim_if_shared(const struct ptx_reader *reader, uint32_t end)
{
	return reader->rings->debts || ring_read_claim(reader, end);
}

/*
 * Leaves a chunk of which the reader has all bytes. If there is no memory for a debt, the function
 * frees the chunk immediately. If the controller is then killed, the guardian misses these events.
 * But the writers can use the chunk again.
 */
static void ring_read_leave(const struct ptx_reader *reader, uint64_t word)
{
	struct ptx_rings *rings = reader->rings;
	const uint32_t number = ptx_link_number(reader->place.link);

	if (!rings->debts || !ring_read_owe(rings->debts, number, word, rings->geometry.chunks_max))
		free_chunk(rings, number, word);
}

/*
 * The reader's place is changed only if bytes are claimed or a chunk is left. After LOST the place
 * is no longer valid, and the caller calls ptx_ring_find().
 */
enum ptx_claim ptx_ring_take(struct ptx_reader *reader)
{
	if (!ring_read_enter(reader))
		return PTX_CLAIM_NOTHING;
	/*
	 * A hostile chain could be a circle, so the loop has at most as many steps as there are
	 * chunks.
	 */
	for (uint32_t i = 0; i <= reader->rings->geometry.chunks_max; i++) {
		uint64_t word, next;
		const struct ptx_chunk *chunk = chunk_of(reader, &word);
		enum ptx_claim found;
		uint32_t end;

		if (!chunk)
			return PTX_CLAIM_LOST;
		end = copy_new(reader, chunk);
		if (end) {
			if (!claim_if_shared(reader, end))
				return PTX_CLAIM_LOST;
			reader->place.claimed = end;
			return PTX_CLAIM_BYTES;
		}
		found = next_of(reader, chunk, word, &next);
		if (found != PTX_CLAIM_BYTES)
			return found;
		ring_read_leave(reader, word);
		reader->place = (struct ptx_place){ .link = next };
	}
	return PTX_CLAIM_NOTHING;
}

/*
 * The function changes only the caller's place and buffer, and writes nothing to shared memory. It
 * returns BYTES only if the chunk still has the same generation after the copy.
 */
enum ptx_claim ptx_ring_look(struct ptx_reader *reader)
{
	if (!ring_read_enter(reader))
		return PTX_CLAIM_NOTHING;
	/* The bound is needed as in ptx_ring_take(): a hostile chain could be a circle. */
	for (uint32_t i = 0; i <= reader->rings->geometry.chunks_max; i++) {
		uint64_t word, next;
		const struct ptx_chunk *chunk = chunk_of(reader, &word);
		enum ptx_claim found;
		uint32_t end;

		if (!chunk)
			return PTX_CLAIM_LOST;
		end = copy_new(reader, chunk);
		if (end) {
			if (!chunk_of(reader, &word))
				return PTX_CLAIM_LOST;
			reader->place.claimed = end;
			return PTX_CLAIM_BYTES;
		}
		found = next_of(reader, chunk, word, &next);
		if (found != PTX_CLAIM_BYTES)
			return found;
		reader->place = (struct ptx_place){ .link = next };
	}
	return PTX_CLAIM_NOTHING;
}

/*
 * The writer stores the member `opened` before the chunk's word becomes OPEN, and the function
 * loads the word after the member. So if the word has the link's generation, the time is valid.
 */
bool ptx_ring_opened(const struct ptx_rings *rings, uint64_t link, uint64_t *opened)
{
	uint32_t number = ptx_link_number(link);

	if (link == 0 || !ptx_ring_reaches(rings, number))
		return false;
	copy_out((unsigned char *)opened,
		 (const unsigned char *)&ptx_ring_chunk(rings, number)->opened, sizeof *opened);
	return is_there(atomic_load_explicit(&rings->word[number], memory_order_acquire), link);
}

/* The chunk itself has the number, so it remains when all earlier chunks are overwritten. */
bool ptx_ring_before(const struct ptx_rings *rings, uint64_t link, uint32_t *before)
{
	const uint32_t number = ptx_link_number(link);
	struct ptx_ident ident;

	if (link == 0 || !ptx_ring_reaches(rings, number))
		return false;
	copy_out((unsigned char *)&ident,
		 (const unsigned char *)&ptx_ring_chunk(rings, number)->ident, sizeof ident);
	*before = ident.before;
	return is_there(atomic_load_explicit(&rings->word[number], memory_order_acquire), link);
}

/*
 * Returns true if the chunk begins with record number *from or a later record, or if `from` is
 * NULL. The numbers are modulo 2^32, so "later" means a distance of less than 2^31.
 */
static bool is_from(const struct ptx_rings *rings, uint64_t link, const uint32_t *from)
{
	uint32_t before;

	return !from || (ptx_ring_before(rings, link, &before) && before - *from <= INT32_MAX);
}

/*
 * The writer continues during the search. It could open a chunk whose number the search has passed,
 * and after that a chunk with a higher number. The search would find only the second of these
 * chunks, although the first chunk is older. So the search considers only chunks that the ring had
 * when the search began. It finds each of them that no writer overwrites meanwhile.
 */
static bool ring_read_find(struct ptx_rings *rings, uint32_t ring, const uint32_t *from,
			   struct ptx_place *place, uint32_t *before)
{
	uint64_t current = atomic_load_explicit(&rings->ring[ring].current, memory_order_acquire);
	uint64_t newest, oldest = UINT64_MAX, found = 0;

	if (!ptx_ring_opened(rings, current, &newest))
		return false;
	for (uint32_t i = 0; i < ptx_ring_chunks(rings); i++) {
		/*
		 * The state may change during the search, so ptx_ring_opened() checks the word
		 * again.
		 */
		uint64_t word = atomic_load_explicit(&rings->word[i], memory_order_acquire), opened;
		uint64_t link = ptx_link(i, ptx_word_generation(word));
		enum ptx_chunk_state state = ptx_word_state(word);

		if (ptx_word_ring(word) != ring ||
		    (state != PTX_CHUNK_OPEN && state != PTX_CHUNK_CLOSED))
			continue;
		if (ptx_ring_opened(rings, link, &opened) && opened <= newest && opened < oldest &&
		    is_from(rings, link, from)) {
			oldest = opened;
			found = link;
		}
	}
	if (found == 0)
		return false;
	place->link = found;
	place->claimed = 0;
	return ptx_ring_before(rings, found, before);
}

bool ptx_ring_find(struct ptx_rings *rings, uint32_t ring, struct ptx_place *place,
		   uint32_t *before)
{
	return ring_read_find(rings, ring, NULL, place, before);
}

bool ptx_ring_find_from(struct ptx_rings *rings, uint32_t ring, uint32_t from,
			struct ptx_place *place, uint32_t *before)
{
	return ring_read_find(rings, ring, &from, place, before);
}

/*
 * The reader calls this after the barrier for each ring. If the reader cannot be sure that the
 * writer is outside its window, the member `inside` becomes true. The reader then holds back
 * younger events, which is the safe error.
 */
void ptx_ring_watch(struct ptx_rings *rings, uint32_t ring, struct ptx_writer *writer)
{
	uint64_t link = atomic_load_explicit(&rings->ring[ring].current, memory_order_acquire);
	struct ptx_chunk *chunk;
	uint64_t window;

	memset(writer, 0, sizeof *writer);
	writer->link = link;
	if (link == 0 || !ptx_ring_reaches(rings, ptx_link_number(link)))
		return;
	chunk = ptx_ring_chunk(rings, ptx_link_number(link));
	/* (L) with (K) in ring_write.h: the reader loads the window first and then the head */
	window = atomic_load_explicit(&chunk->window, memory_order_acquire);
	writer->head = atomic_load_explicit(&chunk->head, memory_order_acquire);
	copy_out((unsigned char *)&writer->opened, (const unsigned char *)&chunk->opened,
		 sizeof writer->opened);
	/*
	 * If the window equals the head or is ahead of it, the writer has opened the window for an
	 * event that it has not published. This event may be older than the reader's clock reading.
	 * If the window is UINT64_MAX, the chunk is new, and its writer has not opened the window
	 * yet. If the ring has another current chunk by now, its writer has changed chunks since
	 * the barrier, and reads a later time.
	 */
	writer->inside = window != UINT64_MAX && window >= writer->head &&
			 atomic_load_explicit(&rings->ring[ring].current, memory_order_acquire) ==
				 link;
}

/*
 * The parameter `bytes` points to a private copy: a writer cannot change it after the check.
 * Callers use only the part that the result covers. A record is not well-formed if its type is 0 or
 * at least PTX_TYPE_MAX. An IDENT record must have exactly the size of an identity.
 */
uint32_t ptx_records_check(const struct ptx_rings *rings, const unsigned char *bytes,
			   uint32_t length, uint32_t *records, uint64_t *last)
{
	uint64_t time = 0, known = 0;
	uint32_t at = 0, count = 0, counts = 0;
	size_t size = 0;

	/* Successive records mostly have the same first word, and then the same size. */
	while (at + sizeof(struct ptx_record) <= length) {
		const unsigned char *record = bytes + at;
		uint64_t first = ptx_record_first(record), stamp = ptx_record_time(record);

		if (ptx_unlikely(first != known || at == 0)) {
			size_t len = ptx_record_len((uint32_t)first);
			unsigned type = ptx_record_first_type(first);

			known = first;
			size = ptx_record_size(len);
			counts = !(first & PTX_RECORD_IDENT);
			if (size > rings->geometry.record_max ||
			    (counts && (type == 0 || type >= PTX_TYPE_MAX)) ||
			    (!counts && len != sizeof(struct ptx_ident)))
				break;
		}
		/*
		 * The subtraction cannot wrap: the loop condition has compared `at` and `length`.
		 */
		if (size > length - at)
			break;
		count += counts;
		time = stamp > time ? stamp : time;
		at += (uint32_t)size;
	}
	*records = count;
	*last = time;
	return at;
}

/*
 * If a writer reuses the chunk during the copy, the function tries again, at most three times in
 * all. If it has no success, or if the ring has no chunk, it returns the number of records in
 * closed chunks. This number is too low by at most the records of one chunk.
 */
uint32_t ptx_ring_records(struct ptx_rings *rings, uint32_t ring)
{
	for (int tries = 0; tries < 3; tries++) {
		uint64_t link =
			atomic_load_explicit(&rings->ring[ring].current, memory_order_acquire);
		uint32_t number = ptx_link_number(link);
		struct ptx_ident ident;
		uint64_t head;

		if (link == 0 || !ptx_ring_reaches(rings, number))
			break;
		head = atomic_load_explicit(&ptx_ring_chunk(rings, number)->head,
					    memory_order_acquire);
		copy_out((unsigned char *)&ident,
			 (const unsigned char *)&ptx_ring_chunk(rings, number)->ident,
			 sizeof ident);
		if (is_there(atomic_load_explicit(&rings->word[number], memory_order_acquire),
			     link))
			return ptx_chunk_records(&ident, head);
	}
	return (uint32_t)atomic_load_explicit(&rings->ring[ring].published, memory_order_relaxed);
}

/*
 * ptx_ring_records() returns the low 32 bits of the number of all records. The count of records in
 * closed chunks has 64 bits. The function adds the difference modulo 2^32 to this count.
 */
uint64_t ptx_ring_published_by(struct ptx_rings *rings, uint32_t ring)
{
	uint64_t closed = atomic_load_explicit(&rings->ring[ring].published, memory_order_relaxed);
	uint32_t ahead = ptx_ring_records(rings, ring) - (uint32_t)closed;

	/*
	 * The difference can be more than the records of one chunk: a writer that was killed while
	 * it changed chunks has not added its last chunk to the count. A difference that is
	 * negative modulo 2^32 counts as 0.
	 */
	return closed + (ahead <= INT32_MAX ? ahead : 0);
}

/*
 * The rings are read one after the other, so the sum is exact only if no writer records meanwhile.
 */
uint64_t ptx_ring_published(struct ptx_rings *rings)
{
	uint32_t n = ptx_ring_count(rings);
	uint64_t sum = 0;

	for (uint32_t i = 0; i < n; i++)
		sum += ptx_ring_published_by(rings, i);
	return sum;
}
