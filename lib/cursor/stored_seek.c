/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * cursor/stored_seek.c - moves a cursor to a time. The index gives the place of the block in the
 * log, so only few blocks are read, however long the log is.
 *
 * The index has an entry (a place) for each DATA block. The member time_top of an entry is the
 * greatest time of all events in this block and in the blocks before it. So time_top never
 * decreases, even if single events are late or the clock was set back. The first block with
 * time_top >= `when` has the first event with a time >= `when` (FORMAT 3.6). INDEX blocks have
 * these entries, and TOP has one entry for each INDEX block.
 */
#include <string.h>

#include "cursor/stored_private.h"

/*
 * Returns the index of the first of `count` places whose time_top is not less than `when`, or
 * `count` if there is none. The search is binary.
 */
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

/*
 * For a sequence, returns the offset to begin with: no block before this offset has an event with a
 * time >= `when`. If no index can be used, the result is the offset of the first block: the search
 * is then slower, but not wrong. If the index is hostile, the cursor begins at a wrong block, and
 * still returns valid events only.
 */
static uint64_t where_to_begin(struct ptx_stored *stored, int64_t when)
{
	size_t top = first_reaching(stored->top, stored->tops, when);
	const struct ptx_log_place *place;
	struct ptx_log_found found;
	const char *why;
	size_t n;

	if (!stored->tops)
		return PTX_LOG_HEADER_BYTES;
	/*
	 * If the log was not completed, the blocks behind the last INDEX block have no entry in the
	 * index. So if all entries have earlier times, the event may be in a block behind the last
	 * INDEX block.
	 */
	n = top < stored->tops ? top : top - 1;
	if (ptx_log_find(&stored->window, stored->top[n].offset, UINT64_MAX,
			 stored->header.log_id, &found, &why) != PTX_LOG_GOOD ||
	    found.block.type != PTX_LOG_INDEX)
		return PTX_LOG_HEADER_BYTES;
	/*
	 * If all entries of TOP have earlier times, only blocks behind the last INDEX block can
	 * have the event.
	 */
	if (top == stored->tops)
		return found.end;
	place = ptx_log_payload(&stored->window, &found, &why);
	if (!place)
		return PTX_LOG_HEADER_BYTES;
	/*
	 * time_top of the entries never decreases, because check_places() has accepted the payload.
	 */
	n = first_reaching(place, found.block.records, when);
	return n < found.block.records ? place[n].offset : found.end;
}

/*
 * Begins at the offset that the index gives, and skips blocks by their headers, up to the first
 * block with an event that is not older than `when`. Stops at damage. The next call of
 * ptx_stored_next() then returns false or, with salvage, skips the damage.
 */
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
	/* Blocks were skipped, so the next block need not have the next number (FORMAT D3). */
	stored->any_number = true;
}

/*
 * For a log of slots: a binary search. time_max in the array `slot` never decreases, because it is
 * the greatest time up to the block.
 */
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
	/*
	 * If all blocks are older than `when`, the variable `low` is equal to the number of slots,
	 * and the cursor is at the end.
	 */
	stored->next_slot = low;
	stored->any_number = true;
}

/*
 * Within the block the records are searched one by one: because of late events they are in the
 * order of delivery and not of time. If no event is young enough, the position is the end.
 */
void ptx_stored_seek(struct ptx_stored *stored, int64_t when_ns)
{
	/* ptx_stored_rewind() also clears the gap and the damage of the former position. */
	ptx_stored_rewind(stored);
	if (ptx_stored_is_sequence(stored))
		seek_sequence(stored, when_ns);
	else
		seek_slots(stored, when_ns);
	while (ptx_stored_next_block(stored)) {
		while (stored->here.at < stored->here.end) {
			const struct ptx_record *record = (const void *)stored->here.at;

			/* here.at still points to this record, so the next call returns it. */
			if ((int64_t)record->time >= when_ns)
				return;
			stored->here.at += ptx_record_size(ptx_record_len(record->len_flags));
		}
	}
}
