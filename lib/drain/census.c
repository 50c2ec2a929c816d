/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "drain/census.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

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
 * Up to what the ring had published when the census began, by number: its writer goes on meanwhile
 * and may be as fast as the census. Never back: the census frees nothing, so what it has seen is
 * still there.
 */
static void count_source(struct ptx_census *census, uint32_t index, unsigned char *buffer)
{
	struct ptx_drain *drain = census->drain;
	const struct ptx_source *source = drain->source[index];
	struct ptx_reader reader = source->reader;
	struct ptx_ident whose = source->ident;
	uint32_t next = source->records;
	bool known = reader.place.link != 0;
	const bool control = index == 0;
	unsigned losses = 0;

	reader.buffer = buffer;
	count_records(census, &whose, control, source->reader.buffer + source->at,
		      source->end - source->at, UINT32_MAX);
	for (; census->looks; census->looks--) {
		const struct ptx_ident *ident = &reader.ident;
		uint32_t records, before, end;
		uint64_t last;

		if (known && source->published - next - 1 >= INT32_MAX)
			/* that was all; or it was overwritten, and what is here now came later */
			return;
		switch (ptx_ring_look(&reader)) {
		case PTX_CLAIM_NOTHING:
			return;
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
		if (reader.fresh) {
			if (known && ident->spare - next > INT32_MAX)
				return; /* hostile */
			whose = *ident;
			next = ident->spare;
			known = true;
			if (source->published - next > INT32_MAX)
				return;
		}
		end = ptx_records_check(drain->rings, buffer, reader.bytes, &records, &last);
		count_records(census, &whose, control, buffer, end, source->published - next);
		next += records;
	}
}

int ptx_census_take(struct ptx_census *census)
{
	struct ptx_drain *drain = census->drain;
	unsigned char *buffer = malloc(drain->rings->geometry.chunk_room);

	if (!buffer)
		return ENOMEM;
	census->published = 0;
	for (uint32_t i = 0; i < drain->sources; i++) {
		uint64_t by = ptx_ring_published_by(drain->rings, i);

		drain->source[i]->published = (uint32_t)by;
		census->published += by;
	}
	/* Each chunk that was a ring's then, what is at hand, and after each loss one more. */
	census->looks = ptx_drain_chunks(drain) + (uint64_t)drain->sources * (PTX_LOSSES_MOST + 1);
	for (uint32_t i = 0; i < drain->sources; i++)
		count_source(census, i, buffer);
	free(buffer);
	return 0;
}

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
			continue;
		moments->moment[moments->count++] = (struct ptx_moment){
			mark->ticks, running, mark->kind == PTX_MARK_FULL,
		};
	}
	return true;
}

void ptx_moments_free(struct ptx_moments *moments)
{
	free(moments->moment);
}

size_t ptx_moments_at(const struct ptx_moments *moments, uint64_t ticks)
{
	size_t low = 0, high = moments->count;

	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;

		if (moments->moment[middle].ticks <= ticks)
			low = middle;
		else
			high = middle;
	}
	return low;
}
