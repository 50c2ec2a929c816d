/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * cursor/stored_damage.c - how much of a log is damaged, as far as it was read.
 *
 * In a sequence a reader of events passes every block. In slots, two areas of names and one of lists stand
 * before the slots, and the index behind them: they are for those who find the log cut short, and damage
 * there would come to light when it is too late.
 */
#include "cursor/stored_private.h"

static bool is_sound(struct ptx_stored *stored, const struct ptx_log_found *found)
{
	const char *why;

	return ptx_log_payload(&stored->window, found, &why) != NULL;
}

/* The block at an offset, or what is left of one; where none begins, none is damaged. */
static enum ptx_log_verdict find(struct ptx_stored *stored, uint64_t at, uint64_t end,
				 struct ptx_log_found *found)
{
	const char *why;

	return ptx_log_find(&stored->window, at, end, stored->header.log_id, found, &why);
}

static bool is_damage(enum ptx_log_verdict verdict)
{
	return verdict == PTX_LOG_DAMAGED || verdict == PTX_LOG_WRONG;
}

static uint64_t damaged_names(struct ptx_stored *stored)
{
	const struct ptx_log_header *h = &stored->header;
	struct ptx_log_found found;
	uint64_t parts = 0;

	for (int area = 0; area < 2; area++) {
		uint64_t at = h->names_offset + (uint64_t)area * h->names_bytes;
		enum ptx_log_verdict verdict = find(stored, at, at + h->names_bytes, &found);

		parts += is_damage(verdict) || (verdict == PTX_LOG_GOOD && !is_sound(stored, &found));
	}
	return parts;
}

static uint64_t damaged_lists(struct ptx_stored *stored)
{
	uint64_t at = stored->header.lists_offset, end = at + stored->header.lists_bytes, parts = 0;
	enum ptx_log_verdict verdict = PTX_LOG_SHORT;
	struct ptx_log_found found;

	while (at < end && (verdict = find(stored, at, end, &found)) == PTX_LOG_GOOD) {
		parts += !is_sound(stored, &found);
		at = found.end;
	}
	return parts + is_damage(verdict);
}

/* From the index to END, each block where the one before it ends. */
static uint64_t damaged_tail(struct ptx_stored *stored)
{
	uint64_t at = stored->tops ? stored->top[0].offset : stored->tail, parts = 0;
	struct ptx_log_found found;

	for (; stored->complete && at <= stored->data_end; at = found.end) {
		if (find(stored, at, UINT64_MAX, &found) != PTX_LOG_GOOD)
			return parts + 1;
		parts += !is_sound(stored, &found);
	}
	return parts;
}

uint64_t ptx_stored_damaged_parts(struct ptx_stored *stored)
{
	uint64_t parts = stored->damaged_parts + !ptx_log_closing_is_valid(&stored->header.closing);

	/* Where the end was reached, the window has no block that is being read. */
	if (!stored->ended || ptx_stored_is_sequence(stored) || stored->live)
		return parts;
	return parts + damaged_names(stored) + damaged_lists(stored) + damaged_tail(stored);
}
