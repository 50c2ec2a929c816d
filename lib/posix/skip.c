/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * posix/skip.c - types whose events are only counted, and the present load of a stream.
 *
 * A controller with a budget needs the rate of each type, many times a second. The ledger has exact
 * counts, but the census for it copies all unread events, and claims them from a LOOP stream. So
 * posix_trace_get_load_np() reads the memory of the writers instead. The number of recorded events
 * is exact for each writer that does not change chunks during each of several attempts to read it.
 * The types of these events come from a sample: the newest events of the writer. A sample counts
 * only for its own writer. Otherwise the many events of a busy thread would be distributed over the
 * types of another thread's few events. The counts of skipped events are exact.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <trace_np.h>

#include "arena/silence.h"
#include "drain/drain.h"
#include "point/view.h"
#include "posix/call.h"
#include "record/eventset.h"
#include "ring/ring_write.h"
#include "ring/skip.h"

/*
 * Stores the set without the system events. System events are never skipped, because they report
 * losses and state. The memory for the counts is prepared before, so that writers find it.
 */
static int skip_types(struct ptx_stream *stream, const trace_event_set_t *set)
{
	struct ptx_region *region = stream->view->rings.region;
	trace_event_set_t skipped = *set, system;
	uint64_t any = 0;

	ptx_eventset_system(&system);
	ptx_eventset_subtract(&skipped, &system);
	for (int i = 0; i < PTX_WORDS; i++)
		any |= skipped.__bits[i];
	if (any && !ptx_skip_prepare(stream->drain->rings))
		return ENOMEM;
	for (int i = 0; i < PTX_WORDS; i++)
		atomic_store_explicit(&region->skip[i], skipped.__bits[i], memory_order_release);
	ptx_silence_set(stream->drain->arena->control, region);
	/* Trace points that begin after this call obey the new set. */
	ptx_arena_changed(stream->drain->arena);
	return 0;
}

PTX_EXPORT int posix_trace_set_skipped_np(trace_id_t trid, const trace_event_set_t *set)
{
	struct ptx_call call = ptx_call_begin();
	struct ptx_stream *stream;
	int err;

	if (!ptx_eventset_is_valid(set))
		return ptx_call_end(call, EINVAL);
	stream = ptx_stream_lock(trid, PTX_ACTIVE);
	if (!stream)
		return ptx_call_end(call, EINVAL);
	err = skip_types(stream, set);
	ptx_stream_unlock(stream);
	return ptx_call_end(call, err);
}

/*
 * Counts the types of a chunk's records that are newer than a time, and returns the number of these
 * records. A writer may overwrite the chunk meanwhile, and the memory is hostile: no step leaves
 * the chunk, and a wrong sample does no harm.
 */
static unsigned sample_chunk(const struct ptx_chunk *chunk, uint32_t end, uint64_t since,
			     unsigned sample[PTX_TYPE_MAX])
{
	unsigned samples = 0;

	for (uint32_t at = 0; at + sizeof(struct ptx_record) <= end;) {
		const struct ptx_record *record = (const void *)(chunk->records + at);
		/*
		 * One atomic load of the first word. ptx_record_first() makes the positions of the
		 * members the same on machines of every byte order.
		 */
		uint64_t word = ptx_load_word(record);
		uint64_t first = ptx_record_first(&word);
		size_t size = ptx_record_size(ptx_record_len((uint32_t)first));
		unsigned type = ptx_record_first_type(first);

		if (size > end - at)
			break;
		if (ptx_load_word(&record->time) > since && type < PTX_TYPE_MAX) {
			sample[type]++;
			samples++;
		}
		at += (uint32_t)size;
	}
	return samples;
}

/*
 * Distributes the new events of a ring over the types, in the proportions of the ring's sample.
 * Adds them to the events of all rings, and empties the sample.
 */
static void add_sample(unsigned sample[PTX_TYPE_MAX], unsigned samples, uint64_t events,
		       unsigned *recent, size_t types)
{
	for (size_t type = 0; type < PTX_TYPE_MAX; type++) {
		uint64_t count = sample[type];

		if (!count)
			continue;
		sample[type] = 0;
		/*
		 * The sample may have more than `events` records, because the writer has recorded
		 * further events after the count.
		 */
		if (events > samples)
			count = (uint64_t)((double)count * (double)events / samples + 0.5);
		if (type < types)
			recent[type] += (unsigned)count;
	}
}

/* How often sample_ring() reads a ring again if the ring's writer changes chunks meanwhile. */
#define LOAD_TRIES 4

/*
 * Finds the chunk that the writer of a ring fills. Stores the chunk's number and head, and the
 * number of all records of the ring. The chunk has the lower 32 bits of this number. The upper 32
 * bits come from the ring's count `published`, which may be a little behind. The values belong
 * together only if the ring still has this chunk afterwards and the word of the chunk is the same:
 * a chunk that was reused has another word. Otherwise returns false. If the writer fills no chunk,
 * *head becomes 0.
 */
static bool load_ring(const struct ptx_rings *rings, const struct ptx_ring *ring, uint32_t *at,
		      uint64_t *head, uint64_t *records)
{
	uint64_t link = atomic_load_explicit(&ring->current, memory_order_acquire), word;
	const struct ptx_chunk *chunk;
	struct ptx_ident ident;

	*records = atomic_load_explicit(&ring->published, memory_order_acquire);
	*at = ptx_link_number(link);
	*head = 0;
	if (!link || *at >= rings->geometry.chunks_max || !ptx_ring_reaches(rings, *at))
		return true;
	word = atomic_load_explicit(&rings->word[*at], memory_order_acquire);
	chunk = ptx_ring_chunk(rings, *at);
	*head = atomic_load_explicit(&chunk->head, memory_order_acquire);
	ident.before = atomic_load_explicit((const _Atomic uint32_t *)&chunk->ident.before,
					   memory_order_relaxed);
	*records += ptx_chunk_records(&ident, *head) - (uint32_t)*records;
	atomic_thread_fence(memory_order_acquire);
	return ptx_word_generation(word) == ptx_link_generation(link) &&
	       atomic_load_explicit(&rings->word[*at], memory_order_relaxed) == word &&
	       atomic_load_explicit(&ring->current, memory_order_relaxed) == link;
}

/*
 * Returns the number of records of a ring. If this number is not `before`, the function also
 * samples the chunk that the ring's writer fills. If the writer has changed chunks during each
 * attempt, the function takes no sample, and the number may lack the newest records. The next call
 * then counts these records.
 */
static uint64_t sample_ring(const struct ptx_rings *rings, uint32_t number, uint64_t before,
			    uint64_t since, unsigned sample[PTX_TYPE_MAX], unsigned *samples)
{
	const struct ptx_ring *ring = &rings->ring[number];
	uint64_t records, head;
	uint32_t at;

	*samples = 0;
	for (int try = 0; !load_ring(rings, ring, &at, &head, &records); try++)
		if (try == LOAD_TRIES)
			return atomic_load_explicit(&ring->published, memory_order_acquire);
	if (records != before && head &&
	    ptx_head_offset(head) <= ptx_ring_room_of(&rings->geometry, at))
		*samples = sample_chunk(ptx_ring_chunk(rings, at), ptx_head_offset(head), since,
					sample);
	return records;
}

/* Makes room in load_records for `rings` rings. Returns false if memory is lacking. */
static bool grow_load(struct ptx_stream *stream, uint32_t rings)
{
	uint64_t *records;

	if (rings <= stream->load_rings)
		return true;
	rings = rings > 2 * stream->load_rings ? rings : 2 * stream->load_rings;
	records = realloc(stream->load_records, rings * sizeof(*records));
	if (!records)
		return false;
	memset(records + stream->load_rings, 0, (rings - stream->load_rings) * sizeof(*records));
	stream->load_records = records;
	stream->load_rings = rings;
	return true;
}

PTX_EXPORT int posix_trace_get_load_np(trace_id_t trid, uint64_t *recorded, unsigned *recent,
				       uint64_t *skipped, size_t types)
{
	struct ptx_call call = ptx_call_begin();
	unsigned sample[PTX_TYPE_MAX] = { 0 };
	struct ptx_stream *stream;
	const struct ptx_rings *rings;
	uint32_t count;
	uint64_t now;

	if (!recorded || !recent || !skipped)
		return ptx_call_end(call, EINVAL);
	stream = ptx_stream_lock(trid, PTX_ACTIVE);
	if (!stream)
		return ptx_call_end(call, EINVAL);
	rings = stream->drain->rings;
	count = ptx_ring_count(rings);
	if (!grow_load(stream, count)) {
		ptx_stream_unlock(stream);
		return ptx_call_end(call, ENOMEM);
	}
	now = ptx_clock_now();
	*recorded = 0;
	memset(recent, 0, types * sizeof(*recent));
	for (uint32_t i = 0; i < count; i++) {
		uint64_t before = stream->load_records[i], records;
		unsigned samples;

		records = sample_ring(rings, i, before, stream->sampled, sample, &samples);
		/*
		 * Only hostile memory has fewer records than before, or more than 2^32 new records.
		 */
		if (samples && records > before)
			add_sample(sample, samples, (uint32_t)(records - before), recent, types);
		stream->load_records[i] = records;
		*recorded += records;
	}
	for (size_t type = 0; type < types; type++)
		skipped[type] = type < PTX_TYPE_MAX ?
					ptx_ring_lost(rings, PTX_WRITER_SKIPPED, (unsigned)type) :
					0;
	stream->sampled = now;
	ptx_stream_unlock(stream);
	return ptx_call_end(call, 0);
}
