/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * observe/snapshot_order.c - a copied region made such that a reader finds nothing wrong in it.
 *
 * Of each ring the chunks that were there before and after the copy, in the order in which they
 * were opened, cut behind the last record up to the moment. What a chunk's head counts and no
 * record is to be seen of is damaged. Links, heads and claimed words are written anew; the rest was
 * another's.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "observe/snapshot_private.h"
#include "ring/overwrite.h"

/* A chunk that counts. */
struct link {
	uint32_t ring, number;
	uint64_t opened;
	uint32_t before; /* records of the ring before it, modulo 2^32 */
};

struct order {
	struct ptx_taking *taking;
	struct ptx_snapshot *snapshot;
	struct link *link;
	size_t links;
	struct ptx_snapshot_span span;
};

/* What a chunk holds up to the moment. */
struct contents {
	uint32_t end, records;
	uint32_t claimed; /* behind a whole record */
	uint64_t last;
	bool is_cut; /* younger records follow */
};

/* The checks are those of a reader: ptx_records_check(). */
static size_t record_size(const struct order *order, const unsigned char *record, uint32_t room)
{
	uint64_t first = ptx_record_first(record), time = ptx_record_time(record);
	size_t len = ptx_record_len((uint32_t)first), size = ptx_record_size(len);
	unsigned type = ptx_record_first_type(first);

	if (size > order->snapshot->rings.geometry.record_max || size > room ||
	    time < order->span.first_ticks || time > order->span.last_ticks)
		return 0;
	if (first & PTX_RECORD_IDENT)
		return len == sizeof(struct ptx_ident) ? size : 0;
	return type != 0 && type < PTX_TYPE_MAX ? size : 0;
}

static void measure(const struct order *order, const struct ptx_chunk *chunk, uint32_t claimed,
		    struct contents *contents)
{
	uint32_t room = (uint32_t)order->snapshot->rings.geometry.chunk_room, at = 0;
	uint32_t end =
		ptx_head_offset(atomic_load_explicit(&chunk->head, memory_order_relaxed)) & ~7u;

	*contents = (struct contents){ .last = chunk->opened };
	if (end > room)
		end = room;
	while (at + sizeof(struct ptx_record) <= end) {
		const unsigned char *record = chunk->records + at;
		uint64_t time = ptx_record_time(record);
		size_t size = record_size(order, record, end - at);

		if (size == 0)
			break;
		contents->is_cut = time > order->snapshot->moment;
		if (contents->is_cut)
			break;
		if (at < claimed)
			contents->claimed = at + (uint32_t)size;
		if (!(ptx_record_first(record) & PTX_RECORD_IDENT))
			contents->records++;
		contents->last = time;
		at += (uint32_t)size;
	}
	contents->end = at;
}

/* Records that the head counts and that are none. More than a chunk holds it cannot mean. */
static void count_damage(struct order *order, uint32_t number, const struct ptx_chunk *chunk,
			 const struct contents *contents)
{
	const struct ptx_geometry *g = &order->snapshot->rings.geometry;
	uint32_t counted =
		ptx_head_records(atomic_load_explicit(&chunk->head, memory_order_relaxed));
	uint32_t most = (uint32_t)(g->chunk_room / sizeof(struct ptx_record));
	uint32_t end = ptx_head_offset(atomic_load_explicit(&chunk->head, memory_order_relaxed));

	if (contents->is_cut || (contents->end == end && contents->records == counted))
		return;
	order->snapshot->is_even = false;
	if (counted > contents->records && counted <= most)
		order->snapshot->damaged += counted - contents->records;
	ptx_image_fault(order->taking->image,
			order->taking->region + g->chunks_at + (uint64_t)number * g->chunk_bytes +
				sizeof *chunk + contents->end,
			end > contents->end && end <= g->chunk_room ? end - contents->end : 0,
			"what follows in this part of the stream's memory is no event");
}

static void free_chunk(struct order *order, uint32_t number)
{
	atomic_store_explicit(&order->snapshot->rings.word[number],
			      ptx_chunk_word(ptx_word_generation(order->taking->after[number]), 0,
					     PTX_CHUNK_FREE),
			      memory_order_relaxed);
}

/* The record offset that the reader had come to. */
static uint32_t delivered_of(const struct order *order, const struct link *link)
{
	uint64_t delivered = atomic_load_explicit(
		&order->snapshot->rings.ring[link->ring].delivered, memory_order_relaxed);

	return ptx_delivered_of(delivered,
				ptx_word_generation(order->taking->after[link->number]),
				link->number);
}

/* Nothing in a chunk before one that was read from is unread. */
static size_t skip_taken(struct order *order, const struct link *link, size_t count)
{
	size_t first = 0;

	for (size_t i = 1; i < count; i++)
		if (delivered_of(order, &link[i]))
			first = i;
	for (size_t i = 0; i < first; i++)
		free_chunk(order, link[i].number);
	return first;
}

static void write_chunk(struct order *order, const struct link *link,
			const struct contents *contents, enum ptx_chunk_state state)
{
	struct ptx_rings *rings = &order->snapshot->rings;
	struct ptx_chunk *chunk = ptx_ring_chunk(rings, link->number);
	uint32_t generation = ptx_word_generation(order->taking->after[link->number]);

	atomic_store_explicit(&chunk->head, (uint64_t)contents->records << 32 | contents->end,
			      memory_order_relaxed);
	/* nobody is inside */
	atomic_store_explicit(&chunk->window, UINT64_MAX, memory_order_relaxed);
	atomic_store_explicit(&chunk->next, 0, memory_order_relaxed);
	atomic_store_explicit(&chunk->last, contents->last, memory_order_relaxed);
	atomic_store_explicit(&rings->claimed[link->number],
			      (uint64_t)generation << 32 | contents->claimed, memory_order_relaxed);
	atomic_store_explicit(&rings->word[link->number],
			      ptx_chunk_word(generation, link->ring, state), memory_order_relaxed);
	if (contents->last > order->snapshot->latest && contents->end)
		order->snapshot->latest = contents->last;
}

static uint64_t link_of(const struct order *order, const struct link *link)
{
	return ptx_link(link->number, ptx_word_generation(order->taking->after[link->number]));
}

/* All chunks of a ring, oldest first. */
static void chain(struct order *order, const struct link *link, size_t count)
{
	struct ptx_rings *rings = &order->snapshot->rings;
	struct ptx_ring *ring = &rings->ring[link->ring];
	uint64_t published = atomic_load_explicit(&ring->published, memory_order_relaxed);
	size_t first = skip_taken(order, link, count), last = first;
	struct contents contents = { 0 };
	uint32_t so_far = link[first].before;

	for (size_t i = first; i < count; i++) {
		struct ptx_chunk *chunk = ptx_ring_chunk(rings, link[i].number);

		if (contents.is_cut) {
			free_chunk(order, link[i].number);
			continue;
		}
		if (link[i].before != so_far)
			order->snapshot->is_even = false; /* something is missing between */
		measure(order, chunk, delivered_of(order, &link[i]), &contents);
		count_damage(order, link[i].number, chunk, &contents);
		so_far = link[i].before + contents.records;
		write_chunk(order, &link[i], &contents, PTX_CHUNK_CLOSED);
		if (i > first)
			atomic_store_explicit(&ptx_ring_chunk(rings, link[last].number)->next,
					      link_of(order, &link[i]), memory_order_relaxed);
		last = i;
	}
	write_chunk(order, &link[last], &contents, PTX_CHUNK_OPEN);
	atomic_store_explicit(&ring->first, link_of(order, &link[first]), memory_order_relaxed);
	atomic_store_explicit(&ring->current, link_of(order, &link[last]), memory_order_relaxed);
	atomic_store_explicit(&ring->published,
			      published + (uint64_t)(int64_t)(int32_t)(link[last].before -
								       (uint32_t)published),
			      memory_order_relaxed);
}

static int by_ring(const void *a, const void *b)
{
	const struct link *x = a, *y = b;

	if (x->ring != y->ring)
		return x->ring < y->ring ? -1 : 1;
	if (x->opened != y->opened)
		return x->opened < y->opened ? -1 : 1;
	return x->number < y->number ? -1 : x->number > y->number;
}

static bool holds_records(enum ptx_chunk_state state)
{
	return state == PTX_CHUNK_OPEN || state == PTX_CHUNK_CLOSED;
}

/* Copied whole: it was the same ring's before and after. */
static bool counts(const struct order *order, uint32_t number)
{
	uint64_t before = order->taking->word[number], after = order->taking->after[number];

	return holds_records(ptx_word_state(before)) && holds_records(ptx_word_state(after)) &&
	       ptx_word_generation(before) == ptx_word_generation(after) &&
	       ptx_word_ring(before) == ptx_word_ring(after) &&
	       ptx_word_ring(before) < atomic_load_explicit(&order->snapshot->rings.region->rings,
							    memory_order_relaxed);
}

static int find_links(struct order *order)
{
	struct ptx_rings *rings = &order->snapshot->rings;
	size_t count = 0;

	for (uint32_t i = 0; i < ptx_ring_chunks(rings); i++)
		count += counts(order, i);
	order->link = malloc((count + 1) * sizeof *order->link);
	if (!order->link)
		return ENOMEM;
	for (uint32_t i = 0; i < ptx_ring_chunks(rings); i++) {
		const struct ptx_chunk *chunk = ptx_ring_chunk(rings, i);

		if (!counts(order, i)) {
			/*
			 * It was filled up and overwritten: how many records it had nobody has
			 * seen.
			 */
			if (ptx_word_state(order->taking->word[i]) == PTX_CHUNK_OPEN)
				order->snapshot->is_even = false;
			free_chunk(order, i);
			continue;
		}
		order->link[order->links++] = (struct link){
			.ring = ptx_word_ring(order->taking->after[i]), .number = i,
			.opened = chunk->opened, .before = chunk->ident.spare,
		};
	}
	qsort(order->link, order->links, sizeof *order->link, by_ring);
	return 0;
}

/* A ring that has no chunk left is empty, and what its writers counted is in its word alone. */
static void empty_rings(struct order *order)
{
	struct ptx_rings *rings = &order->snapshot->rings;
	size_t at = 0;

	for (uint32_t i = 0; i < ptx_ring_count(rings); i++) {
		struct ptx_ring *ring = &rings->ring[i];

		while (at < order->links && order->link[at].ring < i)
			at++;
		if (at < order->links && order->link[at].ring == i)
			continue;
		if (atomic_load_explicit(&ring->current, memory_order_relaxed))
			order->snapshot->is_even = false;
		atomic_store_explicit(&ring->first, 0, memory_order_relaxed);
		atomic_store_explicit(&ring->current, 0, memory_order_relaxed);
	}
}

/*
 * Who died while he overwrote a chunk had not counted it, or not all; the rest is still to be seen.
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
			ptx_overwrite_finish(rings, i);
	}
}

static uint64_t first_opened(const struct order *order)
{
	uint64_t first = UINT64_MAX;

	for (size_t i = 0; i < order->links; i++)
		if (order->link[i].opened && order->link[i].opened < first)
			first = order->link[i].opened;
	return first;
}

static void know_info(struct ptx_snapshot *snapshot)
{
	struct ptx_stream_info *info = &snapshot->info;

	memcpy(info, ptx_stream_info_of(&snapshot->rings), sizeof *info);
	if (info->magic != PTX_STREAM_INFO_MAGIC || !ptx_attr_is_valid(&info->attr)) {
		memset(info, 0, sizeof *info);
		ptx_attr_init(&info->attr);
		info->pid =
			atomic_load_explicit(&snapshot->attachment.target, memory_order_relaxed);
	}
	info->attr.name[PTX_NAME_BYTES - 1] = info->attr.generation[PTX_NAME_BYTES - 1] = '\0';
	info->attr.stream_policy = snapshot->attachment.stream_policy;
	info->clock[sizeof info->clock - 1] = info->boot[sizeof info->boot - 1] = '\0';
}

int ptx_snapshot_order(struct ptx_taking *taking)
{
	struct order order = { .taking = taking, .snapshot = taking->snapshot };
	struct ptx_region *region = taking->snapshot->rings.region;
	int err;

	atomic_store_explicit(&region->rings, ptx_ring_count(&taking->snapshot->rings),
			      memory_order_relaxed);
	know_info(taking->snapshot);
	finish_overwriting(&order);
	ptx_snapshot_check_counts(taking);
	err = find_links(&order);
	if (err)
		return err;
	ptx_snapshot_calibrate(taking, first_opened(&order), &order.span);
	for (size_t i = 0, n; i < order.links; i += n) {
		for (n = 1; i + n < order.links && order.link[i + n].ring == order.link[i].ring;
		     n++)
			;
		chain(&order, &order.link[i], n);
	}
	empty_rings(&order);
	taking->snapshot->taken = atomic_load_explicit(&region->taken, memory_order_relaxed);
	free(order.link);
	return 0;
}
