/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * cursor/stored_recover.c - finds the content of a log that was not completed.
 *
 * This file implements the rules R5 (sequence) and R6 (slots) of log/FORMAT 6. The functions read
 * the header of each block: 88 bytes for about 64 KiB of records. They read the payload of a DATA
 * block only where the result depends on it, as for the last block, which may be unfinished. They
 * also read the payloads with names, lists and the ledger. stored_private.h explains the words of
 * log/FORMAT, such as sequence, slot, tail and TOP.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <trace.h>

#include "cursor/stored_private.h"
#include "log/format_skips.h"

/* The type of the elements is not known here, so memcpy() copies the pointer to the array. */
bool ptx_stored_room(void *array, size_t size, size_t count, size_t *max)
{
	/* Doubling makes the cost of all copies proportional to the final size. */
	size_t more = *max ? 2 * *max : 16;
	void *memory, *old;

	if (count < *max)
		return true;
	/*
	 * The parameter `array` points to a pointer of another type than void *, so in C this
	 * pointer must not be read as a void *.
	 */
	memcpy(&old, array, sizeof(old));
	/* If the product would overflow, the log is hostile. */
	if (more > SIZE_MAX / size)
		return false;
	memory = realloc(old, more * size);
	if (!memory)
		return false;
	memcpy(array, &memory, sizeof(memory));
	/* *max changes only here, so the old array stays valid if the allocation fails. */
	*max = more;
	return true;
}

/*
 * Notes an INDEX block that is found while the blocks are visited. Seeks can use it like an INDEX
 * block that TOP names. The facts come from the header of the INDEX block, whose checksum is right.
 * The entries of the block are checked when they are used. Returns 0 or ENOMEM.
 */
static int note_index(struct ptx_stored *stored, const struct ptx_log_found *found)
{
	struct ptx_log_place *top;

	if (!ptx_stored_room(&stored->top, sizeof(*top), stored->tops, &stored->tops_max))
		return ENOMEM;
	top = &stored->top[stored->tops++];
	top->offset = found->offset;
	top->first_record = found->block.first_record;
	top->time_min = found->block.time_min;
	top->time_top = found->block.time_max;
	return 0;
}

/*
 * Adds the names of a NAMES block. If the payload is invalid, these names are missing, but no event
 * is missing.
 */
static void note_names(struct ptx_stored *stored, const struct ptx_log_found *found)
{
	const char *why;
	const void *payload = ptx_log_payload(&stored->window, found, &why);

	/*
	 * If several NAMES blocks name a type, the last block counts. In a valid log all of them
	 * have the same name.
	 */
	if (payload)
		ptx_log_decode_names(&found->block, payload, &stored->names);
}

/*
 * Adds the entries of a SCHEMAS, OBJECTS or MAPPINGS block, unless it is invalid. Returns 0 or
 * ENOMEM.
 */
static int add_lists(struct ptx_stored *stored, const struct ptx_log_found *found)
{
	const char *why;
	const void *payload = ptx_log_payload(&stored->window, found, &why);

	if (!payload)
		return 0;
	switch (found->block.type) {
	case PTX_LOG_SCHEMAS:
		return ptx_log_decode_schemas(&found->block, payload, &stored->lists);
	case PTX_LOG_OBJECTS:
		return ptx_log_decode_objects(&found->block, payload, &stored->lists);
	default:
		return ptx_log_decode_mappings(&found->block, payload, &stored->lists);
	}
}

/*
 * Reads the ledger of a LEDGER block. The log may end within the tail, behind the LEDGER block. The
 * ledger of the writer includes losses, so it is better than a ledger that is computed from the
 * events. Returns 0 or ENOMEM.
 */
static int note_ledger(struct ptx_stored *stored, const struct ptx_log_found *found)
{
	const char *why;
	const void *payload = ptx_log_payload(&stored->window, found, &why);
	int err;

	if (!payload)
		return 0;
	err = ptx_log_decode_ledger(&found->block, payload, &stored->ledger);
	/* The ledger of a tail is complete, even if END is missing. */
	stored->has_ledger = !err;
	/*
	 * Only ENOMEM is an error here. Damage is no error, because the log keeps the content that
	 * was found.
	 */
	return err;
}

/*
 * Adds the skipped events of a SKIPS block to the ledger. The LEDGER block is before the SKIPS
 * block, so if the ledger was not found, there is no ledger to complete.
 */
static void note_skips(struct ptx_stored *stored, const struct ptx_log_found *found)
{
	const char *why;
	const void *payload = ptx_log_payload(&stored->window, found, &why);

	if (payload && stored->has_ledger)
		ptx_log_decode_skips(&found->block, payload, &stored->ledger);
}

/* FORMAT R5: if a valid END block is found while the blocks are visited, the log is complete. */
static void note_end(struct ptx_stored *stored, const struct ptx_log_found *found)
{
	const char *why;
	const struct ptx_log_end *end = ptx_log_payload(&stored->window, found, &why);

	if (!end)
		return;
	/* The caller ends its loop: no block follows END. */
	stored->complete = true;
	/* The sum that the writer has stored replaces the sum that was counted here. */
	stored->sum = end->sum;
}

/* Adds the counts in the header of a DATA block to the sum, as the writer has done. */
static void add_block(struct ptx_stored *stored, const struct ptx_log_block *block)
{
	struct ptx_log_sum *sum = &stored->sum;

	if (!sum->blocks++)
		sum->time_first = block->time_min;
	sum->time_last = block->time_max;
	/* The checksum of the header was right, so these counts are not damaged. */
	sum->records += block->records;
	sum->record_bytes += block->record_bytes;
}

/* Removes the last block from the sum again. `before` is the sum without this block. */
static void remove_block(struct ptx_stored *stored, const struct ptx_log_sum *before)
{
	/* Only the counts and times are restored; the status in the sum is unchanged. */
	stored->sum.blocks = before->blocks;
	stored->sum.records = before->records;
	stored->sum.record_bytes = before->record_bytes;
	stored->sum.time_first = before->time_first;
	stored->sum.time_last = before->time_last;
}

/*
 * Implements FORMAT R5. Names and lists are read where they are found. If `salvage` is true, the
 * search continues behind a damaged part (FORMAT R7), so that the sum also has the blocks there.
 */
int ptx_stored_recover_sequence(struct ptx_stored *stored)
{
	const uint64_t id = stored->header.log_id;
	struct ptx_log_found found, last = { 0 };
	struct ptx_log_sum before = { 0 };
	/* A sequence begins behind the header (FORMAT 2). */
	uint64_t offset = PTX_LOG_HEADER_BYTES;
	const char *why;
	int err = 0;

	while (!err && !stored->complete) {
		if (ptx_log_find(&stored->window, offset, UINT64_MAX, id, &found, &why) !=
		    PTX_LOG_GOOD) {
			/* FORMAT R5: if `salvage` is false, the first invalid header is the end. */
			if (!stored->salvage ||
			    !ptx_log_resync(&stored->window, offset + 8, UINT64_MAX, id, &found))
				break;
		}
		/*
		 * The variable `offset` grows in each round, so the loop ends at the end of the
		 * file.
		 */
		offset = found.end;
		switch (found.block.type) {
		/* Only the header is read; the cursor checks the payload. */
		case PTX_LOG_DATA:
			before = stored->sum;
			/* After the loop the payload of the last block is examined. */
			last = found;
			/* The counts come from the copy of the header that was checked. */
			add_block(stored, &found.block);
			break;
		case PTX_LOG_NAMES:
			note_names(stored, &found);
			break;
		case PTX_LOG_INDEX:
			err = note_index(stored, &found);
			break;
		case PTX_LOG_LEDGER:
			err = note_ledger(stored, &found);
			break;
		case PTX_LOG_SKIPS:
			note_skips(stored, &found);
			break;
		case PTX_LOG_END:
			note_end(stored, &found);
			break;
		case PTX_LOG_SCHEMAS:
		case PTX_LOG_OBJECTS:
		case PTX_LOG_MAPPINGS:
			err = add_lists(stored, &found);
			break;
		}
	}
	/*
	 * FORMAT R5: the last block's payload must be valid. After a crash of the system the file
	 * can have the right length, but a hole instead of this payload. If `salvage` is true, the
	 * sum includes the block, and the cursor counts the block as damaged.
	 */
	if (!err && !stored->complete && last.end && last.end == offset && !stored->salvage &&
	    !ptx_log_payload(&stored->window, &last, &why)) {
		remove_block(stored, &before);
		offset = last.offset;
	}
	/*
	 * The cursor reads nothing behind this offset (FORMAT R5). A log that is being written has
	 * no fixed end: the cursor stops where there is no block yet.
	 */
	stored->data_end = stored->live ? UINT64_MAX : offset;
	return err;
}

/*
 * Orders by falling number. If two blocks have the same number, the block with more records is
 * first (FORMAT R6).
 */
static int newest_first(const void *a, const void *b)
{
	const struct ptx_stored_slot *x = a, *y = b;

	/* The numbers are not subtracted, because 64-bit differences do not fit into the result. */
	if (x->number != y->number)
		return x->number < y->number ? 1 : -1;
	return x->records < y->records ? 1 : x->records > y->records ? -1 : 0;
}

/*
 * The number of successive slots without a block after which the search ends. A writer skips no
 * slot (FORMAT R6). So after this number of empty slots there are no more blocks, or the rest of
 * the log is lost. Without this limit, a sparse file of terabytes would be read to its end.
 */
#define EMPTY_SLOTS_MAX 4096u

/*
 * Makes the list of all slots with a valid header, in the order of the file. Returns 0 or ENOMEM.
 */
static int stored_recover_gather(struct ptx_stored *stored)
{
	const struct ptx_log_header *h = &stored->header;
	struct ptx_log_found found;
	unsigned empty = 0;
	size_t max = 0;
	const char *why;

	for (uint64_t at = h->slots_offset;
	     at < stored->window.file_bytes && empty < EMPTY_SLOTS_MAX; at += h->slot_bytes) {
		struct ptx_stored_slot *slot;

		/* The count is set back to 0 below if the slot has a block. */
		empty++;
		if (ptx_log_find(&stored->window, at, at + h->slot_bytes, h->log_id, &found,
				 &why) != PTX_LOG_GOOD ||
		    found.block.type != PTX_LOG_DATA)
			continue;
		/* Only successive slots without a block are counted. */
		empty = 0;
		if (!ptx_stored_room(&stored->slot, sizeof(*slot), stored->slots, &max))
			return ENOMEM;
		slot = &stored->slot[stored->slots++];
		/* These members are enough to read the block again and to sort the slots. */
		slot->offset = at;
		slot->number = found.block.number;
		slot->first_record = found.block.first_record;
		slot->records = found.block.records;
		slot->time_min = found.block.time_min;
		/*
		 * The greatest time of this block. ptx_stored_recover_slots() later replaces it by
		 * the greatest time up to this block.
		 */
		slot->time_max = found.block.time_max;
	}
	return 0;
}

/*
 * Reads a slot's block again and checks its payload. A writer may have overwritten the slot
 * meanwhile, so the number is compared with the number that was found before. Returns true if the
 * slot still has this block and the payload is valid.
 */
static bool is_whole(struct ptx_stored *stored, const struct ptx_stored_slot *slot,
		     struct ptx_log_found *found)
{
	const char *why;

	/*
	 * Header, type, number and payload are checked again, because each may have changed since.
	 */
	return ptx_log_find(&stored->window, slot->offset,
			    slot->offset + stored->header.slot_bytes, stored->header.log_id, found,
			    &why) == PTX_LOG_GOOD &&
	       found->block.type == PTX_LOG_DATA && found->block.number == slot->number &&
	       ptx_log_payload(&stored->window, found, &why);
}

/*
 * FORMAT R6: keeps one slot for each block number, and puts the slots into rising order. The header
 * of the newest block has the number of the oldest block that belongs to the log, and the function
 * drops blocks with lower numbers. It checks payloads only where the result depends on them: of the
 * newest block, and of two blocks with the same number. Other blocks are checked when the cursor
 * reads them.
 */
static void stored_recover_choose(struct ptx_stored *stored)
{
	struct ptx_stored_slot *slot = stored->slot;
	struct ptx_log_found found;
	uint64_t oldest = 0;
	size_t kept = 0;

	/* qsort() must not get a null pointer. */
	if (stored->slots)
		qsort(slot, stored->slots, sizeof(*slot), newest_first);
	for (size_t i = 0; i < stored->slots; i++) {
		/*
		 * A writer that adds events to a block writes the longer block into another slot.
		 * So two slots may have blocks with the same number (FORMAT W4).
		 */
		bool twin = (i + 1 < stored->slots && slot[i + 1].number == slot[i].number);

		/*
		 * The block is omitted if a block with this number is kept already, or if it is
		 * older than the oldest block that belongs to the log (FORMAT W4).
		 */
		if (kept && (slot[i].number == slot[kept - 1].number || slot[i].number < oldest))
			continue;
		/*
		 * Two kinds of blocks are checked. The first block to keep is checked because its
		 * header decides which other blocks belong to the log. A block with a twin is
		 * checked because the twin can replace it.
		 */
		if ((!kept || twin) && !is_whole(stored, &slot[i], &found))
			continue;
		if (!kept)
			oldest = found.block.oldest;
		/* The copy within the array is safe, because `kept` is never greater than i. */
		slot[kept++] = slot[i];
	}
	stored->slots = kept;
	for (size_t i = 0; i < kept / 2; i++) {
		/* The list was sorted newest first; the cursor needs the oldest first. */
		struct ptx_stored_slot swap = slot[i];

		slot[i] = slot[kept - 1 - i];
		slot[kept - 1 - i] = swap;
	}
}

/*
 * Reads the two names areas. FORMAT N2: the valid block with the greater number counts. Both areas
 * are read, because a writer that was killed may have written only a part of the newer block.
 */
static void find_names(struct ptx_stored *stored)
{
	const struct ptx_log_header *h = &stored->header;
	struct ptx_log_found found;
	/*
	 * The first block may have the number 0, so the comparison below also accepts an equal
	 * number.
	 */
	uint64_t newest = 0;
	const void *payload;
	const char *why;

	for (int area = 0; area < 2; area++) {
		uint64_t at = h->names_offset + (uint64_t)area * h->names_bytes;

		/* FORMAT B5: the block must end within the area. */
		if (ptx_log_find(&stored->window, at, at + h->names_bytes, h->log_id, &found,
				 &why) != PTX_LOG_GOOD ||
		    found.block.type != PTX_LOG_NAMES || found.block.number < newest)
			continue;
		payload = ptx_log_payload(&stored->window, &found, &why);
		if (!payload)
			continue;
		/*
		 * In a log of slots each NAMES block has all names, so the newer block replaces the
		 * older block.
		 */
		newest = found.block.number;
		/* Names of the older block must not remain. */
		memset(&stored->names, 0, sizeof(stored->names));
		ptx_log_decode_names(&found.block, payload, &stored->names);
	}
}

/*
 * FORMAT R6: reads the blocks of the lists area, up to the first block that is not valid. Returns 0
 * or ENOMEM.
 */
static int find_lists(struct ptx_stored *stored)
{
	const struct ptx_log_header *h = &stored->header;
	uint64_t at = h->lists_offset, end = at + h->lists_bytes;
	struct ptx_log_found found;
	const char *why;
	int err = 0;

	while (!err && h->lists_bytes &&
	       ptx_log_find(&stored->window, at, end, h->log_id, &found, &why) == PTX_LOG_GOOD) {
		if (found.block.type >= PTX_LOG_SCHEMAS && found.block.type <= PTX_LOG_MAPPINGS)
			err = add_lists(stored, &found);
		/*
		 * found.end is greater than `at`, so the loop ends at the end of the area at the
		 * latest.
		 */
		at = found.end;
	}
	return err;
}

/*
 * The member time_max of each slot becomes the greatest time up to this slot, because seeks rely on
 * values that never decrease. The time_top of an index has the same meaning. The member
 * first_record of the oldest block is the number of events that are no longer in the file. If it is
 * not 0, the status reports that the log was full and has overwritten events.
 */
int ptx_stored_recover_slots(struct ptx_stored *stored)
{
	struct ptx_log_sum *sum = &stored->sum;
	struct ptx_log_found found;
	int64_t time_top = INT64_MIN;
	const char *why;
	int err;

	find_names(stored);
	err = find_lists(stored);
	/* ENOMEM ends the opening of the log, but damage does not. */
	if (!err)
		err = stored_recover_gather(stored);
	if (err)
		return err;
	stored_recover_choose(stored);
	for (size_t i = 0; i < stored->slots; i++) {
		struct ptx_stored_slot *slot = &stored->slot[i];

		/* The greatest time so far never decreases (FORMAT 3.6). */
		time_top = slot->time_max > time_top ? slot->time_max : time_top;
		slot->time_max = time_top;
		if (ptx_log_find(&stored->window, slot->offset, UINT64_MAX,
				 stored->header.log_id, &found, &why) == PTX_LOG_GOOD &&
		    found.block.type == PTX_LOG_DATA)
			add_block(stored, &found.block);
	}
	if (stored->slots && stored->slot[0].first_record) {
		/* The number of events in front of the oldest block of the log. */
		sum->overwritten = stored->slot[0].first_record;
		sum->status.log_full = POSIX_TRACE_FULL;
		sum->status.log_overrun = POSIX_TRACE_OVERRUN;
	}
	return 0;
}
