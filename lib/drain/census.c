/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * drain/census.c - visits every event that is in a stream and was not delivered.
 *
 * The ledger (account.c) and the thinning of marks (thin.c) use a census. A census copies chunks as
 * an observer does, with ptx_ring_look(), from the place of the drain's reader onward. It claims
 * and frees nothing, so neither the reader nor a writer notices it. Two bounds end a census. First,
 * in each ring the census stops at the record that was the last record when the census began. A
 * writer may add records as fast as the census copies them. Second, the number of looks is limited,
 * because the chain of chunks in hostile memory may be a circle.
 */
#include "drain/census.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/*
 * Calls event() for the first `most` events in `bytes`, which ptx_records_check() has accepted. An
 * IDENT record is no event. It names the thread of the records behind it, and the function copies
 * this name to *ident.
 */
static void count_records(struct ptx_census *census, struct ptx_ident *ident, bool control,
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
 * Visits the events of one ring: first those in the drain's buffer, then those in the chunks from
 * the reader's place on. The function stops before the record with the number source->published. It
 * never returns to an older chunk. A census frees nothing, so a chunk that it has visited still
 * exists. After a loss the census searches for the ring's oldest chunk. If the search could return
 * a chunk that was already visited, its records would be counted twice. The parameter `buffer` has
 * room for chunk_room bytes.
 */
static void count_source(struct ptx_census *census, uint32_t index, unsigned char *buffer)
{
	struct ptx_drain *drain = census->drain;
	const struct ptx_source *source = drain->source[index];
	struct ptx_reader reader = source->reader; /* a copy: the drain's place stays */
	struct ptx_ident whose = source->ident; /* thread of the next record */
	uint32_t next = source->records; /* number of the next record, modulo 2^32 */
	bool known = reader.place.link != 0; /* the variable `next` is valid */
	const bool control = index == 0;
	unsigned losses = 0;

	/*
	 * The records in the drain's buffer were claimed before the census began, so all of them
	 * are visited, without a limit.
	 */
	reader.buffer = buffer;
	count_records(census, &whose, control, source->reader.buffer + source->at,
		      source->end - source->at, UINT32_MAX);
	for (; census->looks_left; census->looks_left--) {
		const struct ptx_ident *ident = &reader.ident;
		uint32_t records, before, end;
		uint64_t last;

		if (known && source->published - next - 1 >= INT32_MAX)
			/*
			 * The census has visited all records with numbers below `published`, or the
			 * last of these records were overwritten and `next` is already above
			 * `published`. The difference is modulo 2^32: if `next` is equal to
			 * `published`, the difference is UINT32_MAX.
			 */
			return;
		switch (ptx_ring_look(&reader)) {
		case PTX_CLAIM_NOTHING:
			return;
		/*
		 * A writer overwrote the chunk during the copy. The writer counts the overwritten
		 * records itself. So after more than PTX_LOSSES_MOST such losses the census leaves
		 * the rest of the ring to the writer. Otherwise the census searches for the ring's
		 * oldest chunk that begins with record `next` or a later record. If `next` is not
		 * known, because the reader has never entered the ring, the search considers every
		 * chunk.
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
		 * The header of a chunk has the thread and the number of its first record. If this
		 * number is less than that of an earlier record, a hostile process has stored it.
		 * If it is beyond `published`, the chunk was opened after the census began.
		 */
		if (reader.fresh) {
			if (known && ident->spare - next > INT32_MAX)
				return; /* hostile */
			whose = *ident;
			next = ident->spare;
			known = true;
			if (source->published - next > INT32_MAX)
				return;
		}
		/* Bytes behind `end` are damaged. The reader counts them when it claims them. */
		end = ptx_records_check(drain->rings, buffer, reader.bytes, &records, &last);
		count_records(census, &whose, control, buffer, end, source->published - next);
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
	 * The number of published records is read for all rings before the first ring is visited.
	 * So the numbers belong to one moment as nearly as possible. While the census visits the
	 * first rings, writers may record further events in the last rings. The census does not
	 * visit these events.
	 */
	for (uint32_t i = 0; i < drain->sources; i++) {
		uint64_t by = ptx_ring_published_by(drain->rings, i);

		drain->source[i]->published = (uint32_t)by;
		census->published += by;
	}
	/*
	 * The census may make one look for each chunk of the largest pool. For each ring it may
	 * make PTX_LOSSES_MOST more looks because of losses, and one more for the rest of the chunk
	 * that the reader is in. A walk along a hostile circle ends when the looks are used up.
	 */
	census->looks_left =
		ptx_drain_chunks(drain) + (uint64_t)drain->sources * (PTX_LOSSES_MOST + 1);
	for (uint32_t i = 0; i < drain->sources; i++)
		count_source(census, i, buffer);
	free(buffer);
	return 0;
}

/*
 * Makes the table of states from the marks, which are in the order of time. Marks of flushes and of
 * errors change no state and have no entry in the table; thin.c relies on this. The first entry is
 * the state that delivery has reached. It has time 0, so each event has an entry that is not later
 * than the event.
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

/* Frees what ptx_moments_make() made. */
void ptx_moments_free(struct ptx_moments *moments)
{
	free(moments->moment);
}

/*
 * The search is binary, because a census calls this function for each event, and a stream can have
 * thousands of marks. An event that has exactly the time of a mark comes behind the mark, as in
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
