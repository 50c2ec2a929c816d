/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * ring/spare.c - searches for chunks that a LOOP stream can spare. spare.h has the contract, DESIGN
 * 7 the argument.
 *
 * Each sum is a lower bound of the bytes that the stream holds. A chunk counts as empty if it gets
 * another owner during the search, if this process cannot access it, or if its content is not
 * plausible. So an error can only make the search miss a spare chunk, and the pool then grows
 * instead. No error causes the loss of events that the size promises.
 *
 * Any process of the arena may write to the chunks. So no offset may exceed the room of its chunk.
 * A walk over the records of a chunk ends after WALK records, and each pass over the chunks ends
 * after as many as the pool can have.
 */
#include "ring/spare.h"

#include "base/clock.h"
#include "record/attr.h"
#include "ring/chunk.h"
#include "ring/overwrite.h"
#include "ring/ring_read.h"
#include "ring/ring_write.h"

/*
 * limits of take_known(), which runs before a search of all chunks: the closed chunks that it
 * compares, and the words that it loads
 */
#define KNOWN_LOOKS 16
#define KNOWN_WORDS 256
/* number of periods into which a search divides the time since the oldest chunk */
#define PERIODS     32
#define WALK        128 /* the most records of a chunk that are examined one by one */
/* a search of at most this many chunks costs little, even if it finds only one spare chunk */
#define FEW_CHUNKS  64
/* a search of more chunks must find this many spare bytes for each chunk that it examines */
#define SPARE_BYTES 32
/* after a search without result, the pool grows by 1/GROW_PART without a further search */
#define GROW_PART   64
/* the most searches of one call, if other writers overwrite chunks meanwhile */
#define TRIES       32

/* The sums of a search: lower bounds for the bytes of events, by their computed sizes. */
struct holding {
	uint64_t from, period;   /* ticks */
	/* `from`, or a later time up to which events are known to be spare */
	uint64_t base;
	uint64_t bytes[PERIODS]; /* bytes in chunks that were opened in period i after `base` */
	/* bytes of events younger than `from`, in chunks that were opened at `from` or before */
	uint64_t rest;
};

/*
 * Returns the offset of the chunk's first record that is younger than `time`, or the end of the
 * records. Returns PTX_NONE if none of the first WALK records is younger. The records may be
 * overwritten during the walk, so sizes and times may be any values. The caller discards the result
 * if the chunk was reused.
 */
static uint32_t end_of_older(const struct ptx_chunk *chunk, uint32_t end, uint64_t time)
{
	uint32_t at = 0;

	for (int i = 0; i < WALK; i++) {
		const struct ptx_record *record = (const void *)(chunk->records + at);
		uint64_t word, first;

		if (at + sizeof(struct ptx_record) > end || ptx_load_word(&record->time) > time)
			return at;
		/*
		 * One atomic load of the first word. ptx_record_first() makes the positions of the
		 * members the same on machines of every byte order.
		 */
		word = ptx_load_word(record);
		first = ptx_record_first(&word);
		at += (uint32_t)ptx_record_size(ptx_record_len((uint32_t)first));
	}
	return PTX_NONE;
}

/*
 * Returns a lower bound for the computed sizes of the events in the chunk from offset `from` on. A
 * chunk may have one IDENT record without an event, which is subtracted. All other IDENT records
 * are covered: the computed size of an event has room for one IDENT record, even if the event
 * needed none. So in a whole chunk of small events, the computed sizes may add up to more than the
 * bytes. If the number of records is too large to be true, only the bytes are used.
 */
static uint32_t computed_sizes(uint64_t head, uint32_t from)
{
	const uint32_t least = sizeof(struct ptx_record) + PTX_IDENT_RECORD_BYTES;
	uint32_t end = ptx_head_offset(head), records = ptx_head_records(head), bytes;

	/* The order of the comparisons avoids a difference below 0. */
	if (end < PTX_IDENT_RECORD_BYTES || from > end - PTX_IDENT_RECORD_BYTES)
		return 0;
	bytes = end - PTX_IDENT_RECORD_BYTES - from;
	if (from != 0 || records > end / sizeof(struct ptx_record))
		return bytes;
	return bytes > records * least ? bytes : records * least;
}

/* Adds a chunk to the sums, without the bytes that a reader has claimed. */
static void add_chunk(struct holding *holding, const struct ptx_rings *rings, uint32_t number)
{
	uint64_t word = atomic_load_explicit(&rings->word[number], memory_order_acquire);
	const uint64_t link = ptx_link(number, ptx_word_generation(word));
	uint64_t head, claimed, opened, period;
	const struct ptx_chunk *chunk;
	/*
	 * The function adds the bytes [from, end) of the chunk. The records before the offset
	 * `older` are not younger than holding->from.
	 */
	uint32_t from, end, older = 0;

	if ((ptx_word_state(word) != PTX_CHUNK_OPEN && ptx_word_state(word) != PTX_CHUNK_CLOSED) ||
	    !ptx_ring_reaches(rings, number))
		return;
	chunk = ptx_ring_chunk(rings, number);
	head = atomic_load_explicit(&chunk->head, memory_order_acquire);
	claimed = atomic_load_explicit(&rings->claimed[number], memory_order_acquire);
	/*
	 * The loaded `head` and `claimed` belong to this generation of the chunk only if the
	 * chunk's word is still unchanged after these loads.
	 */
	end = ptx_head_offset(head);
	if (end > ptx_ring_room_of(&rings->geometry, number) ||
	    !ptx_ring_opened(rings, link, &opened)) /* before its records are used */
		return;
	if (opened <= holding->from) {
		older = end_of_older(chunk, end, holding->from);
		if (older == PTX_NONE || !ptx_ring_opened(rings, link, &opened))
			return;
	}
	from = (uint32_t)claimed > older ? (uint32_t)claimed : older;
	if (opened <= holding->from) {
		holding->rest += computed_sizes(head, from);
		return;
	}
	/*
	 * In a repeated search, holding->base is later than holding->from. Chunks that were opened
	 * between these times are known to be spare.
	 */
	if (opened <= holding->base)
		return;
	period = (opened - holding->base - 1) / holding->period;
	holding->bytes[period < PERIODS ? period : PERIODS - 1] += computed_sizes(head, from);
}

/*
 * Adds up all chunks. Moves holding->base to the beginning of the latest period for which the
 * events from its beginning on fill the stream's capacity. Returns false if there is no such
 * period. *total becomes the bytes of events that are younger than the old base, and *held the
 * bytes of events that are younger than the new base.
 */
static bool add_up(struct holding *holding, const struct ptx_rings *rings, uint64_t *total,
		   uint64_t *held)
{
	const uint64_t capacity = rings->geometry.capacity;
	const uint32_t chunks = ptx_ring_chunks(rings);
	uint32_t found = PERIODS;

	for (uint32_t i = 0; i < chunks; i++)
		add_chunk(holding, rings, i);
	/*
	 * The sum begins with the youngest period. At the period `found` it reaches the capacity
	 * for the first time.
	 */
	*total = 0;
	for (uint32_t i = PERIODS; i-- > 0;) {
		*total += holding->bytes[i];
		if (*total >= capacity && found == PERIODS) {
			found = i;
			*held = *total;
		}
	}
	if (found == PERIODS)
		return false;
	/*
	 * The chunks that were opened in period `found` or later hold the capacity. So the events
	 * up to the new base are spare.
	 */
	holding->base += found * holding->period;
	return true;
}

/*
 * Examines all chunks. If the stream does not need the events up to `time`, raises region->spare to
 * this time or a later time. Returns false if the stream needs these events. region->spare becomes
 * the latest time that the search finds, so that not every change of chunks needs a search.
 */
static bool spare_look(struct ptx_rings *rings, uint64_t time)
{
	const uint32_t chunks = ptx_ring_chunks(rings);
	const uint64_t capacity = rings->geometry.capacity;
	/*
	 * `more` is the smallest computed size of an event. It is added for the event that would be
	 * overwritten first. Nothing is added for the event that the writer is about to record,
	 * because other writers use the result, and this writer may be killed before it records the
	 * event.
	 */
	const uint64_t more = PTX_IDENT_RECORD_BYTES + sizeof(struct ptx_record);
	/*
	 * The search also examines the open chunks of threads that record nothing. If there are
	 * many such threads, the search finds few spare bytes. Without this minimum, each change of
	 * chunks would then need a search.
	 */
	const uint64_t least = chunks > FEW_CHUNKS ? (uint64_t)chunks * SPARE_BYTES : 0;
	const uint64_t enough = least > capacity / PERIODS ? least : capacity / PERIODS;
	uint64_t now = ptx_clock_now(), total, held, ignored;
	uint64_t period = (now > time ? (now - time) / PERIODS : 0) + 1;
	struct holding holding = { .from = time, .base = time, .period = period };

	/*
	 * If no later time is found, the young records of old chunks may still show that the events
	 * up to `time` itself are spare.
	 */
	if (!add_up(&holding, rings, &total, &held) && total + holding.rest + more <= capacity)
		return false;
	/*
	 * Many chunks may belong to one period. Then the search is repeated with shorter periods.
	 * It ends when it has found half of the spare bytes, and at least `least`.
	 */
	while (total >= capacity + enough &&
	       (2 * (total - held) < total - capacity || total - held < least) &&
	       (period /= PERIODS) > 0) {
		holding = (struct holding){ .from = time, .base = holding.base, .period = period };
		if (!add_up(&holding, rings, &ignored, &held))
			break;
	}
	/*
	 * If holding->base has hardly moved, only few changes of chunks can use the result. In a
	 * large pool a search costs too much for that, so the pool grows instead. Because of this
	 * rule, a successful search examines at most one chunk for each SPARE_BYTES that writers
	 * can then record.
	 */
	if (chunks > FEW_CHUNKS && (holding.base == time || total - held < least))
		return false;
	/*
	 * The store may be relaxed, because no other data depends on the time. take_if_spare() only
	 * compares this time with the times of chunks, which it loads itself.
	 */
	ptx_raise(&rings->region->spare, holding.base, memory_order_relaxed);
	return true;
}

/*
 * Overwrites the chunk if all its events are spare. If `last` belongs to an earlier or later use of
 * the chunk, ptx_overwrite() fails, because the generation of the word has changed.
 */
static bool take_if_spare(struct ptx_rings *rings, uint32_t number, uint32_t ring)
{
	const struct ptx_region *region = rings->region;
	uint64_t word = atomic_load_explicit(&rings->word[number], memory_order_acquire), last;

	if (ptx_word_state(word) != PTX_CHUNK_CLOSED || !ptx_ring_reaches(rings, number))
		return false;
	last = atomic_load_explicit(&ptx_ring_chunk(rings, number)->last, memory_order_relaxed);
	return (last <= atomic_load_explicit(&region->spare, memory_order_relaxed) ||
		last <= atomic_load_explicit(&region->cut, memory_order_relaxed)) &&
	       ptx_overwrite(rings, number, ptx_word_generation(word) & 0xffff, ring);
}

/*
 * Examines the next few chunks, and overwrites the first of them that an earlier search has found
 * spare.
 */
static uint32_t take_known(struct ptx_rings *rings, uint32_t ring)
{
	const uint32_t chunks = ptx_ring_chunks(rings);
	uint32_t looks = 0;

	for (uint32_t i = 0; i < KNOWN_WORDS && looks < KNOWN_LOOKS && i < chunks; i++) {
		/*
		 * All writers share the position, so two writers look at different chunks. Between
		 * the last large chunk and the first small chunk, numbers have no chunk. At these
		 * numbers this search finds nothing. That happens once in a round through the pool,
		 * because the search for the oldest chunk, which follows, moves the position behind
		 * the chunk that it takes.
		 */
		uint32_t number = atomic_fetch_add_explicit(&rings->region->spare_looks, 1,
							    memory_order_relaxed) %
				  chunks;
		uint64_t word = atomic_load_explicit(&rings->word[number], memory_order_relaxed);

		if (ptx_word_state(word) != PTX_CHUNK_CLOSED)
			continue;
		looks++;
		if (take_if_spare(rings, number, ring))
			return number;
	}
	return PTX_NONE;
}

/*
 * A search has found nothing to spare, so the pool grows. The next searches would hardly find more,
 * and each of them examines all chunks. So the pool grows by a part of its chunks before the next
 * search: a search then examines at most GROW_PART chunks for each chunk of the growth. Two writers
 * may store different numbers; then there is one search more or less.
 */
static void grow_for_a_while(struct ptx_rings *rings)
{
	const uint32_t chunks = ptx_ring_chunks(rings);

	atomic_store_explicit(&rings->region->grows_until, chunks + chunks / GROW_PART,
			      memory_order_relaxed);
}

/*
 * Each round takes the oldest closed chunk if it is spare. If another writer overwrites that chunk
 * first, the function repeats the search, a bounded number of times. If the result is PTX_NONE, the
 * caller lets the pool grow.
 */
uint32_t ptx_spare_take(struct ptx_rings *rings, uint32_t ring)
{
	struct ptx_region *region = rings->region;
	uint32_t number = take_known(rings, ring);

	if (ptx_ring_chunks(rings) <
	    atomic_load_explicit(&region->grows_until, memory_order_relaxed))
		return number;
	for (int i = 0; number == PTX_NONE && i < TRIES; i++) {
		uint64_t cut = atomic_load_explicit(&region->cut, memory_order_relaxed), last;
		uint32_t generation, oldest = ptx_chunk_oldest(rings, &last, &generation);
		bool is_spare = false;

		if (oldest == PTX_NONE)
			break;
		if (!take_if_spare(rings, oldest, ring)) {
			is_spare = spare_look(rings, last);
			if (!is_spare)
				grow_for_a_while(rings);
			if (!take_if_spare(rings, oldest, ring))
				oldest = PTX_NONE;
		}
		number = oldest;
		/*
		 * Chunks of one age are mostly neighbours, so take_known() begins at the chunk
		 * behind this one.
		 */
		if (number != PTX_NONE)
			atomic_store_explicit(&region->spare_looks, number + 1,
					      memory_order_relaxed);
		if (!is_spare &&
		    atomic_load_explicit(&region->cut, memory_order_relaxed) == cut)
			break; /* no other writer has changed what the search examined */
	}
	return number;
}
