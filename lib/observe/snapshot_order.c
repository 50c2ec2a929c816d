/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * observe/snapshot_order.c - repairs a copied region, so that a reader finds nothing wrong in it.
 *
 * For each ring this file keeps the chunks that the ring had before and after the copy. It arranges
 * them in the order in which they were opened, and ends the ring with the last record that is not
 * younger than the moment (snapshot.h). If a chunk's head counts more records than can be read, the
 * records that cannot be read count as damaged. This file computes all links, heads and claimed
 * words anew. So no reader follows a value that a hostile process has written.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "observe/snapshot_private.h"
#include "ring/overwrite.h"

/* A chunk that belongs to the copy. `opened` is the time when a writer opened the chunk. */
struct link {
	uint32_t ring, number;
	uint64_t opened;
	uint32_t before; /* number of the ring's records before this chunk, modulo 2^32 */
};

/* The state of the work. The array `link` is sorted by ring and by time. */
struct order {
	struct ptx_taking *taking;
	struct ptx_snapshot *snapshot;
	struct link *link;
	size_t links;
	struct ptx_snapshot_span span;
};

/* The valid part of a chunk, up to the moment. */
struct contents {
	uint32_t end, records;
	uint32_t claimed; /* where the delivered records end; always the end of a record */
	uint64_t last;
	bool is_cut; /* records that are younger than the moment follow */
};

/*
 * Returns the size of a record, or 0 if the record is not valid. The rules are those of
 * ptx_records_check(), which a reader uses.
 */
static size_t record_size(const struct order *order, const unsigned char *record, uint32_t room)
{
	uint64_t first = ptx_record_first(record), time = ptx_record_time(record);
	size_t len = ptx_record_len((uint32_t)first), size = ptx_record_size(len);
	/* All these values are of one copy, which does not change. */
	unsigned type = ptx_record_first_type(first);

	/*
	 * The size must be possible in this stream, and the time must be in the range of possible
	 * times.
	 */
	if (size > order->snapshot->rings.geometry.record_max || size > room ||
	    time < order->span.first_ticks || time > order->span.last_ticks)
		return 0;
	/* The data of an IDENT record is exactly the identity of a thread. */
	if (first & PTX_RECORD_IDENT)
		return len == sizeof(struct ptx_ident) ? size : 0;
	return type != 0 && type < PTX_TYPE_MAX ? size : 0;
}

/*
 * Visits the records of a chunk. The visit ends at the head of the chunk, at the first invalid
 * record, or at the first record that is younger than the moment. contents->claimed becomes the end
 * of the records that the reader had delivered. It is always the end of a record.
 */
static void snapshot_order_measure(const struct order *order, const struct ptx_chunk *chunk,
				   uint32_t claimed, struct contents *contents)
{
	uint32_t room = ptx_ring_whole_room(&order->snapshot->rings, chunk), at = 0;
	uint32_t end =
		ptx_head_offset(atomic_load_explicit(&chunk->head, memory_order_relaxed)) & ~7u;

	*contents = (struct contents){ .last = chunk->opened };
	/* A hostile head may be greater than the room of the chunk. */
	if (end > room)
		end = room;
	while (at + sizeof(struct ptx_record) <= end) {
		const unsigned char *record = chunk->records + at;
		uint64_t time = ptx_record_time(record);
		size_t size = record_size(order, record, end - at);

		if (size == 0)
			break;
		/*
		 * The times in one ring do not decrease, so all records behind this record are
		 * younger than the moment, too.
		 */
		contents->is_cut = time > order->snapshot->moment;
		if (contents->is_cut)
			break;
		/*
		 * contents->claimed becomes the end of the last record that begins before
		 * `claimed`. So the result is the end of a record, even if a hostile process has
		 * written `claimed`.
		 */
		if (at < claimed)
			contents->claimed = at + (uint32_t)size;
		/* IDENT records are no events. */
		if (!(ptx_record_first(record) & PTX_RECORD_IDENT))
			contents->records++;
		contents->last = time;
		at += (uint32_t)size;
	}
	contents->end = at;
}

/*
 * Compares the number of valid records with the count in the head, and reports a difference as
 * damage. If a chunk has records that are younger than the moment, the count in the head includes
 * them. Then the difference is no damage. If the head counts more records than fit into a chunk,
 * the count itself is damaged, and is not used.
 */
static void count_damage(struct order *order, uint32_t number, const struct ptx_chunk *chunk,
			 const struct contents *contents)
{
	const struct ptx_geometry *g = &order->snapshot->rings.geometry;
	uint32_t counted =
		ptx_head_records(atomic_load_explicit(&chunk->head, memory_order_relaxed));
	/* The number of records of the smallest size that fit into a chunk. */
	uint32_t room = ptx_ring_room_of(g, number);
	uint32_t most = (uint32_t)(room / sizeof(struct ptx_record));
	uint32_t end = ptx_head_offset(atomic_load_explicit(&chunk->head, memory_order_relaxed));

	if (contents->is_cut || (contents->end == end && contents->records == counted))
		return;
	/* Some records cannot be read, so the counts are not exact. */
	order->snapshot->is_even = false;
	if (counted > contents->records && counted <= most)
		order->snapshot->damaged += counted - contents->records;
	ptx_image_fault(order->taking->image,
			order->taking->region + ptx_ring_chunk_at(g, number) + sizeof *chunk +
				contents->end,
			end > contents->end && end <= room ? end - contents->end : 0,
			"the rest of this part of the stream's memory has no valid event");
}

/* Frees a chunk that is not in the copy. The chunk keeps its generation. */
static void free_chunk(struct order *order, uint32_t number)
{
	atomic_store_explicit(&order->snapshot->rings.word[number],
			      ptx_chunk_word(ptx_word_generation(order->taking->after[number]), 0,
					     PTX_CHUNK_FREE),
			      memory_order_relaxed);
}

/*
 * Returns the offset in the chunk up to which the reader had delivered records. Returns 0 if the
 * reader's position was in another chunk.
 */
static uint32_t delivered_of(const struct order *order, const struct link *link)
{
	uint64_t delivered = atomic_load_explicit(
		&order->snapshot->rings.ring[link->ring].delivered, memory_order_relaxed);

	return ptx_delivered_of(delivered,
				ptx_word_generation(order->taking->after[link->number]),
				link->number);
}

/*
 * Frees the chunks before the reader's position, as all their events are delivered. Returns the
 * index of the first chunk that stays.
 */
static size_t free_delivered(struct order *order, const struct link *link, size_t count)
{
	size_t first = 0;

	/*
	 * The reader has one position in each ring. If the word `delivered` is hostile, it may
	 * belong to no chunk, and `first` remains 0.
	 */
	for (size_t i = 1; i < count; i++)
		if (delivered_of(order, &link[i]))
			first = i;
	/* A reader of the copy must not deliver the events of these chunks again. */
	for (size_t i = 0; i < first; i++)
		free_chunk(order, link[i].number);
	return first;
}

/* Writes all fields of a chunk that a reader uses. */
static void write_chunk(struct order *order, const struct link *link,
			const struct contents *contents, enum ptx_chunk_state state)
{
	struct ptx_rings *rings = &order->snapshot->rings;
	struct ptx_chunk *chunk = ptx_ring_chunk(rings, link->number);
	uint32_t generation = ptx_word_generation(order->taking->after[link->number]);

	atomic_store_explicit(&chunk->head, (uint64_t)contents->records << 32 | contents->end,
			      memory_order_relaxed);
	/* UINT64_MAX: no writer is in a trace point, because the copy is private */
	atomic_store_explicit(&chunk->window, UINT64_MAX, memory_order_relaxed);
	/* snapshot_order_chain() sets the link when the next chunk is written. */
	atomic_store_explicit(&chunk->next, 0, memory_order_relaxed);
	atomic_store_explicit(&chunk->last, contents->last, memory_order_relaxed);
	atomic_store_explicit(&rings->claimed[link->number],
			      (uint64_t)generation << 32 | contents->claimed, memory_order_relaxed);
	atomic_store_explicit(&rings->word[link->number],
			      ptx_chunk_word(generation, link->ring, state), memory_order_relaxed);
	/* If the copy has no moment, `latest` is used in place of the moment. */
	if (contents->last > order->snapshot->latest && contents->end)
		order->snapshot->latest = contents->last;
}

/* Returns the link of a chunk with its present generation. */
static uint64_t link_of(const struct order *order, const struct link *link)
{
	return ptx_link(link->number, ptx_word_generation(order->taking->after[link->number]));
}

/*
 * Connects the chunks of one ring, oldest first. The header of a chunk has the number of the ring's
 * records before the chunk. If this number differs from the number of records so far, a chunk is
 * missing, and the counts are not exact. Chunks behind the first record that is younger than the
 * moment are freed.
 */
static void snapshot_order_chain(struct order *order, const struct link *link, size_t count)
{
	struct ptx_rings *rings = &order->snapshot->rings;
	struct ptx_ring *ring = &rings->ring[link->ring];
	uint64_t published = atomic_load_explicit(&ring->published, memory_order_relaxed);
	size_t first = free_delivered(order, link, count), last = first;
	struct contents contents = { 0 };
	uint32_t so_far = link[first].before;

	for (size_t i = first; i < count; i++) {
		struct ptx_chunk *chunk = ptx_ring_chunk(rings, link[i].number);

		/*
		 * The previous chunk has records that are younger than the moment, so all records
		 * of this chunk are younger, too.
		 */
		if (contents.is_cut) {
			free_chunk(order, link[i].number);
			continue;
		}
		if (link[i].before != so_far)
			order->snapshot->is_even = false; /* a chunk between the two is missing */
		/*
		 * Only the chunk with the reader's position has delivered records. For other chunks
		 * delivered_of() returns 0.
		 */
		snapshot_order_measure(order, chunk, delivered_of(order, &link[i]), &contents);
		count_damage(order, link[i].number, chunk, &contents);
		/* The sum is modulo 2^32, like the member `before`. */
		so_far = link[i].before + contents.records;
		write_chunk(order, &link[i], &contents, PTX_CHUNK_CLOSED);
		/*
		 * The previous chunk gets its link only now, because it was not known before
		 * whether this chunk stays.
		 */
		if (i > first)
			atomic_store_explicit(&ptx_ring_chunk(rings, link[last].number)->next,
					      link_of(order, &link[i]), memory_order_relaxed);
		last = i;
	}
	/* The last chunk is the one that a writer would fill, so its state is OPEN. */
	write_chunk(order, &link[last], &contents, PTX_CHUNK_OPEN);
	atomic_store_explicit(&ring->first, link_of(order, &link[first]), memory_order_relaxed);
	atomic_store_explicit(&ring->current, link_of(order, &link[last]), memory_order_relaxed);
	/*
	 * `published` becomes the number of the ring's records before the last chunk. The chunk has
	 * the lower 32 bits of this number. The upper bits are chosen so that the result is nearest
	 * to the ring's own count.
	 */
	atomic_store_explicit(&ring->published,
			      published + (uint64_t)(int64_t)(int32_t)(link[last].before -
								       (uint32_t)published),
			      memory_order_relaxed);
}

/* Orders by ring, then by time, and then by the number of the chunk. */
static int by_ring(const void *a, const void *b)
{
	const struct link *x = a, *y = b;

	if (x->ring != y->ring)
		return x->ring < y->ring ? -1 : 1;
	if (x->opened != y->opened)
		return x->opened < y->opened ? -1 : 1;
	return x->number < y->number ? -1 : x->number > y->number;
}

/* Returns true for the states in which a chunk belongs to a ring and may have records. */
static bool holds_records(enum ptx_chunk_state state)
{
	return state == PTX_CHUNK_OPEN || state == PTX_CHUNK_CLOSED;
}

/*
 * Returns true if a chunk was not reused during the copy: before and after the copy it belonged to
 * the same ring, in the same generation (observe/DESIGN C1). The ring's number is bounded, as
 * another process may have written any number.
 */
static bool snapshot_order_counts(const struct order *order, uint32_t number)
{
	uint64_t before = order->taking->word[number], after = order->taking->after[number];

	return holds_records(ptx_word_state(before)) && holds_records(ptx_word_state(after)) &&
	       ptx_word_generation(before) == ptx_word_generation(after) &&
	       ptx_word_ring(before) == ptx_word_ring(after) &&
	       ptx_word_ring(before) < atomic_load_explicit(&order->snapshot->rings.region->rings,
							    memory_order_relaxed);
}

/* Lists and sorts the chunks of the copy, and frees all others. Returns 0 or ENOMEM. */
static int find_links(struct order *order)
{
	struct ptx_rings *rings = &order->snapshot->rings;
	size_t count = 0;

	for (uint32_t i = 0; i < ptx_ring_chunks(rings); i++)
		/* The chunks are counted first, so that one allocation is enough. */
		count += snapshot_order_counts(order, i);
	/* The array has one element more than needed, so that malloc() is never called with 0. */
	order->link = malloc((count + 1) * sizeof *order->link);
	if (!order->link)
		return ENOMEM;
	for (uint32_t i = 0; i < ptx_ring_chunks(rings); i++) {
		const struct ptx_chunk *chunk = ptx_ring_chunk(rings, i);

		if (!snapshot_order_counts(order, i)) {
			/*
			 * The chunk was OPEN before the copy and was overwritten or freed since, so
			 * the number of its records is unknown.
			 */
			if (ptx_word_state(order->taking->word[i]) == PTX_CHUNK_OPEN)
				order->snapshot->is_even = false;
			free_chunk(order, i);
			continue;
		}
		order->link[order->links++] = (struct link){
			.ring = ptx_word_ring(order->taking->after[i]), .number = i,
			.opened = chunk->opened, .before = chunk->ident.before,
		};
	}
	/* After the sort the chunks of a ring are adjacent. */
	qsort(order->link, order->links, sizeof *order->link, by_ring);
	return 0;
}

/*
 * Empties each ring that has no chunk in the copy. So the ring has no unread events in the copy.
 * Its member `published` keeps the number of its records.
 */
static void empty_rings(struct order *order)
{
	struct ptx_rings *rings = &order->snapshot->rings;
	size_t at = 0;

	for (uint32_t i = 0; i < ptx_ring_count(rings); i++) {
		struct ptx_ring *ring = &rings->ring[i];

		/* The links are sorted by ring, so one pass over them is enough. */
		while (at < order->links && order->link[at].ring < i)
			at++;
		/* snapshot_order_chain() has written the words of this ring. */
		if (at < order->links && order->link[at].ring == i)
			continue;
		/* The ring had a chunk, but this chunk is not in the copy. */
		if (atomic_load_explicit(&ring->current, memory_order_relaxed))
			order->snapshot->is_even = false;
		atomic_store_explicit(&ring->first, 0, memory_order_relaxed);
		atomic_store_explicit(&ring->current, 0, memory_order_relaxed);
	}
}

/*
 * A writer that died while it overwrote a chunk has counted only a part of the overwritten records,
 * or none. The other records are still in the chunk, so this function counts them as lost. In a
 * live stream the writer itself counts them.
 */
static void finish_overwriting(struct order *order)
{
	struct ptx_taking *taking = order->taking;
	struct ptx_rings *rings = &order->snapshot->rings;

	if (taking->image->is_live)
		return;
	for (uint32_t i = 0; i < ptx_ring_chunks(rings); i++) {
		atomic_store_explicit(&rings->word[i], taking->after[i], memory_order_relaxed);
		atomic_store_explicit(&rings->claimed[i], taking->claimed[i], memory_order_relaxed);
		if (ptx_word_state(taking->after[i]) == PTX_CHUNK_OPENING &&
		    ptx_word_state(taking->word[i]) == PTX_CHUNK_OPENING)
			/* Writers use the same function. */
			ptx_overwrite_finish(rings, i);
	}
}

/*
 * Returns the time when the oldest chunk was opened. No event is older than this time. Returns
 * UINT64_MAX if there is no chunk.
 */
static uint64_t first_opened(const struct order *order)
{
	uint64_t first = UINT64_MAX;

	for (size_t i = 0; i < order->links; i++)
		/* If `opened` is 0, the chunk was claimed but never opened. */
		if (order->link[i].opened && order->link[i].opened < first)
			first = order->link[i].opened;
	return first;
}

/* the greatest level of compression; zstd then compresses some 30 MB/s */
#define SNAPSHOT_LEVEL_MAX 9

/*
 * Copies the stream info of the region. The info may be hostile, so it is used only if it has its
 * magic and valid attributes, and each text gets a NUL. Otherwise the copy has default attributes.
 */
static void check_info(struct ptx_snapshot *snapshot)
{
	struct ptx_stream_info *info = &snapshot->info;

	memcpy(info, ptx_stream_info_of(&snapshot->rings), sizeof *info);
	if (info->magic != PTX_STREAM_INFO_MAGIC || !ptx_attr_is_valid(&info->attr)) {
		memset(info, 0, sizeof *info);
		/* A log can be written with the defaults; its events are not affected. */
		ptx_attr_init(&info->attr);
		info->pid =
			atomic_load_explicit(&snapshot->attachment.target, memory_order_relaxed);
	}
	/* Texts of a valid description may still lack their NUL. */
	info->attr.name[PTX_NAME_BYTES - 1] = info->attr.generation[PTX_NAME_BYTES - 1] = '\0';
	/*
	 * The policy of the attachment is used, because observers have read this policy while the
	 * stream lived.
	 */
	info->attr.stream_policy = snapshot->attachment.stream_policy;
	/*
	 * The stream's creator has chosen the level. With a high level a snapshot could take
	 * minutes.
	 */
	if (info->attr.log_compression > SNAPSHOT_LEVEL_MAX)
		info->attr.log_compression = SNAPSHOT_LEVEL_MAX;
	info->clock[sizeof info->clock - 1] = info->boot[sizeof info->boot - 1] = '\0';
}

/*
 * The order of the steps matters. Counts are checked after the losses of dead writers were added.
 * Records are checked after the range of their times is known.
 */
int ptx_snapshot_order(struct ptx_taking *taking)
{
	struct order order = { .taking = taking, .snapshot = taking->snapshot };
	struct ptx_region *region = taking->snapshot->rings.region;
	int err;

	/* Stores the bounded number of rings, so that later code can use it without a check. */
	atomic_store_explicit(&region->rings, ptx_ring_count(&taking->snapshot->rings),
			      memory_order_relaxed);
	check_info(taking->snapshot);
	finish_overwriting(&order);
	ptx_snapshot_check_counts(taking);
	err = find_links(&order);
	if (err)
		return err;
	ptx_snapshot_calibrate(taking, first_opened(&order), &order.span);
	/* Each call handles the chunks of one ring, which are adjacent. */
	for (size_t i = 0, n; i < order.links; i += n) {
		for (n = 1; i + n < order.links && order.link[i + n].ring == order.link[i].ring;
		     n++)
			;
		snapshot_order_chain(&order, &order.link[i], n);
	}
	empty_rings(&order);
	taking->snapshot->consumed = atomic_load_explicit(&region->consumed, memory_order_relaxed);
	free(order.link);
	return 0;
}
