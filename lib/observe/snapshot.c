/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * observe/snapshot.c - the bytes of a region, copied while others write.
 *
 *	moment   the clock, then the barrier; writers that were about to publish are waited for
 *	words    whose chunks are whose, then the chunks
 *	settle   the words again, and up to when events are overwritten; then the counts
 *
 * A chunk whose word is of the same generation before and after was not reused in between: its
 * bytes are as its ring has them. Another's are gone: they are among the losses.
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

static bool copy(const struct ptx_taking *taking, void *to, size_t bytes, uint64_t at)
{
	return taking->image->copy(taking->image, to, bytes, taking->region + at);
}

/* To its place in the copy. */
static bool copy_part(const struct ptx_taking *taking, size_t at, size_t bytes)
{
	return copy(taking, (unsigned char *)taking->snapshot->rings.region + at, bytes, at);
}

static uint32_t rings_of(const struct ptx_taking *taking)
{
	return ptx_ring_count(&taking->snapshot->rings);
}

/* Time of the last record that is published in a chunk; the head says where it ends. */
static uint64_t last_time(const struct ptx_taking *taking, uint64_t at,
			  const struct ptx_chunk *chunk)
{
	const struct ptx_geometry *g = &taking->snapshot->rings.geometry;
	uint32_t end =
		ptx_head_offset(atomic_load_explicit(&chunk->head, memory_order_relaxed)) & ~7u;
	unsigned char *bytes;
	uint64_t last = chunk->opened;

	if (end > g->chunk_room)
		end = (uint32_t)g->chunk_room;
	bytes = malloc(end + sizeof(struct ptx_record));
	if (!bytes || !copy(taking, bytes, end, at + sizeof *chunk))
		end = 0;
	for (uint32_t i = 0; i + sizeof(struct ptx_record) <= end;) {
		last = ptx_record_time(bytes + i);
		i += (uint32_t)ptx_record_size(
			ptx_record_len((uint32_t)ptx_record_first(bytes + i)));
	}
	free(bytes);
	return last;
}

/*
 * The latest time such that the ring's writer can publish nothing older; now, if it is about
 * nothing.
 */
static uint64_t bound_of(const struct ptx_taking *taking, uint32_t ring, uint64_t now)
{
	const struct ptx_geometry *g = &taking->snapshot->rings.geometry;
	struct ptx_chunk chunk;
	struct ptx_ring state;
	uint64_t link, at;

	if (!copy(taking, &state, sizeof state, g->rings_at + ring * sizeof state))
		return now;
	link = atomic_load_explicit(&state.current, memory_order_relaxed);
	at = g->chunks_at + (uint64_t)ptx_link_number(link) * g->chunk_bytes;
	if (!link || ptx_link_number(link) >= g->chunks_max ||
	    !copy(taking, &chunk, sizeof chunk, at) || chunk.window == UINT64_MAX ||
	    chunk.window < chunk.head)
		return now;
	return last_time(taking, at, &chunk);
}

static uint64_t ticks_of(const struct ptx_taking *taking, uint64_t ns)
{
	uint64_t hz = taking->snapshot->rings.region->calibration.hz;

	return (uint64_t)((unsigned __int128)ns * hz / (uint64_t)PTX_NS_PER_S);
}

/* Looking takes long where a region says that it has many writers of much: it may be lying. */
static bool is_late(const struct ptx_taking *taking)
{
	return ptx_clock_monotonic() > taking->late;
}

static int look_at_writers(struct ptx_taking *taking)
{
	struct ptx_snapshot *snapshot = taking->snapshot;
	bool ordered;

	snapshot->moment = snapshot->now.ticks;
	ordered = ptx_barrier_everywhere();
	if (!copy_part(taking, 0, sizeof(struct ptx_region)))
		return EIO;
	for (uint32_t ring = 0; ring < rings_of(taking) && !is_late(taking); ring++) {
		uint64_t bound = bound_of(taking, ring, snapshot->now.ticks);

		if (bound < snapshot->moment)
			snapshot->moment = bound;
	}
	if (!ordered) {
		uint64_t back = ticks_of(taking, NO_BARRIER_NS);

		snapshot->moment -= back < snapshot->moment ? back : snapshot->moment;
	}
	return 0;
}

/*
 * Everything up to the moment can be seen from here on: the argument is in drain/pass.c. A writer
 * that is about to publish holds it back. It is waited for, but not for ever: it may be stopped
 * there.
 */
static int find_moment(struct ptx_taking *taking)
{
	struct ptx_snapshot *snapshot = taking->snapshot;
	const bool counter = snapshot->control.clock == PTX_ARENA_CLOCK_COUNTER;
	_Atomic uint32_t never = 0;
	int err;

	snapshot->moment = UINT64_MAX;
	taking->late = ptx_clock_monotonic() + INSIDE_NS_MAX;
	for (;;) {
		if (!taking->image->is_live || !ptx_clock_anchor_of(counter, &snapshot->now))
			return 0;
		err = look_at_writers(taking);
		if (err || snapshot->now.ticks - snapshot->moment <= ticks_of(taking, HELD_BACK_NS))
			return err;
		if (taking->naps++ >= INSIDE_NAPS || is_late(taking)) {
			snapshot->moment = snapshot->now.ticks;
			return 0;
		}
		ptx_futex_nap(&never, 0, INSIDE_NAP_NS);
	}
}

static bool spend(struct ptx_taking *taking, uint64_t bytes)
{
	if (bytes > taking->budget)
		return false;
	taking->budget -= bytes;
	return true;
}

static void no_such_chunk(struct ptx_taking *taking, uint32_t number, const char *why)
{
	const struct ptx_geometry *g = &taking->snapshot->rings.geometry;

	taking->word[number] = 0;
	taking->snapshot->is_even = false;
	ptx_image_fault(taking->image,
			taking->region + g->chunks_at + (uint64_t)number * g->chunk_bytes,
			g->chunk_bytes, why);
}

/* Header and what its head says is there. */
static void copy_chunk(struct ptx_taking *taking, uint32_t number)
{
	struct ptx_rings *rings = &taking->snapshot->rings;
	size_t at = rings->geometry.chunks_at + (size_t)number * rings->geometry.chunk_bytes;
	struct ptx_chunk *chunk = ptx_ring_chunk(rings, number);
	uint32_t end;

	if (!copy_part(taking, at, sizeof *chunk)) {
		no_such_chunk(taking, number, "a part of the stream's memory cannot be read");
		return;
	}
	end = ptx_head_offset(atomic_load_explicit(&chunk->head, memory_order_relaxed)) & ~7u;
	if (end > rings->geometry.chunk_room)
		end = (uint32_t)rings->geometry.chunk_room;
	atomic_thread_fence(memory_order_acquire);
	if (!spend(taking, end))
		no_such_chunk(taking, number, "more memory in use than there can be");
	else if (!copy_part(taking, at + sizeof *chunk, end))
		no_such_chunk(taking, number, "a part of the stream's memory cannot be read");
}

static bool copy_words(const struct ptx_taking *taking, uint64_t *word, uint64_t *claimed)
{
	const struct ptx_geometry *g = &taking->snapshot->rings.geometry;
	const size_t chunks = ptx_ring_chunks(&taking->snapshot->rings);

	return copy(taking, claimed, chunks * sizeof *claimed, g->claimed_at) &&
	       copy(taking, word, chunks * sizeof *word, g->words_at);
}

static bool copy_chunks(struct ptx_taking *taking)
{
	if (!copy_part(taking, 0, sizeof(struct ptx_region)) ||
	    !copy_words(taking, taking->word, taking->claimed))
		return false;
	for (uint32_t i = 0; i < ptx_ring_chunks(&taking->snapshot->rings); i++) {
		enum ptx_chunk_state state = ptx_word_state(taking->word[i]);

		/*
		 * What is being overwritten nobody can copy; what was when its writer died is
		 * there.
		 */
		if (state == PTX_CHUNK_OPEN || state == PTX_CHUNK_CLOSED ||
		    (state == PTX_CHUNK_OPENING && !taking->image->is_live))
			copy_chunk(taking, i);
	}
	return true;
}

static bool copy_counts(struct ptx_taking *taking)
{
	const struct ptx_geometry *g = &taking->snapshot->rings.geometry;
	uint32_t slots;

	if (!copy_part(taking, 0, sizeof(struct ptx_region)))
		return false;
	slots = atomic_load_explicit(&taking->snapshot->rings.region->slots, memory_order_relaxed);
	slots = slots < g->rings ? slots + 1 : g->rings;
	return copy_part(taking, g->rings_at, rings_of(taking) * sizeof(struct ptx_ring)) &&
	       copy_part(taking, g->slots_at, slots * sizeof(struct ptx_slot));
}

/* Where the reader was when the counts were copied it still is. */
static bool is_unmoved(const struct ptx_taking *taking)
{
	uint64_t taken;

	return !taking->image->is_live ||
	       (copy(taking, &taken, sizeof taken, offsetof(struct ptx_region, taken)) &&
		taken == atomic_load_explicit(&taking->snapshot->rings.region->taken,
					      memory_order_relaxed));
}

/*
 * Of all that was overwritten from now on, chunks and counts, the copy is older: the total says how
 * many records there were up to the moment, and the counts, of which types and threads they were.
 */
static int settle(struct ptx_taking *taking)
{
	struct ptx_region *region = taking->snapshot->rings.region;
	uint64_t cut;
	bool unmoved = false;

	if (!copy_words(taking, taking->after, taking->claimed) ||
	    !copy(taking, &cut, sizeof cut, offsetof(struct ptx_region, cut)))
		return EIO;
	for (int i = 0; !unmoved && i < COUNT_TRIES; i++) {
		if (!copy_counts(taking))
			return EIO;
		unmoved = is_unmoved(taking);
	}
	atomic_store_explicit(&region->cut, cut, memory_order_relaxed);
	taking->snapshot->is_even = taking->snapshot->is_even && unmoved;
	return 0;
}

/* The stream is the one that was meant, and its region still is. */
static int copy_arena(const struct ptx_taking *taking, unsigned bit, uint64_t generation)
{
	const struct ptx_image *image = taking->image;
	struct ptx_snapshot *snapshot = taking->snapshot;

	if (!image->copy(image, &snapshot->control, sizeof snapshot->control, 0) ||
	    !image->copy(image, &snapshot->lists, sizeof snapshot->lists, PTX_NAMES_AT))
		return EIO;
	memcpy(&snapshot->attachment, &snapshot->control.attachment[bit],
	       sizeof snapshot->attachment);
	return atomic_load_explicit(&snapshot->attachment.word, memory_order_relaxed) ==
			       ptx_attachment_make(generation, PTX_ATTACHMENT_ATTACHED)
		       ? 0
		       : ESRCH;
}

static int copy_stream(struct ptx_taking *taking)
{
	int err;

	taking->snapshot->is_even = true;
	err = find_moment(taking);
	if (!err && !copy_chunks(taking))
		err = EIO;
	if (!err)
		err = settle(taking);
	return err;
}

/* Address space of the region's size, of which only what is copied to becomes memory. */
static int make_room(struct ptx_taking *taking)
{
	const struct ptx_attachment *attachment = &taking->snapshot->attachment;
	const uint64_t max_data_size = attachment->max_data_size;
	struct ptx_geometry g;
	void *memory;

	if (max_data_size > PTX_RECORD_LEN_MAX ||
	    ptx_ring_plan(attachment->stream_size, max_data_size, attachment->rings, &g) != 0 ||
	    !ptx_image_holds(taking->image, attachment->offset, &g)) {
		ptx_image_fault(taking->image, 0, 0,
				"no stream can be of the size that it says it has");
		return EINVAL;
	}
	taking->region = attachment->offset;
	taking->budget = 64 * (taking->image->memory + MIB);
	if (!spend(taking, g.chunks_at)) {
		ptx_image_fault(taking->image, 0, 0,
				"the stream is larger than what is there of it");
		return EINVAL;
	}
	memory = mmap(NULL, g.bytes + g.far_bytes, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (memory == MAP_FAILED)
		return ENOMEM;
	ptx_ring_view(&taking->snapshot->rings, memory, &g, max_data_size, attachment->loop != 0);
	taking->snapshot->rings.far = (unsigned char *)memory + g.bytes;
	taking->word = calloc(3 * (size_t)g.chunks_max, sizeof *taking->word);
	if (!taking->word)
		return ENOMEM;
	taking->after = taking->word + g.chunks_max;
	taking->claimed = taking->after + g.chunks_max;
	return 0;
}

/* All that it had was overwritten while it was copied. */
static bool is_too_late(const struct ptx_snapshot *snapshot)
{
	return snapshot->rings.loop && snapshot->moment != UINT64_MAX &&
	       atomic_load_explicit(&snapshot->rings.region->cut, memory_order_relaxed) >=
		       snapshot->moment;
}

static int take(struct ptx_taking *taking, unsigned bit, uint64_t generation)
{
	struct ptx_snapshot *snapshot = taking->snapshot;
	const uint64_t budget = taking->budget;
	const uint64_t give_up = ptx_clock_monotonic() + TRIES_NS_MAX;
	_Atomic uint32_t never = 0;
	int err = 0;

	for (int i = 0; i < TRIES && ptx_clock_monotonic() < give_up; i++) {
		taking->budget = budget;
		err = copy_stream(taking);
		if (err || !is_too_late(snapshot))
			break;
		/* Whoever has slept is not kept from running soon after. */
		err = EAGAIN;
		ptx_futex_nap(&never, 0, TRY_NAP_NS);
	}
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
	snapshot->arena = (struct ptx_arena){ .control = &snapshot->control, .fd = -1 };
	ptx_arena_know_lists(&snapshot->arena, &snapshot->lists);
	taking.snapshot = snapshot;
	err = copy_arena(&taking, bit, generation);
	if (!err)
		err = make_room(&taking);
	if (!err)
		err = take(&taking, bit, generation);
	free(taking.word);
	if (err)
		ptx_snapshot_drop(snapshot);
	else
		*result = snapshot;
	return err;
}

void ptx_snapshot_drop(struct ptx_snapshot *snapshot)
{
	if (snapshot->rings.region)
		munmap(snapshot->rings.region,
		       snapshot->rings.geometry.bytes + snapshot->rings.geometry.far_bytes);
	free(snapshot);
}
