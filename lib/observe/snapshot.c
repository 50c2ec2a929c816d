/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * observe/snapshot.c - copies the bytes of a region while other processes write to it.
 *
 *	moment   read the clock, then run the barrier; wait for writers that are about to publish
 *	words    copy the words of the chunks, then the chunks
 *	settle   copy the words again, and the cut; then the counts
 *
 * The word of a chunk has a generation, which changes when the chunk is used again. If the
 * generation is the same before and after the copy, the chunk was not reused during the copy, so
 * the copied bytes are those of the chunk's ring (observe/DESIGN 1, C1). Other chunks are not in
 * the copy: their events were delivered, or are counted as lost.
 *
 * The moment is the time up to which the copy has all events. The cut is the time up to which a
 * LOOP stream has overwritten events. The counts are the numbers of recorded, delivered and lost
 * events.
 */
#include "observe/snapshot.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "arena/attachment.h"
#include "base/barrier.h"
#include "base/clock.h"
#include "base/futex.h"
#include "observe/snapshot_private.h"

/*
 * These limits end the attempts if writers overwrite the events again and again, or if the memory
 * is hostile.
 *
 * TRIES is the number of attempts to copy the stream, with pauses of TRY_NAP_NS, for at most
 * TRIES_NS_MAX. COUNT_TRIES is the number of attempts to copy the counts.
 *
 * A writer inside a trace point holds the moment back, because its event is not published yet. If
 * it holds the moment back by more than HELD_BACK_NS, the copy waits for the writer: at most
 * INSIDE_NS_MAX in each attempt, and INSIDE_NAPS pauses of INSIDE_NAP_NS in all attempts together.
 *
 * Without a barrier the moment is NO_BARRIER_NS earlier, because a store leaves a processor's
 * buffer within this time.
 */
#define TRIES         200
#define COUNT_TRIES   10
#define TRY_NAP_NS    1000000
#define INSIDE_NAP_NS 50000
#define INSIDE_NAPS   2000
#define INSIDE_NS_MAX (2 * (uint64_t)PTX_NS_PER_S)
#define TRIES_NS_MAX  (10 * (uint64_t)PTX_NS_PER_S)
#define HELD_BACK_NS  4000000u
#define NO_BARRIER_NS 2000000u
#define MIB           (UINT64_C(1) << 20)

/*
 * Copies bytes from an offset in the region. Returns false if the image lacks some of these bytes.
 */
static bool snapshot_copy(const struct ptx_taking *taking, void *to, size_t bytes, uint64_t at)
{
	return taking->image->copy(taking->image, to, bytes, taking->region + at);
}

/*
 * Copies a part of the region to the same offset of the private copy. Returns false if the image
 * lacks some of these bytes.
 */
static bool copy_part(const struct ptx_taking *taking, size_t at, size_t bytes)
{
	return snapshot_copy(taking, (unsigned char *)taking->snapshot->rings.region + at, bytes,
			     at);
}

/* Returns the number of rings, bounded by the geometry. */
static uint32_t rings_of(const struct ptx_taking *taking)
{
	return ptx_ring_count(&taking->snapshot->rings);
}

/*
 * Returns the time of the last published record of a chunk. The head of the chunk gives the end of
 * the records. The head and the length of each record are bounded by the room of a chunk. If there
 * is no memory for a copy, the result is the time when the chunk was opened. This time is earlier,
 * so the moment becomes earlier than necessary, and is still right.
 */
static uint64_t last_time(const struct ptx_taking *taking, uint64_t at,
			  uint32_t room, const struct ptx_chunk *chunk)
{
	uint32_t end =
		ptx_head_offset(atomic_load_explicit(&chunk->head, memory_order_relaxed)) & ~7u;
	unsigned char *bytes;
	uint64_t last = chunk->opened;

	/* The head comes from shared memory, so it is bounded. */
	if (end > room)
		end = room;
	/* The walk uses a copy, because the chunk may be overwritten during the walk. */
	bytes = malloc(end + sizeof(struct ptx_record));
	if (!bytes || !snapshot_copy(taking, bytes, end, at + sizeof *chunk))
		end = 0;
	for (uint32_t i = 0; i + sizeof(struct ptx_record) <= end;) {
		/*
		 * The times of one writer do not decrease, so the last record has the greatest
		 * time.
		 */
		last = ptx_record_time(bytes + i);
		/* i grows by at least the size of a record's header, so the loop ends. */
		i += (uint32_t)ptx_record_size(
			ptx_record_len((uint32_t)ptx_record_first(bytes + i)));
	}
	free(bytes);
	return last;
}

/*
 * Returns the least time that an event of the ring's writer can have if it is not published yet. If
 * the writer is outside of a trace point, the result is `now`. Otherwise it is the time of the
 * writer's last record, because the times of one writer do not decrease. While the writer is inside
 * of a trace point, the window of its chunk is equal to the head or greater (ring/ring.h).
 */
static uint64_t bound_of(const struct ptx_taking *taking, uint32_t ring, uint64_t now)
{
	const struct ptx_geometry *g = &taking->snapshot->rings.geometry;
	struct ptx_chunk chunk;
	struct ptx_ring state;
	uint64_t link, at;

	/* If a ring cannot be read, it does not hold the moment back. */
	if (!snapshot_copy(taking, &state, sizeof state, g->rings_at + ring * sizeof state))
		return now;
	link = atomic_load_explicit(&state.current, memory_order_relaxed);
	at = ptx_ring_chunk_at(g, ptx_link_number(link));
	/*
	 * The result is `now` if the ring has no chunk or an impossible one, or if its writer is
	 * outside of a trace point.
	 */
	if (!link || ptx_link_number(link) >= g->chunks_max ||
	    !snapshot_copy(taking, &chunk, sizeof chunk, at) || chunk.window == UINT64_MAX ||
	    chunk.window < chunk.head)
		return now;
	return last_time(taking, at, ptx_ring_room_of(g, ptx_link_number(link)), &chunk);
}

/*
 * Converts a short time to ticks. The product has 128 bits, because the rate in the region may be
 * any number.
 */
static uint64_t ticks_of(const struct ptx_taking *taking, uint64_t ns)
{
	/*
	 * The rate is checked later, by ptx_snapshot_calibrate(). A wrong rate only changes how
	 * long the copy waits.
	 */
	uint64_t hz = taking->snapshot->rings.region->calibration.hz;

	return (uint64_t)((unsigned __int128)ns * hz / (uint64_t)PTX_NS_PER_S);
}

/*
 * Returns true if the time for the search of a moment is used up. The time is bounded, because a
 * hostile region may seem to have many rings with many records.
 */
static bool is_late(const struct ptx_taking *taking)
{
	return ptx_clock_monotonic() > taking->late;
}

/*
 * Computes the moment. The caller has read the clock. This function runs the barrier. Consider an
 * event that was stamped before the clock was read. After the barrier, either the event is visible,
 * or its writer is still inside of the trace point. So the moment is the least bound of all rings.
 * Returns 0 or EIO.
 */
static int look_at_writers(struct ptx_taking *taking)
{
	struct ptx_snapshot *snapshot = taking->snapshot;
	bool ordered;

	snapshot->moment = snapshot->now.ticks;
	/*
	 * `ordered` is false on kernels without membarrier(2), or if a seccomp filter forbids it.
	 */
	ordered = ptx_barrier_everywhere();
	/* Copies the head of the region, which has the number of rings and the clock. */
	if (!copy_part(taking, 0, sizeof(struct ptx_region)))
		return EIO;
	for (uint32_t ring = 0; ring < rings_of(taking) && !is_late(taking); ring++) {
		uint64_t bound = bound_of(taking, ring, snapshot->now.ticks);

		/* In each ring all events up to the least bound are visible. */
		if (bound < snapshot->moment)
			snapshot->moment = bound;
	}
	/* Without a barrier, stores of other processors may be invisible for a short time. */
	if (!ordered) {
		uint64_t back = ticks_of(taking, NO_BARRIER_NS);

		snapshot->moment -= back < snapshot->moment ? back : snapshot->moment;
	}
	return 0;
}

/*
 * Finds a moment up to which all events can be copied; drain/pass.c has the same reasoning for a
 * drain. A writer that is about to publish an event holds the moment back, and the copy waits for
 * the writer. The wait is bounded, because the writer may be stopped in its trace point. In this
 * case the copy may lack the event of that writer, although the event is older than the moment.
 * Returns 0 or EIO.
 */
static int find_moment(struct ptx_taking *taking)
{
	struct ptx_snapshot *snapshot = taking->snapshot;
	/*
	 * `counter` is true if the processor's counter stamps the stream's events. This process may
	 * use another clock.
	 */
	const bool counter = snapshot->control.clock == PTX_ARENA_CLOCK_COUNTER;
	_Atomic uint32_t never = 0;
	int err;

	snapshot->moment = UINT64_MAX;
	taking->late = ptx_clock_monotonic() + INSIDE_NS_MAX;
	for (;;) {
		/*
		 * An image without writers does not change, so its copy needs no moment. If this
		 * process cannot read the stream's clock, the copy has no moment either.
		 */
		if (!taking->image->is_live || !ptx_clock_anchor_of(counter, &snapshot->now))
			return 0;
		err = look_at_writers(taking);
		/* If the moment is close enough to the present time, the search ends. */
		if (err || snapshot->now.ticks - snapshot->moment <= ticks_of(taking, HELD_BACK_NS))
			return err;
		/*
		 * If a writer seems to be stopped inside of its trace point, the copy is made
		 * without its event.
		 */
		if (taking->naps++ >= INSIDE_NAPS || is_late(taking)) {
			snapshot->moment = snapshot->now.ticks;
			return 0;
		}
		/*
		 * The pause is a futex with a timeout, because nanosleep() would be a cancellation
		 * point.
		 */
		ptx_futex_nap(&never, 0, INSIDE_NAP_NS);
	}
}

/*
 * Subtracts `bytes` from the number of bytes that may still be copied. Returns false if fewer bytes
 * are left.
 */
static bool use_budget(struct ptx_taking *taking, uint64_t bytes)
{
	/* After this check the subtraction cannot underflow. */
	if (bytes > taking->budget)
		return false;
	taking->budget -= bytes;
	return true;
}

/* Excludes a chunk from the copy, reports the reason, and notes that the counts are not exact. */
static void no_such_chunk(struct ptx_taking *taking, uint32_t number, const char *why)
{
	const struct ptx_geometry *g = &taking->snapshot->rings.geometry;

	/* The word 0 means that the chunk has no ring, so the copy does not contain the chunk. */
	taking->word[number] = 0;
	taking->snapshot->is_even = false;
	ptx_image_fault(taking->image, taking->region + ptx_ring_chunk_at(g, number),
			sizeof(struct ptx_chunk) + ptx_ring_room_of(g, number), why);
}

/* Copies the header of a chunk, then the records up to its head. */
static void copy_chunk(struct ptx_taking *taking, uint32_t number)
{
	struct ptx_rings *rings = &taking->snapshot->rings;
	size_t at = ptx_ring_chunk_at(&rings->geometry, number);
	uint32_t room = ptx_ring_room_of(&rings->geometry, number);
	struct ptx_chunk *chunk = ptx_ring_chunk(rings, number);
	uint32_t end;

	/* Parts may be missing in an image, for example in an incomplete core dump. */
	if (!copy_part(taking, at, sizeof *chunk)) {
		no_such_chunk(taking, number, "a part of the stream's memory cannot be read");
		return;
	}
	end = ptx_head_offset(atomic_load_explicit(&chunk->head, memory_order_relaxed)) & ~7u;
	if (end > room)
		end = room;
	/*
	 * The head is read before the records. Because of the acquire order, the copy has all
	 * records that the head counts.
	 */
	atomic_thread_fence(memory_order_acquire);
	/* In a hostile file chunks may overlap. The budget limits the sum of their sizes. */
	if (!use_budget(taking, end))
		no_such_chunk(taking, number, "more memory in use than there can be");
	else if (!copy_part(taking, at + sizeof *chunk, end))
		no_such_chunk(taking, number, "a part of the stream's memory cannot be read");
}

/*
 * Copies the claimed words first and then the words of the chunks. This is the order in which a
 * reader changes them: first the claimed word of a chunk, and then the word, which frees the chunk.
 * Returns false if the image lacks some of these bytes.
 */
static bool copy_words(const struct ptx_taking *taking, uint64_t *word, uint64_t *claimed)
{
	const struct ptx_geometry *g = &taking->snapshot->rings.geometry;
	/* Words of chunks that do not exist are not needed. */
	const size_t chunks = ptx_ring_chunks(&taking->snapshot->rings);

	return snapshot_copy(taking, claimed, chunks * sizeof *claimed, g->claimed_at) &&
	       snapshot_copy(taking, word, chunks * sizeof *word, g->words_at);
}

/*
 * Copies the head of the region, which has the number of chunks, then the words, and then each
 * chunk that has records. Returns false if the head or the words cannot be copied.
 */
static bool copy_chunks(struct ptx_taking *taking)
{
	if (!copy_part(taking, 0, sizeof(struct ptx_region)) ||
	    !copy_words(taking, taking->word, taking->claimed))
		return false;
	/*
	 * The chunks are copied in the order of their addresses, so that the readahead of a file
	 * helps.
	 */
	for (uint32_t i = 0; i < ptx_ring_chunks(&taking->snapshot->rings); i++) {
		enum ptx_chunk_state state = ptx_word_state(taking->word[i]);

		/*
		 * OPENING: a writer is overwriting the chunk. If the image is live, the chunk has
		 * no valid content. Otherwise the writer has died, and the chunk still has the
		 * records that the writer had not overwritten. Chunks in the other states have no
		 * records.
		 */
		if (state == PTX_CHUNK_OPEN || state == PTX_CHUNK_CLOSED ||
		    (state == PTX_CHUNK_OPENING && !taking->image->is_live))
			copy_chunk(taking, i);
	}
	return true;
}

/*
 * Copies the counts of skipped events, if has_skips is set. In a damaged image has_skips may be
 * wrong. If the counts cannot be copied, the function clears has_skips and is_even. Returns false
 * if this happens in a live image.
 */
static bool copy_skips(struct ptx_taking *taking)
{
	struct ptx_region *region = taking->snapshot->rings.region;

	if (!atomic_load_explicit(&region->has_skips, memory_order_relaxed) ||
	    copy_part(taking, taking->snapshot->rings.geometry.skips_at, PTX_SKIP_BYTES))
		return true;
	atomic_store_explicit(&region->has_skips, 0, memory_order_relaxed);
	taking->snapshot->is_even = false;
	return !taking->image->is_live;
}

/*
 * Copies the head of the region, all rings, and the slots that are in use. Returns false if a part
 * cannot be copied.
 */
static bool copy_counts(struct ptx_taking *taking)
{
	const struct ptx_geometry *g = &taking->snapshot->rings.geometry;
	uint32_t slots;

	if (!copy_part(taking, 0, sizeof(struct ptx_region)))
		return false;
	slots = atomic_load_explicit(&taking->snapshot->rings.region->slots, memory_order_relaxed);
	/* `slots` does not count slot 0, which is always in use. The result is bounded. */
	slots = slots < g->rings ? slots + 1 : g->rings;
	return copy_part(taking, g->rings_at, rings_of(taking) * sizeof(struct ptx_ring)) &&
	       copy_part(taking, g->slots_at, slots * sizeof(struct ptx_slot)) &&
	       copy_skips(taking);
}

/* Returns true if the reader has delivered no event since the counts were copied. */
static bool is_unmoved(const struct ptx_taking *taking)
{
	/* The number of delivered events only grows. */
	uint64_t consumed;

	return !taking->image->is_live ||
	       (snapshot_copy(taking, &consumed, sizeof consumed,
			      offsetof(struct ptx_region, consumed)) &&
		consumed == atomic_load_explicit(&taking->snapshot->rings.region->consumed,
						 memory_order_relaxed));
}

/*
 * Copies the words again, then the cut, and then the counts. If a writer overwrites a chunk after
 * the words were copied, the chunk remains in the copy, although the counts may include its events
 * as lost. If a reader delivers events meanwhile, the counts belong to different moments, and the
 * function copies them again. After COUNT_TRIES attempts it sets is_even to false, which means that
 * the counts are not exact. Returns 0 or EIO.
 */
static int copy_counts_again(struct ptx_taking *taking)
{
	struct ptx_region *region = taking->snapshot->rings.region;
	uint64_t cut;
	bool unmoved = false;

	if (!copy_words(taking, taking->after, taking->claimed) ||
	    !snapshot_copy(taking, &cut, sizeof cut, offsetof(struct ptx_region, cut)))
		return EIO;
	for (int i = 0; !unmoved && i < COUNT_TRIES; i++) {
		if (!copy_counts(taking))
			return EIO;
		unmoved = is_unmoved(taking);
	}
	/*
	 * copy_counts() has copied a later cut with the head. The cut must be the one that was read
	 * with the words, so it is stored again.
	 */
	atomic_store_explicit(&region->cut, cut, memory_order_relaxed);
	taking->snapshot->is_even = taking->snapshot->is_even && unmoved;
	return 0;
}

/*
 * Copies control page and lists, and checks that the place still has the generation that the caller
 * has given. Called before and after the copy of the region. If the generation is right both times,
 * the region belonged to the same stream during the whole copy. Returns 0, EIO or ESRCH.
 */
static int copy_arena(const struct ptx_taking *taking, unsigned bit, uint64_t generation)
{
	const struct ptx_image *image = taking->image;
	struct ptx_snapshot *snapshot = taking->snapshot;

	if (!image->copy(image, &snapshot->control, sizeof snapshot->control, 0) ||
	    !image->copy(image, &snapshot->lists, sizeof snapshot->lists, PTX_NAMES_AT))
		return EIO;
	memcpy(&snapshot->attachment, &snapshot->control.attachment[bit],
	       sizeof snapshot->attachment);
	/* If the place is CLAIMED or has another generation, the stream has ended. */
	return atomic_load_explicit(&snapshot->attachment.word, memory_order_relaxed) ==
			       ptx_attachment_make(generation, PTX_ATTACHMENT_ATTACHED)
		       ? 0
		       : ESRCH;
}

/*
 * Makes one attempt to copy the stream. is_even becomes false if a count cannot be exact. Returns 0
 * or EIO.
 */
static int copy_stream(struct ptx_taking *taking)
{
	int err;

	/* The steps below make is_even false if they omit a chunk or a count. */
	taking->snapshot->is_even = true;
	err = find_moment(taking);
	if (!err && !copy_chunks(taking))
		err = EIO;
	if (!err)
		err = copy_counts_again(taking);
	return err;
}

/*
 * Reserves address space of the region's size; only copied parts become memory. The sizes come from
 * the attachment and must be possible. The budget is the number of bytes that may be copied. It is
 * a multiple of the memory that the image has, so a small hostile file cannot make this process use
 * much memory. Returns 0, EINVAL or ENOMEM.
 */
static int make_room(struct ptx_taking *taking)
{
	const struct ptx_attachment *attachment = &taking->snapshot->attachment;
	const uint64_t max_data_size = attachment->max_data_size;
	struct ptx_geometry g;
	void *memory;

	/* The same checks as in ptx_attachment_plan(), but for an image. */
	if (max_data_size > PTX_RECORD_LEN_MAX ||
	    ptx_ring_plan(attachment->stream_size, max_data_size, attachment->rings, &g) != 0 ||
	    !ptx_image_holds(taking->image, attachment->offset, &g)) {
		ptx_image_fault(taking->image, 0, 0,
				"the stream's size is impossible");
		return EINVAL;
	}
	taking->region = attachment->offset;
	/* The budget is generous, because image->memory is only an estimate. */
	taking->budget = 64 * (taking->image->memory + MIB);
	/* The tables in front of the chunks are copied as a whole. */
	if (!use_budget(taking, g.chunks_at)) {
		ptx_image_fault(taking->image, 0, 0,
				"the stream is larger than its remains");
		return EINVAL;
	}
	/* MAP_NORESERVE: the address space must not count as memory. */
	memory = mmap(NULL, g.bytes + g.far_bytes, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	/*
	 * mmap() fails if RLIMIT_AS is too low, or if there is no free address space of this size.
	 */
	if (memory == MAP_FAILED)
		return ENOMEM;
	ptx_ring_view(&taking->snapshot->rings, memory, &g, max_data_size, attachment->loop != 0);
	taking->snapshot->rings.far = (unsigned char *)memory + g.bytes;
	taking->word = calloc(3 * (size_t)g.chunks_max, sizeof *taking->word);
	if (!taking->word)
		return ENOMEM;
	/* One allocation has all three arrays. */
	taking->after = taking->word + g.chunks_max;
	taking->claimed = taking->after + g.chunks_max;
	return 0;
}

/* Returns true if all events up to the moment were overwritten before they were copied. */
static bool is_too_late(const struct ptx_snapshot *snapshot)
{
	return snapshot->rings.loop && snapshot->moment != UINT64_MAX &&
	       atomic_load_explicit(&snapshot->rings.region->cut, memory_order_relaxed) >=
		       snapshot->moment;
}

/*
 * Repeats the copy as long as the writers of a LOOP stream have overwritten all events up to the
 * moment. Then copies the description of the stream, and checks that the place still has the same
 * generation. At the end arranges the chunks of the copy, so that a drain can read them. The errors
 * are those of ptx_snapshot_take().
 */
static int snapshot_take(struct ptx_taking *taking, unsigned bit, uint64_t generation)
{
	struct ptx_snapshot *snapshot = taking->snapshot;
	const uint64_t budget = taking->budget;
	const uint64_t give_up = ptx_clock_monotonic() + TRIES_NS_MAX;
	_Atomic uint32_t never = 0;
	int err = 0;

	for (int i = 0; i < TRIES && ptx_clock_monotonic() < give_up; i++) {
		/* Each attempt has the whole budget again. */
		taking->budget = budget;
		err = copy_stream(taking);
		/* The copy is repeated only if events were overwritten. */
		if (err || !is_too_late(snapshot))
			break;
		/*
		 * The pause helps on a busy machine, because the scheduler prefers a thread that
		 * has slept.
		 */
		err = EAGAIN;
		ptx_futex_nap(&never, 0, TRY_NAP_NS);
	}
	/* The description does not change while the stream lives. */
	if (!err && !copy_part(taking, snapshot->rings.geometry.info_at, PTX_STREAM_INFO_BYTES))
		err = EIO;
	if (!err)
		err = copy_arena(taking, bit, generation);
	return err ? err : ptx_snapshot_order(taking);
}

int ptx_snapshot_take(const struct ptx_image *image, unsigned bit, uint64_t generation,
		      struct ptx_snapshot **result)
{
	struct ptx_taking taking = { .image = image };
	struct ptx_snapshot *snapshot =
		aligned_alloc(_Alignof(struct ptx_snapshot), sizeof *snapshot);
	int err;

	if (!snapshot)
		return ENOMEM;
	memset(snapshot, 0, sizeof *snapshot);
	/* The drain expects names and lists in an arena. This arena refers to the copies. */
	snapshot->arena = (struct ptx_arena){ .control = &snapshot->control, .fd = -1 };
	/* The lists are filled by copy_arena(). */
	ptx_arena_set_lists(&snapshot->arena, &snapshot->lists);
	taking.snapshot = snapshot;
	/*
	 * The arena is copied now for the sizes of the region, and again at the end of
	 * snapshot_take().
	 */
	err = copy_arena(&taking, bit, generation);
	if (!err)
		err = make_room(&taking);
	if (!err)
		err = snapshot_take(&taking, bit, generation);
	free(taking.word);
	if (err)
		ptx_snapshot_drop(snapshot);
	else
		*result = snapshot;
	return err;
}

/* The copy consists of the mapping of the region and one object. */
void ptx_snapshot_drop(struct ptx_snapshot *snapshot)
{
	/* The region is NULL if the copy failed before its memory was reserved. */
	if (snapshot->rings.region)
		munmap(snapshot->rings.region,
		       snapshot->rings.geometry.bytes + snapshot->rings.geometry.far_bytes);
	free(snapshot);
}
