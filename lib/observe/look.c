/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * observe/look.c - copies the state of an arena's streams.
 *
 * No step waits for another process or changes shared memory. Each number is copied once and then
 * bounded. The word of an attachment has a generation, which changes with each new stream at this
 * place. So the word is compared before and after the copy, to make sure that the copied state
 * belongs to one stream. The numbers may be of slightly different moments.
 */
#include "observe/look.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "arena/attachment.h"
#include "base/proc.h"
#include "meet/peer_arenas.h"

/* How often a ring is read again if its writer has changed to another chunk meanwhile. */
#define COUNT_TRIES 5

/* The argument of the callback of ptx_peer_arenas_peek(). */
struct looking {
	struct ptx_look *look;
	bool is_arena;
};

/* Calls image->copy(); makes the calls in this file shorter. */
static bool look_copy(const struct ptx_image *image, void *to, size_t bytes, uint64_t offset)
{
	return image->copy(image, to, bytes, offset);
}

/*
 * Returns true if the word of the attachment is unchanged since the copy. In this case the same
 * stream had the region all the time.
 */
static bool is_still_there(const struct ptx_image *image, const struct ptx_attachment *copied,
			   unsigned bit)
{
	/*
	 * Only the word is read again. If it is unchanged, the copied facts belong to its
	 * generation.
	 */
	uint64_t word;

	return look_copy(image, &word, sizeof word,
			 offsetof(struct ptx_control, attachment) + bit * sizeof *copied +
				 offsetof(struct ptx_attachment, word)) &&
	       word == atomic_load_explicit(&copied->word, memory_order_relaxed);
}

/*
 * Counts all records of a ring. The ring's writer fills one chunk. The header of this chunk has the
 * number of the ring's records before the chunk, modulo 2^32. The chunk's head has the number of
 * records in the chunk. The count `published` of the ring may be a little behind, so only the upper
 * half of the result comes from it. Returns false if the chunk has been reused meanwhile; the
 * caller then reads the ring again.
 */
static bool count_ring(const struct ptx_image *image, const struct ptx_look_stream *stream,
		       const struct ptx_ring *ring, uint64_t *records)
{
	const uint64_t region = stream->attachment.offset;
	uint64_t link = atomic_load_explicit(&ring->current, memory_order_relaxed), word;
	uint64_t published = atomic_load_explicit(&ring->published, memory_order_relaxed);
	uint32_t number = ptx_link_number(link);
	struct ptx_chunk chunk;
	uint64_t head;

	/* If the ring's writer fills no chunk, `published` is complete. */
	*records = published;
	/* The number comes from shared memory and is used as an index, so it is checked. */
	if (link == 0 || number >= stream->geometry.chunks_max)
		return true;
	if (!look_copy(image, &chunk, sizeof chunk,
		       region + ptx_ring_chunk_at(&stream->geometry, number)) ||
	    !look_copy(image, &word, sizeof word,
		       region + stream->geometry.words_at + (uint64_t)number * sizeof word) ||
	    ptx_word_generation(word) != ptx_link_generation(link))
		return false;
	/*
	 * Header and head were copied together, so they are of one moment. The difference to
	 * `published` is computed modulo 2^32.
	 */
	head = atomic_load_explicit(&chunk.head, memory_order_relaxed);
	*records += ptx_chunk_records(&chunk.ident, head) - (uint32_t)published;
	return true;
}

/*
 * Adds up the records of all rings. If the writer of a ring changes chunks all the time, the result
 * of the last attempt is used for this ring.
 */
static void count_records(const struct ptx_image *image, const struct ptx_look *look,
			  uint32_t rings, struct ptx_look_stream *stream)
{
	for (uint32_t i = 0; i < rings; i++) {
		struct ptx_ring ring = look->ring[i];
		uint64_t records;

		/*
		 * After a failed attempt the ring is read again, because its writer has changed to
		 * another chunk.
		 */
		for (int try = 0; try < COUNT_TRIES && !count_ring(image, stream, &ring, &records);
		     try++)
			if (!look_copy(image, &ring, sizeof ring,
				       stream->attachment.offset + stream->geometry.rings_at +
					       i * sizeof ring))
				break;
		/* The sum is for a display and not for a ledger, so small errors do not matter. */
		stream->recorded += records;
	}
}

/* Returns a number from shared memory, or its bound if the number is greater. */
static uint32_t at_most(uint32_t number, uint32_t bound)
{
	return number < bound ? number : bound;
}

/*
 * Returns the size of the chunks with numbers below `chunks`. The first `large` of these chunks are
 * large, the others are small.
 */
static size_t bytes_below(const struct ptx_geometry *g, uint32_t chunks, uint32_t large)
{
	return chunks <= g->large ? chunks * g->chunk_bytes
				  : large * g->chunk_bytes + (chunks - g->large) * g->small_bytes;
}

/*
 * Stores the memory of all chunks and of the free chunks in units of one large chunk, for a display
 * of the fill level. A stream that is not full can still add chunks, so the chunks that it can add
 * count as free. Values of shared memory are bounded by the geometry.
 */
static void note_chunks(const struct ptx_region *region, struct ptx_look_stream *stream)
{
	const struct ptx_geometry *g = &stream->geometry;
	uint32_t rings = atomic_load_explicit(&region->rings, memory_order_relaxed);
	uint32_t chunks = at_most(atomic_load_explicit(&region->chunks, memory_order_relaxed),
				  g->chunks_max);
	uint32_t free_chunks = atomic_load_explicit(&region->free_chunks, memory_order_relaxed);
	uint32_t free_small = at_most(
		atomic_load_explicit(&region->free_small, memory_order_relaxed), free_chunks);
	/* `large` is the number of large chunks that the pool has. */
	uint32_t large = at_most(atomic_load_explicit(&region->large, memory_order_relaxed),
				 g->large);
	enum ptx_state kind = ptx_state_kind(stream->state);
	/* The number to which the pool can grow with the present number of rings. */
	uint32_t most = ptx_ring_most_chunks(g, at_most(rings, g->rings));
	size_t bytes, left;

	/*
	 * If `large` is less than the number of chunks at the creation, writers have added no small
	 * chunk yet. Or the writer that added the first small chunk was killed before it stored
	 * `large`.
	 */
	if (large < g->chunks)
		large = chunks <= g->large ? at_most(chunks, g->large) : g->chunks;
	bytes = bytes_below(g, chunks, large);
	/*
	 * The counts of free chunks may be of another moment than the number of chunks, so the
	 * result is bounded.
	 */
	left = (size_t)(free_chunks - free_small) * g->chunk_bytes +
	       (size_t)free_small * g->small_bytes;
	left = left < bytes ? left : bytes;
	/*
	 * The pool can grow unless the stream is full. If the number of chunks is 0, the creator
	 * has given the memory back.
	 */
	if (chunks != 0 && kind != PTX_FULL && kind != PTX_HELD && most > chunks) {
		left += bytes_below(g, most, large) - bytes;
		bytes = bytes_below(g, most, large);
	}
	/* A unit of which only a part is free counts as used. */
	stream->chunks = (uint32_t)((bytes + g->chunk_bytes - 1) / g->chunk_bytes);
	stream->free_chunks = (uint32_t)(left / g->chunk_bytes);
}

/* Copies the state and the counts of losses from a private copy of the region's head. */
static void note_region(const struct ptx_region *region, struct ptx_look_stream *stream)
{
	/* The filter, for a display of the types that are admitted. */
	for (int i = 0; i < PTX_WORDS; i++)
		stream->admit[i] = atomic_load_explicit(&region->admit[i], memory_order_relaxed);
	stream->state = atomic_load_explicit(&region->state, memory_order_relaxed);
	stream->overrun = atomic_load_explicit(&region->overrun, memory_order_relaxed) != 0;
	stream->looped = atomic_load_explicit(&region->looped, memory_order_relaxed) != 0;
	note_chunks(region, stream);
	/*
	 * The losses of all types are added up. If a count is hostile, the sum may wrap around. The
	 * only effect is a wrong number in a display.
	 */
	for (int loss = 0; loss < PTX_WRITER_ROWS; loss++)
		for (unsigned type = 0; type < PTX_TYPE_MAX; type++)
			stream->lost[loss] += atomic_load_explicit(&region->lost_type[loss][type],
								   memory_order_relaxed);
}

/*
 * Adds up the counts of skipped events, if the region has such counts. A row that cannot be read
 * ends the sum.
 */
static void count_skips(const struct ptx_image *image, const struct ptx_region *region,
			struct ptx_look_stream *stream)
{
	uint64_t offset = stream->attachment.offset + stream->geometry.skips_at;
	uint64_t row[PTX_TYPE_MAX];

	if (!atomic_load_explicit(&region->has_skips, memory_order_relaxed))
		return;
	for (unsigned i = 0; i < PTX_SKIP_ROWS; i++) {
		if (!look_copy(image, row, sizeof row, offset + i * sizeof row))
			return;
		for (unsigned type = 0; type < PTX_TYPE_MAX; type++)
			stream->lost[PTX_WRITER_SKIPPED] += row[type];
	}
}

/*
 * Computes the geometry from the sizes in the attachment, as every process does, and copies the
 * head of the region and the rings. Returns false if the sizes are impossible or the region is not
 * in the image.
 */
static bool look_at_region(const struct ptx_image *image, struct ptx_look *look,
			   struct ptx_look_stream *stream)
{
	const struct ptx_attachment *attachment = &stream->attachment;

	uint32_t rings;

	/* If ptx_ring_plan() fails, no stream can have these sizes. */
	if (ptx_ring_plan(attachment->stream_size, attachment->max_data_size, attachment->rings,
			  &stream->geometry) != 0 ||
	    !ptx_image_holds(image, attachment->offset, &stream->geometry) ||
	    !look_copy(image, &look->region, sizeof look->region, attachment->offset))
		return false;
	rings = atomic_load_explicit(&look->region.rings, memory_order_relaxed);
	/* look->ring has room for PTX_RINGS, which no geometry exceeds. */
	rings = rings < stream->geometry.rings ? rings : stream->geometry.rings;
	/* All rings are copied by one read instead of a thousand. */
	if (!look_copy(image, look->ring, rings * sizeof *look->ring,
		       attachment->offset + stream->geometry.rings_at))
		return false;
	/* The next two calls use the copy, so no field changes between a check and its use. */
	note_region(&look->region, stream);
	count_records(image, look, rings, stream);
	count_skips(image, &look->region, stream);
	return true;
}

/*
 * Returns the process id of the stream's creator, which holds the record lock of the place. The
 * kernel returns the id of the lock's holder in the caller's namespace. Returns 0 if the id is
 * unknown, and PTX_CREATOR_GONE if no process holds the lock.
 */
static uint32_t creator_of(const struct ptx_arena *arena, unsigned bit)
{
	struct flock lock = ptx_attachment_lock(bit, F_WRLCK);

	if (fcntl(arena->fd, F_GETLK, &lock) != 0)
		return 0;
	/*
	 * l_pid is 0 or negative if the holder is in a namespace that this process does not see.
	 */
	if (lock.l_type != F_UNLCK)
		return lock.l_pid > 0 ? (uint32_t)lock.l_pid : 0;
	/* F_GETLK does not report the locks of the calling process. */
	if (atomic_load_explicit(&arena->claims, memory_order_acquire) >> bit & 1)
		return ptx_proc_own();
	return PTX_CREATOR_GONE;
}

/* Adds the stream at this place, if the stream is attached before and after the copy. */
static void look_at_stream(const struct ptx_image *image, struct ptx_look *look, unsigned bit)
{
	struct ptx_look_stream *stream = &look->stream[look->streams];
	const struct ptx_attachment *attachment = &look->control.attachment[bit];

	/* CLAIMED places have no region, or a region that is being made. */
	if (ptx_attachment_state(atomic_load_explicit(&attachment->word, memory_order_relaxed)) !=
	    PTX_ATTACHMENT_ATTACHED)
		return;
	/* The structure is zeroed, because counts are added up below. */
	memset(stream, 0, sizeof *stream);
	stream->bit = bit;
	memcpy(&stream->attachment, attachment, sizeof *attachment);
	/* Events of processes that could not map the region are counted in the attachment. */
	stream->lost[PTX_WRITER_NO_MEMORY] =
		atomic_load_explicit(&attachment->missed, memory_order_relaxed);
	/* The image of a file that was recovered has no arena. Its creators have ended. */
	stream->creator = image->arena ? creator_of(image->arena, bit) : PTX_CREATOR_GONE;
	if (look_at_region(image, look, stream) && is_still_there(image, attachment, bit))
		look->streams++;
}

/* The memory is not zeroed, because ptx_look_at_image() sets all members that a caller reads. */
struct ptx_look *ptx_look_new(void)
{
	return aligned_alloc(_Alignof(struct ptx_look), sizeof(struct ptx_look));
}

/* Magic and version are compared first: an arena of another version has another layout. */
bool ptx_look_at_image(struct ptx_look *look, const struct ptx_image *image)
{
	/* The object is valid and has no streams, even after a failure. */
	look->streams = 0;
	look->is_foreign = false;
	if (!look_copy(image, &look->control, sizeof look->control, 0))
		return false;
	look->is_foreign = ptx_arena_is_foreign_head(look->control.magic, look->control.version);
	if (look->control.magic != PTX_ARENA_MAGIC || look->is_foreign ||
	    !look_copy(image, &look->names, sizeof look->names, PTX_NAMES_AT))
		return false;
	/*
	 * Looks at every place: after a process was killed, bits of `attached` may be wrong
	 * (arena/DESIGN 2).
	 */
	for (unsigned bit = 0; bit < PTX_STREAMS; bit++)
		look_at_stream(image, look, bit);
	return true;
}

/*
 * A callback of ptx_peer_arenas_peek(), called while the arena is open. The program may have closed
 * the descriptor meanwhile.
 */
static void look_at_arena(void *arg, const struct ptx_arena *arena)
{
	struct looking *looking = arg;
	struct ptx_image image;

	/* If the descriptor is closed, nothing can be read, and is_arena stays false. */
	if (ptx_arena_fd(arena) < 0)
		return;
	ptx_image_of_file(&image, arena->fd);
	/* The arena is in use, so its regions must be whole and its locks show the creators. */
	image.is_live = true;
	image.arena = arena;
	image.err = &looking->look->err;
	looking->is_arena = ptx_look_at_image(looking->look, &image);
}

/*
 * `path` is a file in /proc/PID/fd or a symbolic link; ptx_peer_arenas_peek() opens and checks the
 * file.
 */
int ptx_look_at(struct ptx_look *look, const char *path, const struct ptx_opener *opener)
{
	struct looking looking = { .look = look };
	int err;

	look->streams = 0;
	look->is_foreign = false;
	look->err = 0;
	err = ptx_peer_arenas_peek(path, opener, look_at_arena, &looking);
	if (!err)
		err = look->err;
	return !err && !looking.is_arena ? EINVAL : err;
}
