/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* partner.c - finds the call of another thread that probably ended a wait. */
#include "why/partner.h"

/*
 * Returns the number of transfers that end at or before a time. If the time is the end of a wait,
 * the last of these transfers is the one that ended nearest to it.
 */
static size_t transfers_until(const struct transfers *transfers, int64_t time_ns)
{
	size_t low = 0, high = transfers->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		struct transfer at;

		transfers->get(transfers->arg, middle, &at);
		if (at.end_ns <= time_ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Returns true if a transfer of another thread may have ended this wait: both ran together. */
static bool is_partner(const struct transfer *wait, const struct transfer *other)
{
	enum cause wanted = wait->cause == CAUSE_BARRIER ? CAUSE_BARRIER :
			    wait->cause == CAUSE_WRITE ? CAUSE_READ : CAUSE_WRITE;

	if (other->thread == wait->thread || other->begin_ns > wait->end_ns ||
	    other->end_ns <= wait->begin_ns || other->cause != wanted)
		return false;
	return wait->cause == CAUSE_BARRIER ? other->key == wait->key : !other->has_path;
}

/*
 * Returns true if other is a better partner than found. A transfer with the same number of bytes is
 * preferred, and among these the one that began last. Polls and barriers have no bytes.
 */
static bool is_better(const struct transfer *wait, const struct transfer *other,
		      const struct transfer *found)
{
	bool has_bytes = wait->cause == CAUSE_READ || wait->cause == CAUSE_WRITE;

	if (has_bytes && (other->bytes == wait->bytes) != (found->bytes == wait->bytes))
		return other->bytes == wait->bytes;
	return other->begin_ns > found->begin_ns;
}

/*
 * A writing thread may lose its CPU to the reading thread before the write ends, so transfers that
 * end after the wait are examined as well.
 */
size_t partner_find(const struct transfers *transfers, const struct transfer *wait)
{
	size_t at = transfers_until(transfers, wait->end_ns), found = PARTNER_NONE;
	struct transfer other, best;

	for (size_t n = 0; at + n < transfers->count && n < PARTNER_LOOK_AT; n++) {
		transfers->get(transfers->arg, at + n, &other);
		if (is_partner(wait, &other) &&
		    (found == PARTNER_NONE || is_better(wait, &other, &best))) {
			found = at + n;
			best = other;
		}
	}
	for (size_t n = 1; n <= at && n <= PARTNER_LOOK_AT; n++) {
		transfers->get(transfers->arg, at - n, &other);
		/*
		 * The transfers are in the order of their ends, so all transfers before this one
		 * also ended before the wait began.
		 */
		if (other.end_ns <= wait->begin_ns)
			break;
		if (is_partner(wait, &other) &&
		    (found == PARTNER_NONE || is_better(wait, &other, &best))) {
			found = at - n;
			best = other;
		}
	}
	return found;
}
