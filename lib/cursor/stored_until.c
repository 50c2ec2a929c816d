/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * cursor/stored_until.c - ends a cursor at a time. The index shows the last block that has an event
 * up to this time.
 *
 * Times can decrease: a late event (its writer was suspended) follows younger events. So the last
 * events of the log may not be the youngest events. The index has an entry (a place) for each DATA
 * block, with time_min, the least time in the block. INDEX blocks have these entries, and TOP has
 * one entry for each INDEX block. A search from the end of the log finds the last block whose
 * time_min is not younger than the limit.
 */
#include "cursor/stored_private.h"

/*
 * Returns the index of the last of `count` places with an event that is not younger than `until`,
 * or `count` if there is none.
 */
static size_t last_with(const struct ptx_log_place *place, size_t count, int64_t until)
{
	for (size_t i = count; i--;)
		if (place[i].time_min <= until)
			return i;
	return count;
}

/*
 * For a sequence, returns the offset of the last block with an event that is not younger than
 * `until`. Returns UINT64_MAX if the index cannot be used. In that case the cursor decides by the
 * header of each block that it reaches. `window` is not the cursor's own window.
 */
static uint64_t where_to_stop(struct ptx_stored *stored, struct ptx_log_window *window,
			      int64_t until)
{
	const struct ptx_log_place *place;
	struct ptx_log_found found;
	const char *why;
	size_t n = last_with(stored->top, stored->tops, until);

	/*
	 * If all events are younger, the result is 0. This offset is before the first block, so the
	 * cursor returns no event.
	 */
	if (n == stored->tops)
		return 0;
	if (ptx_log_find(window, stored->top[n].offset, UINT64_MAX, stored->header.log_id, &found,
			 &why) != PTX_LOG_GOOD ||
	    found.block.type != PTX_LOG_INDEX)
		return UINT64_MAX;
	place = ptx_log_payload(window, &found, &why);
	if (!place)
		return UINT64_MAX;
	/*
	 * According to its entry in TOP, this INDEX block has such a place. A hostile INDEX block
	 * may have none.
	 */
	n = last_with(place, found.block.records, until);
	return n < found.block.records ? place[n].offset : found.offset;
}

/*
 * Uses a second window, since the cursor's window has the block that is being read. Only a
 * completed log has an index of all its blocks, so the result is UINT64_MAX for other logs.
 */
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

/*
 * For a log of slots, returns the number of blocks up to the last block with an event that is not
 * younger than `until`.
 */
static size_t slot_to_stop(const struct ptx_stored *stored, int64_t until)
{
	size_t n = stored->slots;

	while (n && stored->slot[n - 1].time_min > until)
		n--;
	return n;
}

/* The cursor reads the limit with each block, so the caller may set the limit at any position. */
void ptx_stored_until(struct ptx_stored *stored, int64_t until_ns)
{
	stored->until_ns = until_ns;
	stored->stop_offset = UINT64_MAX;
	stored->stop_slot = SIZE_MAX;
	/* Without a limit the index need not be read. */
	if (until_ns == INT64_MAX)
		return;
	if (ptx_stored_is_sequence(stored))
		stored->stop_offset = offset_to_stop(stored, until_ns);
	else
		stored->stop_slot = slot_to_stop(stored, until_ns);
}
