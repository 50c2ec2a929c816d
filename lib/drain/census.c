/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * drain/census.c - visits every event that is in a stream and was not delivered.
 *
 * The ledger (account.c) and the thinning of marks (thin.c) use a census. In each ring, a census
 * begins at the place of the drain's reader and copies chunks by ptx_ring_look(), like an observer.
 * It does not claim or free chunks, so it has no effect on the reader and the writers. Two bounds
 * end a census. First, in each ring the census stops behind the record that was the last record
 * when the census began, because a writer may add records as fast as the census copies them.
 * Second, the number of calls of ptx_ring_look() is limited, because the chain of chunks in hostile
 * memory may be a circle.
 */
#include "drain/census.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/*
 * Calls event() for the first `most` events in `bytes`, which ptx_records_check() has accepted. An
 * IDENT record is no event. It names the thread of the records behind it, and the function copies
 * this identity to *ident.
 */
static void visit_records(struct ptx_census *census, struct ptx_ident *ident, bool control,
			  const unsigned char *bytes, uint32_t length, uint32_t most)
{
	for (uint32_t at = 0; at < length && most;) {
		const struct ptx_record *record = (const void *)(bytes + at);

		at += (uint32_t)ptx_record_size(ptx_record_len(record->len_flags));
		if (record->len_flags & PTX_RECORD_IDENT) {
			memcpy(ident, record + 1, sizeof *ident);
			continue;
		}
		most--;
		census->event(census->arg, record, ident, control);
	}
}

/*
 * Visits the events of one ring: first the events in the drain's buffer, then the events in the
 * chunks from the reader's place on. Numbers of records begin at 0, so the function stops before
 * the record with the number source->published. It never returns to a chunk that it has visited,
 * because it would then visit the events of the chunk twice. The parameter `buffer` has room for
 * chunk_room bytes.
 */
static void visit_source(struct ptx_census *census, uint32_t index, unsigned char *buffer)
{
	struct ptx_drain *drain = census->drain;
	const struct ptx_source *source = drain->source[index];
	struct ptx_reader reader = source->reader; /* a copy, so the drain's place is unchanged */
	struct ptx_ident whose = source->ident; /* thread of the next record */
	uint32_t next = source->records; /* number of the next record, modulo 2^32 */
	bool known = reader.place.link != 0; /* true: the variable `next` is valid */
	const bool control = index == 0;
	unsigned losses = 0;

	/*
	 * The records in the drain's buffer were claimed before the census began, so all of them
	 * are visited, without a limit.
	 */
	reader.buffer = buffer;
	visit_records(census, &whose, control, source->reader.buffer + source->at,
		      source->end - source->at, UINT32_MAX);
	for (; census->looks_left; census->looks_left--) {
		const struct ptx_ident *ident = &reader.ident;
		uint32_t records, before, end;
		uint64_t last;

		if (known && source->published - next - 1 >= INT32_MAX)
			/*
			 * `next` is `published` or a greater number, modulo 2^32. So the census has
			 * visited all records below `published` that were not overwritten.
			 */
			return;
		switch (ptx_ring_look(&reader)) {
		case PTX_CLAIM_NOTHING:
			return;
		/*
		 * A writer has overwritten the chunk during the copy, and counts the overwritten
		 * records itself. The census searches for the ring's oldest chunk that begins with
		 * record `next` or a later record. If `next` is not known, because the reader has
		 * never entered the ring, the search considers every chunk. After PTX_LOSSES_MOST
		 * such losses the census leaves the ring: writers overwrite its records faster than
		 * the census copies them, and count them as lost.
		 */
		case PTX_CLAIM_LOST:
			if (++losses > PTX_LOSSES_MOST)
				return;
			if (known ? ptx_ring_find_from(drain->rings, index, next, &reader.place,
						       &before) :
				    ptx_ring_find(drain->rings, index, &reader.place, &before)) {
				next = before;
				known = true;
			}
			continue;
		case PTX_CLAIM_BYTES:
			break;
		}
		/*
		 * The header of a chunk has the thread and the number of the chunk's first record.
		 * If this number is less than the number of an earlier record, a hostile process
		 * has stored it. If the number is greater than `published`, the chunk was opened
		 * after the census began.
		 */
		if (reader.fresh) {
			if (known && ident->before - next > INT32_MAX)
				return; /* hostile */
			whose = *ident;
			next = ident->before;
			known = true;
			if (source->published - next > INT32_MAX)
				return;
		}
		/* Bytes behind `end` are damaged. The reader counts them when it claims them. */
		end = ptx_records_check(drain->rings, buffer, reader.bytes, &records, &last);
		visit_records(census, &whose, control, buffer, end, source->published - next);
		next += records;
	}
}

/*
 * The caller has the stream's lock and has made a source for each ring. The function allocates a
 * buffer of the size of one chunk.
 */
int ptx_census_take(struct ptx_census *census)
{
	struct ptx_drain *drain = census->drain;
	unsigned char *buffer = malloc(drain->rings->geometry.chunk_room);

	if (!buffer)
		return ENOMEM;
	census->published = 0;
	/*
	 * The function reads the number of published records of all rings before it visits the
	 * first ring. So the numbers belong to nearly the same time. While the census visits the
	 * first rings, writers may record further events in the last rings, and the census does not
	 * visit these events.
	 */
	for (uint32_t i = 0; i < drain->sources; i++) {
		uint64_t by = ptx_ring_published_by(drain->rings, i);

		drain->source[i]->published = (uint32_t)by;
		census->published += by;
	}
	/*
	 * The greatest number of calls of ptx_ring_look(). There is one call for each chunk of the
	 * largest pool. For each ring there are PTX_LOSSES_MOST calls because of losses, and one
	 * call for the rest of the chunk with the reader's place.
	 */
	census->looks_left =
		ptx_drain_chunks(drain) + (uint64_t)drain->sources * (PTX_LOSSES_MOST + 1);
	for (uint32_t i = 0; i < drain->sources; i++)
		visit_source(census, i, buffer);
	free(buffer);
	return 0;
}

/*
 * Makes the table of states from the marks, which are in the order of time. Marks of flushes and of
 * errors do not change the state, so they have no entry in the table, and thin.c expects none. The
 * first entry is the state that delivery has reached. Its time is 0, so for each event there is an
 * entry that is not later than the event.
 */
bool ptx_moments_make(const struct ptx_drain *drain, struct ptx_moments *moments)
{
	moments->moment = malloc((drain->marks + 1) * sizeof *moments->moment);
	if (!moments->moment)
		return false;
	moments->moment[0] = (struct ptx_moment){ 0, drain->running, drain->full };
	moments->count = 1;
	for (size_t i = 0; i < drain->marks; i++) {
		const struct ptx_mark *mark =
			&drain->mark[(drain->mark_first + i) % drain->mark_room];
		const bool running = mark->kind == PTX_MARK_START || mark->kind == PTX_MARK_RESTART;

		if (mark->kind > PTX_MARK_RESTART)
			/* a flush or an error */
			continue;
		moments->moment[moments->count++] = (struct ptx_moment){
			mark->ticks, running, mark->kind == PTX_MARK_FULL,
		};
	}
	return true;
}

/* Frees the table that ptx_moments_make() has made. */
void ptx_moments_free(struct ptx_moments *moments)
{
	free(moments->moment);
}

/*
 * The search is binary, because a census calls this function for each event, and a stream can have
 * thousands of marks. If an event has the same time as a mark, the mark precedes the event, as in
 * find_next() of drain.c.
 */
size_t ptx_moments_at(const struct ptx_moments *moments, uint64_t ticks)
{
	size_t low = 0, high = moments->count;

	/*
	 * Invariant: moment[low] is not later than `ticks`; moment[high] is later than `ticks` or
	 * does not exist.
	 */
	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;

		if (moments->moment[middle].ticks <= ticks)
			low = middle;
		else
			high = middle;
	}
	return low;
}
