/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * cursor/stored.c - returns the events of a log, one after the other.
 *
 * A block is checked once, when it is read; ptx_stored_next() then only steps through its records.
 * If the member `salvage` is false, a cursor ends at the first damage (log/FORMAT R7). If `salvage`
 * is true, the cursor skips the damaged part, counts it, and marks the next event with a gap.
 * stored_private.h explains the words of log/FORMAT, such as sequence, slot and window.
 */
#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"
#include "cursor/stored_private.h"

/*
 * The payload is valid until the next block is read. It is in the window or, if the block is
 * compressed or packed, in another buffer of the window.
 */
bool ptx_stored_read_payload(struct ptx_stored *stored, const struct ptx_log_found *found)
{
	const uint8_t *payload = ptx_log_payload(&stored->window, found, &stored->damage);

	if (!payload)
		return false;
	/* FORMAT D1: record_bytes of records, then the table of threads. */
	stored->here.at = payload;
	stored->here.end = payload + found->block.record_bytes;
	stored->here.source = (const void *)stored->here.end;
	/*
	 * After a seek this block may have any number. From the next block on, each number must
	 * follow the previous number.
	 */
	stored->next_number = found->block.number + 1;
	stored->any_number = false;
	return true;
}

/* Counts a damaged part, and marks the next event as one that follows a gap. */
static void stored_skipped(struct ptx_stored *stored)
{
	stored->here.gap = true;
	stored->damaged_parts++;
}

/*
 * Searches for the next valid block at or after `offset`. Returns false if there is none. Always
 * returns false if `salvage` is false, because the first damage then ends the reading.
 */
static bool skip_damage(struct ptx_stored *stored, uint64_t offset)
{
	struct ptx_log_found found;

	if (!stored->salvage ||
	    !ptx_log_resync(&stored->window, offset, stored->data_end, stored->header.log_id,
			    &found))
		return false;
	/*
	 * next_in_sequence() compares the number of this block with next_number, and so finds out
	 * whether blocks are missing.
	 */
	stored->next_offset = found.offset;
	stored_skipped(stored);
	return true;
}

/*
 * Visits the blocks of a sequence up to the next DATA block that has an event which is not younger
 * than until_ns. Each round moves next_offset forward or returns, so the loop ends in any file.
 */
static bool next_in_sequence(struct ptx_stored *stored)
{
	struct ptx_log_found found;
	const char *why;

	for (;;) {
		enum ptx_log_verdict verdict;

		/* All events of blocks behind stop_offset are younger than until_ns. */
		if (stored->next_offset > stored->stop_offset)
			return false;
		verdict =
			ptx_log_find(&stored->window, stored->next_offset, stored->data_end,
				     stored->header.log_id, &found, &why);

		if (verdict != PTX_LOG_GOOD) {
			/*
			 * It is no damage if the cursor is behind the last block, or at a block
			 * that the writer has not finished.
			 */
			if (stored->next_offset >= stored->data_end ||
			    (stored->live && verdict == PTX_LOG_SHORT))
				return false; /* the end; a growing log may get more blocks later */
			stored->damage = why;
			if (!skip_damage(stored, stored->next_offset + 8))
				return false;
			continue;
		}
		/* FORMAT R2, R5: END is the last block, whatever bytes follow it. */
		if (found.block.type == PTX_LOG_END) {
			stored->damage = NULL;
			stored->ended = true;
			return false;
		}
		if (found.block.type != PTX_LOG_DATA) {
			/*
			 * Readers of events do not need this block. The recovery of a log without
			 * END needs it, so a damaged payload is counted. No event is missing, so
			 * the next event is not marked with a gap. In a log that is being written,
			 * the block may be unfinished, so its payload is not examined.
			 */
			if (!stored->live && !ptx_log_payload(&stored->window, &found, &why))
				stored->damaged_parts++;
			stored->next_offset = found.end;
			continue;
		}
		/* FORMAT D3, W2: if a number is missing, a block is missing. */
		if (found.block.number != stored->next_number && !stored->any_number) {
			stored->damage = "a block is missing";
			if (!stored->salvage)
				return false;
			stored_skipped(stored);
			/*
			 * If the cursor is already behind this number, the block is a copy of an
			 * earlier block, or it is forged.
			 */
			if (found.block.number < stored->next_number) {
				stored->next_offset = found.end;
				continue;
			}
		}
		/*
		 * The block header has the exact range of the times (FORMAT D2), so the block can
		 * be skipped without reading its payload.
		 */
		if (found.block.time_min > stored->until_ns) {
			stored->next_offset = found.end;
			stored->next_number = found.block.number + 1;
			stored->any_number = false;
			continue;
		}
		if (ptx_stored_read_payload(stored, &found)) {
			stored->next_offset = found.end;
			return true;
		}
		/*
		 * The payload is invalid. The block header is valid and has the block's end, so no
		 * search for the next block is needed (FORMAT R7).
		 */
		if (!stored->salvage)
			return false;
		stored_skipped(stored);
		stored->next_offset = found.end;
	}
}

/*
 * Returns true if the block is the block that the list of slots has for this slot. In a completed
 * log the list comes from the index. The index has no block numbers, so number_slots() has assumed
 * that the numbers rise by one. If a writer died and a guardian gave up damaged blocks (FORMAT W2),
 * numbers are missing and the assumption is wrong. So a cursor for salvage also accepts a block
 * whose first_record is that of the index.
 */
static bool stored_belongs(const struct ptx_stored *stored, const struct ptx_stored_slot *slot,
			   const struct ptx_log_block *block)
{
	/* The number is compared first, because it is right in all logs that are not damaged. */
	return block->type == PTX_LOG_DATA &&
	       (block->number == slot->number ||
		(stored->complete && stored->salvage && block->number >= stored->next_number &&
		 block->first_record == slot->first_record));
}

/*
 * Visits the blocks of the list of slots, from the oldest block on. In a log that is being written,
 * the writer may overwrite a slot at any time. The block in the slot then has another number, and
 * the slot counts as a damaged part. Returns true if a block was read. Returns false at the end, at
 * the limit, or at damage.
 */
static bool next_in_slots(struct ptx_stored *stored)
{
	while (stored->next_slot < stored->slots && stored->next_slot < stored->stop_slot) {
		const struct ptx_stored_slot *slot = &stored->slot[stored->next_slot];
		struct ptx_log_found found;
		bool good = ptx_log_find(&stored->window, slot->offset,
					 slot->offset + stored->header.slot_bytes,
					 stored->header.log_id, &found,
					 &stored->damage) == PTX_LOG_GOOD;

		/*
		 * If the slot has another block than the list says, a writer has overwritten the
		 * slot since the list was made, or the block is forged.
		 */
		if (good && !stored_belongs(stored, slot, &found.block)) {
			stored->damage = stored->complete &&
						 found.block.first_record == slot->first_record ?
					 "a block is missing" :
					 "a slot holds another block than it should";
			good = false;
		}
		/*
		 * If this block does not have the next number, the block before it is missing: a
		 * guardian gave that block up, or it cannot be read.
		 */
		if (good && found.block.number != stored->next_number && !stored->any_number) {
			stored->damage = "a block is missing";
			if (!stored->salvage)
				return false;
			stored_skipped(stored);
		}
		good = good && ptx_stored_read_payload(stored, &found);
		if (!good && !stored->salvage)
			return false;
		/* This slot is done: the next call continues with the next slot. */
		stored->next_slot++;
		if (good)
			return true;
		stored_skipped(stored);
	}
	/*
	 * If the loop has ended at the limit of ptx_stored_until(), the cursor has not reached the
	 * end of the log.
	 */
	stored->ended = stored->next_slot == stored->slots;
	return false;
}

/*
 * At the end of a log that is being written, the function discards the window. So the next call
 * reads the file again and finds blocks that were written since.
 */
bool ptx_stored_next_block(struct ptx_stored *stored)
{
	bool found;

	stored->here.at = stored->here.end = NULL;
	stored->damage = NULL;
	/* A writer may have added blocks since the last call. */
	if (stored->live)
		ptx_log_window_measure(&stored->window);
	found = ptx_stored_is_sequence(stored) ? next_in_sequence(stored) : next_in_slots(stored);
	if (!found && stored->live)
		stored->window.have = 0;
	return found;
}

/*
 * Does not change the limit of ptx_stored_until(), because the limit does not depend on the
 * position.
 */
void ptx_stored_rewind(struct ptx_stored *stored)
{
	stored->here.at = stored->here.end = NULL;
	stored->here.gap = false;
	stored->next_offset = PTX_LOG_HEADER_BYTES;
	stored->next_slot = 0;
	/*
	 * FORMAT D3: the numbers of the blocks of a sequence begin with 0. In a log of slots the
	 * oldest block can have any number.
	 */
	stored->next_number = stored->slots ? stored->slot[0].number : 0;
	stored->any_number = false;
	stored->damage = NULL;
	stored->damaged_parts = 0;
	stored->ended = false;
}

/*
 * The text is a constant, so it remains valid. After the next call that reads a block, this
 * function may return another text.
 */
const char *ptx_stored_damage(const struct ptx_stored *stored)
{
	return stored->damage;
}
