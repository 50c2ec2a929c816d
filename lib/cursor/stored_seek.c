/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * cursor/stored_seek.c - to a moment, by the index: a few blocks are read, however long the log.
 *
 * time_top is the greatest time up to and including a block; it never falls, also where single
 * events are late or the clock was set back. So the first event that is not older than a moment
 * is in the first block whose time_top is not below it.
 */
#include <string.h>

#include "cursor/stored_private.h"

/* The first of count places that reaches when; count if none does. */
static size_t first_reaching(const struct ptx_log_place *place, size_t count, int64_t when)
{
	size_t low = 0;

	while (low < count) {
		size_t middle = low + (count - low) / 2;

		if (place[middle].time_top < when)
			low = middle + 1;
		else
			count = middle;
	}
	return low;
}

/* In a sequence: an offset from which on no block that is wanted is missed. */
static uint64_t where_to_begin(struct ptx_stored *stored, int64_t when)
{
	size_t top = first_reaching(stored->top, stored->tops, when);
	const struct ptx_log_place *place;
	struct ptx_log_found found;
	const char *why;
	size_t n;

	if (!stored->tops)
		return PTX_LOG_HEADER_BYTES;
	/* Behind the last INDEX block stand the blocks that it does not know, if any do. */
	n = top < stored->tops ? top : top - 1;
	if (ptx_log_find(&stored->window, stored->top[n].offset, UINT64_MAX,
			 stored->header.log_id, &found, &why) != PTX_LOG_GOOD ||
	    found.block.type != PTX_LOG_INDEX)
		return PTX_LOG_HEADER_BYTES;
	if (top == stored->tops)
		return found.end;
	place = ptx_log_payload(&stored->window, &found, &why);
	if (!place)
		return PTX_LOG_HEADER_BYTES;
	n = first_reaching(place, found.block.records, when);
	return n < found.block.records ? place[n].offset : found.end;
}

static void seek_sequence(struct ptx_stored *stored, int64_t when)
{
	uint64_t offset = where_to_begin(stored, when);
	struct ptx_log_found found;
	const char *why;

	while (ptx_log_find(&stored->window, offset, stored->data_end, stored->header.log_id,
			    &found, &why) == PTX_LOG_GOOD &&
	       (found.block.type != PTX_LOG_DATA || found.block.time_max < when))
		offset = found.end;
	stored->next_offset = offset;
	stored->any_number = true;
}

static void seek_slots(struct ptx_stored *stored, int64_t when)
{
	size_t low = 0, high = stored->slots;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (stored->slot[middle].time_max < when)
			low = middle + 1;
		else
			high = middle;
	}
	stored->next_slot = low;
	stored->any_number = true;
}

void ptx_stored_seek(struct ptx_stored *stored, int64_t when_ns)
{
	ptx_stored_rewind(stored);
	if (ptx_stored_is_sequence(stored))
		seek_sequence(stored, when_ns);
	else
		seek_slots(stored, when_ns);
	while (ptx_stored_next_block(stored)) {
		while (stored->at < stored->end) {
			const struct ptx_record *record = (const void *)stored->at;

			if ((int64_t)record->time >= when_ns)
				return;
			stored->at += ptx_record_size(ptx_record_len(record->len_flags));
		}
	}
}
