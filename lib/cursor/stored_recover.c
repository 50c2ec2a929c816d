/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * cursor/stored_recover.c - a log that was not completed: what is there is found by looking.
 *
 * FORMAT 6, rules R5 and R6. Only headers are read, 88 bytes for 64 KiB of records; and the
 * payloads of names and of the last block, which may have been cut short.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <trace.h>

#include "cursor/stored_private.h"

bool ptx_stored_room(void *array, size_t size, size_t count, size_t *max)
{
	size_t more = *max ? 2 * *max : 16;
	void *memory, *old;

	if (count < *max)
		return true;
	memcpy(&old, array, sizeof(old));
	if (more > SIZE_MAX / size)
		return false;
	memory = realloc(old, more * size);
	if (!memory)
		return false;
	memcpy(array, &memory, sizeof(memory));
	*max = more;
	return true;
}

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

static void note_names(struct ptx_stored *stored, const struct ptx_log_found *found)
{
	const char *why;
	const void *payload = ptx_log_payload(&stored->window, found, &why);

	if (payload)
		ptx_log_decode_names(&found->block, payload, &stored->names);
}

static int note_said(struct ptx_stored *stored, const struct ptx_log_found *found)
{
	const char *why;
	const void *payload = ptx_log_payload(&stored->window, found, &why);

	if (!payload)
		return 0;
	switch (found->block.type) {
	case PTX_LOG_SCHEMAS:
		return ptx_log_decode_schemas(&found->block, payload, &stored->said);
	case PTX_LOG_OBJECTS:
		return ptx_log_decode_objects(&found->block, payload, &stored->said);
	default:
		return ptx_log_decode_mappings(&found->block, payload, &stored->said);
	}
}

static int note_ledger(struct ptx_stored *stored, const struct ptx_log_found *found)
{
	const char *why;
	const void *payload = ptx_log_payload(&stored->window, found, &why);
	int err;

	if (!payload)
		return 0;
	err = ptx_log_decode_ledger(&found->block, payload, &stored->ledger);
	stored->has_ledger = !err;
	return err;
}

static void note_end(struct ptx_stored *stored, const struct ptx_log_found *found)
{
	const char *why;
	const struct ptx_log_end *end = ptx_log_payload(&stored->window, found, &why);

	if (!end)
		return;
	stored->complete = true;
	stored->sum = end->sum;
}

static void add_block(struct ptx_stored *stored, const struct ptx_log_block *block)
{
	struct ptx_log_sum *sum = &stored->sum;

	if (!sum->blocks++)
		sum->time_first = block->time_min;
	sum->time_last = block->time_max;
	sum->records += block->records;
	sum->record_bytes += block->record_bytes;
}

static void remove_block(struct ptx_stored *stored, const struct ptx_log_sum *before)
{
	stored->sum.blocks = before->blocks;
	stored->sum.records = before->records;
	stored->sum.record_bytes = before->record_bytes;
	stored->sum.time_first = before->time_first;
	stored->sum.time_last = before->time_last;
}

int ptx_stored_recover_sequence(struct ptx_stored *stored)
{
	const uint64_t id = stored->header.log_id;
	struct ptx_log_found found, last = { 0 };
	struct ptx_log_sum before = { 0 };
	uint64_t offset = PTX_LOG_HEADER_BYTES;
	const char *why;
	int err = 0;

	while (!err && !stored->complete) {
		if (ptx_log_find(&stored->window, offset, UINT64_MAX, id, &found, &why) !=
		    PTX_LOG_GOOD) {
			if (!stored->salvage ||
			    !ptx_log_resync(&stored->window, offset + 8, UINT64_MAX, id, &found))
				break;
		}
		offset = found.end;
		switch (found.block.type) {
		case PTX_LOG_DATA:
			before = stored->sum;
			last = found;
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
		case PTX_LOG_END:
			note_end(stored, &found);
			break;
		case PTX_LOG_SCHEMAS:
		case PTX_LOG_OBJECTS:
		case PTX_LOG_MAPPINGS:
			err = note_said(stored, &found);
			break;
		}
	}
	/* The last block may be there in its length only, its end never written (a hole). */
	if (!err && !stored->complete && last.end && last.end == offset && !stored->salvage &&
	    !ptx_log_payload(&stored->window, &last, &why)) {
		remove_block(stored, &before);
		offset = last.offset;
	}
	stored->data_end = stored->live ? UINT64_MAX : offset;
	return err;
}

static int newest_first(const void *a, const void *b)
{
	const struct ptx_stored_slot *x = a, *y = b;

	if (x->number != y->number)
		return x->number < y->number ? 1 : -1;
	return x->records < y->records ? 1 : x->records > y->records ? -1 : 0;
}

/*
 * A writer fills slots without leaving one out, so a long run of slots without a block is behind
 * the last one, or damage that leaves nothing to find. A sparse file of terabytes is hostile.
 */
#define EMPTY_SLOTS_MAX 4096u

/* All slots with a good header, in any order. */
static int gather(struct ptx_stored *stored)
{
	const struct ptx_log_header *h = &stored->header;
	struct ptx_log_found found;
	unsigned empty = 0;
	size_t max = 0;
	const char *why;

	for (uint64_t at = h->slots_offset;
	     at < stored->window.file_bytes && empty < EMPTY_SLOTS_MAX; at += h->slot_bytes) {
		struct ptx_stored_slot *slot;

		empty++;
		if (ptx_log_find(&stored->window, at, at + h->slot_bytes, h->log_id, &found,
				 &why) != PTX_LOG_GOOD ||
		    found.block.type != PTX_LOG_DATA)
			continue;
		empty = 0;
		if (!ptx_stored_room(&stored->slot, sizeof(*slot), stored->slots, &max))
			return ENOMEM;
		slot = &stored->slot[stored->slots++];
		slot->offset = at;
		slot->number = found.block.number;
		slot->first_record = found.block.first_record;
		slot->records = found.block.records;
		slot->time_min = found.block.time_min;
		slot->time_max = found.block.time_max;
	}
	return 0;
}

/* The slot's block as it is now, with a good payload. */
static bool is_whole(struct ptx_stored *stored, const struct ptx_stored_slot *slot,
		     struct ptx_log_found *found)
{
	const char *why;

	return ptx_log_find(&stored->window, slot->offset,
			    slot->offset + stored->header.slot_bytes, stored->header.log_id, found,
			    &why) == PTX_LOG_GOOD &&
	       found->block.type == PTX_LOG_DATA && found->block.number == slot->number &&
	       ptx_log_payload(&stored->window, found, &why);
}

/* R6: from newest to oldest, one slot for a number, and none older than the newest block says. */
static void choose(struct ptx_stored *stored)
{
	struct ptx_stored_slot *slot = stored->slot;
	struct ptx_log_found found;
	uint64_t oldest = 0;
	size_t kept = 0;

	if (stored->slots) /* qsort() of nothing may not be given a null pointer */
		qsort(slot, stored->slots, sizeof(*slot), newest_first);
	for (size_t i = 0; i < stored->slots; i++) {
		bool twin = (i + 1 < stored->slots && slot[i + 1].number == slot[i].number);

		if (kept && (slot[i].number == slot[kept - 1].number || slot[i].number < oldest))
			continue;
		/* What cannot be checked now is checked when it is read. */
		if ((!kept || twin) && !is_whole(stored, &slot[i], &found))
			continue;
		if (!kept)
			oldest = found.block.oldest;
		slot[kept++] = slot[i];
	}
	stored->slots = kept;
	for (size_t i = 0; i < kept / 2; i++) {
		struct ptx_stored_slot swap = slot[i];

		slot[i] = slot[kept - 1 - i];
		slot[kept - 1 - i] = swap;
	}
}

static void find_names(struct ptx_stored *stored)
{
	const struct ptx_log_header *h = &stored->header;
	struct ptx_log_found found;
	uint64_t newest = 0;
	const void *payload;
	const char *why;

	for (int area = 0; area < 2; area++) {
		uint64_t at = h->names_offset + (uint64_t)area * h->names_bytes;

		if (ptx_log_find(&stored->window, at, at + h->names_bytes, h->log_id, &found,
				 &why) != PTX_LOG_GOOD ||
		    found.block.type != PTX_LOG_NAMES || found.block.number < newest)
			continue;
		payload = ptx_log_payload(&stored->window, &found, &why);
		if (!payload)
			continue;
		newest = found.block.number;
		memset(&stored->names, 0, sizeof(stored->names));
		ptx_log_decode_names(&found.block, payload, &stored->names);
	}
}

/* Block behind block, as far as they are whole. */
static int find_said(struct ptx_stored *stored)
{
	const struct ptx_log_header *h = &stored->header;
	uint64_t at = h->lists_offset, end = at + h->lists_bytes;
	struct ptx_log_found found;
	const char *why;
	int err = 0;

	while (!err && h->lists_bytes &&
	       ptx_log_find(&stored->window, at, end, h->log_id, &found, &why) == PTX_LOG_GOOD) {
		if (found.block.type >= PTX_LOG_SCHEMAS && found.block.type <= PTX_LOG_MAPPINGS)
			err = note_said(stored, &found);
		at = found.end;
	}
	return err;
}

int ptx_stored_recover_slots(struct ptx_stored *stored)
{
	struct ptx_log_sum *sum = &stored->sum;
	struct ptx_log_found found;
	int64_t time_top = INT64_MIN;
	const char *why;
	int err;

	find_names(stored);
	err = find_said(stored);
	if (!err)
		err = gather(stored);
	if (err)
		return err;
	choose(stored);
	for (size_t i = 0; i < stored->slots; i++) {
		struct ptx_stored_slot *slot = &stored->slot[i];

		time_top = slot->time_max > time_top ? slot->time_max : time_top;
		slot->time_max = time_top;
		if (ptx_log_find(&stored->window, slot->offset, UINT64_MAX,
				 stored->header.log_id, &found, &why) == PTX_LOG_GOOD &&
		    found.block.type == PTX_LOG_DATA)
			add_block(stored, &found.block);
	}
	if (stored->slots && stored->slot[0].first_record) {
		sum->overwritten = stored->slot[0].first_record;
		sum->status.log_full = POSIX_TRACE_FULL;
		sum->status.log_overrun = POSIX_TRACE_OVERRUN;
	}
	return 0;
}
