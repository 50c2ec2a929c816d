/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * cursor/stored_until.c - up to a moment, by the index: where no event that is wanted stands any
 * more.
 *
 * Times may fall: an event whose writer was held up stands behind younger ones, anywhere. The index
 * has the least time of every block, so the last block that has an event that is old enough is
 * found by looking at those times alone, from the log's end on.
 */
#include "cursor/stored_private.h"

/* The last of count places with an event not younger than until; count if there is none. */
static size_t last_with(const struct ptx_log_place *place, size_t count, int64_t until)
{
	for (size_t i = count; i--;)
		if (place[i].time_min <= until)
			return i;
	return count;
}

/*
 * Behind this offset no block of a sequence is wanted. Of an incomplete log the blocks behind the
 * last INDEX block are not known, and of a damaged one perhaps none: their headers tell when they
 * are met.
 */
static uint64_t where_to_stop(struct ptx_stored *stored, struct ptx_log_window *window,
			      int64_t until)
{
	const struct ptx_log_place *place;
	struct ptx_log_found found;
	const char *why;
	size_t n = last_with(stored->top, stored->tops, until);

	if (n == stored->tops)
		return 0;
	if (ptx_log_find(window, stored->top[n].offset, UINT64_MAX, stored->header.log_id, &found,
			 &why) != PTX_LOG_GOOD ||
	    found.block.type != PTX_LOG_INDEX)
		return UINT64_MAX;
	place = ptx_log_payload(window, &found, &why);
	if (!place)
		return UINT64_MAX;
	n = last_with(place, found.block.records, until);
	return n < found.block.records ? place[n].offset : found.offset;
}

/* By a window of its own: that of the cursor has the block that is being read. */
static uint64_t offset_to_stop(struct ptx_stored *stored, int64_t until)
{
	struct ptx_log_window window;
	uint64_t offset;

	if (!stored->complete || !stored->tops ||
	    ptx_log_window_open(&window, stored->window.fd) != 0)
		return UINT64_MAX;
	offset = where_to_stop(stored, &window, until);
	ptx_log_window_close(&window);
	return offset;
}

static size_t slot_to_stop(const struct ptx_stored *stored, int64_t until)
{
	size_t n = stored->slots;

	while (n && stored->slot[n - 1].time_min > until)
		n--;
	return n;
}

void ptx_stored_until(struct ptx_stored *stored, int64_t until_ns)
{
	stored->until_ns = until_ns;
	stored->stop_offset = UINT64_MAX;
	stored->stop_slot = SIZE_MAX;
	if (until_ns == INT64_MAX)
		return;
	if (ptx_stored_is_sequence(stored))
		stored->stop_offset = offset_to_stop(stored, until_ns);
	else
		stored->stop_slot = slot_to_stop(stored, until_ns);
}
