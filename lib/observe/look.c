/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "observe/look.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "arena/attachment.h"
#include "meet/peer_arenas.h"

#define COUNT_TRIES 5

struct looking {
	struct ptx_look *look;
	bool is_arena;
};

static bool copy(const struct ptx_image *image, void *to, size_t bytes, uint64_t offset)
{
	return image->copy(image, to, bytes, offset);
}

/*
 * The copy is of a moment when the stream was attached, and nothing else came to its place since.
 */
static bool is_still_there(const struct ptx_image *image, const struct ptx_attachment *copied,
			   unsigned bit)
{
	uint64_t word;

	return copy(image, &word, sizeof word,
		    offsetof(struct ptx_control, attachment) + bit * sizeof *copied +
			    offsetof(struct ptx_attachment, word)) &&
	       word == atomic_load_explicit(&copied->word, memory_order_relaxed);
}

/*
 * All records of a ring, by the chunk that its writer fills now: that knows, modulo 2^32, how many
 * came before it. The ring's own count may have those of the chunk before or not. False: the chunk
 * is another's by now.
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

	*records = published;
	if (link == 0 || number >= stream->geometry.chunks_max)
		return true;
	if (!copy(image, &chunk, sizeof chunk,
		  region + stream->geometry.chunks_at +
			  (uint64_t)number * stream->geometry.chunk_bytes) ||
	    !copy(image, &word, sizeof word,
		  region + stream->geometry.words_at + (uint64_t)number * sizeof word) ||
	    ptx_word_generation(word) != ptx_link_generation(link))
		return false;
	head = atomic_load_explicit(&chunk.head, memory_order_relaxed);
	*records += ptx_chunk_records(&chunk.ident, head) - (uint32_t)published;
	return true;
}

static void count_records(const struct ptx_image *image, const struct ptx_look *look,
			  uint32_t rings, struct ptx_look_stream *stream)
{
	for (uint32_t i = 0; i < rings; i++) {
		struct ptx_ring ring = look->ring[i];
		uint64_t records;

		for (int try = 0; try < COUNT_TRIES && !count_ring(image, stream, &ring, &records);
		     try++)
			if (!copy(image, &ring, sizeof ring,
				  stream->attachment.offset + stream->geometry.rings_at +
					  i * sizeof ring))
				break;
		stream->recorded += records;
	}
}

/* The pool can grow while the stream is not full: what it can grow by counts as free. */
static void note_chunks(const struct ptx_region *region, struct ptx_look_stream *stream)
{
	const struct ptx_geometry *g = &stream->geometry;
	uint32_t rings = atomic_load_explicit(&region->rings, memory_order_relaxed);
	uint32_t chunks = atomic_load_explicit(&region->chunks, memory_order_relaxed);
	uint32_t free_chunks = atomic_load_explicit(&region->free_chunks, memory_order_relaxed);
	enum ptx_state kind = ptx_state_kind(stream->state);
	uint32_t most = g->chunks + g->ring_chunks * (rings < g->rings ? rings : g->rings);

	if (chunks > g->chunks_max)
		chunks = g->chunks_max;
	if (free_chunks > chunks)
		free_chunks = chunks;
	stream->chunks = chunks;
	stream->free_chunks = free_chunks;
	/* No chunks at all: the memory was given back. */
	if (chunks != 0 && kind != PTX_FULL && kind != PTX_HELD && most > chunks) {
		stream->chunks = most;
		stream->free_chunks += most - chunks;
	}
}

static void note_region(const struct ptx_region *region, struct ptx_look_stream *stream)
{
	for (int i = 0; i < PTX_WORDS; i++)
		stream->admit[i] = atomic_load_explicit(&region->admit[i], memory_order_relaxed);
	stream->state = atomic_load_explicit(&region->state, memory_order_relaxed);
	stream->overrun = atomic_load_explicit(&region->overrun, memory_order_relaxed) != 0;
	stream->looped = atomic_load_explicit(&region->looped, memory_order_relaxed) != 0;
	note_chunks(region, stream);
	for (int loss = 0; loss < PTX_WRITER_LOSSES; loss++)
		for (unsigned type = 0; type < PTX_TYPE_MAX; type++)
			stream->lost[loss] += atomic_load_explicit(&region->lost_type[loss][type],
								   memory_order_relaxed);
}

static bool look_at_region(const struct ptx_image *image, struct ptx_look *look,
			   struct ptx_look_stream *stream)
{
	const struct ptx_attachment *attachment = &stream->attachment;

	uint32_t rings;

	if (ptx_ring_plan(attachment->stream_size, attachment->max_data_size, attachment->rings,
			  &stream->geometry) != 0 ||
	    !ptx_image_holds(image, attachment->offset, &stream->geometry) ||
	    !copy(image, &look->region, sizeof look->region, attachment->offset))
		return false;
	rings = atomic_load_explicit(&look->region.rings, memory_order_relaxed);
	rings = rings < stream->geometry.rings ? rings : stream->geometry.rings;
	if (!copy(image, look->ring, rings * sizeof *look->ring,
		  attachment->offset + stream->geometry.rings_at))
		return false;
	note_region(&look->region, stream);
	count_records(image, look, rings, stream);
	return true;
}

/* The kernel knows who holds the lock, and tells it in this process's name space of process ids. */
static uint32_t creator_of(const struct ptx_arena *arena, unsigned bit)
{
	struct flock lock = ptx_attachment_lock(bit, F_WRLCK);

	if (fcntl(arena->fd, F_GETLK, &lock) != 0)
		return 0;
	if (lock.l_type != F_UNLCK)
		return lock.l_pid > 0 ? (uint32_t)lock.l_pid : 0;
	/* A process's own locks are not in its way. */
	if (atomic_load_explicit(&arena->mine, memory_order_acquire) >> bit & 1)
		return (uint32_t)getpid();
	return PTX_CREATOR_GONE;
}

static void look_at_stream(const struct ptx_image *image, struct ptx_look *look, unsigned bit)
{
	struct ptx_look_stream *stream = &look->stream[look->streams];
	const struct ptx_attachment *attachment = &look->control.attachment[bit];

	if (ptx_attachment_state(atomic_load_explicit(&attachment->word, memory_order_relaxed)) !=
	    PTX_ATTACHMENT_ATTACHED)
		return;
	memset(stream, 0, sizeof *stream);
	stream->bit = bit;
	memcpy(&stream->attachment, attachment, sizeof *attachment);
	stream->lost[PTX_WRITER_NO_MEMORY] =
		atomic_load_explicit(&attachment->missed, memory_order_relaxed);
	stream->creator = image->arena ? creator_of(image->arena, bit) : PTX_CREATOR_GONE;
	if (look_at_region(image, look, stream) && is_still_there(image, attachment, bit))
		look->streams++;
}

struct ptx_look *ptx_look_new(void)
{
	return aligned_alloc(_Alignof(struct ptx_look), sizeof(struct ptx_look));
}

bool ptx_look_at_image(struct ptx_look *look, const struct ptx_image *image)
{
	look->streams = 0;
	if (!copy(image, &look->control, sizeof look->control, 0) ||
	    look->control.magic != PTX_ARENA_MAGIC || look->control.version != PTX_ARENA_VERSION ||
	    !copy(image, &look->names, sizeof look->names, PTX_NAMES_AT))
		return false;
	for (unsigned bit = 0; bit < PTX_STREAMS; bit++)
		look_at_stream(image, look, bit);
	return true;
}

static void look_at_arena(void *arg, const struct ptx_arena *arena)
{
	struct looking *looking = arg;
	struct ptx_image image;

	if (ptx_arena_fd(arena) < 0)
		return;
	ptx_image_of_file(&image, arena->fd);
	image.is_live = true;
	image.arena = arena;
	looking->is_arena = ptx_look_at_image(looking->look, &image);
}

bool ptx_look_at(struct ptx_look *look, const char *path)
{
	struct looking looking = { .look = look };

	look->streams = 0;
	return ptx_peer_arenas_peek(path, look_at_arena, &looking) && looking.is_arena;
}
