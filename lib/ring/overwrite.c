/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * ring/overwrite.c - a writer of a LOOP stream overwrites the oldest chunk.
 *
 * The writer counts the lost records one by one, exactly by type and by thread. It does not count
 * the records that the reader has claimed. If the writer is killed, or a handler leaves by
 * longjmp(), the next writer of the ring or the reader completes the count (ptx_ring_mend). No
 * record is counted twice. Each such interruption can leave records of one chunk uncounted.
 */
#include "ring/overwrite.h"

#include "record/attr.h"
#include "ring/ring_read.h"
#include "ring/ring_write.h"

/*
 * Bits in the offset of a claimed word. Offsets are multiples of 8, so these bits are otherwise 0.
 * If one of them is set, the chunk no longer belongs to the reader but to the writer that
 * overwrites it.
 */
/* UNCOUNTED: the records from the offset on are not counted yet */
#define UNCOUNTED 1u
/*
 * COUNTING: the counters may include some of the records between the offset and the next change of
 * thread
 */
#define COUNTING  2u

/*
 * Writers race to raise a time. The loop ends: each failure means that another writer has raised
 * the word, and no writer lowers it. A hostile process can prolong the loop only by a store at each
 * try.
 */
void ptx_raise(_Atomic uint64_t *word, uint64_t value, memory_order order)
{
	uint64_t seen = atomic_load_explicit(word, memory_order_relaxed);

	while (seen < value && !atomic_compare_exchange_weak_explicit(word, &seen, value, order,
								      memory_order_relaxed))
		;
}

/*
 * Lowers a time, in the same way. The time is first_overwritten, which the reader resets when it
 * has reported the gap.
 */
static void overwrite_lower(_Atomic uint64_t *word, uint64_t value)
{
	uint64_t seen = atomic_load_explicit(word, memory_order_relaxed);

	while (seen > value &&
	       !atomic_compare_exchange_weak_explicit(word, &seen, value, memory_order_release,
						      memory_order_relaxed))
		;
}

/*
 * The parameter `slot` has a generation and an index, as ptx_slot_claim() returned them. A writer
 * that overwrites a chunk reads the slot from the chunk's records in shared memory. So the function
 * checks the index.
 */
void ptx_ring_count_loss(struct ptx_rings *rings, enum ptx_writer_loss loss, unsigned type,
			 uint32_t slot, uint64_t count)
{
	uint32_t index = slot & 0xffff;

	if (index >= rings->geometry.rings ||
	    atomic_load_explicit(&rings->slot[index].word, memory_order_relaxed) >> 16 !=
		    slot >> 16)
		index = 0; /* another thread has the slot by now */
	/*
	 * The writer counts the loss by type first, and then by thread. The total is the sum of the
	 * types. So if the writer is killed between the two, the total includes the loss, and no
	 * thread has it. The remainder keeps a hostile type inside the table.
	 */
	atomic_fetch_add_explicit(&rings->region->lost_type[loss][type % PTX_TYPE_MAX], count,
				  memory_order_relaxed);
	atomic_signal_fence(memory_order_seq_cst);
	/* A reader that sees the count also sees the thread of the slot. */
	atomic_fetch_add_explicit(&rings->slot[index].lost[loss], count, memory_order_release);
}

/*
 * The sums of one walk over a chunk. The records of a chunk mostly have few types, so a sum for
 * each type saves atomic additions. The sum of a type is at the type's number modulo 8. If another
 * type with the same remainder needs the place, the sum of the earlier type is added to the
 * counters.
 */
struct tally {
	struct ptx_rings *rings;
	/* The claimed word of the chunk. It shows up to which record the counters are complete. */
	_Atomic uint64_t *progress;
	uint64_t begun; /* the word to store when counting begins; 0: it has been stored */
	unsigned run_type; /* the type of the records that `run` counts */
	/* The records of run_type that are in no sum yet. */
	uint64_t run;
	/*
	 * type[i] and count[i] have a value while bit i of `used` is set. Nearly all chunks need
	 * one or two of the sums, so the others are neither cleared nor examined.
	 */
	unsigned used;
	unsigned type[8];
	uint64_t count[8];
	/* The thread of the records: from the chunk's header or the last IDENT record. */
	uint32_t slot;
};

/*
 * Adds one sum to the counters. Before the writer adds the first sum of a thread's records, it
 * marks in the claimed word that counting has begun. A writer that continues after a kill then
 * omits these records, because it cannot determine which sums were added. The fence keeps the two
 * steps in this order if the writer is killed, or leaves by longjmp(), between them. A fence for
 * the compiler is enough: another writer continues only when this writer has stopped, and then sees
 * all stores of this writer.
 */
static void overwrite_count(struct tally *tally, unsigned i)
{
	if (tally->begun) {
		atomic_store_explicit(tally->progress, tally->begun, memory_order_relaxed);
		atomic_signal_fence(memory_order_seq_cst);
		tally->begun = 0;
	}
	ptx_ring_count_loss(tally->rings, PTX_WRITER_OVERWRITTEN, tally->type[i], tally->slot,
			    tally->count[i]);
	tally->used &= ~(1u << i);
}

/* Adds the run to the sum of its type. */
static void end_run(struct tally *tally)
{
	unsigned i = tally->run_type % 8;

	if (tally->run == 0)
		return;
	if (tally->used >> i & 1 && tally->type[i] != tally->run_type)
		overwrite_count(tally, i);
	if (!(tally->used >> i & 1))
		tally->count[i] = 0;
	tally->used |= 1u << i;
	tally->type[i] = tally->run_type;
	tally->count[i] += tally->run;
	tally->run = 0;
}

/* Adds all sums to the counters: at a change of thread and at the end of the chunk. */
static void count_all_sums(struct tally *tally)
{
	end_run(tally);
	while (tally->used)
		overwrite_count(tally, (unsigned)__builtin_ctz(tally->used));
}

/*
 * Counts the chunk's records from the offset `from` on. *progress has the offset of the first
 * record that is not counted yet. After a longjmp() or a kill, a further call continues there. If
 * the interrupted call had begun to count the records up to the next change of thread (is_begun),
 * the further call omits these records, so that no record is counted twice. Records that are not
 * counted are unattributed in the ledger.
 */
static void count_records(struct ptx_rings *rings, const struct ptx_chunk *chunk, uint32_t from,
			  bool is_begun, _Atomic uint64_t *progress, uint64_t generation)
{
	uint64_t head = atomic_load_explicit(&chunk->head, memory_order_relaxed);
	uint32_t end = ptx_head_offset(head), at = 0;
	struct tally tally; /* an initializer would clear the sums, too */
	uint64_t oldest = UINT64_MAX, known = PTX_RECORD_IDENT; /* no event has this first word */
	size_t size = sizeof(struct ptx_record);

	/*
	 * Any process of the arena can have stored the head. The walk stays inside the chunk. It
	 * ends, since each record advances by at least a record's header.
	 */
	if (end > ptx_ring_whole_room(rings, chunk))
		end = ptx_ring_whole_room(rings, chunk);
	tally.rings = rings;
	tally.progress = progress;
	tally.slot = chunk->ident.slot;
	tally.run = tally.used = tally.run_type = 0;
	tally.begun = generation | from | UNCOUNTED | COUNTING;
	while (at + sizeof(struct ptx_record) <= end) {
		const unsigned char *record = chunk->records + at;
		uint64_t first = ptx_record_first(record);

		/*
		 * Consecutive records mostly have the same first word. Then the rest of the record
		 * is not examined.
		 */
		if (ptx_likely(first == known)) {
			tally.run++;
			at += (uint32_t)size;
			continue;
		}
		size = ptx_record_size(ptx_record_len((uint32_t)first));
		if (first & PTX_RECORD_IDENT) {
			known = PTX_RECORD_IDENT;
			/*
			 * The records before this IDENT record are added to the counters now. Then
			 * *progress moves past these records, so that a writer that continues
			 * neither omits nor repeats them.
			 */
			count_all_sums(&tally);
			if (at > from) {
				is_begun = false;
				atomic_signal_fence(memory_order_seq_cst);
				atomic_store_explicit(progress, generation | at | UNCOUNTED,
						      memory_order_relaxed);
				tally.begun = generation | at | UNCOUNTED | COUNTING;
			}
			/* The identity is read only if it is inside the chunk. */
			if (at + PTX_IDENT_RECORD_BYTES <= end)
				tally.slot = ((const struct ptx_ident *)(const void *)
					      (record + sizeof(struct ptx_record)))->slot;
		} else if (at >= from) {
			if (oldest == UINT64_MAX)
				oldest = ptx_record_time(record);
			if (!is_begun) {
				known = first;
				end_run(&tally);
				tally.run_type = ptx_record_first_type(first);
				tally.run++;
			}
		}
		at += (uint32_t)size;
	}
	count_all_sums(&tally);
	if (oldest == UINT64_MAX)
		return;
	/*
	 * OVERFLOW has the time of the first lost event. The first event of the walk is the oldest
	 * event, because a ring's records are in the order of time.
	 */
	overwrite_lower(&rings->region->first_overwritten, oldest);
	atomic_store_explicit(&rings->region->overrun, 1, memory_order_relaxed);
	/*
	 * The member `looped` is nearly always 1 already, and all writers share its cache line. So
	 * the writer loads it first, and stores only if the value is 0.
	 */
	if (!atomic_load_explicit(&rings->region->looped, memory_order_relaxed))
		atomic_store_explicit(&rings->region->looped, 1, memory_order_relaxed);
}

/*
 * The caller has checked ptx_ring_reaches() for `number`. If the function returns true, the chunk
 * belongs to the ring, and its old records are counted. Only the bytes behind the claimed offset
 * count as lost: a reader has the other bytes.
 */
bool ptx_overwrite(struct ptx_rings *rings, uint32_t number, uint32_t generation, uint32_t ring)
{
	struct ptx_chunk *chunk = ptx_ring_chunk(rings, number);
	uint64_t word = atomic_load_explicit(&rings->word[number], memory_order_acquire);
	uint64_t claimed, head, last;
	uint32_t mine = ptx_word_generation(word);

	if (ptx_word_state(word) != PTX_CHUNK_CLOSED ||
	    (generation != PTX_NONE && (mine & 0xffff) != generation))
		return false;
	/*
	 * The loaded values belong together only if the chunk's word is still unchanged after the
	 * loads.
	 */
	claimed = atomic_load_explicit(&rings->claimed[number], memory_order_relaxed);
	head = atomic_load_explicit(&chunk->head, memory_order_relaxed);
	last = atomic_load_explicit(&chunk->last, memory_order_relaxed);
	/*
	 * While this writer was suspended, other writers may have overwritten the chunk and closed
	 * it again. Then `last` is the time of young events, and raising the cut to this time would
	 * discard these events.
	 */
	atomic_thread_fence(memory_order_acquire); /* (P) with (O) in ring_write.c */
	if (atomic_load_explicit(&rings->word[number], memory_order_relaxed) != word)
		return false;
	/*
	 * The cut rises before the chunk is taken: a reader that loses the chunk then sees the
	 * raised cut.
	 */
	if ((uint32_t)claimed < ptx_head_offset(head))
		ptx_raise(&rings->region->cut, last,
			  memory_order_release); /* (I) with (J) in drain/loop_cut.c */
	if (!atomic_compare_exchange_strong_explicit( /* (G) with (H) in ring_read.c */
		    &rings->word[number], &word,
		    ptx_chunk_word(mine + 1, ring, PTX_CHUNK_OPENING), memory_order_acq_rel,
		    memory_order_relaxed))
		return false;
	ptx_overwrite_finish(rings, number);
	return true;
}

/*
 * The state of the chunk is OPENING. The writer now exchanges the claimed word (E). Until then the
 * claimed word has the number of bytes that the reader has claimed. From then on it has the mark
 * UNCOUNTED and an offset: the records from this offset on are not counted.
 *
 * The holder of a ring calls this function for its own chunk. A thread that mends the ring of a
 * dead writer calls it for the dead writer's chunk. A second call continues where the first call
 * was interrupted. After a complete first call, a second call has no effect.
 */
void ptx_overwrite_finish(struct ptx_rings *rings, uint32_t number)
{
	uint32_t generation = ptx_word_generation(
		atomic_load_explicit(&rings->word[number], memory_order_relaxed));
	uint64_t claimed = atomic_load_explicit(&rings->claimed[number], memory_order_relaxed);
	const uint64_t mine = (uint64_t)generation << 32;
	const struct ptx_chunk *chunk = ptx_ring_chunk(rings, number);

	/*
	 * In a stream that is not LOOP the chunk was FREE, and a chunk is freed after its records
	 * are delivered or in the log (ptx_ring_settle). So no record is lost, whatever the claimed
	 * word contains.
	 */
	if (!rings->loop)
		return;
	/*
	 * The reader may claim more bytes between the load and the exchange. Then the exchange
	 * fails, and the next try uses the new offset.
	 */
	while ((uint32_t)(claimed >> 32) == generation - 1) {
		uint64_t marked = mine | ((uint32_t)claimed & ~7u) | UNCOUNTED;

		if (atomic_compare_exchange_weak_explicit( /* (E) with (F) in ring_read.c */
			    &rings->claimed[number], &claimed, marked, memory_order_acq_rel,
			    memory_order_relaxed))
			claimed = marked;
	}
	/*
	 * If a chunk was returned unused, its claimed word has an older generation, and there is
	 * nothing to count. If the mark is missing, the count is complete.
	 */
	if (claimed >> 32 != generation || !(claimed & UNCOUNTED))
		return;
	count_records(rings, chunk, (uint32_t)claimed & ~7u, claimed & COUNTING,
		      &rings->claimed[number], mine);
	atomic_store_explicit(&rings->claimed[number], mine, memory_order_release); /* as (E) */
}
